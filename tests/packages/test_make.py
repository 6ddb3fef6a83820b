# SPDX-License-Identifier: Apache-2.0
"""config/debian/make deletes no folder but its own. Without a build: a program that does nothing
stands in for dpkg-buildpackage."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.packages.conftest import ROOT


def make(folder: Path, name: str) -> subprocess.CompletedProcess:
    """Called in `folder`."""
    programs = folder.parent / "programs"
    programs.mkdir(exist_ok=True)
    nothing = programs / "dpkg-buildpackage"
    nothing.write_text("#!/bin/sh\n")
    nothing.chmod(0o755)
    return subprocess.run([ROOT / "config" / "debian" / "make", name], cwd=folder, text=True,
                          env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
                          capture_output=True, check=False)


@pytest.fixture
def caller(tmp_path) -> Path:
    folder = tmp_path / "caller"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("name", ["mine", ".", "mine/file"])
def test_what_is_not_its_own_is_refused(caller, name):
    (caller / "mine").mkdir()
    (caller / "mine" / "file").write_text("precious")
    done = make(caller, name)
    assert done.returncode == 1
    assert "not made by this" in done.stderr
    assert (caller / "mine" / "file").read_text() == "precious"


def test_its_own_is_made_anew(caller):
    for _ in range(2):
        done = make(caller, "new")
        assert done.returncode == 0, done.stdout + done.stderr
        assert (caller / "new" / "log").exists()
        assert not (caller / "new" / "of before").exists()
        (caller / "new" / "of before").write_text("")
