# SPDX-License-Identifier: Apache-2.0
"""tkdc-storm against the realm, and against a responder that misbehaves: seconds, not a storm."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.conftest import NAME, SERVICE
from tests.storm.common import failures
from tests.storm.generator import BY, Alone

USERS = 3
PASSWORD = "the password of all users of the storm"


def generator(realm, kdc: str, password: Path, name: str, *options: str) -> list[str]:
    return [str(realm.bin / "tkdc-storm"), "--kdc", kdc, "--realm", NAME, "--user", "storm%02d",
            "--users", str(USERS), "--password-file", str(password), "--warmup=0", "--quiet",
            f"--json={realm.directory / name}.json", f"--html={realm.directory / name}.html",
            *options]


@pytest.fixture(scope="module")
def password(realm) -> Path:
    path = realm.directory / "storm.password"
    path.write_text(PASSWORD + "\n")
    for number in range(USERS):
        realm.kadmin_local(f'addprinc -pw "{PASSWORD}" storm{number:02d}')
    return path


@pytest.fixture
def storm(realm, password, request) -> Callable[..., tuple[int, dict]]:
    """Exit status and results."""
    def run(*options: str) -> tuple[int, dict]:
        name = request.node.name
        done = subprocess.run(
            generator(realm, f"127.0.0.1:{realm.ports.kdc}", password, name, *options),
            env=realm.env(), timeout=60, check=False, capture_output=True, text=True)
        path = realm.directory / f"{name}.json"
        assert path.exists(), done.stderr
        return done.returncode, json.loads(path.read_text())

    return run


def test_logins_at_a_rate(realm, storm):
    status, result = storm("--rate=10", "--duration=2", "--require=failed-share<0.001",
                           f"--watch=krb5kdc={realm.daemons['krb5kdc'].pid}")
    assert status == 0
    assert result["counts"]["ok"] == result["counts"]["checked"] == 20
    assert result["processes"]["krb5kdc"]["seconds"][-1]["mb"] > 1
    page = (realm.directory / "test_logins_at_a_rate.html").read_text()
    assert page.count("<svg") == 6
    assert "https://" not in page


def test_logins_and_service_tickets_over_tcp(realm, storm):
    status, result = storm("--clients=3", "--duration=2", "--tcp", "--tgs=0.5", "--tickets=2",
                           f"--service={SERVICE}",
                           f"--service-keytab={realm.keytab('service')}")
    assert status == 0
    assert result["counts"]["ok"] > 5
    assert failures(result) == 0
    assert result["counts"]["checked"] == result["counts"]["ok"]


def test_wrong_passwords_are_refused(storm):
    status, result = storm("--rate=10", "--duration=2", "--wrong-password=1")
    assert status == 0
    assert result["counts"]["refused"] == 20
    assert result["counts"]["ok"] == 0


def test_retransmits_and_bad_input_change_nothing(storm):
    status, result = storm("--rate=10", "--duration=2", "--copies=2", "--retransmit-ms=20,40",
                           "--noise=0.5")
    assert status == 0
    assert failures(result) == 0
    assert result["counts"]["noise"] > 0


def test_its_keys_are_those_of_the_stock_kinit(realm, client, password):
    keytab = realm.directory / "storm.keytab"
    kdc = f"127.0.0.1:{realm.ports.kdc}"
    subprocess.run(generator(realm, kdc, password, "keys", f"--save-keytab={keytab}"),
                   env=realm.env(), timeout=60, check=True)
    assert client().kinit_keytab("storm01", keytab).ok


def test_a_requirement_decides_the_exit_status(storm):
    status, result = storm("--rate=5", "--duration=1", "--require=rate>1000")
    assert status == 1
    (requirement,) = result["requirements"]
    assert 0 < requirement.pop("found") < 50  # at five a second, less on a busy machine
    assert requirement == {"text": "rate>1000", "met": False}


@pytest.mark.parametrize("how, kind", [("--spoil=0.3", "wrong"), ("--drop=0.3", "lost"),
                                       ("--error=37", "errors")])
def test_a_kdc_that_misbehaves_is_noticed(how, kind):
    with Alone(how) as alone:
        result = alone.storm("--rate=200", "--warmup=0", "--quiet", "--timeout-ms=300",
                             "--retransmit-ms=0", "--require=failed-share<0.01", duration_s=1)
    assert result["status"] == 1
    assert result["counts"][kind] > 20
    assert failures(result) == result["counts"][kind]


@pytest.mark.parametrize("by", BY)
def test_the_generator_alone(by):
    with Alone() as alone:
        result = alone.storm("--clients=4", "--warmup=0", "--quiet", "--fresh-tickets", *BY[by],
                             duration_s=0.5)
    assert result["status"] == failures(result) == 0
    assert result["counts"]["checked"] == result["counts"]["ok"] > 50
    assert not alone.responder.running()
    assert not alone.directory.exists()
