"""Chains of `NRMMixture`: the same draws however they were run, cut, resumed, continued or watched."""

import copy
import logging
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from bayesgrove import NRMMixture, load
from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.estimators import callbacks

pytestmark = pytest.mark.unit

SHORT = {"process": "nggp", "n_chains": 2, "n_tune": 7, "n_draws": 40, "random_state": 3}


def mixture(**settings):
    return NRMMixture(**{**SHORT, **settings})


@pytest.fixture
def noise():
    """Thirty rows that fall into clusters in many ways."""
    return generator(1).normal(0, 1.5, (30, 2))


def draws_of(model):
    """All that was drawn, as bytes."""
    posterior = model.posterior_
    return posterior.labels.tobytes(), {name: values.tobytes() for name, values in posterior.scalars.items()}


def assert_same_model(one, other):
    assert draws_of(one) == draws_of(other)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert one.acceptance_ == other.acceptance_
    assert one.likelihood_ == other.likelihood_
    assert (one.concentration_, one.sigma_, one.converged_) == (other.concentration_, other.sigma_, other.converged_)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_draws_do_not_depend_on_the_number_of_jobs(noise, backend):
    alone = mixture(n_chains=4, n_jobs=1).fit(noise)
    for n_jobs in (2, 4):
        with joblib.parallel_config(backend=backend):
            assert_same_model(mixture(n_chains=4, n_jobs=n_jobs).fit(noise), alone)
    assert len({chain.tobytes() for chain in alone.posterior_.labels}) == 4


def test_seeds_matter(noise):
    assert draws_of(mixture().fit(noise)) == draws_of(mixture().fit(noise))
    assert draws_of(mixture(random_state=4).fit(noise)) != draws_of(mixture().fit(noise))
    assert draws_of(mixture(random_state=None).fit(noise)) != draws_of(mixture(random_state=None).fit(noise))


@pytest.mark.parametrize("thin", [1, 3])
def test_a_continued_run_is_a_longer_one(noise, tmp_path, thin):
    whole = mixture(thin=thin).fit(noise)
    in_memory = mixture(n_draws=9, thin=thin).fit(noise).continue_fit(11).continue_fit(20)
    assert_same_model(in_memory, whole)
    on_disk = mixture(n_draws=9, thin=thin, run_dir=tmp_path / "run").fit(noise).continue_fit(11).continue_fit(20)
    assert_same_model(on_disk, whole)
    for n_draws in (0, 1.5):
        with pytest.raises(InvalidSettingError, match="n_draws must be a whole number of at least 1"):
            whole.continue_fit(n_draws)


def test_a_model_from_a_file_has_nothing_to_continue(noise, tmp_path):
    mixture().fit(noise).save(tmp_path / "model.bg")
    with pytest.raises(InvalidSettingError, match="has no data to continue with"):
        load(tmp_path / "model.bg").continue_fit(3)


def test_a_run_cut_by_time_goes_on(noise, tmp_path):
    n_draws = 3_000
    cut = mixture(n_tune=0, n_draws=n_draws, run_dir=tmp_path / "run", time_limit=0.3).fit(noise)
    n_before = cut.posterior_.n_draws
    assert 0 < n_before < n_draws
    resumed = mixture(n_tune=0, n_draws=n_before + 50, run_dir=tmp_path / "run", resume=True).fit(noise)
    whole = mixture(n_tune=0, n_draws=n_before + 50).fit(noise)
    assert draws_of(resumed) == draws_of(whole)
    np.testing.assert_array_equal(resumed.labels_, whole.labels_)


def test_a_resumed_run_has_its_own_seed(noise, tmp_path):
    settings = {"run_dir": str(tmp_path / "run"), "random_state": None}
    first = mixture(n_draws=10, **settings).fit(noise)
    second = mixture(n_draws=25, resume=True, **settings).fit(noise)
    np.testing.assert_array_equal(second.posterior_.labels[:, :10], first.posterior_.labels)
    assert_same_model(second, mixture(n_draws=25, random_state=first._seed).fit(noise))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"random_state": 4}, "seed"),
        ({"process": "dp"}, "process"),
        ({"concentration": 2.0}, "process"),
        ({"sampler": "gibbs"}, "sampler"),
        ({"init": "one"}, "init"),
        ({"n_chains": 3}, "n_chains"),
        ({"n_tune": 8}, "n_tune"),
        ({"thin": 2}, "thin"),
        ({"hyper": "fixed"}, "learned"),
        ({"likelihood": "gaussian-known-variance"}, "likelihood_numbers"),
    ],
    ids=str,
)
def test_a_run_with_other_settings_is_refused(noise, tmp_path, settings, message):
    mixture(n_draws=5, run_dir=tmp_path / "run").fit(noise)
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    with pytest.raises(InvalidFileError, match=message):
        mixture(**{"n_draws": 5, "run_dir": tmp_path / "run", "resume": True, **settings}).fit(noise)
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before


