# SPDX-License-Identifier: Apache-2.0
"""krb5kdc as a process whose requests are suspended: its signals, its workers, its lookaside
cache and thousands of operations in flight. The plaintext reference agent holds replies back."""

from __future__ import annotations

import concurrent.futures
import json
import signal
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from tests.support.plain_realm import BIN, REALM, PlainRealm

pytestmark = pytest.mark.skipif(
    not (BIN / "plain_agent").exists(), reason="plain_agent is not built (set TKDC_BUILD)")

PATIENCE_S = 60.0
IN_FLIGHT = 2000
MEMORY_MB = 512


@pytest.fixture
def realm(tmp_path):
    with PlainRealm(tmp_path) as running:
        running.start_agent()
        running.create()
        running.kadmin_local("addprinc -pw secret +requires_preauth alice")
        yield running


class Logins:
    """Some at once, in the background."""

    def __init__(self, realm: PlainRealm, count: int):
        self._pool = concurrent.futures.ThreadPoolExecutor(count)
        self._running = [self._pool.submit(
            realm.kinit, "alice", "secret", check=False, KRB5CCNAME=f"FILE:{realm.dir}/cc{i}")
            for i in range(count)]

    def assert_all_succeeded(self, or_said: str = "") -> None:
        for login in self._running:
            done = login.result(PATIENCE_S)
            assert done.returncode == 0 or (or_said and or_said in done.stdout), done.stdout
        self._pool.shutdown()


def operations(realm: PlainRealm) -> int:
    return (realm.dir / "agent.log").read_text().count(" id ")


def wait_for_operations(realm: PlainRealm, count: int) -> None:
    before = operations(realm)
    realm._wait(lambda: operations(realm) >= before + count, f"{count} operations", PATIENCE_S)


