# SPDX-License-Identifier: Apache-2.0
"""The page of drills: its sections, which are short, and the lines that each has typed."""

import re
from dataclasses import dataclass, field
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "operations" / "drills.md"
LINE = re.compile(r"^    (server[012]|offline[012]|kdc)# (.+)$")


@dataclass
class Section:
    title: str
    short: bool = False
    lines: list[tuple[str, str]] = field(default_factory=list)


def sections(text: str) -> list[Section]:
    """The first has what is done before."""
    found = [Section("Before", short=True)]
    for line in text.splitlines():
        if line.startswith("## "):
            found.append(Section(line[3:]))
        elif line.startswith("*Short.*"):
            found[-1].short = True
        elif typed := LINE.match(line):
            found[-1].lines.append((typed[1], typed[2]))
        elif line.startswith("    "):
            raise ValueError(f"{found[-1].title}: nobody types {line.strip()!r}")
    return found
