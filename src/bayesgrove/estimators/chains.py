"""What estimators that run Markov chains share: parameters, running, resuming, continuing, diagnostics."""

import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.notices import telling
from bayesgrove.core.rng import generator, resolve_seed
from bayesgrove.estimators.callbacks import CallbackSupportMixin, add_callbacks, with_callbacks
from bayesgrove.estimators.saving import SavedEstimator
from bayesgrove.estimators.settings import check_choice, check_n_jobs, check_positive, check_whole
from bayesgrove.inference.diagnostics import Diagnostics
from bayesgrove.inference.folder import NAME, read_run
from bayesgrove.inference.monitors import Monitor, default_monitor
from bayesgrove.inference.posterior import Posterior
from bayesgrove.inference.repair import known_seed
from bayesgrove.inference.run import REPAIR, ChainResult, RunSettings, continue_chains, run_chains
from bayesgrove.inference.sampler import Sampler
from bayesgrove.inference.schedule import Schedule
from bayesgrove.inference.until_trusted import DEFAULT_SECONDS, MOST_DRAWS, TIME_LIMIT, run_until_trusted
from bayesgrove.inference.verdict import Verdict
from bayesgrove.io.schema import Reading
from bayesgrove.stats.numbering import by_size
from bayesgrove.stats.partitions import relabel

CHAIN_PATH = 0xC4A1
"""Keys the generators of chains, apart from all others of a seed."""
ESTIMATE_PATH = 0xE571
ALL_DRAWN = "all draws made"
"""Why chains of given length stop."""
ESTIMATES = ("vi", "binder", "map")
"""What stands for all draws: the partition of least expected loss, or the draw of largest log joint."""


