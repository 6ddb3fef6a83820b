# SPDX-License-Identifier: Apache-2.0
"""A realm leaves tkdc: two administrators approve, the servers hand over, `tkdc export` writes the
keys back, and a stock KDC serves the same passwords, keytabs and tickets. Three servers, or two."""

import json
import subprocess
import time
from pathlib import Path

import pytest

from tests.integration.conftest import NAME, STOCK, new_realm, remove
from tests.integration.test_import import dump, is_handle, keys_and_rest, without_contents
from tests.support.export import Approvers, restore, tkdc_export
from tests.support.history import forms, history
from tests.support.kerberos import Outcome
from tests.support.realm import SERVERS

pytestmark = pytest.mark.skipif(STOCK, reason="about moving from tkdc to stock")

SERVICE = "host/leaving.test"
OLD_SERVICE = "host/twice.test"
CROSS = f"krbtgt/OTHER.TEST@{NAME}"
# Principal, password, what addprinc is told.
USERS = {
    "alice": ("the second password", ""),
    "sha2": ("of RFC 8009", "-e aes256-sha2:normal,aes128-sha2:normal"),
    "onlyrealm": ("a salt of the realm", "-e aes256-cts:onlyrealm,aes128-cts:norealm"),
    "guarded": ("with a policy 1", "-policy strict"),
    "elder": ("the last 1", "-policy remembers"),
    r"odd\ name": ("an odd name", ""),
}
FORMER = {"elder": "the first 1"}  # what a password history remembers
REMEMBERED = 2 * len(FORMER)  # keys
ELDER = f"princ elder@{NAME}"
LAST = SERVERS - 1
# krbtgt's key that two servers drew is one of its enctype, and leaves as any other.
STAYING = {f"krbtgt/{NAME}@{NAME}"} if SERVERS == 3 else set()


def populate(realm) -> None:
    realm.kadmin_local("addpol -minlength 6 -minclasses 2 -maxfailure 50 strict")
    realm.kadmin_local("addpol -history 3 remembers")
    for name, (password, options) in USERS.items():
        realm.kadmin_local(f'addprinc {options} -pw "{FORMER.get(name, password)}" "{name}"')
    for name in FORMER:
        realm.kadmin_local(f'cpw -pw "{USERS[name][0]}" {name}')
    for service in (SERVICE, OLD_SERVICE):
        realm.kadmin_local(f"addprinc -randkey {service}")
        realm.kadmin_local(f"ktadd -k {realm.keytab('service')} {service}")
    realm.kadmin_local(f"cpw -randkey -keepold {OLD_SERVICE}")
    realm.kadmin_local('cpw -keepold -pw "the second password" alice')
    realm.kadmin_local(f'addprinc -pw "between two realms" {CROSS}')


@pytest.fixture(scope="module")
def leaving():
    """A realm on tkdc with approvers, tickets in a cache, and its dump."""
    realm = new_realm()
    realm.create()
    realm.approvers = Approvers(realm)
    try:
        realm.start()
        populate(realm)
        realm.before = dump(realm, "before")
        assert realm.client("holds").kinit("alice", USERS["alice"][0]).ok
        yield realm
    finally:
        realm.stop()
    remove(realm)


def assert_all_log_in(realm) -> None:
    for name, (password, _) in USERS.items():
        done = realm.client("all").kinit(name, password)
        assert done.ok, f"{name}: {done.errors}"
        assert not realm.client("wrong").kinit(name, "wrong password").ok, name
    client = realm.client("all")
    assert client.kinit("alice", USERS["alice"][0]).ok
    client.kvno_opened(realm.keytab("service"), SERVICE)
    assert realm.client("svc").kinit_keytab(SERVICE, realm.keytab("service")).ok


def refused(done: Outcome, why: str) -> None:
    assert done.code == 1, done.output
    assert why in done.errors, done.errors


@pytest.fixture(scope="module")
def asked(leaving):
    """A request and the approvals of servers 0 and 1."""
    folder = leaving.directory / "export"
    done = tkdc_export(leaving, "request", "--folder", str(folder))
    assert done.ok, done.errors
    more = f"with {REMEMBERED} keys more that only password histories remember"
    assert more in done.output
    without = tkdc_export(leaving, "request", "--dry-run", "--without-history")
    assert without.ok and more not in without.output
    approvers = leaving.approvers
    return folder, [approvers.approve(party, folder / "request") for party in (0, 1)]


