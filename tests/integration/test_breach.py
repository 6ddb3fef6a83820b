# SPDX-License-Identifier: Apache-2.0
"""The day after a breach: krbtgt's rotation, and tickets of a window of time refused.

In a realm of its own: it makes all tickets of the realm void.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.conftest import SERVICE, new_realm, remove
from tests.support.kerberos import find_program
from tests.support.process import RealmError, wait_until
from tests.support.realm import Realm

pytestmark = pytest.mark.behind
PASSWORD = "a password of before and after"
OTHERS = [f"host/other{n}.test" for n in range(6)]


@pytest.fixture(scope="module")
def broken() -> Iterator[Realm]:
    with new_realm("BREACH.REALM", stock=False) as realm:
        realm.kadmin_local(f'addprinc -pw "{PASSWORD}" flo')
        for service in (SERVICE, *OTHERS):
            realm.kadmin_local(f"addprinc -randkey {service}")
        yield realm
    remove(realm)


@pytest.fixture
def flo(broken, request):
    made = []

    def log_in():
        client = broken.client(f"{request.node.name}{len(made)}")
        done = client.kinit("flo", PASSWORD)
        assert done.ok, done.errors
        made.append(client)
        return client

    return log_in


def look(realm: Realm) -> subprocess.CompletedProcess:
    socket = realm.agent_socket("kdc")
    return subprocess.run([str(realm.bin / "tkdc"), "status", "--socket", str(socket), "--json"],
                          env=realm.env(), text=True, capture_output=True, timeout=60, check=False)


def status(realm: Realm) -> list[dict]:
    return json.loads(look(realm).stdout)["servers"]


def revoke(realm: Realm, party: int, *options: str) -> str:
    config = realm.server_directory(party) / "tkdc.toml"
    return realm.tool("tkdc", "revoke", "--config", str(config), "--yes", *options)


def windows(realm: Realm) -> list[list]:
    return [server["revoked"] for server in status(realm)]


@pytest.fixture
def lifted(broken):
    """Whatever becomes of the test, the tickets of the next one serve."""
    yield
    for party in range(3):
        revoke(broken, party, "--lift")
    wait_until(lambda: windows(broken) == [[], [], []], 30, "no window")


def test_tickets_of_a_revoked_window(broken, flo, lifted):
    """One administrator revokes for all; one alone lifts nothing; three lift it."""
    stolen = flo()
    sessions = [server["sessions"] for server in status(broken)]
    assert stolen.kvno(OTHERS[0]).ok
    assert "are refused" in revoke(broken, 1, "--sealed-between", "4h", "3h")
    done = stolen.kvno(OTHERS[1])
    assert done.ok, done.errors  # sealed at another time
    revoke(broken, 1, "--sealed-between", "2h", "now")
    refused = stolen.kvno(OTHERS[2])
    assert not refused.ok
    assert "Decrypt integrity check failed" in refused.errors
    assert not stolen.run("kinit", "-R").ok
    # No ticket is issued that is dead at birth: the window reaches some minutes further.
    assert not broken.client("at once").kinit("flo", PASSWORD).ok
    assert look(broken).returncode == 2, "nobody can log in, and status says so"
    after = status(broken)
    assert all(server["session_up"] for server in after)
    assert [server["sessions"] for server in after] == sessions, "the session goes on"
    assert all(server["tickets_revoked"] >= 2 for server in after)
    held = windows(broken)[1]
    assert len(held) == 2 and held[0]["until"] < held[1]["from"] < held[1]["until"]

    # The others have taken the windows over.
    assert windows(broken) == [held, held, held]

    # Lifted at the one where it was revoked: nothing changes, neither now nor after its restart.
    revoke(broken, 1, "--lift")
    broken.daemons["server1"].stop()
    broken.start_server(1)
    wait_until(lambda: all(s["session_up"] for s in status(broken)), 30, "a session")
    refused = stolen.kvno(OTHERS[3])
    assert not refused.ok
    assert "Decrypt integrity check failed" in refused.errors
    assert windows(broken) == [held, held, held]

    # All three agree: the old ticket serves again.
    revoke(broken, 0, "--lift")
    revoke(broken, 2, "--lift")
    wait_until(lambda: stolen.kvno(OTHERS[4]).ok, 30, "the old ticket serves again")
    assert windows(broken) == [[], [], []]
    assert look(broken).returncode == 0


def test_what_it_would_do_is_shown_and_has_to_be_confirmed(broken):
    config = str(broken.server_directory(0) / "tkdc.toml")
    done = subprocess.run([str(broken.bin / "tkdc"), "revoke", "--config", config,
                           "--sealed-between", "60d", "now"], env=broken.env(), text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert ", 60 days" in done.stdout
    assert " at most, by this server's audit log" in done.stdout
    assert "tickets:       0 at most" not in done.stdout
    assert "none is possible for" in done.stdout
    assert "not confirmed" in done.stderr
    assert windows(broken)[0] == []


def test_every_server_logs_what_is_revoked_and_lifted(broken, lifted):
    revoke(broken, 1, "--sealed-between", "9h", "8h")
    logs = [broken.daemons[f"server{party}"].log for party in range(3)]
    assert broken.client("learn").kinit("flo", PASSWORD).ok
    for log in logs:
        wait_until(lambda log=log: "are refused that were sealed from" in log.read_text(), 30,
                   "a line of what is revoked")
    for party in range(3):
        revoke(broken, party, "--lift")
    broken.client("lift").kinit("flo", PASSWORD)
    for log in logs:
        wait_until(lambda log=log: "is revoked any more" in log.read_text(), 30,
                   "a line of what is lifted")


def test_the_preview_counts_tickets_in_closed_files_of_the_log(broken):
    folder = broken.server_directory(0)
    lines = (folder / "audit.jsonl").read_text().splitlines(keepends=True)
    split = folder / "split"
    split.mkdir()
    half = len(lines) // 2
    last = json.loads(lines[half - 1])["n"]
    (split / f"audit.jsonl.{last:020}").write_text("".join(lines[:half]))
    (split / "audit.jsonl").write_text("".join(lines[half:]))
    whole = (folder / "tkdc.toml").read_text()
    assert '"audit.jsonl"' in whole
    elsewhere = folder / "split.toml"
    elsewhere.write_text(whole.replace('"audit.jsonl"', f'"{split}/audit.jsonl"'))
    seals = sum('"operation":"seal"' in line and '"usage":2}' in line and '"result":"ok"' in line
                for line in lines)
    assert seals > 0
    done = subprocess.run([str(broken.bin / "tkdc"), "revoke", "--config", str(elsewhere),
                           "--sealed-between", "60d", "now"], env=broken.env(), text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    assert f"tickets:       {seals} at most" in done.stdout, done.stdout + done.stderr


def test_requests_that_are_refused(broken):
    config = str(broken.server_directory(0) / "tkdc.toml")
    for options, why in (((), "--sealed-between or --lift"),
                         (("--sealed-between", "now", "2h"), "ends before it begins"),
                         (("--sealed-between", "2h", "2126-01-01"), "has not come yet"),
                         (("--sealed-between", "yesterday", "now"), "is no time"),
                         (("--sealed-between", "2026-02-31", "now"), "is no time")):
        done = subprocess.run([str(broken.bin / "tkdc"), "revoke", "--config", config, *options],
                              env=broken.env(), text=True, capture_output=True, timeout=60,
                              check=False)
        assert done.returncode == 1
        assert why in done.stderr
    assert windows(broken)[0] == []


def test_a_request_that_cannot_be_read_keeps_a_server_down(broken):
    """It may have asked for tickets to be refused: the server does not go on as if it had not."""
    request = broken.server_directory(2) / "store" / "revoke.request"
    broken.daemons["server2"].stop()
    request.write_text("revoke everything\n")
    try:
        with pytest.raises(RealmError, match="is no request of `tkdc revoke`; remove it"):
            broken.start_server(2)
    finally:
        request.unlink()
        broken.start_server(2)
    wait_until(lambda: all(s["session_up"] for s in status(broken)), 30, "a session")


def rotate(realm: Realm, *options: str, first: Path | None = None) -> subprocess.CompletedProcess:
    """As on the KDC's host: kadmin.local finds the realm's configuration, tkdc its library.
    `first`: a folder in which programs are looked for before others."""
    env = {k: v for k, v in realm.kdc_env().items() if k != "LD_PRELOAD"}
    if first:
        env["PATH"] = f"{first}:{env['PATH']}"
    return subprocess.run([str(realm.bin / "tkdc"), "rotate", "krbtgt", *options], env=env,
                          text=True, capture_output=True, timeout=120, check=False)


def kvnos(realm: Realm) -> set[str]:
    entry = realm.kadmin_local(f"getprinc krbtgt/{realm.name}")
    return set(re.findall(r"^Key: vno (\d+)", entry, re.M))


def test_rotation(broken, flo):
    """First nothing, then a new version beside the old ones, then the old ones' end."""
    old = flo()
    before = kvnos(broken)
    keys = status(broken)[0]["keys"]
    done = rotate(broken, "--purge")
    assert done.returncode == 2 and "Nothing was changed" in done.stdout
    assert kvnos(broken) == before

    done = rotate(broken, "--now")
    assert done.returncode == 0, done.stderr
    assert len(kvnos(broken)) == len(before) + 1
    assert "open tickets where the servers still hold them (tkdc reconcile)" in " ".join(
        done.stdout.split()), "it does not know that they do"
    assert old.kvno(OTHERS[5]).ok, "old tickets serve until --purge"
    middle = flo()

    done = rotate(broken, "--now", "--purge", "--realm", broken.name)
    assert done.returncode == 0, done.stderr
    assert "are removed at the servers" in done.stdout
    newest = str(max(map(int, before)) + 2)
    assert kvnos(broken) == {newest}
    for ticket in (old, middle):
        assert not ticket.kvno(SERVICE).ok
    assert flo().kvno(SERVICE).ok
    assert [s["keys"] for s in status(broken)] == [keys, keys, keys], "the old ones are gone"
    assert [s["dropped_keys"] > 0 for s in status(broken)] == [True] * 3, "and are kept for a while"
    env = {key: value for key, value in broken.kdc_env().items() if key != "LD_PRELOAD"}
    done = subprocess.run([str(broken.bin / "tkdc"), "reconcile", "purge", "--principal",
                           f"krbtgt/{broken.name}@{broken.name}", "--yes"], env=env, text=True,
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == 0 and "never come back" in done.stdout, done.stderr
    assert [s["dropped_keys"] for s in status(broken)] == [0, 0, 0]
    assert flo().kvno(SERVICE).ok, "the one in use stays"


def test_rotation_without_servers(broken):
    """Nothing is half done: no new version, the old one serves on, and the command says so."""
    before = kvnos(broken)
    broken.daemons["server2"].stop()
    try:
        done = rotate(broken, "--now", "--purge")
    finally:
        broken.start_server(2)
    assert done.returncode == 1
    assert "tkdc rotate: " in done.stderr
    assert kvnos(broken) == before
    wait_until(lambda: all(s["session_up"] for s in status(broken)), 30, "a session")


def test_a_purge_that_fails_says_where_what_is_left_is_found(broken):
    real = find_program("kadmin.local")
    folder = broken.directory / "failing"
    folder.mkdir()
    program = folder / "kadmin.local"
    program.write_text("#!/bin/sh\ncase \"$*\" in *purgekeys*) echo 'ktkdc: a server is away'; "
                       f"exit 0;; esac\nexec {real} \"$@\"\n")
    program.chmod(0o755)
    done = rotate(broken, "--now", "--purge", first=folder)
    assert done.returncode == 1, done.stdout
    said = " ".join(done.stderr.split())
    assert "ktkdc: a server is away" in said
    assert "`tkdc reconcile` names those that the database names no more" in said
    assert "tkdc status" not in said, "it names no key"
    assert len(kvnos(broken)) > 1
    broken.kadmin_local(f"purgekeys krbtgt/{broken.name}")


def test_what_agents_ask_is_counted(broken, flo):
    """At each server; the default limits are beyond what one user does."""
    def asked() -> list[int]:
        agents = [{a["name"]: a for a in server["agents"]} for server in status(broken)]
        assert all(a["agent-kdc"]["limited"] == 0 for a in agents)
        return [a["agent-kdc"]["asked"] for a in agents]

    before = asked()
    flo()
    for was, now in zip(before, asked(), strict=True):
        assert now >= was + 3  # the timestamp, the ticket, the reply
    assert [s["keys_limited"] + s["agents_limited"] for s in status(broken)] == [0, 0, 0]
