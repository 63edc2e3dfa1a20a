"""A table as people have it: exported from a German Excel, with everything that gets in the way of clustering."""

import numpy as np

NAMES = ("Kundennummer", "Datum", "Bemerkung", "Land", "Alter", "Zufriedenheit", "Größe", "Umsatz", "Farbe")
WORDS = ("gut", "schnell", "langsam", "später", "wieder", "größer", "kaufen", "Tür", "offen", "rot")


def messy_rows(n_rows=150, seed=0):
    """Cells as texts, in two groups of rows; 40 % of the cells of what is measured are missing."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.arange(n_rows) % 2)
    age = rng.normal(np.where(group, 62.0, 28.0), 3.0).round().astype(int)
    scale = np.clip(rng.normal(np.where(group, 4.4, 1.8), 0.6).round(), 1, 5).astype(int)
    size = rng.normal(np.where(group, 1.65, 1.88), 0.03)
    sales = rng.normal(np.where(group, 5200.0, 900.0), 150.0)
    colour = np.where(rng.random(n_rows) < np.where(group, 0.9, 0.1), "grün", "weiß")
    measured = [
        [str(cell) for cell in age],
        [str(cell) for cell in scale],
        [comma(cell, 2) for cell in size],
        [comma(cell, 1) for cell in sales],
        colour.tolist(),
    ]
    for cells in measured:
        for i in np.flatnonzero(rng.random(n_rows) < 0.4):
            cells[i] = ""
    identifiers = [f"K-{number:05d}" for number in rng.permutation(99_999)[:n_rows]]
    days = [f"{rng.integers(1, 29):02d}.{rng.integers(1, 13):02d}.{rng.integers(2018, 2025)}" for _ in range(n_rows)]
    remarks = [" ".join(rng.choice(WORDS, 7)) + f" {i}" for i in range(n_rows)]
    return list(zip(identifiers, days, remarks, ["DE"] * n_rows, *measured, strict=True)), group


def comma(number, digits):
    """A number with a decimal comma."""
    return f"{number:.{digits}f}".replace(".", ",")


def write_messy(path, rows):
    """A semicolon-separated file in the encoding of Windows."""
    lines = [";".join(NAMES), *(";".join(row) for row in rows)]
    path.write_bytes("\r\n".join([*lines, ""]).encode("cp1252"))
