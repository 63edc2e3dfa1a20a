"""Parts of the mixture experiments: priors, starts, verdicts, tables, pictures, on made-up runs."""

import json
from pathlib import Path

import numpy as np
import pytest
from papers import nrm_cases as cases
from papers import nrm_claims as judge
from papers import nrm_runs as runs
from papers import nrm_study as study
from papers import nrm_toy
from papers.nrm_runs import GIBBS, OURS, PRINTED, SAMPLERS, SPLIT_MERGE, Run

from bayesgrove.core.rng import generator

pytestmark = pytest.mark.unit
RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"


def made_up(best=-10.0, sweep=0.1, log_r=-2.0, moves=1.0, n_clusters=13, n_sweeps=40):
    """A run whose log joint wanders around a little below `best`, which it reaches in the end."""
    wander = moves * generator(1).normal(size=n_sweeps)
    log_joint = best - np.abs(wander)
    log_joint[-1] = best
    ratios = np.array([]) if log_r is None else np.full(6, log_r)
    clusters = np.full(n_sweeps, float(n_clusters))
    return Run(sweep * np.arange(1, n_sweeps + 1), log_joint, clusters, ratios, np.array([0, 0, 1, 1]))


def all_runs(n_runs=5, **changes):
    """Made-up runs of all samplers, alike but for the changes of those that are named."""
    plain = {GIBBS: {"log_r": None}, SPLIT_MERGE: {"log_r": -300.0}, PRINTED: {}, OURS: {}}
    return {
        name: [
            made_up(**{key: value(k) if callable(value) else value for key, value in settings.items()})
            for k in range(n_runs)
        ]
        for name, settings in ((name, plain[name] | changes.get(name, {})) for name in SAMPLERS)
    }


def verdict(judge_one, by_name, name=PRINTED):
    return judge_one("DP", name, by_name).verdict


def test_a_higher_log_joint_is_judged_in_pairs():
    assert verdict(judge.judge_higher, all_runs()) == "undecided"
    assert verdict(judge.judge_higher, all_runs(**{PRINTED: {"best": -8.0}})) == "holds"
    assert verdict(judge.judge_higher, all_runs(**{PRINTED: {"best": -9.8}})) == "undecided"
    assert verdict(judge.judge_higher, all_runs(**{PRINTED: {"best": -20.0}})) == "fails"
    assert verdict(judge.judge_higher, all_runs(**{GIBBS: {"best": -20.0}})) == "undecided"
    assert verdict(judge.judge_higher, all_runs(4, **{PRINTED: {"best": -8.0}})) == "undecided"


def test_who_is_there_sooner():
    assert verdict(judge.judge_sooner, all_runs()) == "undecided"
    assert verdict(judge.judge_sooner, all_runs(**{PRINTED: {"sweep": 0.01}})) == "holds"
    assert verdict(judge.judge_sooner, all_runs(**{PRINTED: {"sweep": 1.0}})) == "fails"
    far = {"best": -50.0}
    assert verdict(judge.judge_sooner, all_runs(**{PRINTED: far})) == "fails"
    assert verdict(judge.judge_sooner, all_runs(**{GIBBS: far, SPLIT_MERGE: far})) == "holds"
    assert verdict(judge.judge_sooner, all_runs(**{PRINTED: far, GIBBS: far, SPLIT_MERGE: far})) == "undecided"
    assert "inf (0 of 5 runs)" in judge.judge_sooner("DP", PRINTED, all_runs(**{PRINTED: far})).ours


def test_spreads_are_judged_by_their_ratio():
    scattered = {"best": lambda k: -10.0 - 9.0 * k}
    assert verdict(judge.judge_spread, all_runs(**{GIBBS: scattered, SPLIT_MERGE: scattered})) == "holds"
    assert verdict(judge.judge_spread, all_runs(**{PRINTED: scattered})) == "fails"
    assert verdict(judge.judge_spread, all_runs()) == "undecided"
    assert verdict(judge.judge_spread, all_runs(4, **{PRINTED: scattered})) == "undecided"
    nearly = {"best": lambda k: -10.0 - 0.01 * k}
    assert verdict(judge.judge_spread, all_runs(**{PRINTED: nearly})) == "undecided"


def test_ratios_are_far_nearer_to_zero():
    assert verdict(judge.judge_ratio, all_runs()) == "holds"
    assert verdict(judge.judge_ratio, all_runs(**{PRINTED: {"log_r": -40.0}})) == "fails"
    assert verdict(judge.judge_ratio, all_runs(**{SPLIT_MERGE: {"log_r": None}})) == "undecided"
    assert "-2.0, split-merge -300.0" in judge.judge_ratio("DP", PRINTED, all_runs()).ours


