"""The verdict, the table of diagnostics, traces, ranks and the number of clusters on a page."""

import numpy as np
import pytest

from bayesgrove.inference.overview import count_distribution, rank_counts
from bayesgrove.inference.posterior import Posterior
from bayesgrove.inference.verdict import row_faults
from bayesgrove.report.words import chance, short
from browser.pointing import go_narrow_and_dark, overflows, plain, tip_lines
from reference.planted import planted_labels, planted_posterior, planted_result
from reference.planted_views import planted_view_draws, planted_views

pytestmark = pytest.mark.browser

GOOD = {"chains": (4, 200)}
BAD = {"chains": (4, 200), "is_stuck": True}


def table_rows(page):
    """Texts of the cells of the table of diagnostics, row by row."""
    return page.locator(".diagnostics tbody tr").evaluate_all(
        "rows => rows.map((row) => Array.from(row.children, (cell) => cell.textContent.trim()))"
    )


def digits(text):
    return plain(text).replace(",", "")


@pytest.mark.parametrize(("given", "kind", "word"), [(GOOD, "good", "✓"), (BAD, "bad", "✗")])
def test_the_verdict_is_said_in_words(open_page, given, kind, word):
    result = planted_result(**given)
    assert result.diagnostics.converged == (kind == "good")
    box = open_page(result).locator(f".verdict.{kind}")
    assert box.locator(".verdict-word").inner_text().startswith(word)
    assert result.diagnostics.verdict.sentence_for_readers in box.inner_text()
    assert "4 chains of 200 draws" in box.inner_text()


def test_the_distance_of_chains_is_said(open_page):
    result = planted_result(**GOOD)
    assert open_page(result).locator("#chains .distance").inner_text() == str(result.diagnostics.chain_distance)
    assert open_page(planted_result(chains=(1, 200))).locator("#chains .distance").count() == 0


def test_the_table_has_pythons_numbers(open_page):
    result = planted_result(**BAD)
    shown = table_rows(open_page(result))
    table = result.diagnostics.table
    assert len(shown) == len(table)
    for cells, row in zip(shown, table, strict=True):
        assert cells[0][1:].strip() == row["name"]
        assert digits(cells[1]) == digits(short(row["mean"]))
        assert cells[3] == f"{row['r_hat']:.3f}"
        assert [digits(cell) for cell in cells[4:6]] == [f"{row[name]:.0f}" for name in ("ess_bulk", "ess_tail")]


def test_rows_that_break_a_rule_are_marked_with_a_sign_and_a_remark(open_page):
    result = planted_result(**BAD)
    page = open_page(result)
    table = result.diagnostics.table
    is_broken = np.array([bool(row_faults(row)) for row in table])
    assert 0 < is_broken.sum() < len(table)
    shown = table_rows(page)
    assert [cells[0][0] == "✗" for cells in shown] == is_broken.tolist()
    assert [cells[-1] != "" for cells in shown] == is_broken.tolist()
    assert f"{is_broken.sum()} of {len(table)} scalars break a rule" in page.locator("#chains").inner_text()
    assert page.locator("td.fault").count() == sum(len(row_faults(row)) for row in table)


def test_pairs_of_columns_are_named_as_such(open_page):
    posterior = planted_view_draws()
    page = open_page(planted_views(posterior=posterior, diagnostics=posterior.diagnostics()))
    assert "columns i and j are in one view" in page.locator("#chains").inner_text()
    pair = page.locator(".diagnostics th", has_text="together[0,5]")
    assert pair.get_attribute("title") == "column 0 and column 5"


def test_states_of_scalars_that_do_not_vary_are_said(open_page):
    labels = np.zeros((2, 20, 6), np.int64)
    values = {"log_joint": np.arange(40.0).reshape(2, 20), "still": np.ones((2, 20)), "wild": np.ones((2, 20))}
    values["wild"][0, 3] = np.inf
    posterior = Posterior(labels, values)
    page = open_page(planted_result((6,), posterior=posterior, diagnostics=posterior.diagnostics()))
    remarks = {cells[0][1:].strip(): (cells[0][0], cells[-1]) for cells in table_rows(page)}
    assert remarks["still"] == ("·", "constant")
    assert remarks["wild"] == ("✗", "took values that are not finite")
    for name in ("still", "wild"):
        page.locator("#scalar").select_option(label=name)
        assert page.locator(".trace-figure path.series").count() == 2


def test_the_table_sorts_by_its_heads(open_page):
    result = planted_result(**BAD)
    page = open_page(result)
    r_hat = np.sort(result.diagnostics.table["r_hat"])
    head = page.locator(".diagnostics th", has_text="r_hat")
    for order, expected in (("descending", r_hat[::-1]), ("ascending", r_hat)):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == order
        assert [cells[3] for cells in table_rows(page)] == [f"{value:.3f}" for value in expected]


