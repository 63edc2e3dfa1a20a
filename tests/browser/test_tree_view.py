"""The tree of a report and the bar above it, in a real browser."""

import numpy as np
import pytest

from bayesgrove.trees import Tree

pytestmark = pytest.mark.browser


def canvas_value(page, name):
    return page.locator("#tree-canvas").get_attribute(f"data-{name}")


def wait_for_value(page, name, value):
    page.wait_for_selector(f'#tree-canvas[data-{name}="{value}"]')


def wait_until(page, script):
    """Ask until a script says yes; Playwright's own way evaluates text in the page, which its policy forbids."""
    for _ in range(500):
        if page.evaluate(script):
            return
        page.wait_for_timeout(20)
    pytest.fail(f"waited 10 s for {script}")


def place_on_canvas(page, along, place, n_leaves):
    """Screen position: a share of the width, and the middle of a leaf's place while the whole tree is in sight."""
    box = page.locator("#tree-canvas").bounding_box()
    axis, foot = 26, 8
    room = (box["height"] - axis - foot) / n_leaves
    return box["x"] + along * box["width"], box["y"] + axis + (place + 0.5) * room


def shown_cut(page):
    return float(page.locator("#cut-words").get_attribute("data-cut"))


@pytest.mark.parametrize("n_leaves", [10, 300, 20_000])
def test_every_leaf_is_shown_and_the_whole_tree_fits(open_page, made_result, n_leaves):
    result = made_result(n_leaves)
    page = open_page(result)
    assert canvas_value(page, "shown") == str(n_leaves)
    assert canvas_value(page, "scale") == "1.000"
    assert page.locator("#cut-words strong").inner_text().replace(",", "").split()[0] == str(result.n_clusters)


def test_20000_leaves_are_ready_in_a_second_of_processor_time(open_page, made_result):
    sessions = []

    def count_time(page):
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})  # not the clock: others may use the machine
        sessions.append(session)

    open_page(made_result(20_000), prepare=count_time)
    metrics = {entry["name"]: entry["value"] for entry in sessions[0].send("Performance.getMetrics")["metrics"]}
    assert 0.0 < metrics["TaskDuration"] < 1.0


@pytest.mark.parametrize("n_leaves", [10, 300, 20_000])
def test_slider_cuts_as_python_does(open_page, made_result, n_leaves):
    result = made_result(n_leaves)
    page = open_page(result)
    found = set()
    for step in (-150, -60, -20, 0, 20, 60, 150):
        page.locator("#cut").fill(str(step))
        page.wait_for_selector(f'#cut-words[data-step="{step}"]')
        labels = result.tree.cut(probability=shown_cut(page))
        sizes = np.bincount(labels)
        found.add(sizes.size)
        assert page.locator("#cluster-table").get_attribute("data-clusters") == str(sizes.size)
        rows = page.locator("#cluster-table > tbody > tr").all_inner_texts()
        shown = [int(row.split("\t")[1].strip().replace(",", "")) for row in rows]
        assert shown == sizes[: len(shown)].tolist()
    assert len(found) > 3
    page.click("#as-fitted")
    page.wait_for_selector('#cut-words[data-cut="fitted"]')
    assert page.locator("#cluster-table").get_attribute("data-clusters") == str(result.n_clusters)


def test_slider_moves_by_keys_and_starts_at_the_fitted_cut(open_page, made_result):
    page = open_page(made_result(300))
    slider = page.locator("#cut")
    assert slider.input_value() == "0"
    slider.press("End")
    page.wait_for_selector('#cut-words[data-cut="1"]')
    assert slider.get_attribute("aria-valuetext") == "probability 1, 300 clusters"
    slider.press("Home")
    page.wait_for_selector('#cut-words[data-cut="0"]')
    assert slider.get_attribute("aria-valuetext") == "probability 0, 1 cluster"


def test_a_tree_without_odds_says_why_it_has_no_slider(open_page, plain_result):
    tree = Tree.from_parents([3, 3, 4, 4, -1])
    page = open_page(plain_result(tree, np.array([0, 0, 1])))
    assert page.locator("#cut").count() == 0
    assert "no probabilities" in page.locator(".cut-note").inner_text()