def test_effective_draws_and_time_of_a_sweep():
    quick = all_runs(**{PRINTED: {"sweep": 0.01}})
    assert verdict(judge.judge_effective, quick) == verdict(judge.judge_time, quick) == "holds"
    slow = all_runs(**{PRINTED: {"sweep": 1.0}})
    assert verdict(judge.judge_effective, slow) == verdict(judge.judge_time, slow) == "fails"
    short = all_runs(**{name: {"n_sweeps": 9} for name in SAMPLERS})
    assert verdict(judge.judge_effective, short) == "undecided"
    assert runs.effective_draws(np.zeros(50)) == 0.0


def test_laws_of_clusters():
    mixed = {"n_clusters": lambda k: 13 + (k == 0)}
    by_name = all_runs(**{OURS: mixed})
    assert runs.law_of_clusters(by_name[OURS]) == {13: pytest.approx(0.8), 14: pytest.approx(0.2)}
    sure = judge.judge_law("DP", PRINTED, by_name, "mostly", 13, 0.75, 1.0)
    assert (sure.verdict, sure.ours) == ("holds", "1.00 of the sweeps have 13 clusters, 1.00 to 1.00 by run")
    assert judge.judge_law("DP", PRINTED, by_name, "half", 13, 0.45, 0.63).verdict == "fails"
    assert judge.judge_law("DP", OURS, by_name, "half", 13, 0.45, 0.63).verdict == "undecided"
    assert judge.judge_law("DP", PRINTED, all_runs(4), "mostly", 13, 0.75, 1.0).verdict == "undecided"
    assert [claim.verdict for claim in nrm_toy.law_claims({"DP": by_name})] == ["holds", "undecided"]


@pytest.fixture(scope="module")
def small():
    """Two far groups in the plane, under the paper's prior."""
    classes = np.repeat([0, 1], 20)
    return cases.gaussian_case("small", far_groups(), classes)


def far_groups():
    return generator(2).normal(size=(40, 2)) + 9.0 * np.repeat([0, 1], 20)[:, None]


def test_the_prior_is_the_papers(small):
    prior, covariance = small.prior, np.cov(small.values.T)
    assert prior.strength == 0.1
    assert prior.dof == 2 + 6
    assert prior.mean == pytest.approx(small.values.mean(axis=0))
    factor = prior.scale / covariance  # encoding divides rows by a number: compare what that leaves alone
    assert factor == pytest.approx(np.sqrt(0.1 / np.linalg.det(np.cov(far_groups().T))))


def test_tables_show_the_authors_logs_beside_ours(small):
    found = {"DP": all_runs(2)}
    four = small._replace(classes=np.array([0, 0, 1, 1]))
    tables = study.tables(four, found, cases.TOY_LOGS)
    printed = next(row for row in tables["samplers"] if row["sampler"] == PRINTED)
    assert (printed["logs_log_joint"], printed["log_joint"], printed["ari"]) == (-1577.7, -10.0, 1.0)
    assert printed["log_r"] == -2.0
    assert printed["accepted"] == pytest.approx(np.exp(-2.0))
    gibbs = tables["samplers"][0]
    assert gibbs["log_r"] is None
    assert "ari" not in study.sampler_row(four._replace(classes=None), "DP", GIBBS, found["DP"][GIBBS], None)
    curves = tables["log joint by time"]
    assert len(curves) == study.N_TIMES
    assert curves[-1]["seconds"] == pytest.approx(4.0)
    assert curves[-1][OURS] == -10.0
    assert tables["numbers of clusters"] == [{"process": "DP", "clusters": 13, **dict.fromkeys(SAMPLERS, 1.0)}]


def test_claims_are_those_of_the_paper_for_both_samplers():
    found = study.claims({"DP": all_runs(), "NGGP": all_runs()})
    assert len({claim.paper for claim in found}) == len(found) == 24
    assert sum(claim.paper.endswith("[NGGP, as printed]") for claim in found) == 6


@pytest.mark.parametrize("path", sorted(RESULTS.glob("nrm-*/outcome.json")), ids=lambda path: path.parent.name)
def test_what_is_committed_has_todays_claims(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    processes = {row["process"] for row in document["tables"]["samplers"]}
    wanted = {claim.paper for claim in study.claims(dict.fromkeys(processes, all_runs()))}
    assert wanted <= {claim["paper"] for claim in document["claims"]}


def test_curves_are_drawn(small):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    ax = figure.subplots()
    (draw,) = study.figures(small, {"DP": all_runs(2)}).values()
    draw(ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(SAMPLERS)
    assert len(ax.lines) == 3 * len(SAMPLERS)
