import matplotlib
import pytest

from bayesgrove.plot.words import (
    LARGEST_FONT,
    LETTER,
    SMALL_PICTURE,
    font_of,
    ink,
    plain,
    room,
    set_title,
    shortened,
    told_apart,
    wrapped,
)
from reference.pictures import axes_of_size

matplotlib.use("Agg")
from matplotlib import pyplot

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain", "plain"),
        ("two\nlines\tand\u00a0more", "two lines and more"),
        ("cost in $ or $", r"cost in \$ or \$"),
        ("\x00bell\x07", "bell"),
        ("\u202eturned\ud800", "turned"),
        (17, "17"),
        ("ä … 漢", "ä … 漢"),
    ],
)
def test_plain_names(name, expected):
    assert plain(name) == expected


def test_shortened_names_never_end_within_an_escape():
    for most in range(2, 12):
        short = shortened("$$$$$$$$$$$$", most)
        assert short == r"\$" * (most - 1) + "…"
    assert shortened("abc", 3) == "abc"
    assert shortened("abcd", 3) == "ab…"
    assert shortened(" \n ") == "(blank)"
    assert shortened("x" * 1_000_000, 5) == "xxxx…"


def test_names_that_would_be_cut_to_the_same_keep_their_ends():
    names = ["treatment = drug", "treatment = none", "weight", "a long name of its own", "treatment = drug"]
    assert told_apart(names, 12) == ["treat…= drug", "treat…= none", "weight", "a long name…", "treat…= drug"]
    assert told_apart(["x" * 1_000_000 + "$a", "x" * 1_000_000 + "$b"], 6) == [r"xx…x\$a", r"xx…x\$b"]
    assert all(len(name) == 28 for name in told_apart([f"{'long ' * 9}{k}" for k in range(3)]))


def test_wrapped_lines_fit_and_are_about_equal():
    words = "merge height: running maximum of minus log odds"
    lines = wrapped(words, 32 * LETTER * 8.0, 8.0).split("\n")
    assert " ".join(lines) == words
    assert len(lines) == 2
    assert max(map(len, lines)) <= 32
    assert abs(len(lines[0]) - len(lines[1])) <= 9
    assert wrapped("one\ntwo", 1000.0, 8.0) == "one\ntwo"
    assert wrapped("", 10.0, 8.0) == ""


def test_fonts_grow_with_the_picture():
    small, large = font_of(axes_of_size("small")), font_of(axes_of_size("large"))
    assert SMALL_PICTURE <= small < large <= LARGEST_FONT
    width, height = room(axes_of_size("large"))
    assert (width, height) == pytest.approx((0.775 * 720.0, 0.77 * 504.0))


def test_titles_have_at_most_a_few_lines():
    ax = axes_of_size("small")
    set_title(ax, "word " * 500)
    assert 2 <= ax.get_title().count("\n") + 1 <= 4
    assert ax.get_title().endswith("…")
    set_title(ax, None)
    assert ax.get_title().endswith("…")


@pytest.mark.parametrize(
    ("style", "paper", "expected"),
    [
        ("default", "white", ["#ffffff", "#808080", "#000000"]),
        ("dark_background", "black", ["#000000", "#808080", "#ffffff"]),
        ("default", "none", ["#ffffff", "#808080", "#000000"]),  # see-through paper: what suits the words
        ("dark_background", "none", ["#000000", "#808080", "#ffffff"]),
    ],
)
def test_ink_is_seen_on_any_paper(style, paper, expected):
    with pyplot.style.context(style):
        figure, ax = pyplot.subplots()
        figure.set_facecolor(paper)
        ax.set_facecolor(paper)
        assert [ink(ax, strength) for strength in (0.0, 0.5, 1.0)] == expected
