# SPDX-License-Identifier: Apache-2.0
"""What bash offers behind `tkdc` is what the programs take: every command, every option, every
value of an option that has a list."""

import re
import subprocess

import pytest

from tests.support.realm import ROOT, default_bin

OTHERS = ("bench", "circuit")  # tkdc-workbench, which only a whole build has
COMPLETION = ROOT / "config" / "tkdc.bash-completion"


def offered(*words: str) -> set[str]:
    """Behind these words, of which the last one is begun."""
    script = (f'PATH={default_bin()}:$PATH; . {COMPLETION}; COMP_WORDS=("$@"); '
              'COMP_CWORD=$(($# - 1)); _tkdc; printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True,
                          check=True, timeout=60)
    return set(done.stdout.split())


def help_of(*words: str) -> str:
    return subprocess.run([str(default_bin() / words[0]), *words[1:], "--help"], text=True,
                          capture_output=True, check=True, timeout=60).stdout


def commands_in(text: str) -> list[str]:
    below = re.split(r"^Subcommands:$", text, flags=re.M)[1:]
    return re.findall(r"^  ([a-z][a-z-]*) ", below[0], re.M) if below else []


def walk(*words: str):
    """Each command with its help."""
    text = help_of(*words)
    yield words, text
    for command in commands_in(text):
        if command not in OTHERS:
            yield from walk(*words, command)


def test_every_command_option_and_value_is_offered():
    commands = options = values = 0
    for words, text in walk("tkdc"):
        below = commands_in(text)
        assert set(below) <= offered(*words, ""), words
        named = set(re.findall(r"(?<![\w-])--[a-z0-9][a-z0-9-]*", text))
        assert named <= offered(*words, "--"), words
        for option, listed in re.findall(r"^ *(--[a-z-]+) .*\{([^}]*)\}", text, re.M):
            assert offered(*words, option, "") == set(listed.split(",")), (words, option)
            values += 1
        commands += len(below)
        options += len(named)
    assert commands > 25 and options > 80 and values > 3, (commands, options, values)


def test_parties_are_offered():
    assert offered("tkdc", "init", "--party", "") == {"0", "1", "2"}


@pytest.mark.parametrize("program", ["tkdc-server", "tkdc-agent"])
def test_daemons(program):
    assert {"--config", "--check-config"} <= offered(program, "--c")


def test_files_are_offered_where_there_is_no_list(tmp_path):
    (tmp_path / "tkdc.toml").touch()
    assert offered("tkdc-server", "--config", f"{tmp_path}/tk") == {f"{tmp_path}/tkdc.toml"}