def test_a_run_of_other_data_or_labels_is_refused(noise, tmp_path):
    settings = {"n_draws": 5, "run_dir": tmp_path / "run", "init": np.arange(30) % 2}
    mixture(**settings).fit(noise)
    with pytest.raises(InvalidFileError, match="holds a run already"):
        mixture(**settings).fit(noise)
    with pytest.raises(InvalidFileError, match="data"):
        mixture(**settings, resume=True).fit(noise + np.eye(30, 2))
    with pytest.raises(InvalidFileError, match="init"):
        mixture(**{**settings, "init": np.arange(30) % 3}, resume=True).fit(noise)
    mixture(**settings, resume=True).fit(noise)


def test_copies_answer_alike(noise):
    model = mixture().fit(noise)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert_same_model(other, model)
        np.testing.assert_array_equal(other.score_samples(noise), model.score_samples(noise))
        assert_same_model(other.continue_fit(5), clone(model).set_params(n_draws=45).fit(noise))
    assert not hasattr(clone(model), "posterior_")


def test_progress_is_logged(noise, caplog):
    with caplog.at_level(logging.INFO, "bayesgrove"):
        quiet = mixture().fit(noise)
        assert "sweep" not in caplog.text
        loud = mixture(verbose=1).fit(noise)
    text = caplog.text
    for chain in range(2):
        assert f"chain {chain}: phase finished, sweep 47/47, draws 40" in text
    assert_same_model(loud, quiet)


# ---------------------------------------------------------------- scikit-learn's callbacks


class Counter:
    """Counts tasks by name and path."""

    def __init__(self):
        self.begun, self.ended, self.calls = [], [], []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.begun.append((context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context):
        self.ended.append((context.task_name, context.task_id))


needs_callbacks = pytest.mark.skipif(
    not hasattr(NRMMixture, "set_callbacks"), reason="this scikit-learn has no callbacks"
)


@needs_callbacks
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_callbacks_hear_of_every_block_and_change_nothing(noise, n_jobs, monkeypatch):
    monkeypatch.setattr(callbacks, "MOST_BLOCKS", 10)
    counter = Counter()
    model = mixture(n_jobs=n_jobs).set_callbacks(counter).fit(noise)
    assert counter.calls == ["setup", "teardown"]
    assert sorted(counter.begun) == sorted(counter.ended)
    assert counter.begun[0] == counter.ended[-1] == ("fit", 0)
    assert sorted(task for task in counter.begun if task[0] == "chain") == [("chain", 0), ("chain", 1)]
    assert sorted(task for task in counter.begun if task[0] == "sweeps") == sorted(
        ("sweeps", block) for block in range(10) for _ in range(2)
    )
    assert_same_model(model, mixture().fit(noise))
    model.continue_fit(5)
    assert counter.calls == ["setup", "teardown"] * 2


@needs_callbacks
def test_a_callback_that_fails_harms_no_chain(noise, caplog):
    class Failing(Counter):
        def on_fit_task_end(self, estimator, context):
            raise RuntimeError("what a callback may say")

    counter = Failing()
    model = mixture(verbose=1).set_callbacks(counter).fit(noise)
    assert counter.calls == ["setup", "teardown"]
    assert "the monitor of the run failed" in caplog.text
    assert_same_model(model, mixture().fit(noise))


@needs_callbacks
def test_the_progress_bar_of_scikit_learn(noise, capsys):
    from sklearn.callback import ProgressBar

    model = mixture().set_callbacks(ProgressBar()).fit(noise)
    assert "NRMMixture - fit" in capsys.readouterr().out
    assert_same_model(model, mixture().fit(noise))
