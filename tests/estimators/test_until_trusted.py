"""Chains of automatic length: they stop when trusted, say why, and do not depend on workers or interruptions."""

import json
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bayesgrove import CrossCat, NRMMixture, load
from bayesgrove.cli.main import main
from bayesgrove.core import notices
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.estimators import chains
from bayesgrove.inference import run, until_trusted
from bayesgrove.inference.status import run_status
from bayesgrove.inference.until_trusted import look_lengths

pytestmark = pytest.mark.unit
SHORT = {"likelihood": "gaussian", "hyper": "fixed", "n_chains": 2, "n_tune": 20, "random_state": 0}
"""Fixed hyperparameters: such chains mix within a few hundred draws."""


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(centre, 1.0, (15, 2)) for centre in (0.0, 6.0)])


@pytest.fixture(scope="module")
def trusted(X):
    return NRMMixture(**SHORT, time_limit=None).fit(X)


def labels_of(model):
    return model.posterior_.labels.tobytes()


def test_chains_go_on_until_trusted_and_say_so(trusted):
    assert trusted.stop_reason_ == "trusted"
    assert trusted.converged_
    assert trusted.posterior_.n_draws in set(look_lengths())
    assert trusted.result_.provenance["stopped"] == "trusted"


def test_they_equal_chains_of_that_length(X, trusted):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing to warn of
        fixed = NRMMixture(**SHORT, n_draws=trusted.posterior_.n_draws).fit(X)
    assert labels_of(fixed) == labels_of(trusted)
    assert fixed.stop_reason_ == "all draws made"


def test_the_length_was_needed(X, trusted):
    """The look before was not trusted."""
    lengths = list(look_lengths())
    place = lengths.index(trusted.posterior_.n_draws)
    if place == 0:
        pytest.fail("the table must need a second look")
    assert not trusted.posterior_.subset(draws=slice(lengths[place - 1])).diagnostics().converged


def test_workers_and_folders_do_not_matter(X, trusted, tmp_path):
    model = NRMMixture(**SHORT, time_limit=None, n_jobs=2, run_dir=tmp_path / "run").fit(X)
    assert labels_of(model) == labels_of(trusted)
    found = run_status(tmp_path / "run")
    assert found.is_finished
    assert found.stopped == "trusted"
    assert [status for _, status in found.looks][-1] == "trusted"


def test_a_run_cut_at_any_place_goes_on_to_the_same_bits(X, trusted, tmp_path):
    """Logs as a killed process leaves them: cut at other bytes in each chain."""
    whole = tmp_path / "run"
    NRMMixture(**SHORT, time_limit=None, run_dir=whole).fit(X)
    rng = np.random.default_rng(1)
    for _ in range(3):
        for log in sorted(whole.glob("chain-*.log")):
            size = log.stat().st_size
            with open(log, "r+b") as stream:
                stream.truncate(int(rng.integers(size // 4, size)))
        model = NRMMixture(**SHORT, time_limit=None, run_dir=whole, resume=True).fit(X)
        assert labels_of(model) == labels_of(trusted)


def test_time_is_up(X):
    """The last, unfinished stage counts as far as all chains have come."""
    with pytest.warns(ConvergenceWarning, match=r"NRMMixture did not fully converge \(time limit\)"):
        model = NRMMixture(**SHORT | {"n_chains": 1, "n_tune": 0}, time_limit=0.02).fit(X)
    assert model.stop_reason_ == "time limit"
    assert not model.converged_


def test_fit_warns_of_short_chains(X, tmp_path):
    words = r"^NRMMixture did not fully converge \(all draws made\)\. "
    with pytest.warns(ConvergenceWarning, match=words) as caught:
        model = NRMMixture(**SHORT, n_draws=20).fit(X)
    assert caught[0].filename == __file__  # where fit was called
    model.save(tmp_path / "model.bg")
    assert load(tmp_path / "model.bg").stop_reason_ == "all draws made"


def test_chains_of_automatic_length_can_be_continued(X, trusted):
    model = NRMMixture(**SHORT, time_limit=None).fit(X)
    model.continue_fit(50)
    assert model.posterior_.n_draws == trusted.posterior_.n_draws + 50
    assert model.stop_reason_ == "all draws made"


def test_other_words_than_auto_are_refused(X):
    with pytest.raises(InvalidSettingError, match="n_draws must be a whole number"):
        NRMMixture(n_draws="many").fit(X)
    with pytest.raises(InvalidSettingError, match="time_limit must be a positive number"):
        NRMMixture(time_limit="soon").fit(X)


def test_the_command_line_shows_the_approach(X, tmp_path, capsys):
    np.savetxt(tmp_path / "table.csv", X, delimiter=",", header="a,b", comments="")
    settings = [
        word for name, value in SHORT.items() if name != "random_state" for word in ("--set", f"{name}={value}")
    ]
    out = tmp_path / "run"
    command = ["fit", "nrm-mixture", str(tmp_path / "table.csv"), "--out", str(out), *settings]
    assert main([*command, "--set", "n_draws=20"]) == 0
    assert main(["resume", str(out), "--until", "converged"]) == 0
    capsys.readouterr()
    assert main(["status", str(out)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "ended (trusted)" in shown
    assert "250 draws: " in shown
    assert "stopped: trusted" in shown
    assert json.loads((out / "summary.json").read_text())["verdict"].startswith("Trusted")


def test_a_line_every_while_says_how_far_the_chains_are(X, caplog, monkeypatch):
    monkeypatch.setattr(chains, "telling", lambda words: notices.telling(words, 0.01))
    with caplog.at_level("INFO", "bayesgrove.progress"):
        NRMMixture(**SHORT, time_limit=600).fit(X)
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0].startswith("NRMMixture: no verdict yet; ")
    assert any("trusted at 250 draws per chain" in line for line in lines)
    assert all(line.endswith(" s of at most 600 s") for line in lines)


def test_workers_come_to_help_once_the_first_draws_took_long(X, trusted, monkeypatch):
    asked = []
    monkeypatch.setattr(until_trusted, "WORTH_WORKERS", 0.0)
    monkeypatch.setattr(run, "_effective_n_jobs", lambda n_jobs: asked.append(n_jobs) or 1)
    assert labels_of(NRMMixture(**SHORT, time_limit=None).fit(X)) == labels_of(trusted)
    assert asked[0] is None
    assert set(asked[1:]) == {-1}
    NRMMixture(**SHORT, time_limit=None, n_jobs=1).fit(X)
    assert asked[-1] == 1


def test_crosscat_has_the_same_default():
    model = CrossCat()
    assert (model.n_draws, model.time_limit) == ("auto", "auto")
