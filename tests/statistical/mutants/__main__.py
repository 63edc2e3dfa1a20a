"""`python -m tests.statistical.mutants [FAMILY ...]`, from the project's root: which test kills each mutant.

Exit code 1 when one survives.
"""

import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))

from statistical.mutants.families import FAMILIES
from statistical.mutants.runner import EXCUSED, KILLED, Family, Mutant, Run, plain_python, try_mutant


def main(names: list[str]) -> int:
    """Print a line per mutant, with the output of tests that did not do their work, and the numbers of both."""
    unknown = sorted(set(names) - set(FAMILIES))
    if unknown:
        print(f"families with mutants are {', '.join(FAMILIES)}, got {', '.join(unknown)}", file=sys.stderr)
        return 2
    families = [FAMILIES[name] for name in names or FAMILIES]
    with plain_python() as run:
        verdicts = [verdict_on(run, family, mutant) for family in families for mutant in family.mutants]
    done = sum(verdict in (KILLED, EXCUSED) for verdict in verdicts)
    print(f"{verdicts.count(KILLED)} of {len(verdicts)} killed, {verdicts.count(EXCUSED)} excused")
    return int(done < len(verdicts))


def verdict_on(run: Run, family: Family, mutant: Mutant) -> str:
    """Try a mutant and print its line."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        outcome = try_mutant(run, Path(folder), family, mutant)
    by = mutant.test.rpartition("/")[2] or mutant.reason
    print(f"{family.name:<8}{outcome.verdict:<11}{mutant.name:<58}{by}  {time.perf_counter() - start:.1f} s")
    if outcome.verdict not in (KILLED, EXCUSED):
        print(outcome.output)
    return outcome.verdict


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
