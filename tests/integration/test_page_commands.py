# SPDX-License-Identifier: Apache-2.0
"""What pages tell an administrator to type, the programs take: subcommands, and options by name."""

import functools
import re
import subprocess

import pytest

from tests.integration.conftest import STOCK
from tests.support.realm import ROOT, default_bin

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]

PAGES = ("README.md", "docs/security.md",
         *(f"docs/operations/{page.name}" for page in
           sorted((ROOT / "docs" / "operations").glob("*.md"))))
COMMAND = re.compile(r"tkdc(-[a-z]+)? [^=]")


def commands(text: str) -> set[str]:
    """In code blocks and between backticks, without what follows in a shell or a comment."""
    text = re.sub(r"\\\n\s*", " ", text)
    quoted = re.findall(r"`([^`\n]+)`", text)
    blocks = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    found = (re.split(r"\s#|[|;&]", line)[0].strip() for line in quoted + blocks)
    return {line for line in found if COMMAND.match(line)}


@functools.cache
def help_of(words: tuple[str, ...]) -> str:
    program = default_bin() / words[0]
    done = subprocess.run([str(program), *words[1:], "--help"], text=True, capture_output=True,
                          timeout=60, check=False)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
    return done.stdout


def faults(line: str) -> list[str]:
    words = [word.strip("[]") for word in line.split()]
    path, said = (words[0],), help_of((words[0],))
    for word in words[1:]:
        below = said.rpartition("Subcommands:\n")[2]
        if "Subcommands:\n" not in help_of(path) or word.startswith("-"):
            break
        if not re.search(rf"^  {re.escape(word)} ", below, re.MULTILINE):
            return [f"{line}: there is no {word}"]
        path = (*path, word)
        said += help_of(path)
    options = [word.partition("=")[0] for word in words if word.startswith("--")]
    return [f"{line}: there is no {option}" for option in options
            if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", said)]


@pytest.mark.parametrize("page", PAGES)
def test_its_commands_are_taken(page):
    found = commands((ROOT / page).read_text())
    assert found, "commands are written in another way"
    wrong = [fault for line in sorted(found) for fault in faults(line)]
    assert not wrong, "\n".join(wrong)


def sections_named() -> set[str]:
    """By programs and units: "docs/operations.md, Changing keys"."""
    listed = subprocess.run(["git", "ls-files", "-z", "--", "*.cc", "*.h", "*.c", "*.py", "*.yml",
                             "*.service", "*.toml", "*.8", "config/debian"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout
    found = set()
    for name in filter(None, listed.split("\0")):
        text = re.sub(r"[\"#/* ]*\n[\"#/* ]*", " ", (ROOT / name).read_text(errors="replace"))
        found |= set(re.findall(r"operations\.md, (?:section )?\"?([A-Z]\w+(?: [a-z]\w+)*)", text))
    return found


def test_sections_that_programs_name_are_in_the_list():
    listed = re.findall(r"^\| ([^|\[]+) \| \[", (ROOT / "docs" / "operations.md").read_text(),
                        re.MULTILINE)
    named = sections_named()
    assert "Deviations" in named, "they are named in another way"
    lost = [name for name in named  # sentences go on, and lines end
            if not any(name.startswith(one) or one.startswith(name) for one in listed)]
    assert not lost, lost


def test_what_is_not_taken_is_seen():
    page = ("Do `tkdc nothing` or `tkdc status --jsn`:\n\n"
            "    tkdc store rekey --config FILE \\\n        --witch-key auto    # --why\n")
    assert sorted(fault for line in commands(page) for fault in faults(line)) == [
        "tkdc nothing: there is no nothing",
        "tkdc status --jsn: there is no --jsn",
        "tkdc store rekey --config FILE  --witch-key auto: there is no --witch-key"]
