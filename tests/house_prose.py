# SPDX-License-Identifier: Apache-2.0
"""Prose of the pages: lines of 100 columns, and sentences of 25 words on average, at most, none of
which has more than 45: a full stop ends one, and neither a colon nor a semicolon does. The latter
not where a protocol is proved or a decision explained.

    python3 -m tests.house_prose [--write] [PAGE ...]

Says what is longer. With --write it breaks the lines anew. Code, tables and headings are left as
they are; what stands between backticks stays in one line, so that it can be searched for.
"""

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = 100
MEAN_WORDS = 25
MOST_WORDS = 45
MAY_BE_LONG = ("docs/protocols/", "docs/adr/")
MARKER = re.compile(r"( *)((?:[-*+]|\d+[.)]) +)(?=\S)")
# Not at the beginning of a line, where they would begin a list, a heading or a table.
HELD = re.compile(r"(?:[-+*]|\d+[.)]|#+|\||>.*|```.*|<!--.*)$")
ENDS = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\[(0-9])")


@dataclass
class Block:
    """Lines that belong together. Prose has the indents of its first line and of the others."""

    lines: list[str] = field(default_factory=list)
    prose: bool = False
    first: str = ""
    hang: str = ""

    def text(self) -> str:
        return " ".join([self.lines[0][len(self.first):].strip(),
                         *(line.strip() for line in self.lines[1:])])


def is_other(line: str) -> bool:
    return line.lstrip().startswith(("#", "|", "<!--", ">")) or not line.strip()


def blocks(text: str) -> list[Block]:
    out: list[Block] = []
    fence, hangs, blank = False, [""], True
    for line in text.split("\n"):
        indent = line[:len(line) - len(line.lstrip())]
        if line.lstrip().startswith("```") or fence:
            fence ^= line.lstrip().startswith("```")
            out.append(Block([line]))
            continue
        if line.strip() and blank:
            while len(hangs) > 1 and len(indent) < len(hangs[-1]):
                hangs.pop()
        code = (blank and len(indent) >= len(hangs[-1]) + 4) or (
            not blank and out and not out[-1].prose and len(indent) >= len(hangs[-1]) + 4)
        if is_other(line) or code:
            out.append(Block([line]))
            blank = not line.strip()
            continue
        if marker := MARKER.match(line):
            while len(hangs) > 1 and len(marker[1]) < len(hangs[-1]):
                hangs.pop()
            hang = " " * len(marker[0])
            hangs.append(hang)
            out.append(Block([line], True, marker[0], hang))
        elif out and out[-1].prose and not blank:
            out[-1].lines.append(line)
        else:
            out.append(Block([line], True, indent, indent))
        blank = False
    return out


def tokens(text: str) -> list[str]:
    """Words; what stands between backticks is part of one."""
    out: list[str] = []
    for word in text.split():
        if out and (out[-1].count("`") % 2 == 1 or HELD.match(word)):
            out[-1] += " " + word
        else:
            out.append(word)
    return out


def wrapped(block: Block) -> list[str]:
    out, line = [], block.first
    start = True
    for token in tokens(block.text()):
        if not start and len(line) + 1 + len(token) > COLUMNS:
            out.append(line)
            line, start = block.hang, True
        line += token if start else " " + token
        start = False
    return [*out, line]


def too_long(line: str) -> bool:
    """Where it could be broken."""
    return len(line) > COLUMNS and len(tokens(line)) > 1


def rewrapped(text: str) -> str:
    lines: list[str] = []
    for block in blocks(text):
        again = block.prose and any(too_long(line) for line in block.lines)
        lines += wrapped(block) if again else block.lines
    return "\n".join(lines)


def sentences_of(text: str) -> list[str]:
    return [one for block in blocks(text) if block.prose for one in ENDS.split(block.text())]


def mean_words(text: str) -> float:
    sentences = [one for one in sentences_of(text) if len(one.split()) > 2]
    return sum(len(one.split()) for one in sentences) / max(1, len(sentences))


def faults(name: str, text: str) -> list[str]:
    found = []
    if rewrapped(text) != text:
        long_ = next(line for block in blocks(text) if block.prose for line in block.lines
                     if too_long(line))
        found.append(f"{name}: lines of prose over {COLUMNS} columns, such as {long_[:60]!r}: "
                     f"python3 -m tests.house_prose --write {name}")
    if (mean := mean_words(text)) > MEAN_WORDS:
        found.append(f"{name}: sentences of {mean:.1f} words on average, over {MEAN_WORDS}")
    if not name.startswith(MAY_BE_LONG):
        found += [f"{name}: a sentence of {len(one.split())} words, over {MOST_WORDS}: {one[:60]!r}"
                  for one in sentences_of(text) if len(one.split()) > MOST_WORDS]
    return found


def pages() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z", "--", "*.md"], cwd=ROOT, capture_output=True,
                            text=True, check=True).stdout
    return sorted(name for name in listed.split("\0") if name and (ROOT / name).is_file())


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.house_prose")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("page", nargs="*")
    options = parser.parse_args()
    found = []
    for name in options.page or pages():
        path = ROOT / name
        text = path.read_text()
        if options.write:
            text = rewrapped(text)
            path.write_text(text)
        found += faults(name, text)
    sys.stdout.write("".join(f"{one}\n" for one in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