def test_a_request_that_one_administrator_approved_is_refused(leaving, asked):
    folder, approvals = asked
    request, hand_over = folder / "request", leaving.approvers.hand_over
    refused(hand_over(0, request, approvals[:1]), "there is 1")
    refused(hand_over(0, request, approvals[:1] * 2), "both approvals are of admin0")
    stranger, forged = (leaving.approvers.in_the_name_of(approvals[0], n) for n in (SERVERS, LAST))
    refused(hand_over(LAST, request, [approvals[0], stranger]), "by none of the [[approvers]]")
    refused(hand_over(LAST, request, [approvals[0], forged]),
            f"signature of admin{LAST} does not hold")


def changed(realm, text: str, word: str, value: str) -> Path:
    lines = [f"{word} {value}" if line.startswith(word + " ") else line
             for line in text.splitlines()]
    path = realm.directory / f"request.{word}.{value[:8]}"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_what_was_changed_after_approval_is_refused(leaving, asked):
    folder, approvals = asked
    text, hand_over = (folder / "request").read_text(), leaving.approvers.hand_over
    lines = text.splitlines()
    keys = [number for number, line in enumerate(lines) if line.startswith("key ")]
    fewer = leaving.directory / "request.fewer"
    head = [f"keys {len(keys) - 1}" if line.startswith("keys ") else line for line in lines]
    fewer.write_text("\n".join(head[:-1]) + "\n")
    other = changed(leaving, text, "recipient", "5" * 64)
    for path in (fewer, other):
        refused(hand_over(0, path, approvals), "is for another request")
    torn = leaving.directory / "request.torn"
    torn.write_text(text[:-5])
    refused(hand_over(0, torn, approvals), "is cut short")
    id_of_another = lines[keys[0]].split()
    unknown = leaving.directory / "request.unknown"
    unknown.write_text(text.replace(id_of_another[1], "0" * 32))
    refused(hand_over(0, unknown, approvals), "a key that this server does not have")
    renamed = leaving.directory / "request.renamed"
    renamed.write_text(text.replace(lines[keys[0]], " ".join([*id_of_another[:4], "bob@X"])))
    refused(hand_over(0, renamed, approvals), "a key that is another here")
    refused(hand_over(0, changed(leaving, text, "installation", "0" * 32), approvals),
            "of another installation")


def test_names_do_not_steer_the_administrators_terminal(leaving, asked):
    folder, _ = asked
    text = (folder / "request").read_text()
    first = next(line for line in text.splitlines() if line.startswith("key "))
    named = " ".join([*first.split()[:4], "b\u009b2J\u202eob@X"])
    path = leaving.directory / "request.steering"
    path.write_text(text.replace(first, named), encoding="utf-8")
    done = leaving.approvers.try_approve(0, path)
    refused(done, r"b\xc2\x9b2J\xe2\x80\xaeob@X")
    assert r"  b\xc2\x9b2J\xe2\x80\xaeob@X" in done.output.splitlines()
    assert (done.output + done.errors).isascii()
    assert [line.split()[0] for line in done.output.splitlines()[-2:]] == ["request", "recipient"]


def test_administrators_hear_that_krbtgts_keys_leave(leaving, asked):
    """Of two servers: those that three have drawn stay."""
    folder, _ = asked
    done = leaving.approvers.try_approve(1, folder / "request")
    assert done.ok, done.errors
    assert ("krbtgt's keys leave, too" in done.output) is (SERVERS == 2), done.output
    shown = done.output.index("recipient   ")
    assert "krbtgt" not in done.output[shown:], "what is to be compared stands last"


def test_time_limits(leaving, asked):
    folder, approvals = asked
    text, hand_over = (folder / "request").read_text(), leaving.approvers.hand_over
    late = changed(leaving, text, "expires", str(int(time.time()) - 1))
    refused(hand_over(0, late, approvals), "has expired")
    early = changed(leaving, text, "expires", str(int(time.time()) + 25 * 3600))
    refused(hand_over(0, early, approvals), "in more than 24 hours")


def test_who_approves_where(leaving, asked):
    folder, _ = asked
    approvers = leaving.approvers
    refused(approvers.try_approve(1, folder / "request", key=0), "each approves at his own")
    refused(approvers.try_approve(0, folder / "request", passphrase="not the passphrase"),
            "not the passphrase")
    events = approvers.audit(0)
    assert [e["approver"] for e in events if e["event"] == "export approved"] == ["admin0"]
    assert any(e["event"] == "export refused" and "expired" in e["reason"] for e in events)
    assert not any(e["event"] == "key exported" for e in events)


