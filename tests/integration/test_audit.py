# SPDX-License-Identifier: Apache-2.0
"""The servers' audit logs: each is whole, each holds what the others said of theirs, and a log
that was cut short shows against them, though not by itself."""

import hashlib
import json
import shutil
import subprocess

import pytest

from tests.integration.conftest import new_realm, remove
from tests.support.process import wait_until
from tests.support.realm import Realm

pytestmark = pytest.mark.behind


def verify(realm: Realm, log, *others) -> subprocess.CompletedProcess:
    argv = [str(realm.bin / "tkdc"), "audit", "verify", str(log)]
    for other in others:
        argv += ["--against", str(other)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)


def log_of(realm: Realm, party: int):
    return realm.server_directory(party) / "audit.jsonl"


@pytest.fixture(scope="module")
def stopped_realm():
    """Its servers have had two sessions, with logins in between, and stand still."""
    with new_realm("AUDIT.TEST") as realm:
        realm.kadmin_local("addprinc -pw secret -requires_preauth alice")
        realm.kadmin_local("addprinc -pw secret +requires_preauth bob")
        assert realm.client("one").kinit("alice", "secret").ok
        assert realm.client("two").kinit("bob", "secret").ok
        assert not realm.client("wrong").kinit("bob", "not his").ok
        shown = json.loads(realm.tool("tkdc", "status", "--json", "--config",
                                      str(realm.installation / "agent-kdc" / "agent.toml")))
        realm.daemons["server1"].stop()
        shutil.copytree(realm.server_directory(1) / "store", realm.directory / "backup")
        realm.start_server(1)
        wait_until(lambda: realm.client("three").kinit("bob", "secret").ok, 30.0, "a login")
        realm.stop()
        yield realm, shown
    remove(realm)


def test_logs_are_whole_and_agree(stopped_realm):
    realm, _ = stopped_realm
    logs = [log_of(realm, party) for party in range(3)]
    for party in range(3):
        done = verify(realm, logs[party], *(logs[:party] + logs[party + 1:]))
        assert done.returncode == 0, done.stderr
        assert "whole" in done.stdout
        recorded = int(done.stdout.splitlines()[1].split()[0])
        assert recorded >= 4, "two sessions, two peers"


def test_a_log_cut_short_shows_against_the_others(stopped_realm, tmp_path):
    realm, _ = stopped_realm
    cut = tmp_path / "cut.jsonl"
    lines = log_of(realm, 0).read_text().splitlines(keepends=True)
    # The latest that another server was told of it.
    told = max(peer["lines"] for line in log_of(realm, 1).read_text().splitlines()
               for peer in json.loads(line)["event"].get("peers", []) if peer["party"] == 0)
    cut.write_text("".join(lines[:told - 1]))
    alone = verify(realm, cut)
    assert alone.returncode == 0, "by itself it looks whole"
    assert "a log cut short would pass" in alone.stdout
    done = verify(realm, cut, log_of(realm, 1), log_of(realm, 2))
    assert done.returncode == 1
    assert "cut short" in done.stderr
    assert "evidence" in done.stderr


@pytest.mark.parametrize("text", ["", "nothing of the kind\n", '{"n":1}\n{}\n'])
def test_what_is_no_audit_log_is_not_whole(stopped_realm, tmp_path, text):
    realm, _ = stopped_realm
    other = tmp_path / "other"
    other.write_text(text)
    for done in (verify(realm, other), verify(realm, log_of(realm, 0), other)):
        assert done.returncode == 1
        assert "no line of an audit log" in done.stderr


def test_replies_without_preauthentication_are_noted(stopped_realm):
    realm, shown = stopped_realm
    note = "login reply without preauthentication"
    for party in range(3):
        # alice needs none, bob does.
        assert shown["servers"][party]["logins_unheralded"] == 1
        assert log_of(realm, party).read_text().count(note) == 1


