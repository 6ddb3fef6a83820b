# SPDX-License-Identifier: Apache-2.0
"""A realm on two servers: what the stock programs do there, and what they do without one."""

import re
import shutil
import signal
import threading
import time

import pytest

from tests.integration.conftest import NAME, SERVICE, STOCK, new_realm, remove
from tests.integration.test_import import dump
from tests.support.export import Approvers, lying, tkdc_export
from tests.support.export import restore as put_back
from tests.support.process import wait_until
from tests.support.realm import Realm
from tests.support.rebuild_key import rebuild, stored
from tests.support.two_servers import (
    back_up,
    config,
    epochs,
    given_up,
    keys_of,
    lose,
    pools_of,
    refreshed_text,
    restore,
    shares_of,
    stolen,
    tkdc,
    warned,
)

pytestmark = [pytest.mark.skipif(STOCK, reason="about tkdc's servers")]
RECOVERY_S = 60.0
PASSWORD = "the password of a user of two servers"


class RealmOfTwo(Realm):
    def __init__(self, directory, name, base_port, **options):
        super().__init__(directory, name, base_port, servers=2, **options)

    def create(self) -> None:
        super().create()
        self.approvers = Approvers(self)


@pytest.fixture(scope="module")
def two():
    with new_realm(kind=RealmOfTwo) as running:
        running.kadmin_local(f'addprinc -pw "{PASSWORD}" shared')
        running.kadmin_local(f"addprinc -randkey {SERVICE}")
        running.kadmin_local(f"ktadd -k {running.keytab('service')} {SERVICE}")
        yield running
    remove(running)


@pytest.fixture
def healthy(two):
    """Logins work again."""
    def check() -> None:
        wait_until(lambda: two.client("healthy").kinit("shared", PASSWORD, timeout_s=30).ok,
                   RECOVERY_S, "a login", pause_s=0.5)

    return check


def test_status_says_what_runs(two):
    said = two.tool("tkdc", "status", "--config",
                    str(two.installation / "agent-admin" / "agent.toml"))
    assert "tkdc is healthy" in said, said
    assert "security: two servers, malicious" in said, said
    rows = re.findall(r"^ +(\d) +tcp://\S+ +yes +up ", said, re.M)
    assert rows == ["0", "1"], said


def test_a_user_logs_in_and_gets_a_ticket_that_the_service_opens(two):
    user = two.client("login")
    done = user.kinit("shared", PASSWORD)
    assert done.ok, done.errors
    user.kvno_opened(two.keytab("service"), SERVICE)
    assert f"krbtgt/{NAME}@{NAME}" in user.services()


def test_a_wrong_password_is_refused(two):
    done = two.client("wrong").kinit("shared", "another password")
    assert not done.ok
    assert "Password incorrect" in done.errors or "Preauthentication failed" in done.errors


def test_passwords_change(two):
    two.kadmin_local(f'addprinc -pw "{PASSWORD}" changes')
    two.kadmin_local('cpw -pw "another password" changes')
    assert not two.client("changes").kinit("changes", PASSWORD).ok
    done = two.client("changes").kinit("changes", "another password")
    assert done.ok, done.errors


def test_keytabs_hold_drawn_keys(two):
    two.kadmin_local("addprinc -randkey host/drawn.test")
    first, second = two.keytab("first"), two.keytab("second")
    two.kadmin_local(f"ktadd -k {first} host/drawn.test")
    assert two.client("drawn").kinit_keytab("host/drawn.test", first).ok
    two.kadmin_local(f"ktadd -k {second} host/drawn.test")
    assert not two.client("drawn").kinit_keytab("host/drawn.test", first).ok
    done = two.client("drawn").kinit_keytab("host/drawn.test", second)
    assert done.ok, done.errors


def test_a_deleted_principal_leaves_no_key(two):
    two.kadmin_local(f'addprinc -pw "{PASSWORD}" goes')
    whose = [set(stored(two, party).values()) for party in range(2)]
    assert all(f"goes@{NAME}" in names for names in whose)
    two.kadmin_local("delprinc -force goes")
    assert "not found" in two.client("goes").kinit("goes", PASSWORD).errors
    assert all(f"goes@{NAME}" not in stored(two, party).values() for party in range(2))


