# SPDX-License-Identifier: Apache-2.0
"""One host on which everything runs: three servers, two agents, krb5kdc and kadmind, as their
packages install them. Packages of TKDC_PACKAGES, or build/packages."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support import nspawn
from tests.support.nspawn import Host

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = Path(os.environ.get("TKDC_PACKAGES", ROOT / "build" / "packages")).resolve()


@pytest.fixture(scope="session")
def image() -> Path:
    if reason := nspawn.missing():
        pytest.skip(f"hosts of their own: {reason}")
    subprocess.run([ROOT / "tests" / "packages" / "image"], check=True)
    return ROOT / "build" / "packages-test" / "image"


def put_packages(host: Host) -> None:
    """All but the program for GPUs, which stands in for tkdc-server's own (test_cuda.py)."""
    found = sorted(set(PACKAGES.glob("*.deb")) - set(PACKAGES.glob("tkdc-server-cuda_*")))
    assert found, f"no packages in {PACKAGES}: make packages"
    for package in found:
        host.copy(package, "/root/packages")


@pytest.fixture(scope="module")
def host(image):
    with Host(image, "tkdc-packages") as running:
        put_packages(running)
        yield running
