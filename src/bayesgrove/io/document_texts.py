"""Documents as their authors wrote them, shortened to be read: what a report shows as typical of a cluster."""

import re

MOST_KEPT = 4_096
"""Characters kept of a document."""
MOST_LINES, LONGEST_LINE = 40, 100
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{\[]\s*[}\]]|[{}\[\],:]|[^\s"{}\[\],:]+')
_XML_TOKEN = re.compile(r"<[^>]*>?|[^<]+")


def opening(content: bytes) -> str:
    """The beginning of a document; empty where it is not text in an encoding like UTF-8."""
    text = content[: 4 * MOST_KEPT].decode("utf-8-sig", "replace")[:MOST_KEPT]
    return "" if "\0" in text else text + "…" * (len(content) > len(text.encode()) + 3)


def readable(text: str) -> str:
    """The text in lines: as written, or broken and indented where JSON or XML was written on long lines."""
    text = text.strip().expandtabs(4)
    if max(map(len, text.splitlines()), default=0) > LONGEST_LINE:
        text = BREAKERS.get(text[0], str)(text)
    lines = text.splitlines()
    cut = [line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…" for line in lines[:MOST_LINES]]
    return "\n".join(cut if len(lines) <= MOST_LINES else [*cut, "…"])


def broken_json(text: str) -> str:
    """JSON with a line for every member and element; what is cut off may be missing at the end."""
    written, depth = [], 0
    for token in _JSON_TOKEN.findall(text):
        if token in ("}", "]"):
            depth -= 1
            written.append(_line(depth))
        written.append({":": ": ", ",": "," + _line(depth)}.get(token, token))
        if token in ("{", "["):
            depth += 1
            written.append(_line(depth))
    return "".join(written)


def broken_xml(text: str) -> str:
    """XML with a line for every tag that follows another; an element with text only stays on one line."""
    tokens = [token.strip() for token in _XML_TOKEN.findall(text) if token.strip()]
    written, depth, before = "", 0, ""
    for token in tokens:
        is_end, is_tag = token.startswith("</"), token.startswith("<")
        depth -= is_end
        is_inside = bool(before) and (not is_tag or (is_end and not before.endswith(">")))
        is_empty = is_end and before.startswith("<") and before[1:-1].split()[:1] == [token[2:-1].strip()]
        written += token if is_inside or is_empty or not before else _line(depth) + token
        depth += is_tag and not is_end and token[1:2] not in ("?", "!") and not token.endswith("/>")
        before = token
    return written


def _line(depth: int) -> str:
    return "\n" + "  " * max(depth, 0)


BREAKERS = {"{": broken_json, "[": broken_json, "<": broken_xml}
"""By how a document begins."""