def show(realm: Realm, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(realm.bin / "tkdc"), "audit", "show", str(log_of(realm, 0)), *words],
                          capture_output=True, text=True, timeout=60, check=False)


def test_lines_about_a_principal_are_found_by_name(stopped_realm):
    realm, _ = stopped_realm
    every = [json.loads(line) for line in show(realm).stdout.splitlines()]
    assert len(every) == len(log_of(realm, 0).read_text().splitlines())
    for name in ("alice", "bob"):
        digest = hashlib.sha256(f"{name}@AUDIT.TEST".encode()).hexdigest()[:32]
        expected = [line for line in every if line["event"].get("principal") == digest]
        done = show(realm, "--principal", f"{name}@AUDIT.TEST")
        assert done.returncode == 0, done.stderr
        assert expected and [json.loads(line) for line in done.stdout.splitlines()] == expected
    assert show(realm, "--principal", "nobody@AUDIT.TEST").stdout == ""
    wrong = show(realm, "--principal", "alice")
    assert wrong.returncode == 1 and "NAME@REALM" in wrong.stderr


def test_lines_of_before_are_found_by_name_too(stopped_realm, tmp_path):
    """Those of 0.2.0 have all of the SHA-256."""
    realm, _ = stopped_realm
    digest = hashlib.sha256(b"alice@AUDIT.TEST").hexdigest()
    old = (f'{{"n":1,"time":"2025-01-31T12:00:00.123Z","prev":"{"0" * 64}",'
           f'"event":{{"operation":"seal","principal":"{digest}"}}}}')
    (tmp_path / "audit.jsonl").write_text(old + "\n")
    for name, found in (("alice", old + "\n"), ("bob", "")):
        done = subprocess.run([str(realm.bin / "tkdc"), "audit", "show",
                               str(tmp_path / "audit.jsonl"), "--principal", f"{name}@AUDIT.TEST"],
                              capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0 and done.stdout == found


def test_a_line_is_no_longer_than_it_must_be(stopped_realm):
    """What a disk is planned for (docs/operations/plan.md)."""
    realm, _ = stopped_realm
    lines = [line for line in log_of(realm, 0).read_text().splitlines()
             if '"operation"' in line and '"result":"ok"' in line]
    assert lines and sum(map(len, lines)) / len(lines) < 370
    for line in lines:
        event = json.loads(line)["event"]
        assert len(event["principal"]) == 32
        used = event["operation"].removesuffix("-derived")
        made = used not in ("open", "seal", "mac", "verify")
        assert ("kvno" in event) == made and ("enctype" in event) == made


def test_a_wrong_password_is_no_failure_of_a_server(stopped_realm):
    _, shown = stopped_realm
    for server in shown["servers"]:
        assert server["jobs_refused"] >= 1
        assert server["jobs_failed"] == 0


def test_a_store_put_back_is_noticed_and_repeats_no_epoch(stopped_realm):
    realm, _ = stopped_realm
    store = realm.server_directory(1) / "store"
    shutil.rmtree(store)
    shutil.copytree(realm.directory / "backup", store)
    server = realm.start_server(1, wait=False)
    try:
        wait_until(lambda: "restored from a backup" in server.log.read_text(), 20.0, "the warning")
    finally:
        server.stop()
    events = [json.loads(line)["event"] for line in log_of(realm, 1).read_text().splitlines()]
    restored = [event for event in events if event.get("event") == "store restored"]
    assert len(restored) == 1
    assert restored[0]["stored"] < restored[0]["seen"]
    assert restored[0]["seen"] == max(event.get("epoch", 0) for event in events)
    # What was raised is on disk: the next start finds nothing to say.
    again = realm.start_server(1, wait=False)
    try:
        wait_until(lambda: log_of(realm, 1).read_text().count('"event":"started"') == 4, 20.0,
                   "the start")
    finally:
        again.stop()
    assert log_of(realm, 1).read_text().count("store restored") == 1
