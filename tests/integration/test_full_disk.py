# SPDX-License-Identifier: Apache-2.0
"""A full disk under one server's audit log, on a small file system of its own: no login without a
line of it, status and journal that say so, a restart that works, and a gap that verify finds."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.integration.conftest import SERVICE, STOCK, new_realm, remove
from tests.support.monitoring import doctors, metrics
from tests.support.process import wait_until
from tests.support.realm import Realm
from tests.support.small_disk import SmallDiskRealm

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
PASSWORD = "a password for a small disk"
SOON_S = 30.0
FULL = SmallDiskRealm.full


class FullRealm(SmallDiskRealm):
    def log_of(self, party: int) -> Path:
        folder = self.disk.folder if party == FULL else self.server_directory(party)
        return folder / "audit.jsonl"

    def config_of(self, party: int) -> tuple[str, str]:
        return "--config", str(self.server_directory(party) / "tkdc.toml")

    def status(self, *options: str) -> subprocess.CompletedProcess:
        return subprocess.run([str(self.bin / "tkdc"), "status", *options, "--socket",
                               str(self.agent_socket("kdc"))], env=self.env(), text=True,
                              capture_output=True, timeout=60, check=False)

    def verify(self) -> subprocess.CompletedProcess:
        return subprocess.run([str(self.bin / "tkdc"), "audit", "verify", str(self.log_of(FULL)),
                               "--against", str(self.log_of(0))], text=True,
                              capture_output=True, timeout=60, check=False)

    def journal(self) -> str:
        return self.daemons[f"server{FULL}"].log.read_text()


@pytest.fixture
def realm():
    made = new_realm("FULL.REALM")
    made.__class__ = FullRealm
    with made:
        made.kadmin_local(f'addprinc -pw "{PASSWORD}" mia')
        made.kadmin_local(f"addprinc -randkey {SERVICE}")
        yield made
    remove(made)


def logs_in(realm: Realm, name: str) -> bool:
    client = realm.client(name)
    return client.kinit("mia", PASSWORD).ok and client.kvno(SERVICE).ok


def seen_of_disk(realm: Realm) -> list[dict[str, float]]:
    return metrics(realm, "tkdc_server_audit_trouble", "tkdc_server_disk_warning")


def tickets_in(path: Path) -> int:
    return sum('"operation":"seal"' in line for line in path.read_text().splitlines())


def test_no_ticket_is_issued_that_no_line_speaks_of(realm):
    assert logs_in(realm, "before")
    assert realm.status().returncode == 0
    assert tickets_in(realm.log_of(FULL)) > 0
    realm.disk.fill()
    wait_until(lambda: "disk of its audit log" in realm.status().stdout, SOON_S, "a warning")
    # What is reserved for ordinary lines is used up within some logins.
    failed = None
    for number in range(80):
        failed = realm.client(f"full{number}").kinit("mia", PASSWORD)
        if not failed.ok:
            break
    assert failed is not None and not failed.ok
    assert "Password incorrect" not in failed.errors, "an outage must not look like a wrong key"
    sealed = tickets_in(realm.log_of(FULL))
    assert not realm.client("still").kinit("mia", PASSWORD).ok
    assert tickets_in(realm.log_of(FULL)) == sealed

    told = realm.status()
    assert told.returncode == 2
    assert "tkdc is DEGRADED" in told.stdout
    assert "server 1: audit: " in told.stdout and "No space left on device" in told.stdout
    servers = json.loads(realm.status("--json").stdout)["servers"]
    assert "No space left" in servers[FULL]["audit_trouble"]
    assert all("audit_trouble" not in servers[party] for party in (0, 2))
    assert seen_of_disk(realm) == [{"0": 0, "1": 1, "2": 0}] * 2
    found = doctors(realm, *realm.config_of(FULL))
    assert found["disks"]["state"] == "warning" and "audit log" in found["disks"]["text"], found
    assert found["audit-log"]["state"] == "wrong", found
    assert "No space left on device" in found["audit-log"]["text"], found
    lines = [line for line in realm.journal().splitlines() if "No space left" in line]
    assert 1 <= len(lines) <= 3, "once a minute, not for each job"
    assert realm.verify().returncode == 2, "it says itself that events are lacking"

    # A restart neither fails nor opens the door.
    realm.daemons[f"server{FULL}"].stop()
    realm.start_server(FULL)
    wait_until(lambda: "audit: " in realm.status().stdout, SOON_S, "a status after the restart")
    assert not realm.client("restarted").kinit("mia", PASSWORD).ok

    realm.disk.make_room()
    wait_until(lambda: logs_in(realm, "mended"), SOON_S, "a login")
    wait_until(lambda: realm.status().returncode == 0, SOON_S, "a healthy status")
    wait_until(lambda: seen_of_disk(realm) == [{"0": 0, "1": 0, "2": 0}] * 2, SOON_S,
               "metrics of a sound realm")
    assert "disks" not in doctors(realm, *realm.config_of(FULL))
    shown = realm.verify()
    assert shown.returncode == 2, shown.stdout + shown.stderr
    assert "a whole chain with GAPS" in shown.stdout and "events are lacking" in shown.stdout


def test_a_log_that_nothing_is_compared_with_is_not_compared(realm):
    assert logs_in(realm, "once")
    done = subprocess.run([str(realm.bin / "tkdc"), "audit", "verify", str(realm.log_of(0)),
                           "--against", str(realm.log_of(0))], text=True, capture_output=True,
                          timeout=60, check=False)
    assert done.returncode == 1
    assert "nothing was compared" in done.stderr