def test_search_goes_through_the_items_found(open_page, made_result):
    names = [f"Item {k:03d}" for k in range(300)]
    result = made_result(300, names=names)
    page = open_page(result)
    page.fill("#search", "iTEM 12")
    wanted = [f"Item 12{k}" for k in range(10)]
    assert page.locator("#found").inner_text() == "10 found"
    seen = []
    for k in range(10):
        page.press("#search", "Enter")
        assert page.locator("#found").inner_text() == f"{k + 1} of 10"
        seen.append(page.locator("#selected").inner_text())
        wait_for_value(page, "current", result.tree.leaf_of_item[names.index(seen[-1])])
    assert sorted(seen) == wanted
    assert int(canvas_value(page, "names")) > 0
    assert canvas_value(page, "selected") == "1"
    page.click("#found-back")
    assert page.locator("#selected").inner_text() == seen[-2]
    page.press("body", "Escape")
    wait_for_value(page, "selected", "0")
    assert page.locator("#selected").inner_text() == "nothing selected"


def test_search_without_a_match_selects_nothing(open_page, made_result):
    page = open_page(made_result(10))
    page.fill("#search", "absent")
    page.press("#search", "Enter")
    assert page.locator("#found").inner_text() == "0 found"
    assert page.locator("#found-next").is_disabled()
    assert page.locator("#selected").inner_text() == "nothing selected"


def test_clusters_fold_follow_the_cut_and_unfold(open_page, made_result):
    result = made_result(300)
    page = open_page(result)
    page.click("#fold-clusters")
    wait_for_value(page, "shown", result.n_clusters)
    page.locator("#cut").fill("20")
    page.wait_for_selector('#as-fitted[aria-pressed="false"]')
    wait_for_value(page, "shown", result.tree.cut(probability=shown_cut(page)).max() + 1)
    page.click("#unfold-all")
    wait_for_value(page, "shown", 300)


def test_search_unfolds_what_it_finds(open_page, made_result):
    result = made_result(300)
    page = open_page(result)
    page.click("#fold-clusters")
    wait_for_value(page, "shown", result.n_clusters)
    label = int(np.argmax(np.bincount(result.labels)))
    item = int(np.flatnonzero(result.labels == label)[0])
    page.fill("#search", f"row {item}")
    page.press("#search", "Enter")
    wait_for_value(page, "shown", result.n_clusters - 1 + np.count_nonzero(result.labels == label))


def test_keys_move_select_and_fold(open_page, made_result):
    tree = made_result(300).tree
    page = open_page(made_result(300))
    page.focus("#tree-canvas")
    page.keyboard.press("Home")
    wait_for_value(page, "current", tree.root)
    page.keyboard.press("ArrowRight")
    upper = min(tree.children(tree.root), key=lambda node: tree.leaf_start[node])
    wait_for_value(page, "current", upper)
    assert f"Branch of {tree.size[upper]} rows" in page.locator("#said").inner_text()
    assert page.locator("#node-words").inner_text().startswith(f"Branch of {tree.size[upper]} rows · One cluster with")
    page.keyboard.press("ArrowDown")
    lower = max(tree.children(tree.root), key=lambda node: tree.leaf_start[node])
    wait_for_value(page, "current", lower)
    page.keyboard.press("Enter")
    wait_for_value(page, "selected", tree.size[lower])
    assert page.locator("#selected").inner_text() == f"branch of {tree.size[lower]} rows"
    page.keyboard.press("Space")
    wait_for_value(page, "shown", 300 - tree.size[lower] + 1)
    page.keyboard.press("Space")
    wait_for_value(page, "shown", 300)
    page.keyboard.press("ArrowLeft")
    wait_for_value(page, "current", tree.root)


def test_pointer_selects_tells_and_folds(open_page, made_result):
    names = [f"name {k}" for k in range(10)]
    result = made_result(10, names=names)
    page = open_page(result)
    page.locator("#tree-canvas").scroll_into_view_if_needed()
    page.mouse.click(*place_on_canvas(page, 0.95, 3, 10))
    assert page.locator("#selected").inner_text() == names[result.tree.leaf_order[3]]
    page.mouse.move(*place_on_canvas(page, 0.005, 5, 10))
    tip = page.locator("#tip").inner_text()
    assert "Branch of 10 rows" in tip
    assert "One cluster with probability" in tip
    page.mouse.dblclick(*place_on_canvas(page, 0.005, 5, 10))
    wait_for_value(page, "shown", 1)


