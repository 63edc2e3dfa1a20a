"""A page of tree data calls trees trees, in every text a reader meets."""

import re

import pytest

from reference.planted import planted_result

pytestmark = pytest.mark.browser


@pytest.fixture
def page(open_page):
    """Clusters of trees, one of them a single tree, with chains and features."""
    return open_page(planted_result((9, 7, 1), chains=(2, 40), noun="tree"))


def test_no_text_of_the_page_speaks_of_rows(page):
    page.locator("#cluster-table button.sort").nth(1).click()
    page.locator("#cluster-table tbody tr").first.click()
    shown = page.locator("main").evaluate("main => main.innerText")
    told = page.locator("main").evaluate(
        "main => Array.from(main.querySelectorAll('[title],[aria-label]'), (e) => [e.title, e.ariaLabel]).join(' ')"
    )
    assert re.findall(r".*\brows?\b.*", f"{shown}\n{told}", re.IGNORECASE) == []
    assert "17 trees" in shown
    assert page.locator("#rows h2").inner_text() == "Features" == page.locator("nav a[href='#rows']").inner_text()
    assert page.locator("#cluster-table th").nth(1).inner_text() == "Trees"


def test_what_is_selected_is_said_to_be_trees(page):
    page.focus("#tree-canvas")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert page.locator(".selected-words").first.inner_text().startswith("Selected: branch of 17 trees")
