"""JSON documents as trees: a node per value; depth is bounded by the limit alone and no number is converted."""

import json
from collections.abc import Iterator

import numpy as np

from bayesgrove.io import json_scan
from bayesgrove.io.json_scan import Scan, scan_json
from bayesgrove.io.tree_documents import CodeOf, Document, LabelTable, RawTree, ReaderOptions, nodes_allowed, utf8
from bayesgrove.trees.forest_shapes import child_lists, kept_within, ordinals, parents_of_depths, preorder

KIND_WORDS = ("object", "array", "string", "number", "boolean", "boolean", "null")
_REASONS = {
    json_scan.BAD_CHARACTER: "a character that fits nowhere in JSON",
    json_scan.TEXT_ENDS: "the text ends inside a value. Is the file complete?",
    json_scan.TEXT_AFTER: "text after the end of the document. Documents one a line are read with format='jsonl'.",
    json_scan.BAD_STRING: "a control character or a wrong escape in a string",
    json_scan.BAD_NUMBER: "a malformed number",
}


def read_json(document: Document, table: LabelTable, options: ReaderOptions) -> Iterator[RawTree]:
    """The one tree of a JSON document."""
    plain = utf8(document)
    scan = scan_json(plain.content, nodes_allowed("json", options), options.max_depth)
    _check(plain, scan, options)
    yield _Values(plain, scan, table, options).tree()


def _check(document: Document, scan: Scan, options: ReaderOptions) -> None:
    if scan.status == json_scan.TOO_MANY:
        raise document.beyond(document.line_of(scan.at), "max_nodes", nodes_allowed("json", options))
    if scan.status == json_scan.TOO_DEEP:
        raise document.beyond(document.line_of(scan.at), "max_depth", options.max_depth)
    if scan.status != json_scan.FINE:
        shown = document.content[scan.at : scan.at + 20].decode("utf-8", "replace")
        at = f" (at {shown!r})" if shown else ""
        raise document.malformed_at(scan.at, f"not JSON: {_REASONS[scan.status]}{at}")


class _Values:
    """The values of one document on their way to a tree."""

    def __init__(self, document: Document, scan: Scan, table: LabelTable, options: ReaderOptions) -> None:
        self.document, self.scan, self.table, self.options = document, scan, table, options
        self.keys: dict[str, int] = {}
        self.members = np.flatnonzero(scan.key_starts >= 0)
        self.key_ids = self.find_keys()

    def tree(self) -> RawTree:
        """Labels and depths in preorder."""
        labels, depths = self.labels(), self.scan.depths
        if self.members.size:
            order = self.order()
            labels, depths = labels[order], depths[order]
        return RawTree(labels, depths)

    def find_keys(self) -> np.ndarray:
        """Number of every member's key, texts with the same meaning having the same number."""
        content, keys = self.document.content, self.keys

        def number(written: bytes) -> int:
            return keys.setdefault(self.decoded(written), len(keys))

        number_of = CodeOf(number)
        starts, ends = self.scan.key_starts[self.members], self.scan.key_ends[self.members]
        self.check_lengths(starts, ends)
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        return np.array([number_of[content[start:end]] for start, end in pairs], np.int64)

    def decoded(self, written: bytes) -> str:
        """What a string means."""
        if b"\\" not in written:
            return written[1:-1].decode("utf-8")
        text: str = json.loads(written)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            at = self.document.content.find(written)
            raise self.document.malformed_at(at, "half a surrogate pair in a string. Write the whole pair.") from error
        return text

    def check_lengths(self, starts: np.ndarray, ends: np.ndarray) -> None:
        """Refuse texts too long to become labels."""
        wrong = ends - starts > self.options.max_token
        if wrong.any():
            at = int(starts[np.argmax(wrong)])
            raise self.document.beyond(self.document.line_of(at), "max_token", self.options.max_token)

    def labels(self) -> np.ndarray:
        """Code of every value's label."""
        words = np.array([self.table[word] for word in KIND_WORDS], np.int32)
        if self.options.scalars == "type" and (self.options.members == "type" or not self.members.size):
            return words[self.scan.kinds]
        shown, table = self.shown_values(), self.table
        if self.options.members != "type":
            texts = list(self.keys)
            with_value = self.options.members == "key:type"
            for node, key in zip(self.members.tolist(), self.key_ids.tolist(), strict=True):
                shown[node] = f"{texts[key]}:{shown[node]}" if with_value else texts[key]
        return np.array([table[text] for text in shown], np.int32)

    def shown_values(self) -> list[str]:
        """What stands for every value: its type, or a scalar's text."""
        shown = [KIND_WORDS[kind] for kind in self.scan.kinds.tolist()]
        if self.options.scalars == "value":
            scalars = np.flatnonzero(self.scan.kinds > json_scan.ARRAY)
            starts, ends = self.scan.starts[scalars], self.scan.ends[scalars]
            self.check_lengths(starts, ends)
            for node, start, end in zip(scalars.tolist(), starts.tolist(), ends.tolist(), strict=True):
                written = self.document.content[start:end]
                is_string = written[:1] == b'"'
                shown[node] = json.dumps(self.decoded(written), ensure_ascii=False) if is_string else written.decode()
        return shown

    def order(self) -> np.ndarray:
        """Values in preorder, members by key (or as written), of members with one key the last."""
        parents = parents_of_depths(self.scan.depths)
        rank = ordinals(parents).astype(np.int64)
        dropped = np.zeros(parents.size, np.int32)
        self.drop_repeated(parents, rank, dropped)
        if self.options.key_order == "sorted":
            texts = list(self.keys)
            key_rank = np.empty(len(texts), np.int64)
            key_rank[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
            rank[self.members] = key_rank[self.key_ids]
        start, children = child_lists(parents, np.lexsort((rank, parents)))
        order = preorder(parents, start, children)
        return order[kept_within(parents, dropped, 0)[order]]

    def drop_repeated(self, parents: np.ndarray, rank: np.ndarray, dropped: np.ndarray) -> None:
        """Mark all but the last member of each key of an object; the last takes the first one's place."""
        order = self.members[np.lexsort((self.members, self.key_ids, parents[self.members]))]
        keys = self.key_ids[np.searchsorted(self.members, order)]
        same = (parents[order][1:] == parents[order][:-1]) & (keys[1:] == keys[:-1])
        if same.any():
            firsts = np.flatnonzero(np.concatenate([[True], ~same]))
            lasts = np.flatnonzero(np.concatenate([~same, [True]]))
            dropped[order[:-1][same]] = 1
            rank[order[lasts]] = rank[order[firsts]]
