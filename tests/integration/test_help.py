# SPDX-License-Identifier: Apache-2.0
"""`--help` of every command ends with an example, whose options that command has."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.realm import default_bin

PROGRAMS = {  # by what they say that they are called
    "tkdc": "tkdc", "tkdc bench": "tkdc-workbench", "tkdc circuit": "tkdc-workbench",
    "tkdc import": "tkdc-import", "tkdc export": "tkdc-export", "tkdc reconcile": "tkdc-reconcile",
    "tkdc-server": "tkdc-server", "tkdc-agent": "tkdc-agent", "tkdc-exporter": "tkdc-exporter",
    "tkdc-storm": "tkdc-storm", "tkdc-check-krb5": "tkdc-check-krb5"}
OF_THEIR_OWN = {name.split()[1] for name in PROGRAMS if " " in name}
OPTION = re.compile(r"(?<!\S)--[a-z][a-z0-9-]*")


def said(program: str, *words: str) -> str:
    argv = [str(default_bin() / program), *words, "--help"]
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=20).stdout


def subcommands(text: str) -> list[str]:
    block = re.search(r"^Subcommands:\n((?:[ ]+.*\n?)+)", text, re.MULTILINE)
    return re.findall(r"^  ([a-z][a-z0-9-]*)", block[1], re.MULTILINE) if block else []


def commands(program: str, name: str, words: tuple[str, ...]):
    """(name, help) of all that have no subcommands."""
    text = said(program, *words)
    names = [one for one in subcommands(text) if words or one not in OF_THEIR_OWN]
    if not names:
        yield name, text
    for one in names:
        yield from commands(program, f"{name} {one}", (*words, one))


@pytest.mark.parametrize("name", PROGRAMS)
def test_help_ends_with_an_example(name):
    program, words = PROGRAMS[name], name.split()[1:]
    inside = tuple(words) if program == "tkdc-workbench" else ()
    found = list(commands(program, name, inside))
    assert found
    for command, text in found:
        above, example, below = text.partition("Example: ")
        assert example, f"{command} --help has no example"
        words_of = command.split()
        line = re.search(rf"{words_of[0]} .*{words_of[-1]}.*|{words_of[0]} .*", below)
        assert line, f"the example of {command} is none of it: {below}"
        known = above + (said(program, words_of[1]) if len(words_of) > 2 and not inside else "")
        for option in OPTION.findall(line[0]):
            assert option in known, f"{command} has no {option}"


def test_the_examples_of_the_audit_log_name_it_as_init_does():
    config = (Path(__file__).parents[2] / "config/tkdc.toml").read_text()
    name = re.search(r'Default: "(audit\.\w+)"', config)[1]
    for word in ("show", "verify"):
        example = said("tkdc", "audit", word).partition("Example: ")[2]
        assert set(re.findall(r"/(audit\.\w+)", example)) == {name}, example