class ChainEstimator(CallbackSupportMixin, SavedEstimator):
    """Base of estimators fitted by Markov chain Monte Carlo."""

    estimate: str
    n_chains: int
    n_tune: int
    n_draws: Any
    thin: int
    run_dir: Any
    resume: Any
    time_limit: Any
    random_state: Any
    n_jobs: int | None
    verbose: int

    posterior_: Posterior
    diagnostics_: Diagnostics
    converged_: bool
    stop_reason_: str

    _extra_draws: ClassVar[tuple[str, ...]] = ()
    """Arrays of draws that model files keep besides labels or paths."""
    _about: dict[str, Any]
    _sampler: Any

    def _check_chain_settings(self) -> None:
        if hasattr(self, "estimate"):  # hierarchies choose a draw
            check_choice("estimate", self.estimate, ESTIMATES)
        for name, least in (("n_chains", 1), ("n_tune", 0), ("n_draws", 1), ("thin", 1)):
            if name != "n_draws" or not self._goes_on_until_trusted:
                check_whole(name, getattr(self, name), least)
        check_n_jobs(self.n_jobs)
        if self.time_limit is not None and not (isinstance(self.time_limit, str) and self.time_limit == "auto"):
            check_positive("time_limit", self.time_limit)
        if self.run_dir is not None and not isinstance(self.run_dir, str | os.PathLike):
            raise InvalidSettingError(f"run_dir must be None or the path of a folder, got {self.run_dir!r:.80}.")
        check_choice("resume", self.resume, (False, True, REPAIR))
        if self.resume and self.run_dir is None:
            raise InvalidSettingError("resume=True needs run_dir, the folder of the run to resume.")

    def _resolve_seed(self) -> int:
        """The seed; a run that is resumed without one goes on with its own."""
        if self.random_state is None and self.resume and os.path.exists(Path(self.run_dir) / NAME):
            return (
                known_seed(Path(self.run_dir)) if self.resume == REPAIR else int(read_run(Path(self.run_dir))["seed"])
            )
        return resolve_seed(self.random_state)

    @property
    def _goes_on_until_trusted(self) -> bool:
        return isinstance(self.n_draws, str) and self.n_draws == "auto"

    def _settings(self, about: dict[str, Any]) -> RunSettings:
        limit = self.time_limit
        if isinstance(limit, str):  # "auto"
            limit = DEFAULT_SECONDS if self._goes_on_until_trusted else None
        return RunSettings(
            n_chains=self.n_chains,
            n_draws=MOST_DRAWS if self._goes_on_until_trusted else self.n_draws,
            seed=self._seed,
            path=(CHAIN_PATH,),
            n_jobs=self.n_jobs,
            run_dir=self.run_dir,
            resume=self.resume,
            time_limit=limit,
            model_name=type(self).__name__,
            about=about,
        )

    def _monitor_for_run(self) -> Monitor | None:
        """The one a caller has set, else progress when verbose; and scikit-learn's callbacks."""
        monitor = getattr(self, "_monitor", None) or (default_monitor() if self.verbose else None)
        return add_callbacks(self, self.n_chains, monitor)

    @with_callbacks
    def _watched(self, run: Callable[[Monitor | None], Any]) -> Any:
        """The chains that `run` gives when it has a monitor."""
        return run(self._monitor_for_run())

    def _run(self, sampler: Sampler, schedule: Schedule, about: dict[str, Any]) -> None:
        self._sampler, self._schedule, self._about = sampler, schedule, about
        settings = self._settings(about)
        if self._goes_on_until_trusted:
            chains = self._run_until_trusted(sampler, schedule, settings)
        else:
            chains = self._watched(lambda monitor: run_chains(sampler, schedule, settings, monitor))
            self._note_stop(ALL_DRAWN if chains[0].n_draws >= self.n_draws else TIME_LIMIT)
        self._keep_chains(chains)

    def _run_until_trusted(self, sampler: Sampler, schedule: Schedule, settings: RunSettings) -> list[ChainResult]:
        """Chains of automatic length; every ten seconds a line says how far they are."""
        start, status = time.monotonic(), ["no verdict yet"]
        most = "" if settings.time_limit is None else f" of at most {settings.time_limit:.0f} s"

        def judge(chains: list[ChainResult]) -> Verdict:
            verdict = self._verdict_on(chains)
            status[0] = f"{verdict.status} at {chains[0].n_draws:,} draws per chain"
            return verdict

        n_jobs = -1 if self.n_jobs is None and multiprocessing.parent_process() is None else None
        what = (sampler, schedule, settings, judge)
        with telling(lambda: f"{type(self).__name__}: {status[0]}; {time.monotonic() - start:.0f} s{most}"):
            chains, stop = self._watched(lambda monitor: run_until_trusted(*what, monitor, n_jobs_later=n_jobs))
        self._note_stop(stop.reason)
        return chains

    def _note_stop(self, reason: str) -> None:
        self.stop_reason_ = reason
        self._about = {**self._about, "stopped": reason}

    def continue_fit(self, n_draws: int) -> Self:
        """Continue the chains for more draws; the result is as if they had been longer from the start.

        Parameters
        ----------
        n_draws : int
            More draws of each chain.
        """
        check_is_fitted(self, "posterior_")
        check_whole("n_draws", n_draws, 1)
        if getattr(self, "_sampler", None) is None:
            raise InvalidSettingError(
                "a model read from a file, or given further rows, has no data to continue with. Fit with run_dir, and "
                "resume=True later."
            )
        settings = self._settings(self._about)
        if not isinstance(self.time_limit, float | int):
            settings = replace(settings, time_limit=None)
        before = (self._sampler, self._schedule, self._chains)
        n_wanted = self.posterior_.n_draws + n_draws
        chains = self._watched(lambda monitor: continue_chains(*before, n_draws, settings, monitor))
        self._note_stop(ALL_DRAWN if chains[0].n_draws >= n_wanted else TIME_LIMIT)
        self._keep_chains(chains)
        self._summarise()
        return self

    def _posterior_of(self, chains: list[ChainResult]) -> Posterior:
        scalars = [chain.scalars for chain in chains]
        stacked = {name: np.stack([scalar[name] for scalar in scalars]) for name in scalars[0]}
        return self._make_posterior([chain.draws for chain in chains], stacked)

    def _verdict_on(self, chains: list[ChainResult]) -> Verdict:
        return self._diagnose(self._posterior_of(chains)).verdict

    def _diagnose(self, posterior: Posterior) -> Diagnostics:
        """Convergence of what users read off."""
        return posterior.diagnostics()

    def _keep_chains(self, chains: list[ChainResult]) -> None:
        """The posterior and what it says of itself."""
        self._chains = chains
        self.acceptance_ = add_counts(chains)
        self._keep_posterior(self._posterior_of(chains))
        if not self.converged_:
            words = f"{type(self).__name__} did not fully converge ({self.stop_reason_})."
            warnings.warn(
                f"{words} {self.diagnostics_.verdict.sentence}", ConvergenceWarning, stacklevel=frames_to_caller()
            )

    def _make_posterior(self, draws: list[dict[str, np.ndarray]], scalars: dict[str, np.ndarray]) -> Posterior:
        """The posterior of each chain's draws by name; families whose draws are no labels of rows have their own."""
        stacked = {name: np.stack([draw[name] for draw in draws]) for name in draws[0]}
        return Posterior(stacked.pop("labels"), scalars, stacked, self._posterior_attributes())

    def _point_estimate(self, posterior: Posterior, *path: int) -> np.ndarray:
        """Labels of the draw of largest log joint, or those of least expected loss."""
        if self.estimate == "map":
            log_joint = self.posterior_.scalars["log_joint"]
            return by_size(relabel(posterior.labels[np.unravel_index(np.argmax(log_joint), log_joint.shape)]))
        rng = generator(self._seed, ESTIMATE_PATH, *path)
        return by_size(posterior.point_estimate(self.estimate, random_state=rng, n_jobs=self.n_jobs).labels)

    def _posterior_attributes(self) -> dict[str, Any]:
        estimate = {"estimate": self.estimate} if hasattr(self, "estimate") else {}
        return {"model": type(self).__name__, "seed": self._seed, **estimate}

    def _keep_posterior(self, posterior: Posterior) -> None:
        self.posterior_, self.diagnostics_ = posterior, self._diagnose(posterior)
        self.converged_ = self.diagnostics_.converged

    def _keep_read_posterior(self, make: Callable[..., Posterior], draws: np.ndarray, reading: Reading) -> None:
        """The posterior of a model file, whose chains cannot be continued."""
        extra = {name: reading[name] for name in self._extra_draws if name in reading.values}
        self._keep_posterior(make(draws, reading["scalars"], extra, self._posterior_attributes()))
        self._about, self._sampler = reading["provenance"], None
        self.stop_reason_ = str(self._about.get("stopped", ALL_DRAWN))

    def _result_parts(self) -> dict[str, Any]:
        return {**super()._result_parts(), "posterior": self.posterior_, "diagnostics": self.diagnostics_}

    def _summarise(self) -> None:
        """Set what follows from the posterior."""
        raise NotImplementedError


def frames_to_caller() -> int:
    """The `stacklevel` of a warning that points at the line that called this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("bayesgrove."):
        level, frame = level + 1, frame.f_back
    return level


def add_counts(chains: list[ChainResult]) -> dict[str, dict[str, int]]:
    """Counts by move and name over all chains; moves that count nothing are left out."""
    totals: dict[str, dict[str, int]] = {}
    for chain in chains:
        for move, counts in chain.counts.items():
            for name, count in counts.items():
                own = totals.setdefault(move, {})
                own[name] = own.get(name, 0) + count
    return totals
