"""`python -m fuzzing.guided TARGET`: atheris looks for inputs that reach new lines of the readers.

Not a dependency: `pip install atheris` where it is wanted. All runs in one process, which ends at the first fault and
keeps its input, to be run again by `python -m fuzzing --replay FILE`.
"""

import argparse
import sys
import tempfile
import types
from pathlib import Path

from fuzzing.cases import Case
from fuzzing.judge import FAULT, run_case
from fuzzing.targets import NAMES, find_target

INSTRUMENTED = ["bayesgrove.io", "bayesgrove.cli", "bayesgrove.report", "bayesgrove.sweeps", "bayesgrove.trees"]
"""Parts whose own functions are followed; kernels are not, as numba takes no function that was instrumented."""
LARGEST = 4096


def functions_of(parts: list[str]) -> list[types.FunctionType]:
    """Functions and methods of the modules below some packages that are loaded."""
    found = []
    for name, module in list(sys.modules.items()):
        if not name.startswith(tuple(parts)):
            continue
        held = [value for value in vars(module).values() if getattr(value, "__module__", None) == name]
        methods = [value for kind in held if isinstance(kind, type) for value in vars(kind).values()]
        found += [value for value in (*held, *methods) if isinstance(value, types.FunctionType)]
    return found


def main() -> None:
    """Fuzz one target; libFuzzer ends the process."""
    parser = argparse.ArgumentParser(prog="python -m fuzzing.guided", description=__doc__)
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("fuzzing-faults"))
    arguments = parser.parse_args()
    try:
        import atheris
    except ImportError:
        parser.error("this needs atheris, which is not installed (pip install atheris)")
    for function in functions_of(INSTRUMENTED):
        atheris.instrument_func(function)
    if arguments.target not in NAMES:
        parser.error(f"TARGET is one of {', '.join(NAMES)}, got {arguments.target!r}")
    target = find_target(arguments.target)

    def one_input(data: bytes) -> None:
        case = Case(target.name, target.kinds[data[0] % len(target.kinds)] if data else target.kinds[0], data[1:])
        outcome = run_case(target, case)
        if outcome.verdict == FAULT:
            arguments.keep.mkdir(exist_ok=True)
            (arguments.keep / "guided").write_bytes(case.to_bytes())
            raise RuntimeError(f"kept {arguments.keep / 'guided'}: {outcome.reason}\n{outcome.detail}")

    with tempfile.TemporaryDirectory() as corpus:
        for number, kind in enumerate(target.kinds):
            for which, content in enumerate(target.seeds(kind)):
                (Path(corpus) / f"{number}-{which}").write_bytes(bytes([number]) + content)
        options = [f"-runs={arguments.inputs}", f"-seed={arguments.seed}", f"-max_len={LARGEST}", "-verbosity=0"]
        atheris.Setup([sys.argv[0], *options, "-print_final_stats=1", corpus], one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
