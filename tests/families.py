"""Which family of the library a test file belongs to: `make test FAMILY=nrm` runs the files of one.

`python tests/families.py NAME` prints them. The first pattern that fits a path decides; Python files of the package and
of `posteriors` are listed for their doctests.
"""

import sys
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATTERNS = {
    "papers": ("tests/reproduction/*", "tests/*papers*", "papers/*"),
    "tools": (
        "tests/*/test_benchmarks*",
        "tests/*/test_*fuzzing*",
        "tests/distribution/*",
        "tests/recipes/*",
        "tests/*/test_distribution*",
        "tests/*/test_selection*",
    ),
    "docs": (
        "tests/unit/test_documents*",
        "tests/unit/test_gallery*",
        "tests/unit/test_architecture*",
        "tests/unit/test_language*",
    ),
    "report": (
        "tests/browser/*",
        "tests/*/test_report*",
        "tests/*/test_plot*",
        "src/bayesgrove/plot/*",
        "src/bayesgrove/report/*",
    ),
    "cli": ("tests/cli/*", "tests/*/test_sweeps*", "src/bayesgrove/cli/*", "src/bayesgrove/sweeps/*"),
    "cross": (
        "tests/*/test_*bhcc*",
        "tests/*/test_cross*",
        "tests/*/test_cell_mixtures*",
        "tests/*/test_imputers*",
        "tests/*/test_dask_tables*",
        "tests/*/test_draw_answers*",
        "tests/*/test_row_trees*",
        "tests/*/test_tree_answers*",
        "src/bayesgrove/impute.py",
        "src/bayesgrove/models/cross/*",
        "src/bayesgrove/estimators/*cross*",
        "src/bayesgrove/estimators/*bhcc*",
    ),
    "bhc": (
        "tests/*/test_*bhc_*",
        "tests/*/test_*bhc.py",
        "tests/*/test_dask_parts*",
        "tests/*/test_bars*",
        "tests/*/test_covariance_choice*",
        "tests/*/test_cut.py",
        "tests/*/test_learn_scale*",
        "tests/*/test_overlaps*",
        "tests/*/test_unions*",
        "tests/*/test_incremental*",
        "tests/*/test_randomized*",
        "src/bayesgrove/agglomeration/*",
        "src/bayesgrove/models/bhc/*",
        "src/bayesgrove/estimators/*bhc.py",
    ),
    "trees": (
        "tests/*/test_tree*",
        "tests/*/test_document_texts*",
        "tests/*/test_forest*",
        "tests/*/test_component_tree*",
        "tests/*/test_infinite_tree*",
        "tests/*/test_metrics_trees*",
        "src/bayesgrove/trees/*",
        "src/bayesgrove/models/tree_hmm/*",
        "src/bayesgrove/estimators/*tree*",
    ),
    "nrm": (
        "tests/*/test_nrm*",
        "tests/*/test_paper_sampler*",
        "tests/*/test_prior_clusters*",
        "src/bayesgrove/estimators/prior_clusters*",
        "src/bayesgrove/models/nrm/*",
        "src/bayesgrove/estimators/*mixture*",
    ),
    "nested": (
        "tests/*/test_*nested*",
        "tests/*/test_*bhmc*",
        "src/bayesgrove/models/nested/*",
        "src/bayesgrove/estimators/*nested*",
        "src/bayesgrove/estimators/*bhmc*",
    ),
    "likelihoods": (
        "tests/*/test_likelihood*",
        "tests/*/test_families*",
        "tests/*/test_family_engines*",
        "tests/*/test_new_family*",
        "tests/*/test_bind*",
        "tests/*/test_fastlog*",
        "tests/*/test_sampling*",
        "tests/*/test_stats*",
        "tests/*/test_metrics.py",
        "src/bayesgrove/likelihoods/*",
        "src/bayesgrove/scoring/*",
        "src/bayesgrove/stats/*",
        "src/bayesgrove/metrics.py",
    ),
    "engine": (
        "tests/*/test_core*",
        "tests/*/test_engine*",
        "tests/*/test_geweke_harness*",
        "tests/*/test_golden*",
        "tests/*/test_inference*",
        "tests/*/test_io*",
        "tests/statistical/mutants/*",
        "posteriors/*",
        "src/bayesgrove/core/*",
        "src/bayesgrove/inference/*",
        "src/bayesgrove/io/*",
    ),
    "estimators": (
        "tests/estimators/*",
        "tests/statistical/test_every_kill*",
        "tests/unit/test_datasets*",
        "tests/unit/test_public_names*",
        "src/bayesgrove/*",
    ),
}


def family_of(path: str) -> str | None:
    """Family of a file, given by its path relative to the project."""
    fits = (name for name, patterns in PATTERNS.items() if any(fnmatch(path, pattern) for pattern in patterns))
    return next(fits, None)


def test_files() -> list[str]:
    """Files with tests or doctests, relative to the project."""
    folders = ("tests", "src/bayesgrove", "posteriors", "papers")
    files = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))
    texts = ((path, path.read_text(encoding="utf-8")) for path in files)
    return [path.relative_to(ROOT).as_posix() for path, text in texts if has_tests(path, text)]


def has_tests(path: Path, text: str) -> bool:
    """Whether pytest finds something in a file."""
    in_tests = path.is_relative_to(ROOT / "tests")
    return path.name.startswith("test_") if in_tests else ">>> " in text


def main(names: list[str]) -> int:
    """Print the files of families, or say which families there are."""
    if not names or any(name not in PATTERNS for name in names):
        print(f"families: {' '.join(sorted(PATTERNS))}", file=sys.stderr)
        return 2
    print("\n".join(path for path in test_files() if family_of(path) in names))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
