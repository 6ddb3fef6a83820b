# SPDX-License-Identifier: Apache-2.0
"""The page of drills: its sections, which are short, and the lines that each has typed."""

import re
from dataclasses import dataclass, field
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "operations" / "drills.md"
HOST = r"(?:server[012]|offline[012]|kdc)"
LINE = re.compile(rf"^    ({HOST}(?: {HOST})*)# (.+?)(    # is refused)?$")


@dataclass(frozen=True)
class Line:
    host: str
    command: str
    refused: bool = False


@dataclass
class Section:
    title: str
    short: bool = False
    lines: list[Line] = field(default_factory=list)


def sections(text: str) -> list[Section]:
    """The first has what is done before."""
    found = [Section("Before", short=True)]
    for line in text.splitlines():
        if line.startswith("## "):
            found.append(Section(line[3:]))
        elif line.startswith("*Short.*"):
            found[-1].short = True
        elif typed := LINE.match(line):
            found[-1].lines += [Line(host, typed[2], typed[3] is not None)
                                for host in typed[1].split()]
        elif line.startswith("    "):
            raise ValueError(f"{found[-1].title}: nobody types {line.strip()!r}")
    return found
