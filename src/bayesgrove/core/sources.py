"""The source files that the code of a module may depend on, and a hash of them: the stamp of the kernel cache.

A kernel can only call what its module imports, directly or indirectly, with one exception: a function made by `generic`
chooses among bodies registered in modules that the kernel's module need not import. Every module that registers a body
for a generic function in the closure therefore belongs to the closure. What cannot be resolved is included.
"""

import functools
import hashlib
import json
import os
import sys
import sysconfig
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from bayesgrove.core.callees import without_garbage_collection
from bayesgrove.core.source_facts import ANYTHING, Facts, Import, read_facts

MEMO_NAME = f"bayesgrove-sources.{sys.implementation.cache_tag}.json"
"""Per Python version, as are numba's own files: `ast.dump` differs between versions."""
MOST_FACTS = 3000
"""A file of facts that has grown beyond this, one entry per edit of a file, is started afresh."""
STARTED = time.time()
"""Modules are imported after this moment, so a file that was last changed before it is the one that was imported."""
LIBRARIES = tuple({Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")})
"""Folders with modules that are not followed."""


class Sources:
    """The modules of one package, each read at most once per process.

    Parameters
    ----------
    folder
        Folder of the package; its name is the name of the package.
    started
        Time since which modules were imported.
    """

    def __init__(self, folder: Path, started: float = STARTED) -> None:
        self.folder = folder
        self.started = started
        self.package = folder.name
        self._stored: Path | None = None
        self._facts_of_text: dict[str, Facts] = {}
        self._facts_of_file: dict[Path, Facts] = {}
        self._imported: dict[str, dict[str, Path]] = {}

    def stamp(self, module: str, path: Path, cache_folder: Path) -> str | None:
        """Hash of all code that a module may depend on; None if some of it was edited after it may have been imported.

        The hash is of the files as they are now, whereas kernels are compiled from the modules as they were imported.
        In `cache_folder` the first kernel that asks stores facts about files for the next process, keyed by content:
        parsing the files of a closure takes 0.2 s, reading them a tenth of that.
        """
        if self._stored is None:
            self._stored = cache_folder / MEMO_NAME
            self._facts_of_text = load_facts(self._stored)
        n_known = len(self._facts_of_text)
        with without_garbage_collection():
            closure = self.closure(self.module_at(path) or module, path)
            digests = [(name, self.facts(file).digest) for name, file in closure]
            is_edited = any(changed_between(file, self.started, time.time()) for _, file in closure)
        if len(self._facts_of_text) > n_known:
            store_facts(self._facts_of_text, self._stored)
        return None if is_edited else hashlib.sha256(repr(digests).encode()).hexdigest()

    def closure(self, module: str, path: Path) -> list[tuple[str, Path]]:
        """The module and all modules that it may depend on, sorted by name."""
        found: dict[str, Path] = {}
        waiting = {module: path}
        while waiting:
            name, file = waiting.popitem()
            found[name] = file
            if name not in self._imported:
                self._imported[name] = dict(self.imported(name, file))
            waiting |= {name: file for name, file in self._imported[name].items() if name not in found}
            if not waiting:
                waiting = {name: file for name, file in self.registering(found) if name not in found}
        return sorted(found.items())

    def imported(self, module: str, path: Path) -> Iterator[tuple[str, Path]]:
        """Modules that a file imports anywhere, also within functions."""
        for each in self.facts(path).imports:
            source = absolute(each, module, path)
            if each.module == ANYTHING:
                yield from self.files.items()
            elif each.name is None:
                yield from self.below(source if each.bound else source.partition(".")[0], module)
            elif self.locate(f"{source}.{each.name}", module) is not None:
                yield from self.below(f"{source}.{each.name}", module)
            elif (file := self.locate(source, module)) is not None:
                yield source, file
                if file.name == "__init__.py" and not self.binds(file, each.name):
                    yield from self.below(source, module)

    def binds(self, path: Path, name: str) -> bool:
        """Whether a file visibly binds a name, unlike one that a `__getattr__` gives."""
        facts = self.facts(path)
        return name in facts.defined or any(each.bound == name for each in facts.imports)

    def below(self, module: str, asking: str) -> Iterator[tuple[str, Path]]:
        """A module and all modules inside it, since any of them can be used as an attribute of it."""
        in_package = module.partition(".")[0] == self.package
        if not in_package and is_library(module, asking):
            return
        for name in list(self.files if in_package else sys.modules):
            if f"{name}.".startswith(f"{module}.") and (path := self.locate(name, asking)) is not None:
                yield name, path

    def registering(self, found: Iterable[str]) -> Iterator[tuple[str, Path]]:
        """Modules of the package that register bodies for generic functions of these modules."""
        wanted = {ANYTHING, *found}
        yield from ((name, path) for name, path, owners in self._registrants if not wanted.isdisjoint(owners))

    @functools.cached_property
    def _registrants(self) -> list[tuple[str, Path, set[str]]]:
        """Modules of the package that register bodies, with the modules that may own the generic functions."""
        return [
            (name, path, {owner for function in self.facts(path).registers for owner in self.owners(name, function)})
            for name, path in self.files.items()
            if may_register(path)
        ]

    def owners(self, module: str, function: str) -> set[str]:
        """Modules through which a module gets a function, up to the one that defines it."""
        found: set[str] = set()
        waiting = [(module, tuple(function.split(".")))]
        while waiting:
            name, (root, *rest) = waiting.pop()
            facts = self.facts(self.files[name])
            targets = [each for each in facts.imports if root == (each.bound or each.module.partition(".")[0])]
            if not targets and name == module:
                found.add(module if root in facts.defined else ANYTHING)
            for each in targets:
                source = absolute(each, name, self.files[name]) if each.bound else root
                owner, steps = self._descended(source, [each.name, *rest] if each.name else rest)
                if owner not in self.files or not steps:
                    found.add(ANYTHING)
                elif owner not in found:
                    found.add(owner)
                    waiting.append((owner, steps))
        return found

    def _descended(self, module: str, steps: list[str]) -> tuple[str, tuple[str, ...]]:
        """The innermost module on the way `module.step.step`, and the steps that remain."""
        while steps and f"{module}.{steps[0]}" in self.files:
            module, steps = f"{module}.{steps[0]}", steps[1:]
        return module, tuple(steps)

    @functools.cached_property
    def files(self) -> dict[str, Path]:
        """Files of all modules of the package."""
        paths = (path for path in sorted(self.folder.rglob("*.py")) if path.is_file())
        return {name: path for path in paths if (name := self.module_at(path))}

    def module_at(self, path: Path) -> str | None:
        """Name of the module of the package in this file; None for files outside the package."""
        if not path.is_relative_to(self.folder):
            return None
        parts = path.relative_to(self.folder.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def locate(self, module: str, asking: str) -> Path | None:
        """File of a module of the package, or of an imported one that belongs to no other library."""
        if module.partition(".")[0] == self.package:
            return self.files.get(module)
        file = None if is_library(module, asking) else file_of(module)
        return file if file is not None and file.suffix == ".py" else None

    def facts(self, path: Path) -> Facts:
        """Facts about a file; what cannot be read cannot be parsed either."""
        if path not in self._facts_of_file:
            try:
                text = path.read_bytes()
            except OSError:
                text = b"?"
            key = hashlib.sha256(text).hexdigest()
            if key not in self._facts_of_text:
                self._facts_of_text[key] = read_facts(text)
            self._facts_of_file[path] = self._facts_of_text[key]
        return self._facts_of_file[path]

    def has_repeated(self, path: Path, qualname: str) -> bool:
        """Whether several functions of a file may have this qualified name."""
        return "<" in qualname or qualname.casefold() in self.facts(path).repeated


def absolute(each: Import, module: str, path: Path) -> str:
    """Name of the module that an import statement in this module refers to."""
    if not each.level:
        return each.module
    parents = module.split(".")
    n_kept = len(parents) - each.level + (path.name == "__init__.py")
    return ".".join([*parents[:n_kept], *filter(None, [each.module])])


def file_of(module: str) -> Path | None:
    """File of an imported module."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return Path(file).resolve() if file else None


def is_library(module: str, asking: str) -> bool:
    """Whether a module belongs to an installed library other than that of the module that imports it."""
    top = module.partition(".")[0]
    return top != asking.partition(".")[0] and stands_in_library(top)


@functools.cache
def stands_in_library(top: str) -> bool:
    """Whether a top-level module is built in, or stands where libraries are installed."""
    if top in sys.stdlib_module_names:
        return True
    file = file_of(top)
    return file is not None and any(file.is_relative_to(folder) for folder in LIBRARIES)


def may_register(path: Path) -> bool:
    """Whether the text of a file has a word without which nothing is registered."""
    try:
        text = path.read_bytes()
    except OSError:
        return True
    return b"register" in text or b"overload" in text


def changed_between(path: Path, start: float, end: float) -> bool:
    """Whether a file was changed in this span; times in the future, by a wrong clock, do not count."""
    try:
        return start < path.stat().st_mtime <= end
    except OSError:
        return False


def load_facts(path: Path) -> dict[str, Facts]:
    """Stored facts by the hash of a file's text; none where the file of facts is missing, damaged or too large."""
    try:
        rows = json.loads(path.read_bytes())
        if len(rows) > MOST_FACTS:
            return {}
        return {
            key: Facts(digest, tuple(Import(*each) for each in imports), *map(tuple, names))
            for key, (digest, imports, *names) in rows.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def store_facts(facts: dict[str, Facts], path: Path) -> None:
    """Store facts for the next process, if the folder can be written to."""
    partial = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        partial.write_text(json.dumps(facts), encoding="utf-8")
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
