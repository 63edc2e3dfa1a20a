"""Fitted estimators to and from model files: arrays and JSON, never pickle.

What a file holds is declared by the estimator's `_layout`; `schema` writes it, and reads and checks it.
"""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bayesgrove.core import provenance
from bayesgrove.core.compilation import tells_of_compilation
from bayesgrove.core.errors import BayesgroveError, InvalidFileError
from bayesgrove.estimators.notebook import result_html
from bayesgrove.estimators.registry import MODELS
from bayesgrove.estimators.settings import refuses_others
from bayesgrove.inference.result import Result
from bayesgrove.io.model_file import ModelFile, read_model, write_model
from bayesgrove.io.schema import Layout, Parts, Reading, read_parts, write_parts


class SavedEstimator(BaseEstimator):
    """Base of estimators that go to and from model files.

    A subclass gives `_layout`, and `_restored`, which sets what follows from what was read.
    """

    _layout: ClassVar[Layout]
    _fitted_by: ClassVar[str]
    """The attribute that a fitted model has."""
    _seed: int
    result_: Result

    def __init_subclass__(cls, **options: Any) -> None:
        """Have `fit` and `partial_fit` say what they compile; they and `score` refuse by name what is not taken."""
        super().__init_subclass__(**options)
        for name in ("fit", "partial_fit"):
            if name in vars(cls):
                setattr(cls, name, tells_of_compilation(vars(cls)[name]))
        for name in ("fit", "partial_fit", "score"):
            if name in vars(cls):
                setattr(cls, name, refuses_others(vars(cls)[name]))

    def save(self, path: Any) -> None:
        """Write the fitted model to a file that `bayesgrove.load` reads; arrays and JSON, never pickle.

        Parameters
        ----------
        path : str or Path
        """
        check_is_fitted(self, self._fitted_by)
        document, arrays = write_parts(self._layout, self)
        write_model(path, type(self).__name__, {**document, "parameters": plain_parameters(self)}, arrays)

    def _restore(self, file: ModelFile) -> None:
        """Set the attributes that `fit` would have set, or refuse the file; the settings are there already."""
        reading = Reading(Parts(file.document, file.arrays), self)
        for name, value in read_parts(self._layout, reading).items():
            setattr(self, name, value)
        self._restored(reading)

    def _describe(self) -> dict[str, Any]:
        """Where a result comes from: settings, seed, versions; it names no folder."""
        settings = {name: value for name, value in self.get_params(deep=False).items() if name != "run_dir"}
        return provenance.record(type(self).__name__, settings, self._seed)

    def _html_repr(self) -> str:
        """What scikit-learn shows in notebooks, and what was found."""
        settings: str = super()._html_repr()
        return settings + result_html(self.result_) if hasattr(self, "result_") else settings

    def _result_parts(self) -> dict[str, Any]:
        """Fields of the result that not every model has: draws, diagnostics, views, exhibits."""
        return {}

    def _restored(self, reading: Reading) -> None:
        """Set what follows from fields that are attributes, and those that are none."""
        raise NotImplementedError


def plain_parameters(model: Any) -> dict[str, Any]:
    """Constructor's parameters in JSON's types; what is none of them is left to its default."""
    kept = {}
    for name, value in model.get_params(deep=False).items():
        plain = value.item() if isinstance(value, np.generic) else value
        if isinstance(plain, bool | int | float | str | None) or name == "prior_strength":
            kept[name] = plain
    return kept


def load(path: str | Path) -> Any:
    """Read a fitted estimator that `save` wrote.

    Parameters
    ----------
    path : str or Path
        A broken, hostile or newer file is refused with `InvalidFileError`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> import bayesgrove as bg
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "model.bg"
    ...     bg.BHC(likelihood="gaussian").fit(X).save(file)
    ...     bg.load(file).predict([[5.05]]).tolist()
    [1]
    """
    file = read_model(path)
    if file.kind not in MODELS:
        raise InvalidFileError(f"this file holds a {file.kind!r}; this version knows {sorted(MODELS)}.", kind=file.kind)
    try:
        model = MODELS[file.kind].load()(**file.document["parameters"])
        model._restore(file)
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, BayesgroveError) as error:
        raise InvalidFileError(f"the model file is not consistent: {error}. Save the model again.") from error
    return model