@pytest.fixture(scope="module")
def handed(leaving, asked):
    """The servers' files of shares."""
    folder, approvals = asked
    return folder, [leaving.approvers.shares(party, folder / "request", approvals)
                    for party in range(SERVERS)]


def test_a_request_is_good_once(leaving, asked, handed):
    folder, approvals = asked
    refused(leaving.approvers.hand_over(0, folder / "request", approvals), "was used here")
    events = leaving.approvers.audit(1)
    export = next(e for e in events if e["event"] == "export")
    assert export["approvers"] == ["admin0", "admin1"]
    listed = (folder / "request").read_text().count("\nkey ")
    assert sum(e["event"] in ("key exported", "key kept") for e in events) == listed
    assert {e["principal"] for e in events if e["event"] == "key kept"} == STAYING
    for party in range(SERVERS):
        log = leaving.server_directory(party) / "audit.jsonl"
        leaving.tool("tkdc", "audit", "verify", str(log))


def test_shares_that_do_not_agree_change_nothing(leaving, handed):
    folder, shares = handed
    refused(restore(leaving, folder, shares[:-1]), f"shares of server {LAST} are missing")
    refused(restore(leaving, folder, [*shares, shares[0]]), "a second file of server 0")
    title = f"tkdc-export-shares {1 if SERVERS == 3 else 2}\n"
    bad = leaving.directory / "shares.bad"
    octets = bytearray(shares[1].read_bytes())
    octets[-1] ^= 1
    bad.write_bytes(octets)
    refused(restore(leaving, folder, [shares[0], bad, *shares[2:]]), "not made by server 1")
    octets = bytearray(shares[1].read_bytes())
    other = (1 + 1) % SERVERS
    octets[len(title)] = other
    bad.write_bytes(octets)
    claimed = [bad if party == other else file for party, file in enumerate(shares)]
    refused(restore(leaving, folder, claimed), f"not made by server {other}")
    other = leaving.directory / "other"
    assert tkdc_export(leaving, "request", "--folder", str(other)).ok
    refused(restore(leaving, other, shares), "shares for another request")
    done = restore(leaving, folder, shares, "--dry-run")
    agree = f"shares of {'all three' if SERVERS == 3 else 'both'} servers agree"
    assert done.ok and agree in done.output, done.errors
    assert dump(leaving, "unchanged") == leaving.before


def keys_at_servers(realm) -> set[int]:
    status = json.loads(realm.tool("tkdc", "status", "--json", "--socket",
                                   str(realm.agent_socket("admin"))))
    return {server["keys"] for server in status["servers"]}


def test_keys_return_and_tickets_live_on(leaving, handed):
    folder, shares = handed
    leaving.kadmin_local('addprinc -pw "came later" later')
    done = restore(leaving, folder, shares)
    assert done.code == 2 and "2 keys are not in the request" in done.output, done.errors
    leaving.kadmin_local("delprinc -force later")
    done = restore(leaving, folder, shares)
    assert done.ok and "restored: 0 keys" in done.output, done.output + done.errors
    when = "When the longest ticket has expired" if STAYING else "At once"
    assert f"{when}: `tkdc export" in done.output, done.output
    listed = (folder / "request").read_text().count("\nkey ")
    assert keys_at_servers(leaving) == {listed}, "they stay until the end"
    assert leaving.client("holds").kvno(OLD_SERVICE).ok, "under krbtgt's version of before"
    assert_all_log_in(leaving)


def test_nothing_but_keys_has_changed(leaving):
    krbtgt = f"princ krbtgt/{NAME}@{NAME}"
    after = dump(leaving, "after")
    assert after.keys() == leaving.before.keys()
    for name, fields in after.items():
        if not name.startswith("princ ") or name == krbtgt:
            continue
        keys, rest = keys_and_rest(fields)
        old_keys, old_rest = keys_and_rest(leaving.before[name])
        assert [without_contents(k) for k in keys] == [without_contents(k) for k in old_keys]
        assert rest[:12] == old_rest[:12], name
        assert rest[15:] == old_rest[15:] or name == ELDER, name
        assert not any(is_handle(key) for key in keys), name
    assert forms(leaving.before[ELDER]) == [["handle"] * REMEMBERED]
    assert forms(after[ELDER]) == [["stock"] * REMEMBERED]
    old, now = history(leaving.before[ELDER])[0], history(after[ELDER])[0]
    assert [(k.kvno, k.enctype) for k in now] == [(k.kvno, k.enctype) for k in old]
    keys, _ = keys_and_rest(after[krbtgt])
    if STAYING:
        assert [key[0] for key in keys] == ["2", "2", "1", "1"]
        assert [is_handle(key) for key in keys] == [False, False, True, True]
    else:
        assert [(key[0], is_handle(key)) for key in keys] == [("1", False), ("1", False)]


