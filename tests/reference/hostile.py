"""Documents made to harm a reader, each with what has to become of it; run as a program it measures them.

A process of its own, as the peak of memory is known for whole processes only.
"""

import gzip
import io
import json
import re
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import bayesgrove as bg

MILLION = 1_000_000
READ = "read"


class Hostile(NamedTuple):
    """Ending of the file, its content, and the beginning of the refusal after the file's name, or READ."""

    ending: str
    content: Callable[[], bytes]
    outcome: str
    options: dict | None = None


def laughs():
    entities = "".join(f'<!ENTITY a{i + 1} "{f"&a{i};" * 10}">\n' for i in range(9))
    return f'<?xml version="1.0"?>\n<!DOCTYPE a [\n<!ENTITY a0 "ha">\n{entities}]>\n<a>&a9;</a>'.encode()


def zip_of(name, content, copies=1):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(copies):
            archive.writestr(f"{number}{name}", content)
    return held.getvalue()


def tar_of(members):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz", compresslevel=1) as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return held.getvalue()


def long_header():
    """A .tar.gz whose first member is a header of 30 MB."""
    member = tarfile.TarInfo("x")
    member.type, member.size = tarfile.XHDTYPE, 30 * MILLION
    return gzip.compress(member.tobuf(tarfile.USTAR_FORMAT) + b"1" * member.size, 1)


def refused(line, reason):
    return rf", line {line}: {reason}"


def beyond(limit, line=1):
    return refused(line, rf"{limit} is \d+ and the document is beyond it")