def children(pid: int) -> list[int]:
    return [int(child) for child in
            Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def runs(pid: int) -> bool:
    """Not for one that has ended and waits for its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_sighup_while_logins_are_suspended(realm):
    """As logrotate does it: no login is lost, and the log goes on in a new file."""
    realm.start_agent("--delay-ms", "100")
    realm.start_kdc()
    kdc = realm.processes["kdc"]
    log = realm.dir / "kdc.log"
    logins = Logins(realm, 24)
    for rotation in range(3):
        wait_for_operations(realm, 4)
        log.rename(realm.dir / f"kdc.log.{rotation}")
        kdc.send_signal(signal.SIGHUP)
        realm._wait(log.exists, "a new log", PATIENCE_S)
    logins.assert_all_succeeded()
    assert kdc.poll() is None
    assert "AS_REQ" in "".join(path.read_text() for path in realm.dir.glob("kdc.log*"))


@pytest.mark.parametrize("workers", [0, 3])
def test_sigterm_while_logins_are_suspended(realm, workers):
    """It ends at once and cleanly, and nothing is the worse for it."""
    options = ["-w", str(workers)] if workers else []
    realm.start_agent("--delay-ms", "1500")
    realm.start_kdc(*options)
    kdc = realm.processes["kdc"]
    realm._wait(lambda: len(children(kdc.pid)) == workers, "the workers", PATIENCE_S)
    pids = children(kdc.pid)
    logins = Logins(realm, 12)
    wait_for_operations(realm, 6)
    kdc.send_signal(signal.SIGTERM)
    assert kdc.wait(PATIENCE_S) == 0
    realm._wait(lambda: not any(runs(pid) for pid in pids),
                "the workers' end", PATIENCE_S)
    realm.start_agent()
    realm.start_kdc(*options)
    logins.assert_all_succeeded(or_said="Cannot contact any KDC")
    Logins(realm, 12).assert_all_succeeded()


def test_workers_are_told_to_reopen_their_log(realm):
    realm.start_agent("--delay-ms", "50")
    realm.start_kdc("-w", "3")
    kdc = realm.processes["kdc"]
    realm._wait(lambda: len(children(kdc.pid)) == 3, "the workers", PATIENCE_S)
    before = children(kdc.pid)
    logins = Logins(realm, 12)
    wait_for_operations(realm, 4)
    kdc.send_signal(signal.SIGHUP)
    logins.assert_all_succeeded()
    assert children(kdc.pid) == before


class Retransmitter:
    """Between a client and the KDC: sends each datagram twice at once, and once more after the
    reply. Per datagram: how many replies there were before that, and whether the last one is
    the first one again."""

    def __init__(self, kdc_port: int):
        self._kdc = ("127.0.0.1", kdc_port)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.settimeout(0.1)
        self.port = self._socket.getsockname()[1]
        self.seen: set[bytes] = set()
        self.replies_to_two: list[int] = []
        self.same_again: list[bool] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                request, client = self._socket.recvfrom(65536)
            except TimeoutError:
                continue
            if request not in self.seen:  # what the client retransmits is under way
                self.seen.add(request)
                self._socket.sendto(self._ask(request), client)

    def _ask(self, request: bytes) -> bytes:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as upstream:
            upstream.settimeout(PATIENCE_S)
            upstream.connect(self._kdc)
            upstream.send(request)
            upstream.send(request)
            first = upstream.recv(65536)
            more = 0
            upstream.settimeout(1.0)
            try:
                while upstream.recv(65536):
                    more += 1
            except TimeoutError:
                pass
            upstream.settimeout(PATIENCE_S)
            upstream.send(request)
            self.replies_to_two.append(1 + more)
            self.same_again.append(upstream.recv(65536) == first)
            return first

    def __enter__(self) -> Retransmitter:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stop.set()
        self._thread.join()
        self._socket.close()


def test_retransmits_are_answered_from_the_lookaside_cache(realm):
    """A request that is suspended is not begun again, and one that was answered gets the same
    octets: as in a stock KDC, and no operation more at the servers."""
    realm.start_agent("--delay-ms", "200")
    realm.start_kdc()

    def cost(**env: str) -> int:
        before = operations(realm)
        realm.kinit("alice", "secret", **env)
        return operations(realm) - before

    cost()  # the agent's greeting, too
    once = cost()
    with Retransmitter(realm.kdc_port) as between:
        conf = realm.dir / "retransmit.conf"
        conf.write_text((realm.dir / "krb5.conf").read_text().replace(
            f"kdc = 127.0.0.1:{realm.kdc_port}", f"kdc = 127.0.0.1:{between.port}"))
        assert cost(KRB5_CONFIG=str(conf)) == once
    assert len(between.seen) == 2, "without preauthentication, then with it"
    assert between.same_again == [True, True]
    # What needs no operation is answered before its copy comes, and its copy from the cache.
    assert between.replies_to_two[1] == 1


def test_thousands_in_flight(realm):
    """Every reply of the servers a second late: all requests wait in one process, none is lost."""
    for number in range(3):
        realm.kadmin_local(f"addprinc -pw secret +requires_preauth storm{number:02d}")
    realm.start_agent("--delay-ms", "1000")
    realm.start_kdc()
    password, report = realm.dir / "password", realm.dir / "storm.json"
    password.write_text("secret\n")
    kdc = realm.processes["kdc"]
    # One after the other they would take six seconds each.
    done = subprocess.run(
        [BIN / "tkdc-storm", "--kdc", f"127.0.0.1:{realm.kdc_port}", "--realm", REALM,
         "--user", "storm%02d", "--users", "3", "--password-file", password, "--warmup=0",
         "--quiet", f"--clients={IN_FLIGHT}", "--duration=8", "--timeout-ms=60000",
         "--retransmit-ms=0", f"--json={report}"],
        env=realm.env(preload=False), timeout=3 * PATIENCE_S, check=False, capture_output=True,
        text=True)
    assert report.exists(), done.stderr
    counts = json.loads(report.read_text())["counts"]
    assert counts["ok"] >= IN_FLIGHT
    assert [counts[kind] for kind in ("errors", "wrong", "lost", "refused")] == [0] * 4
    resident_kb = int(next(line.split()[1] for line in
                           Path(f"/proc/{kdc.pid}/status").read_text().splitlines()
                           if line.startswith("VmHWM")))
    assert resident_kb < MEMORY_MB * 1024
