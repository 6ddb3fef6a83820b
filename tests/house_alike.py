# SPDX-License-Identifier: Apache-2.0
"""Places that share six lines or more: each pair stands in docs/STYLE.md, "Alike on purpose".

What is compared are lines without their indentation. Blank lines, comments, lone brackets, and
what a file begins with (includes, imports, namespaces) do not count. An entry of the list explains
a pair when its names fit both files: a name is the end of a path, or a pattern of it; one that ends
in a slash is a folder. An entry that explains none is reported.
"""

import re
from collections import defaultdict
from fnmatch import fnmatch
from itertools import combinations
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = "docs/STYLE.md"
SECTION = "## Alike on purpose"
# Prose, data, and what a program writes.
NO_SOURCE = re.compile(r"\.(md|[18]|svg|json|abi|digest|plan|patch)$|(^|/)LICENSE$"
                       r"|^tests/fuzz/corpus/|/wire-format(-later)?\.txt$")
NOT_LOOKED_AT = re.compile(r"^(\W*$|//|/\*|\*([ /]|$)|#|--- *$|import |from \S+ import |using "
                           r"|namespace )")
COMMENT = re.compile(r"\s*(//|  # ).*")
SHARED = 6

Place = tuple[str, int]


def lines_of(text: str) -> list[tuple[int, str]]:
    """Those that count, with their numbers."""
    counted = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not NOT_LOOKED_AT.match(line):
            counted.append((number, COMMENT.sub("", line)))
    return counted


def is_text(path: Path) -> bool:
    """A link is no second copy."""
    return path.is_file() and not path.is_symlink() and b"\0" not in path.read_bytes()


def alike(texts: dict[str, str]) -> dict[tuple[str, str], tuple[Place, Place]]:
    """Where each pair of files first shares so many lines."""
    seen: dict[tuple[str, ...], list[Place]] = defaultdict(list)
    for name, text in texts.items():
        lines = lines_of(text)
        for at in range(len(lines) - SHARED + 1):
            part = lines[at:at + SHARED]
            seen[tuple(line for _, line in part)].append((name, part[0][0]))
    found: dict[tuple[str, str], tuple[Place, Place]] = {}
    for places in seen.values():
        for one, other in combinations(places, 2):
            found.setdefault((one[0], other[0]), (one, other))
    return found


def entries(page: str) -> list[list[str]]:
    """The files that each entry names, as patterns of whole paths."""
    section = page.partition(SECTION)[2].partition("\n## ")[0]
    all_named = []
    for entry in re.split(r"^- ", section, flags=re.M)[1:]:
        names = re.findall(r"`([^`\s]+)`", entry)
        all_named.append([name + "*" if name.endswith("/") else name for name in names])
    return all_named


def fits(path: str, pattern: str) -> bool:
    return fnmatch(path, pattern) or fnmatch(path, "*/" + pattern)


def check(names: list[str], root: Path = ROOT) -> list[str]:
    listed = entries((root / PAGE).read_text())
    found = [f"{PAGE}: no file is called {pattern}" for named in listed for pattern in named
             if not any(fits(path, pattern) for path in names)]
    texts = {name: (root / name).read_text() for name in names
             if not NO_SOURCE.search(name) and is_text(root / name)}
    needed = [False] * len(listed)
    for pair, (one, other) in sorted(alike(texts).items()):
        explains = [all(any(fits(path, pattern) for pattern in named) for path in pair)
                    for named in listed]
        needed = [before or now for before, now in zip(needed, explains, strict=True)]
        if not any(explains):
            found.append(f"{one[0]}:{one[1]}: {SHARED} lines as in {other[0]}:{other[1]}: "
                         f"make them one, or say in {PAGE} why not")
    found += [f"{PAGE}: nothing that stands twice is explained by the entry of {named[0]}"
              for named, used in zip(listed, needed, strict=True) if not used]
    return found
