# SPDX-License-Identifier: Apache-2.0
"""What a stock realm's password histories remember moves onto tkdc with it.

kadmind refuses the same passwords after `tkdc import` as before, and forgets them in their turn.
"""

import pytest

from tests.integration.conftest import NAME, STOCK, new_realm, remove
from tests.integration.test_history import REUSE, USED
from tests.integration.test_import import (
    dump,
    handles,
    is_handle,
    kept_keys,
    keys_and_rest,
    tkdc_import,
)
from tests.support.history import forms, history
from tests.support.process import RealmError
from tests.support.rebuild_key import rebuild

pytestmark = [pytest.mark.skipif(STOCK, reason="about moving from stock to tkdc"),
              pytest.mark.behind]

ENCTYPES = 2  # supported_enctypes of the tests' realms
OLD, RC4 = "-e arcfour-hmac:normal", "-e aes256-cts:normal,arcfour-hmac:normal"
# Principal: its passwords, and what addprinc and cpw are told for each.
USERS = {
    "elder": [("elder a", ""), ("elder b", ""), ("elder c", "")],
    "keeper": [("keeper a", ""), ("keeper b", "-keepold"), ("keeper c", "")],
    "mixed": [("mixed a", RC4), ("mixed b", "")],
    "legacy": [("legacy a", OLD), ("legacy b", "")],
    "salted": [("salted a", "-e aes256-cts:special,aes256-sha2:onlyrealm"), ("salted b", "")],
    "leaver": [("leaver a", ""), ("leaver b", "")],
}
BETWEEN = "between"  # changes its password between the module's coming and the import
STALE = "stale"  # changed its password before kadmin/history got another key


def change(realm, user: str, password: str, options: str = "") -> None:
    realm.kadmin_local(f'cpw {options} -pw "{password}" {user}')


def populate(realm) -> None:
    realm.kadmin_local("addpol -history 3 remembers")
    realm.kadmin_local(f'addprinc -policy remembers -pw "stale a" {STALE}')
    change(realm, STALE, "stale b")
    realm.kadmin_local("cpw -randkey kadmin/history")
    for password in ("between a", "between b"):
        realm.kadmin_local(f'{"addprinc -policy remembers" if password.endswith("a") else "cpw"} '
                           f'-pw "{password}" {BETWEEN}')
    for user, ((password, options), *later) in USERS.items():
        realm.kadmin_local(f'addprinc -policy remembers {options} -pw "{password}" {user}')
        for following, more in later:
            change(realm, user, following, more)


def onto_tkdc(realm) -> None:
    realm.stop()
    realm.put_tkdc_before_database()
    realm.start()


@pytest.fixture(scope="module")
def moved():
    """A realm on tkdc with its stock database as it was, and what its histories remember."""
    with new_realm(stock=True) as realm:
        populate(realm)
        realm.before = dump(realm, "before")
        onto_tkdc(realm)
        yield realm
    remove(realm)


def refuses(realm, user: str, password: str) -> None:
    with pytest.raises(RealmError, match=REUSE):
        change(realm, user, password)


def of(entries: dict[str, list[str]], user: str) -> list[str]:
    return entries[f"princ {user}@{NAME}"]


def test_passwords_are_compared_before_the_import_too(moved):
    """With keys in the clear, and what is remembered meanwhile is taken along."""
    for password in ("between a", "between b"):
        refuses(moved, BETWEEN, password)
    change(moved, BETWEEN, "between c")
    for password in ("between a", "between b", "between c"):
        refuses(moved, BETWEEN, password)
    moved.before = dump(moved, "between")
    assert forms(of(moved.before, BETWEEN)) == [["stock"] * ENCTYPES] * 2


def test_a_dry_run_says_what_comes_along(moved):
    done = tkdc_import(moved, "--dry-run")
    assert done.code == 0, done.output + done.errors
    former = sum(len(passwords) - 1 for passwords in USERS.values())
    keys = sum(len(history(of(moved.before, user))[0]) for user in USERS)
    assert keys, "the stock realm remembers"
    # BETWEEN's two more; legacy's has no other key.
    assert f"keys of {former + 2 - 1} former passwords to import, 4 keys to drop" in done.output
    assert f"mixed@{NAME}: 1 keys are dropped: their enctypes" in done.output
    assert f"legacy@{NAME}: 1 keys are dropped: their enctypes" in done.output
    assert f"{STALE}@{NAME}: 2 keys are dropped: kadmin/history's key is another" in done.output
    assert "1 former passwords have no other key and can be taken again" in done.output
    assert dump(moved, "dry") == moved.before


def test_import_takes_them_along(moved):
    done = tkdc_import(moved)
    assert done.code == 0, done.output + done.errors
    assert "remembered by password histories" in done.output
    after = dump(moved, "after")
    assert all(f[0] == "princ" or f == moved.before[name] for name, f in after.items())
    for user in (*USERS, BETWEEN, STALE):
        was, now = history(of(moved.before, user)), history(of(after, user))
        assert [[(k.kvno, k.enctype) for k in password] for password in now] == [
            [(k.kvno, k.enctype) for k in password] for password in was], user
        assert {(k.version, k.salt) for password in now for k in password} == {(1, b"")}
    assert forms(of(after, "elder")) == [["handle"] * ENCTYPES] * 2
    assert forms(of(after, "mixed")) == [["handle", "none"]]
    assert forms(of(after, "legacy")) == [["none"]]
    assert forms(of(after, STALE)) == [["none"] * ENCTYPES]
    assert "to import: 0 keys; principals to write: 0" in tkdc_import(moved).output