# What the search of the demo stands on; and what each holds alone is none of it.
def test_both_stores_together_are_the_key(two):
    with two.keytab("service").open("rb") as file:
        keytab = file.read()
    keys = [key.fields["key"] for key in rebuild(two, f"{SERVICE}@{NAME}")]
    assert keys
    assert all(key in keytab for key in keys)
    alone = [key.fields["key"] for key in rebuild(two, f"krbtgt/{NAME}@{NAME}")]
    assert all(key not in keytab for key in alone), "the control"


def test_fast_with_encrypted_challenge(two, tmp_path):
    """Armor from a host's ticket. The first of its kind is prepared while the client waits, so it
    may ask again."""
    keytab = two.keytab("armor")
    two.kadmin_local("addprinc -randkey host/armor.test")
    two.kadmin_local(f"ktadd -k {keytab} host/armor.test")
    host, user = two.client("armor"), two.client("armored")
    assert host.kinit_keytab("host/armor.test", keytab).ok
    trace = tmp_path / "trace"
    user.env["KRB5_TRACE"] = str(trace)

    def kinit(password):
        return user.kinit("shared", password, "-T", f"FILE:{host.ccache}", timeout_s=120)

    wait_until(lambda: kinit(PASSWORD).ok, RECOVERY_S, "a login in FAST", pause_s=0.1)
    said = trace.read_text()
    assert "Preauth module encrypted_challenge (138) (real) returned: 0/Success" in said
    assert "FAST reply key" in said
    user.kvno_opened(two.keytab("service"), SERVICE)
    refused = kinit("another password")
    assert not refused.ok
    assert "Password incorrect" in refused.errors or "Preauthentication failed" in refused.errors
    asked = {(one["op"], one["usage"]) for one in two.operations("kdc") if one["status"] == "ok"}
    assert {("open-derived", 54), ("seal-derived", 55), ("mac-derived", 56),
            ("seal-derived", 3)} <= asked


# ---- backups

@pytest.fixture(scope="module")
def backups(two):
    """One of each, of one state; status asks for it until it is there."""
    assert warned(two) == [True, True]
    for party in range(2):
        key, public = two.directory / f"{party}.key", two.directory / f"{party}.pub"
        made = tkdc(two, "backup", "key", "--out", key, "--public", public)
        assert made.returncode == 0, made.stderr
        shutil.copy(public, two.server_directory(party) / "backup.pub")
    files = [back_up(two, party) for party in range(2)]
    assert warned(two) == [False, False]
    for party, file in enumerate(files):
        said = tkdc(two, "backup", "verify", file, "--key", two.directory / f"{party}.key")
        assert said.returncode == 0 and "pools            1\n" in said.stdout, said.stdout
    return files


@pytest.mark.parametrize("lost", [(0,), (0, 1)])
def test_lost_stores_come_back_and_serve(two, healthy, backups, lost):
    """From the same backups each time, since no block of a pool is in them."""
    healthy()
    lose(two, *lost)
    for party in lost:
        done = restore(two, party, backups[party])
        assert done.returncode == 0 and "Take a backup of each" in done.stdout, done.stderr
        two.start_server(party)
    healthy()
    user = two.client("healthy")
    user.kvno_opened(two.keytab("service"), SERVICE)
    assert not two.client("wrong").kinit("shared", "another password").ok


def test_blocks_serve_again_after_an_orderly_stop(two, healthy):
    healthy()
    before = pools_of(two, 0)["pools"]
    told = given_up(two, 0)
    two.daemons["server0"].stop()
    two.start_server(0)
    healthy()
    assert pools_of(two, 0)["pools"] == before
    assert given_up(two, 0) == told


# Its blocks have served since: with the log of before, or with that of now.
@pytest.mark.parametrize("running", [False, True])
def test_the_blocks_of_a_copy_are_given_up(two, healthy, running):
    folder = two.server_directory(0)
    store, copy = folder / "store", folder / "copy"
    if not running:
        two.daemons["server0"].stop()
    shutil.copytree(store, copy, ignore=shutil.ignore_patterns("*.sock"))
    if not running:
        two.start_server(0)
    healthy()
    two.daemons["server0"].stop()
    shutil.rmtree(store)
    copy.rename(store)
    two.start_server(0)
    healthy()
    assert given_up(two, 0) > 0


