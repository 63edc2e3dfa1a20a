"""`python -m papers data NAME --from PATH`: files of a research data set, built from their source."""

import csv
import gzip
import hashlib
import io
import lzma
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.datasets.home import FILES, data_home
from bayesgrove.io import atomic

UNCHANGED = {
    "trees/inex05.train.elastic.tree.gz": "844477e483adb1319870abdb903dccacb7e5300379f747456d2e2ee36283260d",
    "trees/inex05.test.elastic.tree.gz": "b2e8ddacf99b94b2d1f9856b04a6883e0937a8321c3385a2182850706c21c5e9",
    "tgmcmc_toy10k/10k_X.txt.gz": "6380dcfe3d1a9914dcdfc71845ce52a76ab52c0e8d866327fadb2c1ac720a3d5",
    "tgmcmc_toy10k/10k_gt_labels.txt.gz": "0397af7b11cb8c13bb48bdc4130f2fdc0c62de1f3492ae3f1330fc294bf1d65b",
    "tgmcmc_toy10k/toy_X.txt.gz": "09d6da9dbb495aa7a82b0fefe0ad470c222f677f1cce483cafb69506c0bf2319",
    "tgmcmc_toy10k/toy_gt_labels.txt.gz": "d01c3f3ecc245761bdbc6c2dfeaec4d5826cdd1fbf6ea37dd642c82ed6394c8d",
    "uci/arcene/arcene_train.data.xz": "580f314d09fd3d67aa8b58a8250efb59a28d69a7d23a612a78a0b0cefc4d0264",
    "uci/arcene/arcene_train.labels.xz": "434bb813ff7e69d182eeed347f77bd4981917d6233efedd01b5f6d916c282fbe",
    "uci/arcene/arcene_valid.data.xz": "7f8792b3cfb083c3b722e31b37a0c40604506bdece1d2db621e00d862da1c549",
    "uci/arcene/arcene_valid.labels.xz": "b591228155de082dd39b2e85b12b75a55bd8ca057b7e1c0d7f54683d0a594fc3",
    "uci/musk1/clean1.data.gz": "37d199d9c7c1c0763d58adb629a8a2e5ef410cdc088b28344b7c12c0bda5dcd1",
    "uci/sonar/sonar.all-data.csv.gz": "e90434cdbf00fcf93ffa911fe447ae25606979658e60f1d32e155c3b5240234d",
    "uci/zoo/zoo.data.gz": "2df02e92d9752240b8432ad1edc09eb1ec811b51594d68bf067046632824d629",
}
"""Files that hold a source's file compressed -> SHA-256 of that file."""
CONVERTED = {
    "animals/animals.csv": "ae0e6d4382e24a5e8a5eb5fb0c5a471d1d0c122c95326700f9fb451ab2f3806e",
    "animals/labels.csv": "ab77066977f4c4a06c74525a394f114920727c7362f529838586062a25c8ea80",
}
"""Files made from a source -> their SHA-256."""
ISOLET_CELLS = "983e54f4cf1d6004a10c2116a91c368120dce16de5386100e4d1dd13d4b1622d"
"""SHA-256 of the cells of Isolet as 32-bit numbers."""
ANIMAL_CLASSES = {
    "land mammals": "Elephant Rhino Horse Cow Camel Giraffe Chimp Gorilla Deer",
    "mouse": "Mouse Squirrel",
    "predators": "Tiger Lion Cat Dog Wolf",
    "water animals": "Seal Dolphin Penguin Whale",
    "birds": "Robin Eagle Chicken Finch Ostrich",
    "fish": "Salmon Trout",
    "insects": "Bee Butterfly Ant Cockroach",
    "amphibians": "Iguana Alligator",
}
"""Table 1 of Huang et al. (2021)."""
READERS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".xz": lzma.decompress}
WRITERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda content: gzip.compress(content, mtime=0),
    ".xz": lzma.compress,
}


def build(name: str, source: Path, folder: Path | None) -> list[Path]:
    """Write the files of a data set below the data folder; gives their paths."""
    if name not in BUILDERS:
        known = ", ".join(sorted(BUILDERS))
        raise InvalidSettingError(
            f"NAME is one of {known}, got {name!r}. docs/data.md says where all research data come from.", name=name
        )
    if not source.exists():
        raise InvalidFileError(f"there is no {source}; docs/data.md says what the source of {name!r} is.", path=source)
    written = []
    for relative, content in BUILDERS[name](name, source):
        path = data_home(folder) / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic.replacing(path) as stream:
            stream.write(content)
        written.append(path)
    return written


def candidates(source: Path) -> list[Path]:
    """The file, or all files of a folder."""
    return sorted(path for path in source.rglob("*") if path.is_file()) if source.is_dir() else [source]


def found_in(source: Path, wanted: str) -> Path:
    """The file of this name, compressed or not."""
    for path in candidates(source):
        if wanted in (path.name, path.name.removesuffix(path.suffix)):
            return path
    raise InvalidFileError(f"{source} holds no {wanted}; docs/data.md names the source.", path=source)


def checked(content: bytes, sha256: str, what: Any) -> bytes:
    """The content, if it has this hash."""
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise InvalidFileError(
            f"{what} is not the file these experiments used: its SHA-256 is {found}, wanted {sha256}. "
            "docs/data.md names the commit it is from."
        )
    return content


Files = Iterable[tuple[str, bytes]]


def compressed(name: str, source: Path) -> Iterator[tuple[str, bytes]]:
    """Files of a source, compressed unchanged."""
    for relative in FILES[name]:
        suffix = Path(relative).suffix
        path = found_in(source, Path(relative).name.removesuffix(suffix))
        content = path.read_bytes()
        content = READERS.get(path.suffix, bytes)(content)
        yield relative, WRITERS[suffix](checked(content, UNCHANGED[relative], path))


def animals(name: str, source: Path) -> Iterator[tuple[str, bytes]]:
    """`animals.mat` as a table, and the classes of the paper."""
    from scipy.io import loadmat

    read = loadmat(found_in(source, "animals.mat"), squeeze_me=True)
    names, features = ([str(text).strip() for text in read[key]] for key in ("names", "features"))
    cells = np.asarray(read["data"]).astype(int).tolist()
    class_of = {animal: group for group, members in ANIMAL_CLASSES.items() for animal in members.split()}
    tables = {
        "animals/animals.csv": [["name", *features], *([name, *row] for name, row in zip(names, cells, strict=True))],
        "animals/labels.csv": [["name", "class"], *([name, class_of.get(name, "")] for name in names)],
    }
    for relative, rows in tables.items():
        text = io.StringIO(newline="")
        csv.writer(text).writerows(rows)
        yield relative, checked(text.getvalue().encode(), CONVERTED[relative], relative)


def isolet(name: str, source: Path) -> Iterator[tuple[str, bytes]]:
    """`Isolet.mat` as 32-bit numbers and letters."""
    from scipy.io import loadmat

    read = loadmat(found_in(source, "Isolet.mat"))
    cells, letters = np.asarray(read["X"], np.float32), np.asarray(read["Y"], np.int64).ravel()
    checked(np.ascontiguousarray(cells).tobytes(), ISOLET_CELLS, "Isolet.mat")
    stream = io.BytesIO()
    np.savez_compressed(stream, X=cells, y=letters)
    yield FILES[name][0], stream.getvalue()


BUILDERS: dict[str, Callable[[str, Path], Files]] = {
    "animals": animals,
    "isolet": isolet,
    **{name: compressed for name, files in FILES.items() if set(files) <= set(UNCHANGED)},
}