def test_a_key_that_is_kept_and_remembered_is_one_key(moved):
    """As after a change on tkdc: the entry and its history name the same handle."""
    kvnos = sorted(key.kvno for key in rebuild(moved, f"keeper@{NAME}"))
    assert kvnos == sorted([1, 2, 3] * ENCTYPES)


def test_kpasswd_refuses_what_was_remembered_and_takes_a_new_one(moved):
    client = moved.client("elder")
    for password in ("elder a", "elder b", "elder c"):
        done = client.kpasswd("elder", "elder c", password)
        assert not done.ok and USED in done.output, password
    done = client.kpasswd("elder", "elder c", "elder d")
    assert done.ok, done.output + done.errors
    assert client.kinit("elder", "elder d").ok


def test_kadmind_refuses_it_under_every_salt_and_enctype(moved):
    for user in ("keeper", "mixed", "salted"):
        for password, options in USERS[user]:
            keys = options.replace("-keepold", "")
            with pytest.raises(RealmError, match=REUSE):
                change(moved, user, password, keys if user == "salted" else "")
    for password in ("between a", "between b", "between c"):
        refuses(moved, BETWEEN, password)
    change(moved, "legacy", "legacy a")  # by arcfour alone, as the dry run said
    change(moved, STALE, "stale a")  # nor would stock kadmind have refused it


def test_they_are_forgotten_in_their_turn_and_leave_the_servers(moved):
    def kept() -> list[int]:
        return sorted(key.kvno for key in rebuild(moved, f"elder@{NAME}"))

    assert kept() == sorted([2, 3, 4] * ENCTYPES), "elder d displaced elder a"
    refuses(moved, "elder", "elder b")
    change(moved, "elder", "elder a")
    assert kept() == sorted([3, 4, 5] * ENCTYPES)
    change(moved, "elder", "elder b")
    refuses(moved, "elder", "elder d")
    assert kept() == sorted([4, 5, 6] * ENCTYPES)


def test_they_go_with_their_principal(moved):
    assert len(rebuild(moved, f"leaver@{NAME}")) == 2 * ENCTYPES
    before = kept_keys(moved)
    moved.kadmin_local("delprinc -force leaver")
    assert not rebuild(moved, f"leaver@{NAME}")
    assert kept_keys(moved) == before - 2 * ENCTYPES


def test_they_can_be_dropped_on_purpose():
    with new_realm(stock=True) as realm:
        populate(realm)
        onto_tkdc(realm)
        done = tkdc_import(realm, "--without-history")
        assert done.code == 0, done.output + done.errors
        assert "dropped: --without-history" in done.output
        assert "remembered by password histories" not in done.output
        after = dump(realm, "after")
        for user in (*USERS, STALE):
            assert {form for password in forms(of(after, user)) for form in password} == {"none"}
        assert len(rebuild(realm, f"elder@{NAME}")) == ENCTYPES
        refuses(realm, "elder", "elder c")
        change(realm, "elder", "elder a")
        refuses(realm, "elder", "elder c")
    remove(realm)


def history_key_is_handle(realm) -> bool:
    keys, _ = keys_and_rest(dump(realm, "history")[f"princ kadmin/history@{NAME}"])
    return all(is_handle(key) for key in keys)


def test_the_key_of_histories_waits_for_those_that_the_servers_refuse():
    refused = "K/M@OTHER.TEST"  # they take no master key
    with new_realm(stock=True) as realm:
        realm.kadmin_local("addpol -history 3 remembers")
        for user in ("elder", refused):
            realm.kadmin_local(f'addprinc -policy remembers -pw "one a" {user}')
            change(realm, user, "one b")
        onto_tkdc(realm)
        done = tkdc_import(realm)
        assert done.code == 2 and refused in done.output, done.output + done.errors
        assert "kadmin/history's key stays" in done.output
        assert not history_key_is_handle(realm)
        refuses(realm, "elder", "one a")
        realm.kadmin_local(f"delprinc -force {refused}")
        done = tkdc_import(realm)
        assert done.code == 0, done.output + done.errors
        assert history_key_is_handle(realm)
        for password in ("one a", "one b"):
            refuses(realm, "elder", password)
        change(realm, "elder", "one c")
        assert kept_keys(realm) == handles(realm)
    remove(realm)


def test_a_history_key_of_a_legacy_enctype_is_left_and_needed_no_more():
    """Another one would end all histories, in a stock realm too."""
    with new_realm(stock=True) as realm:
        realm.kadmin_local("addpol -history 4 remembers")
        realm.kadmin_local('addprinc -policy remembers -pw "one a" elder')
        change(realm, "elder", "one b")
        realm.kadmin_local("cpw -randkey -e arcfour-hmac:normal kadmin/history")
        change(realm, "elder", "one c")
        change(realm, "elder", "one d")
        onto_tkdc(realm)
        done = tkdc_import(realm, "--leave-legacy")
        assert done.code == 2, done.output + done.errors
        assert "1 keys of legacy enctypes stay" in done.output
        assert forms(of(dump(realm, "after"), "elder")) == [["handle"] * ENCTYPES] * 2
        change(realm, "elder", "one e")
        for password in ("one b", "one c", "one d", "one e"):
            refuses(realm, "elder", password)
    remove(realm)
