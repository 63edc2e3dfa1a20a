"""The fake model stands where the estimators will."""

import sys
from pathlib import Path

import pytest

from bayesgrove.cli import models

sys.path.append(str(Path(__file__).parent))  # behind tests/, whose conftest.py others import by name


@pytest.fixture(autouse=True)
def fake_models(monkeypatch):
    monkeypatch.setitem(models.MODELS, "bhc", "fake_model:Fake")
    monkeypatch.setattr(models, "LOADER", "fake_model:load")
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("id,a,b,colour\n=x1,-1,0.5,red\ny2,2,0.25,blue\nz3,3,,red\n")
    return path


@pytest.fixture
def run(tmp_path, data):
    from bayesgrove.cli.main import main

    folder = tmp_path / "run"
    assert main(["fit", "bhc", str(data), "--out", str(folder), "--index", "id"]) == 0
    return folder