def test_a_backup_from_whomever_it_is_is_refused(two, healthy, backups):
    two.daemons["server0"].stop()
    words = ("restore", backups[0], "--key", two.directory / "0.key", "--into",
             two.server_directory(0), "--replace")
    refused = tkdc(two, *words)
    assert refused.returncode == 3 and "--digest" in refused.stderr, refused.stderr
    taken = tkdc(two, *words, "--unproved")
    assert taken.returncode == 0, taken.stderr
    two.start_server(0)
    healthy()


def test_two_servers_are_never_restored_as_three(two, healthy, backups):
    two.daemons["server0"].stop()
    three = restore(two, 0, backups[0], "--replace", "--all-three", "--state", "none")
    assert three.returncode == 3 and "two servers" in three.stderr, three.stderr
    done = restore(two, 0, backups[0], "--replace")
    assert done.returncode == 0, done.stderr
    two.start_server(0)
    healthy()


def test_what_was_made_since_a_backup_goes_and_all_else_serves(two, healthy, backups):
    two.kadmin_local(f'addprinc -pw "{PASSWORD}" since')
    lose(two, 1)
    two.daemons["server0"].stop()
    done = restore(two, 1, backups[1])
    assert done.returncode == 0, done.stderr
    lists = [two.directory / f"list-{party}" for party in range(2)]
    for party, file in enumerate(lists):
        done = tkdc(two, "store", "list", "--config", config(two, party), "--out", file)
        assert done.returncode == 0, done.stderr
    one = tkdc(two, "store", "agree", "--config", config(two, 0), lists[0], lists[0], "--yes")
    assert one.returncode == 1 and "two lists of server 0" in one.stderr, one.stderr
    forged = two.directory / "forged-1"
    forged.write_text(re.sub(r"(?m)^(key \S+ \d+ \d+ \d+) 0 ", r"\1 1 ", lists[1].read_text()))
    asked = tkdc(two, "store", "agree", "--config", config(two, 0), lists[0], forged)
    assert asked.returncode == 1 and "nothing was changed" in asked.stderr, asked.stderr
    assert f"shared@{NAME}" in asked.stdout, asked.stdout
    assert "of which one says that it was removed" in asked.stdout, asked.stdout
    for party in range(2):
        done = tkdc(two, "store", "agree", "--config", config(two, party), *lists, "--yes")
        assert done.returncode == 0, done.stderr
        assert f"since@{NAME}, version 1" in done.stdout and "both servers" in done.stdout
        two.start_server(party)
    healthy()
    assert not two.client("since").kinit("since", PASSWORD).ok
    two.kadmin_local("delprinc -force since")
    two.kadmin_local(f'addprinc -pw "{PASSWORD}" since')
    assert two.client("since").kinit("since", PASSWORD).ok


@pytest.mark.parametrize("party", [0, 1])
def test_a_server_is_killed_and_started_again(two, healthy, party):
    healthy()
    two.signal(f"server{party}", signal.SIGKILL)
    two.daemons[f"server{party}"].stop()
    away = two.client("away")
    away.attempts = 1
    refused = away.kinit("shared", PASSWORD, timeout_s=120)
    assert not refused.ok
    two.start_server(party)
    healthy()
    two.client("healthy").kvno_opened(two.keytab("service"), SERVICE)
    two.kadmin_local(f'addprinc -pw "{PASSWORD}" after{party}')
    assert two.client("after").kinit(f"after{party}", PASSWORD).ok


# ---- a refresh

