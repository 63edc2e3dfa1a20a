"""The pictures of the report in the documentation are those of today's page."""

import numpy as np
import pytest
from PIL import Image

from browser.screenshots import FOLDER, showcase, showcase_of_views, take, take_views

pytestmark = pytest.mark.browser

MOST_DIFFERENT = 0.02
"""Mean difference of pixels between 0 and 1: fonts are drawn a little differently elsewhere."""


def pixels(path):
    with Image.open(path) as picture:
        return np.asarray(picture.convert("L"), np.float64) / 255.0


def test_pictures_in_the_documentation_are_current(browser, tmp_path):
    taken = [*take(browser, showcase(), tmp_path), take_views(browser, showcase_of_views(), tmp_path)]
    assert len(taken) == 9
    for path in taken:
        kept, now = pixels(FOLDER / path.name), pixels(path)
        words = f"{path.name} is not what the page looks like; run: make screenshots"
        assert kept.shape == now.shape, words
        assert np.abs(kept - now).mean() < MOST_DIFFERENT, words
