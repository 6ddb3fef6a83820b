# SPDX-License-Identifier: Apache-2.0
"""Tables of measured figures, from docs/measurements/*.json.

    python3 -m tests.bench.measurements    writes docs/measurements/README.md, and the first table
                                           of docs/performance.md anew

A file has a title and tables; each says about what, by which command, its columns and rows. A new
measurement takes an old one's place: git keeps that.
"""

import json
import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "measurements"
PAGE, ALL = ROOT / "docs" / "performance.md", FOLDER / "README.md"
HEADLINE = "headline"
MARKS = (f"<!-- measurements/{HEADLINE}.json -->\n", f"<!-- end of {HEADLINE} -->\n")


def load() -> dict[str, dict]:
    return {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}


def table(of: dict) -> str:
    wrong = [row for row in of["rows"] if len(row) != len(of["columns"])]
    if wrong:
        raise ValueError(f"{of.get('name', HEADLINE)}: {wrong[0]} has other columns")
    lines = [of["columns"], ["---"] * len(of["columns"]), *of["rows"]]
    return "".join(re.sub(" +", " ", "| " + " | ".join(line) + " |") + "\n" for line in lines)


def section(of: dict) -> str:
    text = f"### {of['name']}\n\n"
    if "command" in of:
        text += f"    {of['command']}\n\n"
    if "about" in of:
        text += "\n".join(textwrap.wrap(of["about"], 100, break_on_hyphens=False)) + "\n\n"
    return text + table(of) + "\n"


def all_tables(files: dict[str, dict]) -> str:
    text = ("# Measurements\n\nMade by `python3 -m tests.bench.measurements` from the files beside "
            "it. What they mean:\n[performance.md](../performance.md).\n")
    for stem, one in files.items():
        if stem != HEADLINE:
            sections = "".join(map(section, one["tables"])).rstrip()
            text += f"\n## {one['title']}\n\n{sections}\n"
    return text


def with_headline(page: str, files: dict[str, dict]) -> str:
    before, mark, rest = page.partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    if not mark or not end:
        raise ValueError(f"{PAGE}: the marks of its table are not there")
    return before + mark + table(files[HEADLINE]) + end + after


if __name__ == "__main__":
    known = load()
    ALL.write_text(all_tables(known))
    PAGE.write_text(with_headline(PAGE.read_text(), known))
