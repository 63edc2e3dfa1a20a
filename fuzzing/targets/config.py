"""What configures: `--set` words, plans of sweeps, and the JSON files of runs and sweeps."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from bayesgrove.cli.models import MODELS, model_class
from bayesgrove.cli.settings import build_model, parse_settings
from bayesgrove.cli.sweep import read_settings
from bayesgrove.sweeps.plan import check_settings, expand_grid, plan_fits
from bayesgrove.sweeps.records import sweep_folder
from fuzzing.cases import Case, Target
from fuzzing.grammars import documents
from fuzzing.targets.places import command, lay_out, workshop
from fuzzing.targets.values import ODD, decoded, encoded, harmless, with_changes

KINDS = ("set", "plan", "request.json", "summary.json", "sweep.json")
ABOUT = {"model": "BHC", "data": "0123", "fixed": {"concentration": 1.0}}


def attempt(case: Case, folder: Path) -> None:
    """Read a configuration and act on it."""
    if case.kind == "set":
        given = decoded(case.content)
        words = [str(word) for word in given] if isinstance(given, list) else []
        name = words[0] if words and words[0] in MODELS else "bhc"
        build_model(model_class(name), parse_settings(words[1:]))
    elif case.kind == "plan":
        (folder / "plan.json").write_bytes(case.content)
        chosen = expand_grid(read_settings(folder / "plan.json"))
        plan_fits(check_settings(model_class("bhc")(), chosen), 2, 0)
    elif case.kind == "sweep.json":
        (folder / "sweep.json").write_bytes(case.content)
        with sweep_folder(folder, ABOUT):
            pass
    else:
        attempt_run(case, folder)


def attempt_run(case: Case, folder: Path) -> None:
    """Commands on a run, one of whose files is the input."""
    if case.kind == "request.json":
        lay_out(folder, "draws", "data.csv")
        (folder / "draws" / case.kind).write_bytes(little_request(case.content))
        command(["resume", "draws"])
    else:
        lay_out(folder, "run", "data.csv")
        (folder / "run" / case.kind).write_bytes(case.content)
        command(["predict", "run", "data.csv"])
        command(["status", "run"])
        command(["report", "run", "-o", "page.html"])


def little_request(content: bytes) -> bytes:
    """A request that stays in the folder and asks for little work."""
    document = decoded(content)
    if not isinstance(document, dict):
        return content
    if isinstance(document.get("settings"), dict):
        document["settings"] = harmless(document["settings"])
    if isinstance(document.get("data"), str):
        document["data"] = Path(document["data"]).name
    return encoded(document)


def structured(kind: str) -> SearchStrategy[bytes]:
    """Words, plans and documents with odd values."""
    if kind == "set":
        keys = st.sampled_from(["concentration", "depth", "n_draws", "likelihood", "x", "", " a ", "cut"])
        values = st.one_of(ODD.map(str), ODD.map(json.dumps), st.sampled_from(["[" * 2000, "1" * 5000, "1e999"]))
        words = st.lists(st.builds("{}={}".format, keys, values), max_size=3)
        return st.builds(lambda name, rest: encoded([name, *rest]), st.sampled_from(sorted(MODELS)), words)
    if kind == "plan":
        keys = st.sampled_from(["concentration", "cut", "likelihood", "n_jobs", "none"])
        grid = st.dictionaries(keys, st.one_of(st.lists(ODD, max_size=3), ODD), max_size=3)
        return st.one_of(grid, st.lists(st.dictionaries(keys, ODD, max_size=2), max_size=3), documents()).map(encoded)
    return st.one_of(with_changes(seeds(kind)), documents().map(encoded))


@cache
def seeds(kind: str) -> Sequence[bytes]:
    """Valid ones."""
    if kind == "set":
        return [encoded(["bhmc", "depth=2", "alpha=0.5"]), encoded(["bhc", "concentration=2", "likelihood=gaussian"])]
    if kind == "plan":
        return [encoded({"concentration": [0.5, 1], "cut": ["half"]}), encoded([{"concentration": 1}])]
    if kind == "sweep.json":
        return [encoded({"format": "bayesgrove sweep", **ABOUT})]
    place = Path(workshop().name) / ("draws" if kind == "request.json" else "run") / kind
    return [little_request(place.read_bytes()) if kind == "request.json" else place.read_bytes()]


TARGET = Target("config", KINDS, structured, seeds, attempt)
