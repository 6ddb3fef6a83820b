# SPDX-License-Identifier: Apache-2.0
"""The signed apt repository: apt installs from it, and refuses it when a package or the list of
them was changed, or another key signed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.packages.conftest import PACKAGES, ROOT
from tests.support.nspawn import Host

SOURCE = "deb [signed-by=/etc/apt/keyrings/tkdc.gpg] file:/srv/tkdc ./\n"


def make_repository(folder: Path, out: str) -> Path:
    """With a key of its own."""
    home = folder / f"gpg-{out}"
    home.mkdir(mode=0o700)
    env = {**os.environ, "GNUPGHOME": str(home)}
    subprocess.run(["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key",
                    "packages@tkdc.invalid", "ed25519", "sign"], env=env, check=True,
                   capture_output=True)
    made = folder / out
    subprocess.run([ROOT / "config" / "debian" / "repository", "packages@tkdc.invalid",
                    str(PACKAGES), str(made)], env=env, check=True, capture_output=True)
    subprocess.run(["gpgconf", "--kill", "all"], env=env, check=False)
    return made


@pytest.fixture(scope="module")
def repositories(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("r")
    return make_repository(folder, "right"), make_repository(folder, "other")


@pytest.fixture
def host(image):
    with Host(image, "tkdc-apt") as running:
        running.run("rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*")
        running.write("/etc/apt/sources.list.d/tkdc.list", SOURCE)
        yield running


def put(host: Host, repository: Path, key: Path) -> None:
    for path in repository.iterdir():
        host.copy(path, "/srv/tkdc")
    host.run("mkdir -p /etc/apt/keyrings")
    host.write("/etc/apt/keyrings/tkdc.gpg", "")
    host.copy(key / "tkdc.gpg", "/etc/apt/keyrings")
    host.run("chmod -R a+rX /srv/tkdc /etc/apt/keyrings")


def test_apt_installs_from_it(host, repositories):
    put(host, repositories[0], repositories[0])
    host.run("apt-get update && apt-get install -y tkdc-server")
    host.run("tkdc-server --version")


def test_a_changed_package_is_refused(host, repositories, tmp_path):
    changed = tmp_path / "changed"
    shutil.copytree(repositories[0], changed)
    package = next(changed.glob("tkdc-tools_*.deb"))
    octets = bytearray(package.read_bytes())
    octets[len(octets) // 2] ^= 1
    package.write_bytes(octets)
    put(host, changed, repositories[0])
    done = host.run("apt-get update && apt-get install -y tkdc-server", check=False)
    assert done.returncode != 0
    assert "Hash Sum mismatch" in done.stderr or "unexpected size" in done.stderr
    assert host.run("command -v tkdc", check=False).returncode != 0


def test_another_key_is_refused(host, repositories):
    put(host, repositories[1], repositories[0])
    done = host.run("apt-get update 2>&1 && apt-get install -y tkdc-server 2>&1", check=False)
    assert done.returncode != 0
    assert "NO_PUBKEY" in done.stdout or "not signed" in done.stdout
    assert host.run("command -v tkdc", check=False).returncode != 0
