# SPDX-License-Identifier: Apache-2.0
"""Files, functions and members that docs/ARCHITECTURE.md and docs/glossary.md name are there.

A path begins at the top, in mpc-engine, kdc-plugin or tests; `x.*` is a header and its source. A
lone file name is of the folder that the line named before it. NAME stands for any.
"""

import posixpath
import re
from pathlib import PurePosixPath

import pytest

from tests import house_rules

PAGES = ("docs/ARCHITECTURE.md", "docs/glossary.md")
ROOTS = ("", "mpc-engine/", "kdc-plugin/", "tests/", "tests/unit/", "docs/")
SOURCE = (".c", ".cc", ".h", ".inl", "CMakeLists.txt")
PATH = re.compile(r"[\w.*-]+(/[\w.*-]*)+|[\w-]+\.(c|cc|h|inl|toml)")
NAME = re.compile(r"(\w+)::(\w+)(\(\))?|(\w+)\(\)")


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`\s]+)`", text)


def files_that_are_not_there(text: str, tracked: list[str]) -> list[str]:
    there = set(tracked) | {str(folder) for name in tracked
                            for folder in PurePosixPath(name).parents}
    missing = []
    for line in text.splitlines():
        folder = None
        for word in quoted(line):
            if not PATH.fullmatch(word) or "NAME" in word or word.startswith("/"):
                continue
            name = word.rstrip("/").replace(".*", ".h")
            places = [root + name for root in ROOTS]
            if folder is not None and "/" not in word:
                places.append(posixpath.join(folder, name))
            found = [place for place in places if place in there]
            if not found:
                missing.append(word)
            elif "." in PurePosixPath(found[0]).name:
                folder = posixpath.dirname(found[0])
    return missing


def names_that_are_not_there(text: str, sources: str) -> list[str]:
    """Of a class and its member, or of a function."""
    missing = []
    for word in sorted(set(quoted(text))):
        if not (name := NAME.fullmatch(word)):
            continue
        of, member, _, function = name.groups()
        there = (re.search(rf"\b{function}\(", sources) if function else
                 re.search(rf"\b{of}::{member}\b", sources)
                 or (re.search(rf"\b(class|struct) {of}\b", sources)
                 and re.search(rf"\b{member}\b( =|[(;{{])", sources)))
        if not there:
            missing.append(word)
    return missing


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_is_there(page):
    text = (house_rules.ROOT / page).read_text()
    tracked = house_rules.tracked()
    assert len(quoted(text)) > 50, "names are written in another way"
    assert not files_that_are_not_there(text, tracked)
    sources = "\n".join((house_rules.ROOT / name).read_text() for name in tracked
                        if name.endswith(SOURCE) and not name.startswith("tests/")
                        and (house_rules.ROOT / name).exists())
    assert not names_that_are_not_there(text, sources)


def test_what_is_gone_is_seen():
    tracked = ["mpc-engine/lane/ticker.h", "mpc-engine/lane/lane.cc"]
    assert not files_that_are_not_there("`lane/ticker.h`, `lane.cc`, `lane/`, `lane/ticker.*`",
                                        tracked)
    assert files_that_are_not_there("`lane/ticker.h`, `gone.cc`, `lane/gone.h`, `lost/`",
                                    tracked) == ["gone.cc", "lane/gone.h", "lost/"]
    sources = "class Ticker {\n  void step(int);\n};\nvoid Lane::compare() {}\n"
    assert not names_that_are_not_there("`Ticker::step` `Lane::compare()` `step()`", sources)
    assert names_that_are_not_there("`Ticker::gone` `Lost::step` `gone()`", sources) == [
        "Lost::step", "Ticker::gone", "gone()"]
