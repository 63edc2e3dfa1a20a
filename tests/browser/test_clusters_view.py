"""The table of clusters of a report and the labels it offers, in a real browser."""

import csv

import numpy as np
import pytest

from bayesgrove.report.words import short

pytestmark = pytest.mark.browser

HOSTILE = [
    "<script>document.title = 'executed'</script>",
    "<img src=x onerror=\"document.title='executed'\">",
    "</script><script>document.title='executed'</script>",
    '=HYPERLINK("http://example.org")',
    "+1+1",
    "@SUM(A1)",
    "-2",
    'a "quoted", name',
    "right\u202eto left",
    "x" * 10_000,
    "two\nlines",
    "'; drop",
]


def rows_of(page):
    return page.locator("#cluster-table > tbody > tr:not(.detail-row)")


def labels_shown(page):
    return [int(value) for value in rows_of(page).evaluate_all("rows => rows.map(row => row.dataset.label)")]


def sizes_shown(page):
    cells = page.locator("#cluster-table > tbody > tr > td.number > span:first-child").all_inner_texts()
    return [int(cell.replace(",", "")) for cell in cells]


def downloaded(page, tmp_path):
    with page.expect_download() as waiting:
        page.click("#download-labels")
    assert waiting.value.suggested_filename == "labels.csv"
    path = tmp_path / "labels.csv"
    waiting.value.save_as(path)
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_rows_are_the_clusters_in_the_order_asked_for(open_page, made_result):
    result = made_result(300)
    sizes = np.bincount(result.labels)
    page = open_page(result)
    assert sizes_shown(page) == sizes.tolist()
    head = page.locator("#cluster-table th", has_text="Rows")
    head.locator("button").click()
    assert sizes_shown(page) == sorted(sizes.tolist(), reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    head.locator("button").click()
    assert sizes_shown(page) == sorted(sizes.tolist())
    assert head.get_attribute("aria-sort") == "ascending"
    page.locator("#cluster-table th", has_text="Cluster").locator("button").first.click()
    assert labels_shown(page) == list(range(sizes.size))
    assert head.get_attribute("aria-sort") == "none"


def test_a_row_selects_its_cluster_everywhere(open_page, made_result):
    result = made_result(300)
    sizes = np.bincount(result.labels)
    page = open_page(result)
    row = page.locator('tr[data-label="1"]')
    row.locator("td").last.click()
    page.wait_for_selector(f'#tree-canvas[data-selected="{sizes[1]}"]')
    assert page.locator("#selected").inner_text().startswith("cluster 1, ")
    assert row.get_attribute("aria-current") == "true"
    row.locator("td").last.click()
    page.wait_for_selector('#tree-canvas[data-selected="0"]')
    assert row.get_attribute("aria-current") is None


def test_rows_answer_to_keys(open_page, made_result):
    result = made_result(300)
    page = open_page(result)
    page.focus('tr[data-label="0"]')
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector(f'#tree-canvas[data-selected="{np.count_nonzero(result.labels == 1)}"]')


def test_a_selection_made_elsewhere_marks_the_clusters_it_lies_in(open_page, made_result):
    result = made_result(300)
    label = int(np.argmax(np.bincount(result.labels)))
    item = int(np.flatnonzero(result.labels == label)[0])
    page = open_page(result)
    page.fill("#search", f"row {item}")
    page.press("#search", "Enter")
    marked = page.locator("#cluster-table tr.touched")
    assert marked.evaluate_all("rows => rows.map(row => row.dataset.label)") == [str(label)]
    assert marked.locator(".part").inner_text() == "1 selected"
    page.focus("#tree-canvas")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.wait_for_selector('#tree-canvas[data-selected="300"]')
    assert page.locator("#cluster-table tr.touched").count() == result.n_clusters


def test_many_clusters_are_shown_on_demand(open_page, made_result):
    page = open_page(made_result(300))
    page.locator("#cut").press("End")
    page.wait_for_selector('#cluster-table[data-clusters="300"]')
    assert rows_of(page).count() == 50
    assert page.locator("#more-clusters").inner_text() == "show all 300 clusters"
    page.click("#more-clusters")
    assert rows_of(page).count() == 300
    assert page.locator("#more-clusters").is_hidden()


def test_a_cluster_beyond_those_shown_appears_when_it_is_selected(open_page, made_result):
    result = made_result(300)
    page = open_page(result)
    page.locator("#cut").press("End")
    page.wait_for_selector('#cluster-table[data-clusters="300"]')
    page.fill("#search", "row 271")
    page.press("#search", "Enter")
    assert labels_shown(page) == [*range(50), 271]


def test_profiles_are_those_of_python(open_page, made_result):
    result = made_result(300, has_columns=True)
    profile = result.description.clusters
    page = open_page(result)
    row = page.locator('tr[data-label="0"]')
    strongest = int(profile.strongest(1)[0, 0])
    first = row.locator(".traits li").first
    assert first.locator(".trait").inner_text() == profile.features[strongest].name
    assert first.locator(".mean").inner_text() == minus(short(profile.mean[0, strongest]))
    row.locator("button.open").click()
    assert row.locator("button.open").get_attribute("aria-expanded") == "true"
    cells = page.locator('tr[data-detail="0"] tbody tr').all_inner_texts()
    assert len(cells) == len(profile.features)
    low, high = (minus(short(part[0, strongest])) for part in (profile.low, profile.high))
    assert f"{low} to {high}" in cells[0]
    row.locator("button.open").click()
    assert page.locator('tr[data-detail="0"]').count() == 0


def minus(text):
    return text.replace("-", "−")  # noqa: RUF001 - the page writes a true minus


@pytest.mark.parametrize("n_leaves", [10, 300, 20_000])
def test_labels_offered_are_those_of_the_cut_shown(open_page, made_result, tmp_path, n_leaves):
    result = made_result(n_leaves)
    page = open_page(result)
    for step in (None, -20, 25):
        labels = result.labels
        if step is not None:
            page.locator("#cut").fill(str(step))
            page.wait_for_selector(f'#cut-words[data-step="{step}"]')
            labels = result.tree.cut(probability=float(page.locator("#cut-words").get_attribute("data-cut")))
        rows = downloaded(page, tmp_path)
        assert rows[0] == ["row", "name", "cluster"]
        assert [int(row[0]) for row in rows[1:]] == list(range(n_leaves))
        assert [int(row[2]) for row in rows[1:]] == labels.tolist()


def test_hostile_names_stay_names(open_page, made_result, tmp_path):
    page = open_page(made_result(len(HOSTILE), names=HOSTILE))
    for name in HOSTILE:
        page.fill("#search", name.splitlines()[0][:50])
        page.press("#search", "Enter")
    rows = downloaded(page, tmp_path)
    assert len(rows) == len(HOSTILE) + 1
    for row, name in zip(rows[1:], HOSTILE, strict=True):
        assert row[1] in (name, f"'{name}")
        assert not row[1].lstrip().startswith(("=", "+", "-", "@"))
    assert "executed" not in page.title()
    assert page.locator("img").count() == 0


def test_labels_are_not_offered_where_the_page_holds_none(open_page, made_result):
    page = open_page(made_result(21_000))
    assert page.locator("#download-labels").is_disabled()
    assert "more than 20,000" in page.locator(".download").inner_text()