def test_a_refresh_moves_all_keys_while_users_log_in(two, healthy):
    """Of restored stores, and of pools that were given up; stores of both sides are no key."""
    healthy()
    refused = tkdc(two, "refresh", "--prune", "--config", config(two, 1))
    assert refused.returncode == 1 and "only when both servers have new ones" in refused.stderr
    before = [stolen(two, party, "before") for party in range(2)]
    done = []

    def refresh():
        done.append(tkdc(two, "refresh", "--config", config(two, 1)))

    asked = threading.Thread(target=refresh)
    asked.start()
    logins, end = 0, time.monotonic() + RECOVERY_S
    while asked.is_alive():
        assert time.monotonic() < end, shares_of(two)
        assert two.client("meanwhile").kinit("shared", PASSWORD, timeout_s=60).ok
        logins += 1
        time.sleep(0.2)
    asked.join()
    assert done[0].returncode == 0, done[0].stdout + done[0].stderr
    assert "`tkdc backup prune` with that folder" in done[0].stdout
    assert logins > 0 and epochs(two) == [1, 1], shares_of(two)
    assert "refresh epoch 1" in refreshed_text(two, 0)
    wait_until(lambda: pools_of(two, 0)["pools"] == 1, RECOVERY_S, "pools of the new epoch alone")
    after = [stolen(two, party, "after") for party in range(2)]
    whose = (f"shared@{NAME}", f"{SERVICE}@{NAME}")
    keys = keys_of(two, whose, *after)
    assert keys and keys == keys_of(two, whose, *before), "the control: of one side"
    assert not keys & keys_of(two, whose, before[0], after[1])
    assert not keys & keys_of(two, whose, after[0], before[1])
    two.client("healthy").kvno_opened(two.keytab("service"), SERVICE)


def test_a_refresh_goes_on_when_either_server_is_killed(two, healthy):
    healthy()
    next_one = max(epochs(two)) + 1
    assert tkdc(two, "refresh", "--background", "--config", config(two, 0)).returncode == 0
    for party in (1, 0):
        wait_until(lambda: max(one.get("running", False) for one in shares_of(two)) or
                   max(epochs(two)) == next_one, RECOVERY_S, "its beginning", pause_s=0.05)
        two.signal(f"server{party}", signal.SIGKILL)
        two.daemons[f"server{party}"].stop()
        two.start_server(party)
    wait_until(lambda: epochs(two) == [next_one] * 2, RECOVERY_S, "the refresh's end", pause_s=0.5)
    healthy()
    two.client("healthy").kvno_opened(two.keytab("service"), SERVICE)


# ---- the realm leaves: of restored stores, and of pools that were given up

LATER = "a password that was set after the request"


@pytest.fixture(scope="module")
def leaving(two):
    """A request, both approvals, and a ticket of before."""
    two.kadmin_local(f'addprinc -pw "{PASSWORD}" leaves')
    assert two.client("holds").kinit("shared", PASSWORD, timeout_s=60).ok
    folder = two.directory / "export"
    done = tkdc_export(two, "request", "--folder", str(folder))
    assert done.ok, done.errors
    return folder, [two.approvers.approve(party, folder / "request") for party in range(2)]


def test_one_administrator_is_not_enough(two, healthy, leaving):
    folder, approvals = leaving
    for given, why in ((approvals[:1], "there is 1"),
                       (approvals[:1] * 2, "both approvals are of admin0")):
        refused = two.approvers.hand_over(1, folder / "request", given)
        assert refused.code == 1 and why in refused.errors, refused.errors
    assert not any(event["event"] == "export" for event in two.approvers.audit(1))


@pytest.fixture(scope="module")
def handed(two, leaving):
    """Each hands over by itself: server 1, latched, without a session; server 0 dies behind it."""
    folder, approvals = leaving
    for party in range(2):
        two.daemons[f"server{party}"].stop()
    reason = "lane 0: the verification failed"
    latch = two.server_directory(1) / "store" / "latched"
    latch.write_text(reason + "\n")
    two.start_server(1)
    shares = {1: two.approvers.shares(1, folder / "request", approvals)}
    assert f"latched: {reason}" in two.daemons["server1"].log.read_text()
    two.start_server(0)
    assert latch.exists()
    two.tool("tkdc", "release", "--config", str(two.server_directory(1) / "tkdc.toml"))
    shares[0] = two.approvers.shares(0, folder / "request", approvals)
    two.signal("server0", signal.SIGKILL)
    two.daemons["server0"].stop()
    two.start_server(0)
    return folder, [shares[0], shares[1]]


