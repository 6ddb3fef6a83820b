# SPDX-License-Identifier: Apache-2.0
"""A server says itself that its audit log was cut or deleted: status, doctor, metrics, journal and
the log, until `tkdc release`. After kill -9 it says nothing of the kind."""

import subprocess

import pytest

from tests.integration.conftest import STOCK, new_realm, remove
from tests.support.monitoring import doctors, metrics
from tests.support.process import wait_until

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
SOON_S = 30.0
CUT = 1


@pytest.fixture(scope="module", name="realm")
def fixture_realm():
    with new_realm("BEHIND.TEST") as made:
        made.kadmin_local("addprinc -pw secret alice")
        yield made
    remove(made)


def run(realm, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(realm.bin / "tkdc"), *words], env=realm.env(), text=True,
                          capture_output=True, timeout=60, check=False)


def status(realm) -> subprocess.CompletedProcess:
    return run(realm, "status", "--socket", str(realm.agent_socket("kdc")))


def log_of(realm):
    return realm.server_directory(CUT) / "audit.jsonl"


def config_of(realm) -> tuple[str, str]:
    return "--config", str(realm.server_directory(CUT) / "tkdc.toml")


def is_well(realm) -> bool:
    return status(realm).returncode == 0 and metrics(realm, "tkdc_server_audit_behind") == [
        {"0": 0, "1": 0, "2": 0}]


def test_a_killed_server_has_its_own_log(realm):
    for _ in range(2):
        realm.daemons[f"server{CUT}"].kill()
        realm.start_server(CUT)
        wait_until(lambda: realm.client("killed").kinit("alice", "secret").ok, SOON_S, "a login")
    wait_until(lambda: is_well(realm), SOON_S, "a healthy status")
    assert "log behind" not in log_of(realm).read_text()


@pytest.mark.parametrize("deleted", [False, True])
def test_a_log_that_was_cut_is_said_until_its_release(realm, deleted):
    log = log_of(realm)
    realm.daemons[f"server{CUT}"].stop()
    lines = log.read_text().splitlines(keepends=True)
    left = 0 if deleted else len(lines) - 3
    text = f"ended with line {left}, and this server's store knows line {len(lines)}"
    if deleted:
        log.unlink()
    else:
        log.write_text("".join(lines[:left]))
    for _ in range(2):  # a restart does not end it
        realm.start_server(CUT)
        wait_until(lambda: realm.client("cut").kinit("alice", "secret").ok, SOON_S, "a login")
        wait_until(lambda: text in status(realm).stdout, SOON_S, "the status says it")
        assert "tkdc is DEGRADED" in status(realm).stdout and status(realm).returncode == 2
        assert metrics(realm, "tkdc_server_audit_behind") == [{"0": 0, "1": 1, "2": 0}]
        found = doctors(realm, *config_of(realm))["audit-log"]
        assert found["state"] == "wrong" and text in found["text"], found
        assert "tkdc release --config" in found["remedy"]
        realm.daemons[f"server{CUT}"].stop()
    assert text in realm.daemons[f"server{CUT}"].log.read_text()
    assert log.read_text().count('"event":"log behind"') == 1
    realm.start_server(CUT)
    done = run(realm, "release", *config_of(realm))
    assert done.returncode == 0 and text in done.stdout, done.stdout + done.stderr
    wait_until(lambda: is_well(realm), SOON_S, "a healthy status")
    assert "audit-log" not in doctors(realm, *config_of(realm))
    checked = run(realm, "audit", "verify", str(log))
    assert checked.returncode == 2 and "a whole chain with GAPS" in checked.stdout
    assert (f"lines are lacking: it had {left}, and its server's store knew line {len(lines)}"
            in checked.stdout)
