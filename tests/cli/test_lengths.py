"""`--until`, `--time-limit` and `warm-up`; lines in output that is redirected."""

import re

import pytest

from bayesgrove.cli import progress
from bayesgrove.cli.main import main
from bayesgrove.cli.settings import length_settings
from bayesgrove.core import notices
from bayesgrove.core.errors import InvalidSettingError

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("given", "settings"),
    [
        ((None, None), {}),
        ((None, 5.0), {"time_limit": 5.0}),
        (("converged", None), {"n_draws": "auto", "time_limit": None}),
        (("converged", 5.0), {"n_draws": "auto", "time_limit": 5.0}),
    ],
)
def test_lengths(given, settings):
    assert length_settings(*given) == settings


def test_contradicting_lengths_are_refused(tmp_path, capsys):
    with pytest.raises(InvalidSettingError, match="--until must be 'converged', got 'tired'"):
        length_settings("tired", None)
    assert main(["resume", str(tmp_path), "--until", "converged", "--draws", "9"]) == 2
    assert "give one of them" in capsys.readouterr().err


class Model:
    """An estimator without chains."""


def test_redirected_output_has_lines(monkeypatch, capsys):
    monkeypatch.setattr(progress, "telling", lambda words: notices.telling(words, 0.01))
    seen = []
    monkeypatch.setattr(notices.StderrHandler, "emit", lambda self, record: seen.append(record.getMessage()))
    model = Model()
    with progress.log_to_stderr(0), progress.progress_of(model, "bhc on 9 rows"):
        model._progress(3, 10)
        while not any("steps" in line for line in seen):
            pass
    assert re.fullmatch(r"bhc on 9 rows: \d+ s, 3 of 10 steps done", seen[-1])
    assert not hasattr(model, "_progress")


def test_warming_up_fits_and_says_how_long_it_took(capsys):
    assert main(["warm-up", "tree-hmm"]) == 0
    assert re.fullmatch(r"tree-hmm: trees, \d+\.\d s\n", capsys.readouterr().out)
    assert main(["warm-up", "no-model"]) == 2
    assert "MODEL is one of" in capsys.readouterr().err