def test_the_end_waits_for_entries_that_cannot_be_read(leaving, handed, realm):
    """At another installation's agent no handle says whose it is: nothing may be taken for done."""
    folder, _ = handed
    leaving.kadmin_local("addprinc -randkey unread")
    kept = dump(leaving, "kept")
    for words in (("finish", "--folder", str(folder)),
                  ("finish", "--folder", str(folder), "--leave-servers")):
        done = tkdc_export(leaving, *words, socket=realm.agent_socket("admin"))
        refused(done, "cannot be read")
        assert (folder / "recipient.key").exists()
    assert dump(leaving, "kept") == kept
    leaving.kadmin_local("delprinc -force unread")


def test_a_stock_kdc_serves_the_realm(leaving, handed):
    folder, _ = handed
    secret = (folder / "recipient.key").read_bytes()
    with open(folder / "recipient.key", "rb") as still_open:
        done = tkdc_export(leaving, "finish", "--folder", str(folder))
        assert still_open.read() == bytes(len(secret)), "its octets were not wiped"
    assert done.ok, done.errors
    assert f"{2 * len(STAYING)} handles left krbtgt's entry" in done.output
    assert not (folder / "recipient.key").exists()
    keys, _ = keys_and_rest(dump(leaving, "finished")[f"princ krbtgt/{NAME}@{NAME}"])
    assert not any(is_handle(key) for key in keys)
    assert keys_at_servers(leaving) == {0}
    leaving.take_tkdc_away()
    assert "LD_PRELOAD" not in leaving.kdc_env()
    maps = Path(f"/proc/{leaving.daemons['krb5kdc'].pid}/maps").read_text()
    assert "tkdc" not in maps.replace(str(leaving.directory), "")
    assert_all_log_in(leaving)
    lives_on = leaving.client("holds").kvno(SERVICE).ok
    assert lives_on is not bool(STAYING), "as under any krbtgt key, lost or not"


def keys_in(realm, keytab: Path, principal: str) -> set[tuple[str, str]]:
    """Versions and keys."""
    listed = subprocess.run(["klist", "-k", "-K", str(keytab)], env=realm.env(), check=True,
                            capture_output=True, text=True).stdout
    lines = [line.split() for line in listed.splitlines() if f" {principal}@" in line]
    assert lines, listed
    return {(line[0], line[-1]) for line in lines}


def test_old_versions_and_cross_realm_keys_are_what_they_were(leaving):
    """kadmin.local of a stock realm gives keys out, so they can be compared."""
    extracted, by_hand = leaving.keytab("extracted"), leaving.keytab("by-hand")
    for principal in (OLD_SERVICE, CROSS):
        leaving.kadmin_local(f"ktadd -k {extracted} -norandkey {principal}")
    old = keys_in(leaving, leaving.keytab("service"), OLD_SERVICE)
    now = keys_in(leaving, extracted, OLD_SERVICE)
    assert {version for version, _ in old} == {"2"} and {"2", "3"} == {v for v, _ in now}
    assert old < now
    entries = "".join(f"addent -password -p {CROSS} -k 1 -e {enctype}\nbetween two realms\n"
                      for enctype in ("aes256-cts", "aes128-cts"))
    subprocess.run(["ktutil"], env=leaving.env(), capture_output=True, text=True, check=True,
                   input=f"{entries}wkt {by_hand}\n")
    cross = CROSS.removesuffix(f"@{NAME}")
    assert keys_in(leaving, extracted, cross) == keys_in(leaving, by_hand, cross)


def test_policies_are_in_force(leaving):
    done = leaving.try_admin_tool("kadmin.local", "-q", 'cpw -pw "x" guarded')
    assert "too short" in done.errors


def test_a_stock_kadmind_refuses_what_shares_remembered(leaving):
    """And a password that it is given now, as ever."""
    for password in (USERS["elder"][0], FORMER["elder"]):
        again = leaving.try_admin_tool("kadmin.local", "-q", f'cpw -pw "{password}" elder')
        assert "Cannot reuse password" in again.errors, password
    leaving.kadmin_local('cpw -pw "a stock one 1" elder')
    assert leaving.client("elder").kinit("elder", "a stock one 1").ok
    again = leaving.try_admin_tool("kadmin.local", "-q", f'cpw -pw "{USERS["elder"][0]}" elder')
    assert "Cannot reuse password" in again.errors, "one since"
