# SPDX-License-Identifier: Apache-2.0
"""The packages' own tests (config/debian/tests), as autopkgtest runs them: on a host on which they
are installed and nothing else has been done. Each must be in the list, and none needs what the
packages do not have."""

import re

import pytest

from tests.packages.conftest import ROOT, put_packages
from tests.support.nspawn import Host

FOLDER = ROOT / "config" / "debian" / "tests"


def listed() -> list[str]:
    return re.findall(r"^Tests: (.*)$", (FOLDER / "control").read_text(), re.M)


def test_each_is_listed():
    assert sorted(listed()) == sorted(path.name for path in FOLDER.iterdir()
                                      if path.name != "control")


@pytest.fixture(scope="module")
def host(image):
    with Host(image, "tkdc-autopkg") as running:
        put_packages(running)
        running.run("dpkg -i packages/*.deb")
        yield running


@pytest.mark.parametrize("name", ["commands", "realm"])
def test_it_passes(host, name):
    host.copy(FOLDER / name, "/root/tests")
    done = host.run(f"chmod 755 tests/{name} && mkdir -p /tmp/{name} && "
                    f"AUTOPKGTEST_TMP=/tmp/{name} tests/{name}", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