HIDDEN = "a DOCTYPE with declarations, where entities may hide"
CASES = {
    # XML
    "entity bomb": Hostile(".xml", laughs, refused(2, HIDDEN)),
    "quadratic entity": Hostile(
        ".xml",
        lambda: b'<!DOCTYPE a [<!ENTITY x "' + b"x" * 100_000 + b'">]><a>' + b"&x;" * 100_000 + b"</a>",
        refused(1, HIDDEN),
    ),
    "external entity": Hostile(
        ".xml", lambda: b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<a>&x;</a>', refused(1, HIDDEN)
    ),
    "parameter entity": Hostile(
        ".xml", lambda: b'<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x"> %x;]><a/>', refused(1, HIDDEN)
    ),
    "document type elsewhere": Hostile(".xml", lambda: b'<!DOCTYPE a SYSTEM "http://127.0.0.1:9/x">\n<a/>', READ),
    "entity from elsewhere": Hostile(
        ".xml",
        lambda: b'<!DOCTYPE a SYSTEM "http://127.0.0.1:9/x">\n<a>&x;</a>',
        refused(2, "the entity 'x' is not defined"),
    ),
    "deep declarations": Hostile(
        ".xml", lambda: b"<!DOCTYPE a [<!ELEMENT a " + b"(" * 100_000 + b">]><a/>", refused(1, HIDDEN)
    ),
    "a million levels": Hostile(".xml", lambda: b"<a>\n" * MILLION, beyond("max_depth", r"\d+")),
    "huge attribute": Hostile(".xml", lambda: b'<a b="' + b"x" * 60 * MILLION + b'"/>', beyond("max_token")),
    "attribute within limits": Hostile(".xml", lambda: b'<a b="' + b"x" * 5 * MILLION + b'"/>', READ),
    "huge name": Hostile(".xml", lambda: b"<" + b"x" * 20 * MILLION + b"/>", beyond("max_token")),
    "long name": Hostile(".xml", lambda: b"<" + b"x" * 4 * MILLION + b"/>", READ),
    "huge comment": Hostile(".xml", lambda: b"<a><!--" + b"x" * 20 * MILLION + b"--></a>", beyond("max_token")),
    "huge text": Hostile(".xml", lambda: b"<a>" + b"x" * 30 * MILLION + b"</a>", READ, {"text": "flag"}),
    "huge namespace": Hostile(
        ".xml",
        lambda: b'<a xmlns="' + b"u" * 2 * MILLION + b'">' + b"<b/>" * 10_000 + b"</a>",
        refused(1, "the name of a namespace has"),
        {"namespaces": "keep"},
    ),
    "many attributes": Hostile(
        ".xml",
        lambda: b"<a " + b" ".join(b'b%d="1"' % i for i in range(100_000)) + b"/>",
        READ,
        {"attributes": "names"},
    ),
    "a million siblings": Hostile(".xml", lambda: b"<a>" + b"<b/>" * MILLION + b"</a>", beyond("max_nodes")),
    "a million siblings, all options": Hostile(
        ".xml",
        lambda: b"<a>" + b"<b/>" * MILLION + b"</a>",
        beyond("max_nodes"),
        {"attributes": "names", "text": "flag"},
    ),
    "almost a million siblings": Hostile(".xml", lambda: b"<a>" + b"<b/>" * (MILLION - 1) + b"</a>", READ),
    "utf-7": Hostile(
        ".xml", lambda: b'<?xml version="1.0" encoding="utf-7"?><a/>', refused(1, "encoding 'utf-7' is not read")
    ),
    "no such encoding": Hostile(
        ".xml", lambda: b'<?xml version="1.0" encoding="none"?><a/>', refused(1, "encoding 'none' is not read")
    ),
    "utf-16": Hostile(".xml", lambda: '<?xml version="1.0" encoding="utf-16"?><é/>'.encode("utf-16"), READ),
    "utf-32": Hostile(".xml", lambda: "<é/>".encode("utf-32"), refused(1, "not XML")),
    "latin-1 undeclared": Hostile(".xml", lambda: "<a>\n<é/></a>".encode("latin-1"), refused(2, "not XML")),
    "xml with nul": Hostile(".xml", lambda: b"<a>\n\0</a>", refused(2, "not XML")),
    "truncated xml": Hostile(".xml", lambda: b"<a>\n<b>\n<c", refused(3, "not XML")),
    "empty xml": Hostile(".xml", lambda: b"", refused(1, "not XML")),
    "a picture": Hostile(".xml", lambda: b"\x89PNG\r\n\x1a\n" + bytes(1000), refused(1, "not XML")),
    "too large": Hostile(".xml", lambda: b"<a>" + b" " * 68 * MILLION, beyond("max_bytes")),
    # JSON
    "a million brackets": Hostile(".json", lambda: b"[\n" * MILLION, beyond("max_depth", 10_001)),
    "a million objects": Hostile(".json", lambda: b'{"a":' * MILLION, beyond("max_depth")),
    "a million numbers": Hostile(".json", lambda: b"[" + b"1," * MILLION + b"1]", beyond("max_nodes")),
    "twenty million arrays": Hostile(".json", lambda: b"[" + b"[]," * 20 * MILLION + b"1]", beyond("max_nodes")),
    "almost a million numbers": Hostile(".json", lambda: b"[" + b"1," * (MILLION - 2) + b"1]", READ),
    "one key often": Hostile(".json", lambda: b"{" + b'"a":1,' * 500_000 + b'"a":1}', READ),
    "many keys": Hostile(".json", lambda: b"{" + b",".join(b'"k%d":1' % i for i in range(100_000)) + b"}", READ),
    "huge key": Hostile(".json", lambda: b'{"' + b"k" * 60 * MILLION + b'":1}', beyond("max_token")),
    "huge string": Hostile(".json", lambda: b'"' + b"k" * 60 * MILLION + b'"', READ),
    "huge string as label": Hostile(
        ".json", lambda: b'"' + b"k" * 60 * MILLION + b'"', beyond("max_token"), {"scalars": "value"}
    ),
    "a million digits": Hostile(".json", lambda: b"1" * MILLION, READ),
    "backslashes": Hostile(".json", lambda: b'"' + b"\\" * 20 * MILLION, refused(1, "not JSON: the text ends")),
    "not a number": Hostile(".json", lambda: b"[1,\nNaN]", refused(2, "not JSON: a character")),
    "half a pair": Hostile(".json", lambda: b'{"a":\n{"\\ud800":1}}', refused(2, "half a surrogate pair")),
    "json with nul": Hostile(".json", lambda: b'{"a":\n\0}', refused(2, "a NUL")),
    "json in latin-1": Hostile(".json", lambda: '{"a":\n"é"}'.encode("latin-1"), refused(2, "not UTF-8 text")),
    "json in utf-16": Hostile(".json", lambda: '{"é":1}'.encode("utf-16"), READ),
    "json in unmarked utf-16": Hostile(".json", lambda: b'{"a":1}'.decode().encode("utf-16-le"), refused(1, "a NUL")),
    "truncated json": Hostile(".json", lambda: b'{"a":[1,\n2', refused(2, "not JSON: the text ends")),
    "empty json": Hostile(".json", lambda: b"", refused(1, "not JSON: the text ends")),
    "one long line": Hostile(".jsonl", lambda: b"[1]\n" + b" " * 68 * MILLION, beyond("max_bytes", 2)),
    # Others
    "python brackets": Hostile(".py", lambda: b"(" * MILLION, refused(1, "brackets nested more than 200")),
    "python sum": Hostile(".py", lambda: b"a" + b"+a" * 100_000, refused(1, "a chain of more than 2000")),
    "python attributes": Hostile(".py", lambda: b"a" + b".b" * 100_000, refused(1, "a chain of more than 2000")),
    "python nots": Hostile(".py", lambda: b"not " * 100_000 + b"a", refused(1, "more than 200 operators in a row")),
    "python calls": Hostile(".py", lambda: b"a" + b"()" * 100_000, refused(1, "a chain of more than 2000")),
    "python in a string": Hostile(
        ".py", lambda: b'f"{a' + b"+a" * 100_000 + b'}"', refused(1, "beyond Python's own parser")
    ),
    "python names": Hostile(".py", lambda: b"[" + b"a," * 2 * MILLION, beyond("max_nodes")),
    "python with nul": Hostile(".py", lambda: b"a\0b", refused(1, "")),
    "slow codec": Hostile(".py", lambda: b"# coding: punycode\n" + b"a" * MILLION, refused(1, "encoding 'punycode'")),
    "newick levels": Hostile(".nwk", lambda: b"(" * MILLION, beyond("max_depth")),
    "newick siblings": Hostile(".nwk", lambda: b"(" + b"a," * MILLION + b"a);", beyond("max_nodes")),
    "newick quotes": Hostile(".nwk", lambda: b"'" + b"''" * MILLION + b"';", READ),
    "newick comments": Hostile(".nwk", lambda: b"[" * MILLION, refused(1, r"a comment '\[' without")),
    "lisp levels": Hostile(".sexpr", lambda: b"(a\n" * MILLION, beyond("max_depth", 10_001)),
    "inex levels": Hostile(".tree", lambda: b"1:" + b"1(" * MILLION, beyond("max_depth")),
    # Archives
    "gzip bomb": Hostile(".json.gz", lambda: gzip.compress(b" " * 80 * MILLION, 1), beyond("max_bytes")),
    "damaged gzip": Hostile(
        ".json.gz", lambda: gzip.compress(b"[" + b"1," * 1000 + b"1]")[:-20], " cannot be read or is damaged"
    ),
    "zip bomb": Hostile(".zip", lambda: zip_of(".json", b" " * 70 * MILLION), r"/0\.json, line 1: max_bytes is"),
    "many zip bombs": Hostile(
        ".zip",
        lambda: zip_of(".json", b" " * 60 * MILLION, copies=2),
        ": max_total_bytes is",
        {"max_total_bytes": 100 * MILLION},
    ),
    "truncated zip": Hostile(".zip", lambda: zip_of(".json", b"[]")[:-30], " cannot be read or is damaged"),
    "tar bomb": Hostile(".tgz", lambda: tar_of([("a.json", b" " * 70 * MILLION)]), r"/a\.json, line 1: max_bytes is"),
    "tar header": Hostile(".tar.gz", long_header, " cannot be read or is damaged .*a header of 30000000 bytes"),
    "truncated tar": Hostile(
        ".tgz", lambda: tar_of([("a.json", b"[1, 2]" * 1000)])[:-30], " cannot be read or is damaged"
    ),
}


