"""Trees from files: folders, patterns, archives read without extracting, bad files among good ones, progress."""

import gzip
import io
import logging
import os
import tarfile
import zipfile

import pytest

import bayesgrove as bg
from bayesgrove.core.errors import InvalidFileError, InvalidSettingError, TreeLimitError, TreeParseError

pytestmark = pytest.mark.unit

SAMPLES = {
    "a.xml": b"<a><b/></a>",
    "b.json": b'{"k":1}',
    "c.jsonl": b"[1]\n\n[2]\n",
    "d.py": b"x = 1\n",
    "e.nwk": b"(p,q)r;\n(s);\n",
    "f.sexpr": b"(t u)",
    "g.xml.gz": gzip.compress(b"<z/>"),
}
ROOTS = ["a", "object", "array", "array", "Module", "r", "*", "t", "z"]


@pytest.fixture
def folder(tmp_path):
    for name, content in SAMPLES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "read.me").write_bytes(b"not a tree")
    (tmp_path / ".hidden.xml").write_bytes(b"<")
    return tmp_path


def roots(data):
    return [tree.labels[0] for tree in data]


def zip_file(path, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def tar_file(path, members, mode):
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo("link.xml")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return path


def test_a_folder(folder):
    (folder / "deeper" / "still").mkdir(parents=True)
    (folder / "deeper" / "still" / "h.xml").write_bytes(b"<deep/>")
    os.symlink(folder, folder / "deeper" / "circle")
    data = bg.read_trees(folder)
    assert roots(data) == [*ROOTS, "deep"]
    assert data.sources[:4] == (
        str(folder / "a.xml"),
        str(folder / "b.json"),
        f"{folder / 'c.jsonl'}:1",
        f"{folder / 'c.jsonl'}:3",
    )
    assert "python 3." in data.origin


def test_files_patterns_and_their_order(folder):
    assert roots(bg.read_trees(folder / "a.xml")) == ["a"]
    assert roots(bg.read_trees([folder / "e.nwk", str(folder / "*.xml*")])) == ["r", "*", "a", "z"]
    assert roots(bg.read_trees(folder / "**" / "*.json")) == ["object"]
    (folder / "odd[1].xml").write_bytes(b"<odd/>")
    assert roots(bg.read_trees(folder / "odd[1].xml")) == ["odd"]
    assert roots(bg.read_trees(folder / "read.me", format="sexpr")) == ["not", "a", "tree"]


@pytest.mark.parametrize("ending", ["zip", "tar", "tar.gz", "tgz"])
def test_archives_are_read_without_extracting(tmp_path, ending):
    members = {**SAMPLES, "../../up.xml": b"<up/>", "notes.txt": b"?", "inner.zip": b"PK"}
    path = tmp_path / f"all.{ending}"
    if ending == "zip":
        zip_file(path, {**members, "folder/": b""})
    else:
        tar_file(path, members, "w:gz" if ending.endswith("gz") else "w")
    data = bg.read_trees(path)
    assert roots(data) == [*ROOTS, "up"]
    assert data.sources[0] == f"{path}/a.xml"
    assert roots(bg.read_trees(path, format="json")) == ["object"]
    assert sorted(os.listdir(tmp_path)) == [path.name]
    assert not (tmp_path.parent.parent / "up.xml").exists()


def test_one_bad_file_among_many(folder, caplog):
    (folder / "b.json").write_bytes(b"{\n")
    (folder / "c.jsonl").write_bytes(b"[1]\n[\n[2]\n")
    with pytest.raises(TreeParseError, match=r"b\.json, line 2: not JSON") as caught:
        bg.read_trees(folder)
    assert (caught.value.source, caught.value.line) == (str(folder / "b.json"), 2)
    with caplog.at_level(logging.WARNING, logger="bayesgrove"):
        data = bg.read_trees(folder, errors="skip")
    assert roots(data) == ["a", "array", "array", "Module", "r", "*", "t", "z"]
    assert [skipped.source for skipped in data.skipped] == [str(folder / "b.json"), f"{folder / 'c.jsonl'}:2"]
    assert "line 2: not JSON" in data.skipped[0].reason
    assert sum("left out" in record.message for record in caplog.records) == 2
    assert data[:3].skipped == ()


def test_a_bad_member_and_a_bad_archive_are_skipped(tmp_path):
    good = zip_file(tmp_path / "a.zip", {"x.xml": b"<x/>", "y.xml": b"<y", "z.xml": b"<z/>"})
    (tmp_path / "b.zip").write_bytes(b"PK\x03\x04 rubbish")
    (tmp_path / "c.tgz").write_bytes(gzip.compress(b"rubbish" * 500))
    (tmp_path / "d.xml.gz").write_bytes(b"\x1f\x8b rubbish")
    data = bg.read_trees(tmp_path, errors="skip")
    assert roots(data) == ["x", "z"]
    assert [skipped.source for skipped in data.skipped] == [
        f"{good}/y.xml", *(str(tmp_path / name) for name in ("b.zip", "c.tgz", "d.xml.gz")),
    ]  # fmt: skip
    with pytest.raises(InvalidFileError, match=r"b\.zip cannot be read or is damaged"):
        bg.read_trees(tmp_path / "b.zip")


def test_nothing_left(tmp_path):
    (tmp_path / "a.xml").write_bytes(b"")
    with pytest.raises(InvalidFileError, match=r"nothing was read, 1 document was left out\. The first reason: .*not"):
        bg.read_trees(tmp_path, errors="skip")
    with pytest.raises(InvalidFileError, match="nothing was read: there are no documents"):
        bg.TreeData.from_xml([])
    with pytest.raises(InvalidFileError, match="no file that can be read as trees in"):
        bg.read_trees(tmp_path / "*.json")
    with pytest.raises(InvalidFileError, match=r"there is no file .*none\.xml"):
        bg.read_trees(tmp_path / "none.xml")


def test_formats(folder):
    with pytest.raises(InvalidSettingError, match=r"format is one of auto, xml, json, .*got 'yaml'"):
        bg.read_trees(folder, format="yaml")
    with pytest.raises(InvalidFileError, match=r"read\.me: the ending says nothing about its format. Give format="):
        bg.read_trees(folder / "read.me")
    with pytest.raises(InvalidSettingError, match="there is no option 'identifiers' here"):
        bg.read_trees(folder / "a.xml", format="xml", identifiers=True)
    assert bg.read_trees(folder, identifiers=True, scalars="value").n_labels > 5


def test_numbers_and_texts_do_not_mix(folder):
    (folder / "h.tree").write_bytes(b"1:2(3($))")
    assert bg.read_trees(folder / "h.tree").targets.tolist() == [1]
    with pytest.raises(InvalidSettingError, match="INEX's form have numbers for labels"):
        bg.read_trees([folder / "a.xml", folder / "h.tree"])


def test_progress(folder):
    zip_file(folder / "h.zip", {"x.xml": b"<x/>", "y.xml": b"<y/>"})
    told = []
    bg.read_trees(folder, progress=lambda *what: told.append(what))
    assert told[0] == (0, 8, str(folder / "a.xml"))
    assert told[1] == (1, 8, str(folder / "a.xml"))
    assert told[-3:] == [(7, 8, f"{folder / 'h.zip'}/{name}.xml") for name in "xy"] + [(8, 8, str(folder / "h.zip"))]


def test_archives_beyond_limits(tmp_path):
    members = {f"{i}.xml": b"<x/>" for i in range(5)}
    zipped = zip_file(tmp_path / "a.zip", members)
    tarred = tar_file(tmp_path / "a.tar", members, "w")
    for path in (zipped, tarred):
        assert len(bg.read_trees(path, max_members=6)) == 5
        with pytest.raises(TreeLimitError, match=r"a\.\w+: max_members is 4 and the archive is beyond it"):
            bg.read_trees(path, max_members=4)
        with pytest.raises(TreeLimitError, match=r"a\.\w+: max_total_bytes is 15 and the archive"):
            bg.read_trees(path, max_total_bytes=15)
        with pytest.raises(TreeLimitError, match=r"a\.\w+/0\.xml, line 1: max_bytes is 3"):
            bg.read_trees(path, max_bytes=3)


def test_a_list_of_members_too_long_is_refused_before_it_is_read(tmp_path):
    path = zip_file(tmp_path / "a.zip", {f"{i:04000d}.xml": b"<x/>" for i in range(4)})
    with pytest.raises(TreeLimitError, match="max_members is 2"):
        bg.read_trees(path, max_members=2)


def test_zip_members_packed_in_unusual_ways(tmp_path):
    path = zip_file(tmp_path / "a.zip", {"x.xml": b"<x/>"}, zipfile.ZIP_LZMA)
    with pytest.raises(InvalidFileError, match=r"a\.zip: 'x\.xml' is packed in an unusual way"):
        bg.read_trees(path)


def test_a_line_too_long_ends_its_file(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"[1]\n[1,1,1,1,1,1]\n[2]\n")
    with pytest.raises(TreeLimitError, match=r"a\.jsonl, line 2: max_bytes is 8"):
        bg.read_trees(tmp_path, max_bytes=8)
    data = bg.read_trees(tmp_path, max_bytes=8, errors="skip")
    assert (len(data), len(data.skipped)) == (1, 1)
