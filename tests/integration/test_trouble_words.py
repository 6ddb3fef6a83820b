# SPDX-License-Identifier: Apache-2.0
"""What docs/operations/trouble.md quotes is what programs say: an administrator searches for it.

Numbers, names and what stands for them (… N T) are cut out. What is left has to stand in the
sources, in the words' order; or in a stock program's own messages. Messages are put together of
pieces, so that words may come from a few places, not each from another.
"""

import functools
import re
from pathlib import Path

import pytest

from tests import house_rules

PAGE = house_rules.ROOT / "docs/operations/trouble.md"
SOURCES = (".c", ".cc", ".h", ".py", ".sh", ".service")
STOCK = ("libkrb5.so.3", "libkadm5srv_mit.so.12", "libc.so.6", "liblmdb.so.0")
PLACEHOLDER = re.compile(r"…|\.\.\.|\([^)]*\)|'[\w.]+'|(?<!\S)/\S+|\b\d+\b|\b[NT]\b")
WORDS_FOR_A_SEAM = 4


def plain(text: str) -> str:
    return " " + " ".join(re.findall(r"[A-Za-z0-9_./@^-]+", text)) + " "


@functools.cache
def said() -> str:
    """By the product, and by what it stands on."""
    own = [(house_rules.ROOT / name).read_text(errors="replace") for name in house_rules.tracked()
           if name.endswith(SOURCES) and not name.startswith(("tests/", "docs/"))
           and (house_rules.ROOT / name).is_file()]
    joined = re.sub(r'"\s*"', "", "\n".join(own)).replace("\\n", " ")
    stock = b"\n".join(piece for name in STOCK for file in Path("/usr/lib").glob(f"*/{name}")
                       for piece in re.findall(rb"[\x20-\x7e]{6,}", file.read_bytes()))
    return plain(joined) + plain(stock.decode())


def pieces(words: list[str]) -> list[str] | None:
    """The longest that are said, one behind the other. None: a word that nobody says."""
    found = []
    while words:
        most = next((n for n in range(len(words), 0, -1)
                     if f" {' '.join(words[:n])} " in said()), 0)
        if most == 0:
            return None
        found.append(" ".join(words[:most]))
        words = words[most:]
    return found


def is_said(quoted: str) -> bool:
    for part in PLACEHOLDER.split(quoted):
        words = plain(part).split()
        found = pieces(words)
        if found is None or len(found) > 1 + len(words) // WORDS_FOR_A_SEAM:
            return False
    return True


def symptoms() -> list[str]:
    text = PAGE.read_text()
    rows = [line for line in text[text.index("## Trouble"):text.index("## Deviations")].splitlines()
            if line.startswith("|")]
    return [quoted for row in rows for quoted in re.findall(r'"([^"]+)"', row.split("|")[1])]


def test_the_page_quotes_what_programs_say():
    found = symptoms()
    assert len(found) > 50, "symptoms are written in another way"
    unsaid = [quoted for quoted in found if not is_said(quoted)]
    assert not unsaid, "\n".join(unsaid)


@pytest.mark.parametrize("quoted", [
    "party N did not ring in time", "ORPHANS: … keys that the servers keep for themselves",
    "Principal keys are nailed down", "the clock time server refused is disk"])
def test_what_nobody_says_is_seen(quoted):
    assert not is_said(quoted)
