"""The cards at the top of a page: words, and a small picture in each."""

from dataclasses import replace

import numpy as np
import pytest

from bayesgrove.inference.overview import cluster_certainty
from bayesgrove.report.words import chance
from browser.pointing import go_narrow_and_dark, overflows, tip_lines
from reference.planted import planted_result

pytestmark = pytest.mark.browser


def heat_rows(page):
    return page.locator("#which-features tbody th").all_inner_texts()


def test_certainties_are_those_of_the_clusters(open_page):
    result = planted_result()
    shown = open_page(result).locator("#how-sure li").all_inner_texts()
    sure = cluster_certainty(result)
    assert [line.split() for line in shown] == [[str(k), chance(p)] for k, p in enumerate(sure.tolist())]


def test_the_heat_map_has_the_means_of_the_most_telling_features(open_page):
    result = planted_result()
    profile = result.description.clusters
    page = open_page(result)
    weights = np.bincount(result.labels) @ np.maximum(profile.telling, 0.0)
    order = np.argsort(-weights, kind="stable")[:8]
    wanted = [profile.features[j].name for j in order if weights[j] >= 0.01 * result.labels.size]
    assert heat_rows(page) == wanted
    cells = page.locator("#which-features tbody tr").first.locator("td")
    assert cells.count() == result.n_clusters
    cells.nth(1).hover()
    assert tip_lines(page)[0] == f"cluster 1: {wanted[0]}"
    colours = cells.evaluate_all("all => all.map((cell) => getComputedStyle(cell).backgroundColor)")
    assert len(set(colours)) == result.n_clusters
    assert page.locator("#which-features p:not(.note)").count() == 0


def test_without_a_table_the_card_says_so(open_page, made_result):
    card = open_page(made_result(30)).locator("#which-features")
    assert card.locator(".heat").count() == 0
    assert "keeps no table" in card.inner_text()


def test_chains_that_agree_are_drawn_over_each_other(open_page):
    page = open_page(planted_result(chains=(3, 100)))
    assert page.locator("#trust path.agreement").count() == 3
    assert page.locator("#trust h3").inner_text() in ("✓ Can it be trusted?", "✗ Can it be trusted?")
    assert open_page(planted_result()).locator("#trust path").count() == 0


def test_without_chains_the_card_shows_how_surely_clusters_are_apart(open_page):
    result = planted_result()
    columns = {**result.tree.columns, "apart": np.where(result.tree.item < 0, 0.75, 0.0)}
    page = open_page(replace(result, tree=replace(result.tree, columns=columns)))
    shown = page.locator("#trust li").all_inner_texts()
    assert [line.split() for line in shown] == [[str(k), "0.75"] for k in range(result.n_clusters)]
    assert "stays apart from its neighbour" in page.locator("#trust").inner_text()
    assert open_page(result).locator("#trust li").count() == 0


def test_shares_of_categories_have_no_direction(open_page):
    page = open_page(planted_result())
    lines = page.locator('tr[data-label="0"] .traits li')
    texts = {line.locator(".trait").inner_text(): line for line in lines.all()}
    share = next(line for name, line in texts.items() if " = " in name)
    number = next(line for name, line in texts.items() if " = " not in name)
    assert (share.locator(".side").inner_text(), share.locator("circle").count()) == ("", 0)
    assert number.locator(".side").inner_text() in ("▲", "▼")
    assert number.locator("circle").count() == 1


def test_cards_fit_on_phones_at_night(open_page):
    page = open_page(planted_result(chains=(3, 100)))
    go_narrow_and_dark(page)
    assert not overflows(page)
