# SPDX-License-Identifier: Apache-2.0
"""Every program that is installed says by --version which it is, its release and its commit, and
has its functions found before it starts (docs/security.md, Process hardening)."""

import re
import subprocess

import pytest

from tests.support.realm import ROOT, default_bin

INSTALLED = re.findall(r"^install\(TARGETS ([\w\s-]+?)\s+RUNTIME ",
                       (ROOT / "config" / "CMakeLists.txt").read_text(), re.MULTILINE)
PROGRAMS = [program for line in INSTALLED for program in line.split()]


def ask(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(default_bin() / program), *words], text=True, capture_output=True,
                          timeout=60, check=False)


def test_the_list_is_of_all_components():
    assert {"tkdc-server", "tkdc-import", "tkdc-export", "tkdc-check-krb5", "tkdc", "tkdc-storm",
            "tkdc-agent", "tkdc-workbench"} <= set(PROGRAMS)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_says_release_and_commit(program):
    release = re.search(r"^project\(tkdc VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(),
                        re.MULTILINE)
    said = ask(program, "--version")
    assert said.returncode == 0, said.stderr
    assert re.fullmatch(rf"tkdc[a-z0-9 -]* {re.escape(release[1])} \(([0-9a-f]{{12}}|unknown)\)\n",
                        said.stdout), said.stdout
    assert "--version" in ask(program, "--help").stdout


@pytest.mark.parametrize("file", [*PROGRAMS, "ktkdc.so", "libtkdc-k5.so"])
def test_functions_are_found_at_the_start(file):
    dynamic = subprocess.run(["readelf", "--dynamic", str(default_bin() / file)], text=True,
                             capture_output=True, check=True, timeout=60).stdout
    assert re.search(r"\(FLAGS_1\)\s+Flags:.* NOW", dynamic), dynamic


@pytest.mark.parametrize("unit", ["tkdc-server@.service", "tkdc-agent@.service"])
def test_those_of_libraries_are_too(unit):
    assert "\nEnvironment=LD_BIND_NOW=1\n" in (ROOT / "config" / unit).read_text()


def test_tkdc_check_krb5_tells_options_from_files(tmp_path):
    nothing = ask("tkdc-check-krb5")
    assert nothing.returncode == 1
    assert "files" in nothing.stderr
    missing = ask("tkdc-check-krb5", str(tmp_path / "libkrb5.so.3"))
    assert missing.returncode == 1
    assert "libkrb5.so.3" in missing.stderr
    assert ask("tkdc-check-krb5", "--no-such-option").returncode == 1
