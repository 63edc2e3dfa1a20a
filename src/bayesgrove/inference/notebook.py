"""What a notebook shows of draws."""

from html import escape

import numpy as np

MOST_COUNTED = 20_000
"""Draws that the picture is made from."""
LEAST_SHARE = 0.02
"""Bars shorter than this part of the longest are left out."""


def draws_html(labels: np.ndarray, scalars: tuple[str, ...], items: str = "items", groups: str = "clusters") -> str:
    """Sizes, names of scalars, and bars of the number of groups; labels of shape (chain, draw, item)."""
    n_chains, n_draws, n_items = labels.shape
    numbers = [np.unique(draw).size for draw in labels.reshape(-1, n_items)[:MOST_COUNTED]]
    counts, seen = np.unique(numbers, return_counts=True)
    rows = "".join(
        _bar(n, times / seen.max(), times / seen.sum())
        for n, times in zip(counts.tolist(), seen.tolist(), strict=True)
        if times >= LEAST_SHARE * seen.max()
    )
    return (
        f"<p>Posterior: {n_chains} chains of {n_draws:,} draws, {n_items:,} {items}; "
        f"scalars: {escape(', '.join(scalars)) or 'none'}</p>"
        f'<table><thead><tr><th>{groups}</th><th style="text-align:left">share of draws</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _bar(n_groups: int, length: float, share: float) -> str:
    style = f"display:inline-block;background:#0072B2;height:.8em;width:{8.0 * length:.2f}em"
    bar = f'<span style="{style}"></span> {100 * share:.0f} %'
    return f'<tr><td>{n_groups}</td><td style="text-align:left">{bar}</td></tr>'
