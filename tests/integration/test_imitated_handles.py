# SPDX-License-Identifier: Apache-2.0
"""Keys that a client chooses: its subkey has the octets of a handle, of a key that the reference
agent would use for whoever asks. The KDC is to refuse that one request, ask nobody with that key,
and go on."""

from __future__ import annotations

import hashlib
import secrets

import pytest

from tests.support.plain_realm import BIN, REALM, PlainRealm

CLIENT = BIN / "imitating_client.so"
pytestmark = pytest.mark.skipif(
    not (CLIENT.exists() and (BIN / "plain_agent").exists()),
    reason="plain_agent or imitating_client is not built (set TKDC_BUILD)")

HANDLE_MAGIC = b"\xf1tkdch\x00\x01"
DERIVED_MAGIC = b"\xf1tkdcd\x00\x01"
HANDLE_BYTES = 160
COOKIE = 2  # TKDC_DERIVE_PRFPLUS
FAST = {"with FAST": {}, "without FAST": {"TKDC_WITHOUT_FAST": "1"}}


@pytest.fixture
def realm(tmp_path):
    with PlainRealm(tmp_path) as r:
        r.start()
        r.kadmin_local("addprinc -pw secret +requires_preauth alice")
        r.kadmin_local("addprinc -pw other bob")
        r.kadmin_local("addprinc -randkey host/demo.test")
        yield r


def fields(realm, principal: str, enctype: int = 18) -> bytes:
    """What a handle says of a principal's key, as its owner or an old dump could tell."""
    lines = (realm.dir / "agent.state").read_text().splitlines()
    digest = hashlib.sha256(f"{principal}@{REALM}".encode()).hexdigest()
    for line in lines[1:]:
        key_id, owner, kvno, its_enctype = line.split()[:4]
        if owner == digest and int(its_enctype) == enctype:
            return (bytes.fromhex(key_id + lines[0] + owner) + int(kvno).to_bytes(4, "big") +
                    enctype.to_bytes(4, "big"))
    raise AssertionError(f"the agent has no key of {principal}")


def handle_of(realm, principal: str) -> bytes:
    return (HANDLE_MAGIC + fields(realm, principal)).ljust(HANDLE_BYTES, b"\0")


def derived_handle_of(realm, principal: str) -> bytes:
    recipe = bytes([COOKIE]) + (18).to_bytes(4, "big") + b"\0"
    start = DERIVED_MAGIC + fields(realm, principal) + recipe
    return start.ljust(HANDLE_BYTES, b"\0") + b"COOKIE"


IMITATIONS = {
    "krbtgt's": lambda realm: handle_of(realm, f"krbtgt/{REALM}"),
    "another user's": lambda realm: handle_of(realm, "bob"),
    "a derived key's": lambda realm: derived_handle_of(realm, "bob"),
}


def with_subkey(realm, subkey: bytes, *command: str, **more):
    return realm.client(*command, check=False, LD_PRELOAD=str(CLIENT), TKDC_SUBKEY=subkey.hex(),
                        **more)


def operations(realm) -> list[str]:
    return (realm.dir / "agent.log").read_text().splitlines()


def kdc_log(realm) -> str:
    return (realm.dir / "kdc.log").read_text()


def assert_serves(realm) -> None:
    assert realm.processes["kdc"].poll() is None
    realm.kinit("alice", "secret")
    realm.client("kvno", "host/demo.test")


@pytest.mark.parametrize("fast", FAST)
def test_a_subkey_of_the_clients_choice_is_used(realm, fast):
    """The control: chosen octets of a key's length arrive, and the reply comes under them."""
    realm.kinit("alice", "secret")
    before = len(operations(realm))
    done = with_subkey(realm, secrets.token_bytes(32), "kvno", "host/demo.test", **FAST[fast])
    assert done.returncode == 0, done.stdout
    assert [line.split()[0] for line in operations(realm)[before:]].count("seal") == 1


def test_a_subkey_of_the_clients_choice_makes_armor(realm):
    armor = f"FILE:{realm.dir}/armor"
    realm.kinit("bob", "other", KRB5CCNAME=armor)
    done = with_subkey(realm, secrets.token_bytes(32), "kinit", "-T", armor, "alice",
                       stdin="secret\n")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("fast", FAST)
@pytest.mark.parametrize("whose", IMITATIONS)
def test_no_reply_is_sealed_with_an_imitated_handle(realm, whose, fast):
    realm.kinit("alice", "secret")
    before, logged = len(operations(realm)), len(kdc_log(realm))
    done = with_subkey(realm, IMITATIONS[whose](realm), "kvno", "host/demo.test", **FAST[fast])
    assert done.returncode != 0, done.stdout
    log = kdc_log(realm)[logged:]
    asked = [line.split()[0] for line in operations(realm)[before:]]
    assert asked.count("open") == log.count("TGS_REQ") > 0, "the control: TGT and request were read"
    tickets = log.count("TGS_REQ") if fast == "without FAST" else 0
    assert asked.count("seal") == tickets, "and no reply"
    assert not [op for op in asked if op.endswith("-derived")]
    assert "ISSUE" not in log, log
    assert_serves(realm)


@pytest.mark.parametrize("octets", [1, 31, 33, 160])
def test_a_subkey_of_no_keys_length_ends_a_request_only(realm, octets):
    """krb5kdc 1.20 alone does not outlive it."""
    realm.kinit("alice", "secret")
    logged = len(kdc_log(realm))
    done = with_subkey(realm, bytes(octets), "kvno", "host/demo.test", TKDC_WITHOUT_FAST="1")
    assert done.returncode != 0, done.stdout
    assert "TGS_REQ" in kdc_log(realm)[logged:]
    assert_serves(realm)


@pytest.mark.parametrize("whose", IMITATIONS)
def test_no_armor_is_made_of_an_imitated_handle(realm, whose):
    armor = f"FILE:{realm.dir}/armor"
    realm.kinit("bob", "other", KRB5CCNAME=armor)
    before, logged = len(operations(realm)), len(kdc_log(realm))
    done = with_subkey(realm, IMITATIONS[whose](realm), "kinit", "-T", armor, "alice",
                       stdin="secret\n")
    assert done.returncode != 0, done.stdout
    asked = [line.split()[0] for line in operations(realm)[before:]]
    assert "open" in asked, "the control: the armor's ticket was opened"
    assert set(asked) <= {"open", "verify"}, asked
    log = kdc_log(realm)[logged:]
    assert "AS_REQ" in log, log
    assert "exist only as shares" not in log, "it was taken for a key that exists as shares"
    assert_serves(realm)
