"""A provenance record says where a result came from, in JSON's types, and names no user and no path."""

import datetime
import json
import platform

import numpy as np
import pytest

import bayesgrove
from bayesgrove.core.provenance import PACKAGES, package_versions, record
from bayesgrove.likelihoods import Bernoulli

pytestmark = pytest.mark.unit


def test_versions_are_those_installed():
    versions = package_versions()
    assert tuple(versions) == PACKAGES
    assert versions["bayesgrove"] == bayesgrove.__version__
    assert versions["numpy"] == np.__version__


def test_an_absent_package_says_so():
    assert package_versions(("numpy", "no-such-package-anywhere"))["no-such-package-anywhere"] == "absent"


def test_the_record_has_model_settings_seed_and_environment():
    made = record("bhc", {"concentration": 2.0, "cut": "half", "refine": 0, "n_jobs": None, "exact": True}, seed=7)
    assert made["model"] == "bhc"
    assert made["settings"] == {"concentration": 2.0, "cut": "half", "refine": 0, "n_jobs": None, "exact": True}
    assert made["seed"] == 7
    assert made["python"] == platform.python_version()
    assert set(made["packages"]) == set(PACKAGES)


def test_the_time_has_a_zone_and_is_now():
    made = datetime.datetime.fromisoformat(record("bhc", {}, seed=None)["time"])
    assert made.utcoffset() == datetime.timedelta(0)
    assert abs((datetime.datetime.now(datetime.UTC) - made).total_seconds()) < 60


def test_settings_that_json_does_not_know_are_written_as_python_would():
    made = record("bhc", {"likelihood": Bernoulli(a=1.0, b=2.0), "weights": (1, 2)}, seed=None)
    assert made["settings"] == {"likelihood": "Bernoulli(a=1.0, b=2.0)", "weights": "(1, 2)"}


def test_the_record_survives_json_and_names_no_user_and_no_path():
    made = record("bhc", {"likelihood": Bernoulli()}, seed=1)
    text = json.dumps(made, allow_nan=False)
    assert json.loads(text) == made
    assert "/" not in text
    assert "\\" not in text
    assert platform.node() not in {*(str(value) for value in made.values()), *made["packages"].values()} - {""}