def test_what_was_handed_over_is_handed_over_once(two, leaving, handed):
    folder, approvals = leaving
    for party in range(2):
        again = two.approvers.hand_over(party, folder / "request", approvals)
        assert again.code == 1 and "was used here before" in again.errors, again.errors
        events = two.approvers.audit(party)
        assert [e["approvers"] for e in events if e["event"] == "export"] == [["admin0", "admin1"]]
        exported = {e["principal"] for e in events if e["event"] == "key exported"}
        assert {f"shared@{NAME}", f"krbtgt/{NAME}@{NAME}", f"{SERVICE}@{NAME}"} <= exported


def test_shares_of_both_are_wanted_and_looked_at(two, handed):
    folder, shares = handed
    one = put_back(two, folder, shares[:1])
    assert one.code == 1 and "shares of server 1 are missing" in one.errors, one.errors
    octets = bytearray(shares[1].read_bytes())
    octets[-1] ^= 1
    bad = two.directory / "shares.bad"
    bad.write_bytes(octets)
    changed = put_back(two, folder, [shares[0], bad])
    assert changed.code == 1 and "not made by server 1" in changed.errors, changed.errors
    dry = put_back(two, folder, shares, "--dry-run")
    assert dry.ok and "shares of both servers agree" in dry.output, dry.errors
    assert ", and 0 that stay there" in dry.output


def new_shares(realm, folder):
    assert tkdc_export(realm, "request", "--folder", str(folder)).ok
    approvals = [realm.approvers.approve(party, folder / "request") for party in range(2)]
    return [realm.approvers.shares(party, folder / "request", approvals) for party in range(2)]


@pytest.fixture(scope="module")
def lied(two, handed):
    """The folder of an export that server 1 has spoiled, and both servers' files."""
    folder = two.directory / "export-lied"
    return folder, new_shares(two, folder)


def test_who_guessed_wrong_waits_for_both_administrators(two, lied):
    """Well sealed files that do not fit; the key's part begins behind kind, version and usage."""
    folder, shares = lied
    first = next(line.split()[4] for line in (folder / "request").read_text().splitlines()
                 if line.startswith("key "))
    before = dump(two, "before-guesses")
    wrong = [shares[0], lying(two, folder, shares[1], 1, 9)]
    for _ in range(2):
        done = put_back(two, folder, wrong)
        assert done.code == 1 and "do not belong together" in done.errors, done.errors
        assert first in done.errors, done.errors
    for guess in (shares, [shares[0], lying(two, folder, shares[1], 1, 10)]):
        done = put_back(two, folder, guess)
        assert done.code == 1 and "Make another request" in done.errors, done.errors
        assert first not in done.errors, done.errors
    assert dump(two, "after-guesses") == before


def test_what_changed_since_the_request_takes_another_one(two, healthy, handed):
    folder, shares = handed
    healthy()
    two.kadmin_local(f'cpw -pw "{LATER}" leaves')
    done = put_back(two, folder, shares)
    assert done.code == 2 and "2 keys are not in the request" in done.output, done.errors
    again = two.directory / "export-2"
    done = put_back(two, again, new_shares(two, again))
    assert done.ok and "restored: 2 keys" in done.output, done.output + done.errors


def test_a_stock_kdc_serves_what_two_servers_held(two, handed, lied):
    for one in (handed[0], lied[0], two.directory / "export-2"):
        done = tkdc_export(two, "finish", "--folder", str(one))
        assert done.ok and "0 handles left krbtgt's entry" in done.output, done.errors
        assert not (one / "recipient.key").exists()
    assert stored(two, 0) == stored(two, 1) == {}
    two.take_tkdc_away()
    assert "LD_PRELOAD" not in two.kdc_env()
    assert two.client("holds").kvno(SERVICE).ok, "under krbtgt's version of before"
    user = two.client("stock")
    for name, password in (("shared", PASSWORD), ("leaves", LATER)):
        done = user.kinit(name, password)
        assert done.ok, done.errors
        assert not two.client("wrong").kinit(name, "another password").ok
    user.kvno_opened(two.keytab("service"), SERVICE)
    assert two.client("service").kinit_keytab(SERVICE, two.keytab("service")).ok
