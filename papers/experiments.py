"""Names of the experiments; a module is imported only when its experiment is run."""

import importlib
from dataclasses import replace
from typing import Any, NamedTuple

from bayesgrove.core.errors import InvalidSettingError
from papers.outcome import Outcome, Tell, undecided

ALL, OURS, NONE = "all", "ours", "none"


class Experiment(NamedTuple):
    """Where an experiment stands, what it shows, and which claims a quick run may decide: the rest needs more runs."""

    place: str
    about: str
    quick_decides: str = ALL


EXPERIMENTS = {
    "bhc-purity": Experiment("bhc_purity", "Heller & Ghahramani 2005: purity of trees of digits, against linkage"),
    "bhcc-views": Experiment("bhcc_views", "Li & Shafto 2011, section 8.1: four views of a 100 x 200 table"),
    "bhcc-cells": Experiment("bhcc_cells", "section 8.2: prediction of hidden cells, synthetic and real tables"),
    "bhcc-columns": Experiment("bhcc_columns", "section 8.3: bound, accuracy and time by number of columns"),
    "bhcc-levels": Experiment("bhcc_levels", "section 8.4: accuracy of the randomized search by its levels"),
    "nrm-toy": Experiment("nrm_toy", "Lee & Choi 2015: tree-guided samplers of mixtures, 1,300 points"),
    "nrm-10k": Experiment("nrm_10k", "Lee & Choi 2015: the same on 10,000 points in 119 groups"),
    "nrm-nips": Experiment("nrm_nips", "Lee & Choi 2015: the same on words of 1,500 papers"),
    "rbhmc-animals": Experiment("rbhmc_animals", "Huang et al. 2021: RBHMC against BHMC on 33 animals", NONE),
    "rbhmc-fashion": Experiment("rbhmc_fashion", "Huang et al. 2021: the same on 100 images of clothes", NONE),
    "rbhmc-penalties": Experiment(
        "rbhmc_penalties", "chance-normalised penalty against BHMC at equal numbers of nodes", NONE
    ),
    "htmm-synthetic": Experiment(
        "htmm_synthetic", "Bacciu & Castellana 2019: mixtures of tree models, synthetic trees", OURS
    ),
    "htmm-inex05": Experiment(
        "htmm_inex05", "Bacciu & Castellana 2019: the same on 4,820 XML documents of INEX 2005", OURS
    ),
}


def reproduce(name: str, *, quick: bool = False, seed: int = 0, data_home: Any = None, tell: Tell = print) -> Outcome:
    """Run an experiment.

    Parameters
    ----------
    name : str
        One of `EXPERIMENTS`.
    quick : bool
        Fewer repeats and smaller tables: minutes become seconds, claims get weaker.
    seed : int
        Of data and methods.
    data_home : path, optional
        Folder of research data; sets that are not there are left out, and the notes say so.
    tell : callable
        Gets a line about each step.
    """
    if name not in EXPERIMENTS:
        raise InvalidSettingError(f"NAME is one of {', '.join(EXPERIMENTS)}, got {name!r}.", name=name)
    module = importlib.import_module(f"papers.{EXPERIMENTS[name].place}")
    outcome: Outcome = module.run(quick=quick, seed=seed, data_home=data_home, tell=tell)
    return outcome if not quick else as_quick(outcome, EXPERIMENTS[name].quick_decides)


def as_quick(outcome: Outcome, decides: str) -> Outcome:
    """A quick outcome without the verdicts that its few runs cannot give."""
    if decides == ALL:
        return outcome
    note = "Quick: too few runs to judge the paper's claims." if decides == OURS else "Quick: too few runs to judge."
    claims = undecided(outcome.claims, but="ours" if decides == OURS else "")
    return replace(outcome, claims=claims, notes=[*outcome.notes, note])