def test_wheel_drag_and_buttons_zoom(open_page, made_result):
    page = open_page(made_result(300))
    page.locator("#tree-canvas").scroll_into_view_if_needed()
    x, y = place_on_canvas(page, 0.5, 150, 300)
    page.mouse.move(x, y)
    page.mouse.wheel(0, -600)
    wait_until(page, "Number(document.querySelector('#tree-canvas').dataset.scale) > 1.5")
    assert page.evaluate("document.querySelector('#tree-canvas').classList.contains('zoomed')")
    page.click("#zoom-all")
    wait_for_value(page, "scale", "1.000")
    page.click("#zoom-in")
    wait_for_value(page, "scale", "2.000")
    page.click("#zoom-out")
    wait_for_value(page, "scale", "1.000")


def test_wheel_scrolls_past_a_whole_tree(open_page, made_result):
    page = open_page(made_result(300), height=700)
    page.mouse.move(*place_on_canvas(page, 0.5, 10, 300))
    page.mouse.wheel(0, 200)
    wait_until(page, "window.scrollY > 100")
    assert canvas_value(page, "scale") == "1.000"


def test_both_forms_and_both_themes_are_drawn(open_page, made_result):
    page = open_page(made_result(300))
    picture = "document.querySelector('#tree-canvas').toDataURL()"
    dendrogram = page.evaluate(picture)
    page.click("#mode-icicle")
    wait_for_value(page, "mode", "icicle")
    assert page.locator("#mode-icicle").get_attribute("aria-pressed") == "true"
    light = page.evaluate(picture)
    assert light != dendrogram
    page.emulate_media(color_scheme="dark")
    wait_until(page, f"{picture} !== '{light}'")


def chain(n_leaves):
    joined = np.arange(n_leaves, 2 * n_leaves - 2)
    merges = np.column_stack([np.concatenate([[0], joined]), np.arange(1, n_leaves)])
    return Tree.from_merges(merges, np.linspace(20.0, -40.0, n_leaves - 1))


ODD_TREES = {
    "one leaf": lambda: Tree.from_parents([-1]),
    "a chain 20,000 deep": lambda: chain(20_000),
    "5,000 children": lambda: Tree.from_parents([5_000] * 5_000 + [-1]),
    "equal heights": lambda: Tree.from_merges([(0, 1), (4, 2), (5, 3)], [0.0, 0.0, 0.0]),
    "infinite odds": lambda: Tree.from_merges([(0, 1), (2, 3), (4, 5)], [np.inf, -np.inf, -np.inf]),
}


@pytest.mark.parametrize("kind", ODD_TREES)
def test_odd_trees_are_drawn_and_answer(open_page, plain_result, kind):
    tree = ODD_TREES[kind]()
    page = open_page(plain_result(tree, np.zeros(tree.n_leaves, np.int64)))
    assert canvas_value(page, "shown") == str(tree.n_leaves)
    page.focus("#tree-canvas")
    for key in ("Home", "ArrowRight", "ArrowDown", "Enter", "Space", "Space", "+", "-", "0"):
        page.keyboard.press(key)
    page.click("#mode-icicle")
    wait_for_value(page, "mode", "icicle")
    page.fill("#search", "row 0")
    page.press("#search", "Enter")
    wait_for_value(page, "current", tree.leaf_of_item[0])


def test_branches_of_very_large_trees_stand_for_their_rows(open_page, made_result):
    result = made_result(30_000)
    page = open_page(result)
    assert int(canvas_value(page, "shown")) <= 20_000
    assert "branches at the ends stand for all their rows" in page.locator("#tree-keys").inner_text()
    page.focus("#tree-canvas")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert page.locator("#selected").inner_text() == "branch of 30,000 rows"


def test_a_phone_shows_all_within_its_width_and_a_low_bar(open_page, made_result):
    page = open_page(made_result(300, has_columns=True), width=360, height=640)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("#controls").bounding_box()["height"] < 640 / 4
    assert page.locator("#tree-canvas").bounding_box()["width"] <= 360