def peak_megabytes():
    """Largest memory of this process since `forget_peak`; 0 where the system does not say."""
    lines = Path("/proc/self/status").read_text().splitlines() if Path("/proc/self/status").exists() else []
    return sum(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))


def forget_peak():
    """Let the peak of memory begin anew."""
    if Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5")


def attempt(path, options):
    """CPU seconds, megabytes, and what became of a file."""
    forget_peak()
    before, start = peak_megabytes(), time.process_time()
    try:
        bg.read_trees(path, **options)
        outcome = READ
    except ValueError as error:
        outcome = f"{type(error).__name__} {error}"
    return time.process_time() - start, peak_megabytes() - before, outcome


def main(folder):
    """Measure all cases and write what was found as JSON."""
    bg.TreeData.from_json('{"a":[{}]}'), bg.TreeData.from_xml("<a/>")  # compile
    found = {}
    for number, (name, case) in enumerate(CASES.items()):
        path = Path(folder) / f"{number}{case.ending}"
        path.write_bytes(case.content())
        tries = [attempt(path, case.options or {})]
        while tries[-1][0] > 1.0 and len(tries) < 3:  # a busy machine slows a process down
            tries.append(attempt(path, case.options or {}))
        seconds, megabytes, outcome = min(tries)
        found[name] = [path.name, seconds, megabytes, re.sub("^.*?" + re.escape(str(path)), "", outcome)]
        path.unlink()
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
