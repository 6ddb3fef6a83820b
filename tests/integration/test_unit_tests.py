# SPDX-License-Identifier: Apache-2.0
"""Which unit tests `make test` runs in which build: each in one at least."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.realm import default_bin

ROOT = Path(__file__).parents[2]


def quoted(script: str, name: str, part: int = 0) -> list[str]:
    """The words of a bash array of the script, the part-th of its name."""
    text = (ROOT / script).read_text()
    body = re.findall(rf"{name}=\(\n(.*?)\n *\)", text, re.DOTALL)[part]
    return re.findall(r"^ *'(.*)'$", body, re.MULTILINE)


def listed_in(folder: Path) -> list[str]:
    listed = subprocess.run(["ctest", "--test-dir", str(folder), "-N"], capture_output=True,
                            text=True, check=True).stdout
    return re.findall(r"Test +#\d+: (\S+)", listed)


def not_under_asan(build: Path) -> list[str]:
    """Tests of programs that `make test` does not build with ASan."""
    text = (ROOT / "tests" / "unit" / "CMakeLists.txt").read_text()
    parts = re.search(r"elseif\(TKDC_SANITIZE AND TKDC_FEWER_PROGRAMS\)\n +list\(REMOVE_ITEM parts "
                      r"(.*?)\)", text)[1].split()
    found = [name for part in parts for name in listed_in(build / "tests" / "unit" / part)]
    assert found, "no test is in these folders any more"
    return found


def test_each_unit_test_runs_in_some_build():
    build = default_bin().parent
    if not (build / "CTestTestfile.cmake").exists():
        pytest.skip("these programs are no build's")
    names = listed_in(build)
    assert len(names) > 2000
    plain = re.compile("^([^/]+/)?(" + "|".join(quoted("tests/all", "only_sanitized")) + ")")
    address = re.compile("|".join(quoted("tests/sanitize", "left_out", 1)))
    passed_over = [name for name in names if plain.search(name)]
    assert passed_over, "the expressions fit nothing any more"
    assert [name for name in passed_over if address.search(name)] == []
    assert set(passed_over) & set(not_under_asan(build)) == set()
    for word in quoted("tests/all", "only_sanitized"):
        assert re.search(rf"^([^/]+/)?({word})", "\n".join(names), re.MULTILINE), word


def test_expressions_of_many_groups_leave_tests_out(tmp_path):
    """ctest itself takes nine groups at most; with more, it runs everything and ends well."""
    ctest = tmp_path / "ctest"
    ctest.write_text("""#!/bin/sh
case "$*" in
  *-N*) printf '  Test #%s: %s\\n' 7 One.Runs 8 Two.DoesNot 19 'Six/Six.Runs/0  # GetParam() = 8' ;;
  *) printf '%s\\n' "$@" ;;
esac
""")
    ctest.chmod(0o755)
    many = "|".join(f"(Word{i})" for i in range(20))
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}",
                   "TKDC_CTEST_EXCLUDE": f"{many}\nTwo\\."}
    arguments = subprocess.run([ROOT / "tests" / "again", "ctest", "none"], env=environment,
                               capture_output=True, text=True, check=True).stdout.split()
    assert arguments == ["--preset", "none", "-I", "0,0,0,7,19"]
