# SPDX-License-Identifier: Apache-2.0
"""What ansible/docs/what-to-do-when.md quotes is what playbooks and programs say, and what it says
is brought about is: a test or a step of the rollout looks for those words.
"""

import functools
import re

import pytest

from tests import house_rules
from tests.support.clients import ROOT

PAGE = ROOT / "ansible" / "docs" / "what-to-do-when.md"
SOURCES = (".yml", ".py", ".c", ".cc", ".h", "/may-remove-kdc")
# Ansible's own words, systemd's, and OpenLDAP's.
OTHERS = ("missing required arguments: tkdc_realm", "code=killed, status=9/KILL",
          "LDAP handle unavailable")
# Names and numbers that stand for others.
ANY = re.compile(r"\b(?:server ?\d|kdc\d-\w+|kdc\d|agent-admin|tkdc_\w+|[XABN0-9])\b|\.\.\.")
LOOKED_AT = {
    "Before a host is changed": ["tests/integration/test_preflight.py"],
    "While it runs, and afterwards": [
        f"tests/rollout/{name}.py" for name in (
            "steps_change", "steps_faults", "steps_give_back", "steps_install", "steps_realm")],
}


def rows(chapter: str) -> list[list[str]]:
    """What each row of this chapter quotes of what one sees."""
    text = PAGE.read_text().partition(f"\n## {chapter}\n")[2].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    return [re.findall(r"`([^`]+)`", re.sub(r"\([^)]*\)", "", cell)) for cell in cells]


def chapters() -> list[str]:
    return re.findall(r"^## (.*)$", PAGE.read_text(), re.M)


def plain(text: str) -> str:
    return " " + " ".join(re.findall(r"[A-Za-z0-9_-]+", re.sub(r"\\n", " ", text))) + " "


@functools.cache
def said() -> str:
    names = [name for name in house_rules.tracked() if name.endswith(SOURCES)
             and not name.startswith(("tests/", "docs/")) and (ROOT / name).is_file()]
    return plain(re.sub(r'"\s*f?"', "", "\n".join(
        (ROOT / name).read_text(errors="replace") for name in names)))


def is_said(quoted: str) -> bool:
    """Its words between names, each part in one place or put together of two."""
    def whole(words: list[str]) -> bool:
        return plain(" ".join(words)) in said()

    parts = [plain(part).split() for part in ANY.split(quoted)]
    return quoted in OTHERS or all(
        whole(words) or any(whole(words[:n]) and whole(words[n:]) for n in range(1, len(words)))
        for words in parts if words)


def is_looked_for(quoted: str, text: str) -> bool:
    """In strings of tests, which have other names, or none."""
    return all(plain(part) in text for part in ANY.split(quoted) if plain(part).strip())


def test_the_page_quotes_what_is_said():
    found = [quoted for chapter in chapters() for row in rows(chapter) for quoted in row]
    assert len(found) > 30, "symptoms are written in another way"
    unsaid = [quoted for quoted in found if not is_said(quoted)]
    assert not unsaid, "\n".join(unsaid)


def looked_for_in(chapter: str) -> str:
    return plain(re.sub(r'"\s*r?f?"', "", "\n".join(
        (ROOT / name).read_text() for name in LOOKED_AT[chapter])))


@pytest.mark.parametrize("chapter", LOOKED_AT)
def test_what_is_brought_about_is_looked_for(chapter):
    text = looked_for_in(chapter)
    assert len(rows(chapter)) > 8, "rows are written in another way"
    unseen = [quoted for row in rows(chapter) for quoted in row if not is_looked_for(quoted, text)]
    assert not unseen, "\n".join(unseen)


@pytest.mark.parametrize("quoted", [
    "server1 waits for the thumbprint of kdc0-kdc", "The realm awaits the servers",
    "tkdc_monitorin: no such variable; do you want tkdc_monitoring?"])
def test_what_nobody_says_is_seen(quoted):
    assert not is_said(quoted)
    assert not any(is_looked_for(quoted, looked_for_in(chapter)) for chapter in LOOKED_AT)
