"""Model files: with damaged bytes, and with other contents under right checksums."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import bayesgrove as bg
from bayesgrove.io.model_file import read_model, write_model
from bayesgrove.report.document import report_document
from fuzzing.cases import Case, Target
from fuzzing.targets.estimators import CLUSTERS, FOREST, LITTLE, OF_TREES, forest
from fuzzing.targets.values import array_of, decoded, encoded, plain_array, with_changes

RAW = "bytes"
KINDS = (RAW, *LITTLE)


def attempt(case: Case, folder: Path) -> None:
    """Load the file, and use a model that was accepted."""
    path = folder / "model.bg"
    if case.kind == RAW:
        path.write_bytes(case.content)
    else:
        write_signed(path, decoded(case.content), case.kind)
    use(bg.load(path), folder)


def write_signed(path: Path, given: Any, kind: str) -> None:
    """A model file of whatever is given, its checksums right."""
    given = given if isinstance(given, dict) else {}
    listed = given.get("arrays")
    arrays = {name: array_of(value) for name, value in (listed if isinstance(listed, dict) else {}).items()}
    numbers = {name: array for name, array in arrays.items() if array is not None and array.dtype.kind in "biuf"}
    document = given.get("document")
    write_model(path, kind, document if isinstance(document, dict) else {}, numbers)


def use(model: Any, folder: Path) -> None:
    """What a reader of a model does with it."""
    data = forest({}) if type(model).__name__ in OF_TREES else np.zeros((2, model.n_features_in_))
    for question in ("predict", "predict_proba", "score_samples"):
        if hasattr(model, question):
            getattr(model, question)(data)
    if hasattr(model, "sample"):
        model.sample(2)
    if hasattr(model, "result_"):
        report_document(model.result_)
    model.save(folder / "again.bg")


def structured(kind: str) -> SearchStrategy[bytes]:
    """Files with values replaced."""
    if kind == RAW:
        return st.one_of(
            st.binary(max_size=200), st.builds(bytes.__add__, st.just(b"PK\x03\x04"), st.binary(max_size=99))
        )
    return with_changes(seeds(kind))


@cache
def seeds(kind: str) -> Sequence[bytes]:
    """Models of a few rows."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.bg"
        fitted("BHC" if kind == RAW else kind).save(path)
        if kind == RAW:
            return [path.read_bytes()]
        file = read_model(path)
    arrays = {name: plain_array(array) for name, array in file.arrays.items()}
    return [encoded({"document": file.document, "arrays": arrays})]


def fitted(kind: str) -> Any:
    """A small model."""
    model = getattr(bg, kind)(**LITTLE[kind])
    return model.fit(forest(FOREST) if kind in OF_TREES else np.array(CLUSTERS))


TARGET = Target("models", KINDS, structured, seeds, attempt)
