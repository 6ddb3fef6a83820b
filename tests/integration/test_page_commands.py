# SPDX-License-Identifier: Apache-2.0
"""What pages tell an administrator to type, the programs take: subcommands, and options by name.
What nothing here can run for its effect, systemd reads: a unit that tries a GPU's driver, and what
looks through the kernel's lines."""

import functools
import re
import shlex
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


def transient_unit() -> tuple[list[str], list[str], list[str]]:
    """plan.md's systemd-run: its options, the unit's properties, the command in it."""
    text = re.sub(r"\\\n\s*", " ", (ROOT / "docs/operations/plan.md").read_text())
    words = shlex.split(re.search(r"^    systemd-run (.*)$", text, re.MULTILINE)[1])
    options, properties = [], []
    while words[0].startswith("-"):
        options.append(words.pop(0))
        if options[-1] == "-p":
            properties.append(words.pop(0))
    return options, properties, words


def complaints(folder, properties: list[str]) -> str:
    unit = folder / "trial.service"
    unit.write_text("\n".join(["[Service]", "ExecStart=/bin/true", *properties, ""]))
    return subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], text=True,
                          capture_output=True, timeout=60, check=False).stderr


def test_systemd_knows_the_unit_that_tries_a_driver(tmp_path):
    """It wants a GPU to run."""
    options, properties, command = transient_unit()
    shown = subprocess.run(["systemd-run", "--help"], text=True, capture_output=True, check=True)
    assert all(re.search(rf"(?<![\w-]){option}\b", shown.stdout) for option in options), options
    assert len(properties) > 10 and not complaints(tmp_path, properties)
    assert command[0] == "/usr/lib/tkdc/cuda/tkdc-workbench"
    assert not faults(" ".join(["tkdc", *command[1:]]))
    assert "Unknown key" in complaints(tmp_path, [*properties, "ProtectSytem=strict"])
    assert "Unknown system call" in complaints(tmp_path, ["SystemCallFilter=@priviledged"])


@pytest.mark.parametrize("line, code", [
    ("journalctl -k", 0), ("journalctl -k | grep -i -e mce -e edac", 1), ("journalctl --kk", 1)])
def test_the_kernels_lines_are_looked_through(line, code):
    """There may be none, and none of broken memory."""
    pages = "".join((ROOT / page).read_text() for page in PAGES)
    assert (f"`{line}`" in pages) == ("--kk" not in line)
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], text=True, timeout=60,
                          env={"PATH": "/usr/bin:/bin", "SYSTEMD_PAGER": "cat"},
                          capture_output=True, check=False)
    assert done.returncode in {0, code}, done.stderr
    assert ("unrecognized option" in done.stderr) == ("--kk" in line), done.stderr


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
