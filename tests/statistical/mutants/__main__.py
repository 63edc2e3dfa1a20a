"""`python -m tests.statistical.mutants [FAMILY ...]`, from the project's root: which test kills each mutant.

Exit code 1 when one survives.
"""

import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))

from statistical.mutants.families import FAMILIES
from statistical.mutants.runner import EXCUSED, KILLED, try_mutant


def main(names: list[str]) -> int:
    """Print a line per mutant, with the output of tests that did not do their work, and the numbers of both."""
    unknown = sorted(set(names) - set(FAMILIES))
    if unknown:
        print(f"families with mutants are {', '.join(FAMILIES)}, got {', '.join(unknown)}", file=sys.stderr)
        return 2
    verdicts = []
    for family in (FAMILIES[name] for name in names or FAMILIES):
        for mutant in family.mutants:
            start = time.perf_counter()
            with tempfile.TemporaryDirectory() as folder:
                outcome = try_mutant(Path(folder), family, mutant)
            verdicts.append(outcome.verdict)
            by = mutant.test.rpartition("/")[2] or mutant.reason
            print(f"{family.name:<8}{outcome.verdict:<11}{mutant.name:<58}{by}  {time.perf_counter() - start:.1f} s")
            if outcome.verdict not in (KILLED, EXCUSED):
                print(outcome.output)
    done = sum(verdict in (KILLED, EXCUSED) for verdict in verdicts)
    print(f"{verdicts.count(KILLED)} of {len(verdicts)} killed, {verdicts.count(EXCUSED)} excused")
    return int(done < len(verdicts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
