# SPDX-License-Identifier: Apache-2.0
"""`tkdc bench` and `tkdc circuit` run tkdc-workbench: beside tkdc, or where packages install it."""
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.realm import default_bin


def ask(program: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program), *words], capture_output=True, text=True, timeout=60,
                          check=False)


@pytest.fixture(params=["sbin", "lib/tkdc"], ids=["beside", "installed"])
def tkdc(request, tmp_path: Path) -> Path:
    """A copy of tkdc in sbin, with the workbench in this folder."""
    for name, folder in (("tkdc", "sbin"), ("tkdc-workbench", request.param)):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        shutil.copy2(default_bin() / name, tmp_path / folder / name)
    return tmp_path / "sbin" / "tkdc"


def test_it_is_found_and_gets_all_words(tkdc: Path):
    done = ask(tkdc, "circuit", "info", "aes128-encrypt")
    assert done.returncode == 0, done.stderr
    assert "ANDs" in done.stdout
    help_text = ask(tkdc, "bench", "ctr", "--help")
    assert help_text.returncode == 0
    assert "tkdc bench ctr" in help_text.stdout and "--seconds" in help_text.stdout


def test_a_wrong_word_is_named_and_the_status_is_1(tkdc: Path):
    done = ask(tkdc, "bench", "nothing")
    assert done.returncode == 1
    assert "tkdc: unknown word 'nothing'" in done.stderr


def test_without_it_the_message_says_which_program_is_missing(tmp_path: Path):
    shutil.copy2(default_bin() / "tkdc", tmp_path / "tkdc")
    done = ask(tmp_path / "tkdc", "bench", "ctr")
    assert done.returncode == 1
    assert f"{tmp_path}/tkdc-workbench: " in done.stderr
    assert "installed with tkdc" in done.stderr
    # A realm's administrator needs none of it.
    assert ask(tmp_path / "tkdc", "init", "--help").returncode == 0
