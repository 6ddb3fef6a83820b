# SPDX-License-Identifier: Apache-2.0
"""Clocks that are wrong, by libfaketime around the installed servers: one server's, all three set
back together, and each mended while everything runs."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.integration.conftest import SERVICE, STOCK, new_realm, remove
from tests.support.monitoring import doctors, metrics
from tests.support.process import wait_until
from tests.support.realm import Realm

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
PASSWORD = "a password at all times"
SOON_S = 30.0  # clocks are told every ten seconds
EACH = ("0", "1", "2")
LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)


class Clocks(Realm):
    """Each server's clock is as far from the right time as a file says."""

    def start_server(self, party: int, wait: bool = True):
        self.set(party, 0)
        self.server_env[party] = {"LD_PRELOAD": str(LIBRARY), "DONT_FAKE_MONOTONIC": "1",
                                  "FAKETIME_NO_CACHE": "1", "FAKETIME_FORCE_MONOTONIC_FIX": "0",
                                  "FAKETIME_TIMESTAMP_FILE": str(self.file(party))}
        return super().start_server(party, wait)

    def file(self, party: int) -> Path:
        return self.directory / f"clock{party}"

    def set(self, party: int, ahead_s: int) -> None:
        new = self.file(party).with_suffix(".new")
        new.write_text(f"{ahead_s:+d}s\n")
        new.rename(self.file(party))

    def status(self) -> subprocess.CompletedProcess:
        return subprocess.run([str(self.bin / "tkdc"), "status", "--socket",
                               str(self.agent_socket("kdc"))], env=self.env(), text=True,
                              capture_output=True, timeout=60, check=False)

    def told(self) -> list[dict]:
        done = subprocess.run([str(self.bin / "tkdc"), "status", "--json", "--socket",
                               str(self.agent_socket("kdc"))], env=self.env(), text=True,
                              capture_output=True, timeout=60, check=False)
        return json.loads(done.stdout)["servers"]


@pytest.fixture
def realm():
    if LIBRARY is None:
        pytest.fail("libfaketime is not installed: ./bootstrap --test")
    made = new_realm("CLOCK.REALM")
    made.__class__ = Clocks
    with made:
        made.kadmin_local(f'addprinc -pw "{PASSWORD}" lea')
        made.kadmin_local(f"addprinc -randkey {SERVICE}")
        made.kadmin_local("addprinc -randkey host/gone.test")
        yield made
    remove(made)


def logs_in(realm: Realm, name: str) -> bool:
    client = realm.client(name)
    return client.kinit("lea", PASSWORD).ok and client.kvno(SERVICE).ok


def log_of(realm: Realm, party: int) -> str:
    return realm.daemons[f"server{party}"].log.read_text()


def test_one_clock_is_wrong_and_everybody_says_whose(realm):
    assert logs_in(realm, "before")
    assert realm.status().returncode == 0
    assert all(abs(clock["ahead_ms"]) < 5_000 for server in realm.told()
               for clock in server["clocks"])
    realm.set(1, 60)
    wait_until(lambda: "server 1's clock is" in realm.status().stdout, SOON_S, "a warning")
    assert realm.status().returncode == 0, "logins go on"
    warned, wrong = metrics(realm, "tkdc_server_clock_warning", "tkdc_server_clock_error")
    assert warned["1"] == 1 and set(wrong.values()) == {0}
    assert logs_in(realm, "warned")

    realm.set(1, 200)
    wait_until(lambda: realm.status().returncode == 2, SOON_S, "a status that tells the truth")
    shown = realm.status().stdout
    assert "tkdc is DEGRADED" in shown
    assert "server 0: server 1's clock is 1" in shown or "server 0: server 1's clock is 2" in shown
    assert "server 1: this server's clock is" in shown
    assert metrics(realm, "tkdc_server_clock_error") == [dict.fromkeys(EACH, 1)]
    found = doctors(realm, "--socket", str(realm.agent_socket("kdc")))["clocks"]
    assert found["state"] == "wrong" and "server 1's clock is" in found["text"], found
    assert "set-ntp" in found["remedy"] and "chronyc makestep" in found["remedy"]
    assert not realm.client("wrong").kinit("lea", PASSWORD).ok
    # Since when a key is dropped all three have to agree on.
    removal = realm.try_admin_tool("kadmin.local", "-q", "delprinc -force host/gone.test")
    assert "clock is more than two minutes off" in removal.errors, removal.output + removal.errors
    for party, whose in ((0, "server 1's"), (1, "this server's"), (2, "server 1's")):
        wait_until(lambda p=party, w=whose: f"{w} clock is 2" in log_of(realm, p) or
                   f"{w} clock is 1" in log_of(realm, p), SOON_S, "an alarm")

    realm.set(1, 0)
    wait_until(lambda: logs_in(realm, "mended"), SOON_S, "a login")
    wait_until(lambda: realm.status().returncode == 0, SOON_S, "a healthy status")
    wait_until(lambda: "agree again" in log_of(realm, 0), SOON_S, "an end of the alarm")
    wait_until(lambda: metrics(realm, "tkdc_server_clock_error", "tkdc_server_clock_warning") == [
        dict.fromkeys(EACH, 0)] * 2, SOON_S, "metrics of a sound realm")
    assert "clocks" not in doctors(realm, "--socket", str(realm.agent_socket("kdc")))


def test_all_clocks_set_back_cost_a_session_and_no_login(realm):
    for party in range(3):
        realm.set(party, 3_600)
    # KDC and clients have the right time; what the servers seal carries theirs.
    wait_until(lambda: logs_in(realm, "ahead"), SOON_S, "a login")
    before = realm.told()
    for party in range(3):
        realm.set(party, 0)
    wait_until(lambda: logs_in(realm, "back"), SOON_S, "a login")
    after = realm.told()
    for earlier, later in zip(before, after, strict=True):
        assert later["epoch"] > earlier["epoch"], "no nonce comes twice"
        assert later["checks_broken"] == 0
    assert "clock was set back" in log_of(realm, 0)
    assert realm.status().returncode == 0
