"""JSON Lines of `yardstick export`."""
from __future__ import annotations

import hashlib
import json

from ._study import Row, Study

SCHEMA = "yardstick/export/1"


def read_export(path: str) -> Study:
    """ValueError where it is no export, one of another form, cut short or changed: its last line holds the number of lines before it, and a
    chain of hashes over them."""
    parts: dict[str, list[Row]] = {"study": [], "host": [], "trial": [], "run": []}
    link, count, end = bytes(32), 0, None
    with open(path, "rb") as file:
        for line in file:
            try:
                entry = json.loads(line)
                kind = entry.pop("type")
            except (ValueError, KeyError, AttributeError, TypeError):
                raise ValueError("%s, line %d: no export of yardstick" % (path, count + 1)) from None
            if end is not None:
                raise ValueError("%s goes on behind its end" % path)
            if kind == "end":
                end = entry
                continue
            if line.endswith(b"\r\n"):  # as git may have made of it
                line = line[:-2] + b"\n"
            if count == 0 and line.startswith(b"\xef\xbb\xbf"):  # an editor's
                line = line[3:]
            link = hashlib.sha256(link + line).digest()
            count += 1
            parts.setdefault(kind, []).append(entry)
    if end is None:
        raise ValueError("%s is cut short: it has no line that ends it" % path)
    if end.get("lines") != count or end.get("chain") != link.hex():
        raise ValueError("%s was changed since it was written" % path)
    if len(parts["study"]) != 1:
        raise ValueError("%s holds %d studies, not one" % (path, len(parts["study"])))
    schema = parts["study"][0].pop("schema", SCHEMA)
    if schema != SCHEMA:
        raise ValueError("%s is a %s: this reader takes %s" % (path, schema, SCHEMA))
    return Study(parts["study"][0], (parts["host"] or [{}])[0], parts["trial"], parts["run"])