def test_traces_show_every_chain_of_the_chosen_scalar(open_page):
    result = planted_result(**GOOD)
    page = open_page(result)
    box = page.locator("#scalar")
    assert box.locator("option").all_inner_texts() == ["log_joint", "concentration"]
    assert page.locator(".trace-figure path.series").count() == 4
    assert page.locator(".trace-figure .axis-label").all_text_contents() == ["draw", "log_joint"]
    assert page.locator(".chain-keys").first.locator("button").all_inner_texts() == [f"chain {k}" for k in range(4)]
    page.locator(".trace-figure svg").scroll_into_view_if_needed()
    page.locator(".trace-figure svg").hover(position={"x": 300, "y": 100})
    lines = tip_lines(page)
    draw = int(lines[0].split()[1])
    expected = result.posterior.scalars["log_joint"][:, draw]
    assert [digits(line) for line in lines[1:]] == [f"chain {k}: {digits(short(x))}" for k, x in enumerate(expected)]
    before = page.locator(".trace-figure path.series").first.get_attribute("d")
    box.select_option(label="concentration")
    assert page.locator(".trace-figure path.series").first.get_attribute("d") != before
    assert page.locator(".trace-figure .axis-label").all_text_contents() == ["draw", "concentration"]


def test_a_chain_is_brought_to_the_front_with_a_key(open_page):
    page = open_page(planted_result(**GOOD))
    key = page.locator(".chain-keys button").nth(2)
    key.focus()
    page.keyboard.press("Enter")
    assert page.locator(".trace-figure path.series.back").count() == 3
    assert page.locator(".chain-keys button").nth(2).get_attribute("aria-pressed") == "true"
    page.keyboard.press("Enter")
    assert page.locator(".trace-figure path.series.back").count() == 0


def test_ranks_have_a_panel_per_chain_with_pythons_counts(open_page):
    result = planted_result(**GOOD)
    page = open_page(result)
    ranks = rank_counts(result.posterior.scalars["log_joint"])
    panels = page.locator(".rank-panel")
    assert panels.count() == 4
    assert page.locator(".rank-panel .band").count() == 4
    for chain, bin_ in [(0, 0), (3, 19), (2, 7)]:
        bar = panels.nth(chain).locator("rect.rank").nth(bin_)
        bar.scroll_into_view_if_needed()
        bar.hover(force=True)
        number = ranks[chain, bin_]
        assert tip_lines(page) == [f"chain {chain}", f"{number} draw{'' if number == 1 else 's'} of these ranks"]


def test_a_chain_apart_leaves_the_band(open_page):
    def beyond(page):
        return [
            int(label.split(": ")[1].split()[0])
            for label in page.locator(".rank-panel svg").evaluate_all(
                "all => all.map((one) => one.getAttribute('aria-label'))"
            )
        ]

    assert max(beyond(open_page(planted_result(**GOOD)))) <= 5
    assert beyond(open_page(planted_result(**BAD)))[0] >= 10


def test_one_chain_has_no_ranks_to_compare(open_page):
    page = open_page(planted_result(chains=(1, 50)))
    assert page.locator(".trace-figure path.series").count() == 1
    assert page.locator(".rank-panel").count() == 0
    assert "there is only one" in page.locator("#chains").inner_text()


def test_results_without_chains_have_no_such_part(open_page):
    assert open_page(planted_result()).locator("#chains").is_hidden()


@pytest.mark.parametrize("chains", [None, (3, 100)])
def test_the_number_of_clusters_has_its_law(open_page, chains):
    result = planted_result(chains=chains)
    page = open_page(result)
    law = count_distribution(result)
    kept = law.probability >= 1e-4
    bars = page.locator("#how-many rect.pillar")
    assert bars.count() == kept.sum()
    words = "probability" if chains is None else "share of draws"
    assert page.locator("#how-many .axis-label").all_text_contents() == ["number of clusters", words]
    assert page.locator("#how-many .mark").text_content().startswith("3 shown")
    assert (
        bars.evaluate_all("all => all.map((bar) => bar.classList.contains('shown'))")
        == (law.counts[kept] == 3).tolist()
    )
    tallest = int(np.argmax(law.probability[kept]))
    bars.nth(tallest).hover()
    number = law.counts[kept][tallest]
    assert tip_lines(page) == [f"{number} clusters", f"{words} {chance(law.probability[kept][tallest])}"]


def test_phones_at_night_do_not_overflow(open_page):
    page = open_page(planted_result(**BAD))
    go_narrow_and_dark(page)
    assert not overflows(page)
    assert page.locator(".trace-figure svg").evaluate("svg => svg.getBoundingClientRect().right <= window.innerWidth")


def test_hostile_names_of_scalars_are_words(open_page):
    name = "<img src=x onerror='window.hacked = 1'>" + "y" * 5000
    labels = planted_labels((8, 6))
    drawn = planted_posterior(labels, 2, 40)
    posterior = Posterior(drawn.labels, {name: drawn.scalars["log_joint"]})
    page = open_page(planted_result((8, 6), posterior=posterior, diagnostics=posterior.diagnostics()))
    assert page.evaluate("window.hacked") is None
    assert len(table_rows(page)[0][0]) <= 64
    go_narrow_and_dark(page)
    assert not overflows(page)
