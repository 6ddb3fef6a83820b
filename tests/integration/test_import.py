# SPDX-License-Identifier: Apache-2.0
"""A stock realm moves onto tkdc: `tkdc import` on its own database, while it is in use."""

import fcntl
import json
import random
import re
import signal
import subprocess
import threading
import time

import pytest

from tests.integration.conftest import NAME, STOCK, new_realm, remove
from tests.support.history import count, history
from tests.support.kerberos import Outcome
from tests.support.process import RealmError

pytestmark = pytest.mark.skipif(STOCK, reason="about moving from stock to tkdc")

SERVICE = "host/moved.test"
OLD_SERVICE = "host/keepold.test"
# Principal, password, what addprinc is told.
USERS = {
    "alice": ("alice's password", ""),
    "onlyrealm": ("a salt of the realm", "-e aes256-cts:onlyrealm,aes128-cts:onlyrealm"),
    "norealm": ("a salt without it", "-e aes256-cts:norealm"),
    "special": ("a salt of its own", "-e aes256-cts:special,aes128-cts:special"),
    "sha2": ("of RFC 8009", "-e aes256-sha2:normal,aes128-sha2:normal"),
    "mixed": ("beside arcfour", "-e aes256-cts:normal,arcfour-hmac:normal"),
    "guarded": ("with a policy 1", "-policy strict"),
    "elder": ("the first 1", "-policy remembers"),
    r"odd\ name": ("an odd name", ""),
}
LEGACY = ("rc4only", "arcfour and nothing else", "-e arcfour-hmac:normal")
REFUSED = "K/M@OTHER.TEST"  # the servers take no master key
ACCEPTS = ["--drop-legacy", "--leave-legacy"]


def tkdc_import(realm, *options: str) -> Outcome:
    done = subprocess.run([realm.bin / "tkdc", "import", *options], env={
        key: value for key, value in realm.kdc_env().items() if key != "LD_PRELOAD"},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
    return Outcome(done.returncode, done.stdout, done.stderr)


def dump(realm, name: str) -> dict[str, list[str]]:
    """Lines of `kdb5_util dump`, by kind and name."""
    path = realm.directory / name
    realm.admin_tool("kdb5_util", "dump", str(path))
    lines = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    path.unlink()
    return {f"{fields[0]} {fields[6] if fields[0] == 'princ' else fields[1]}": fields
            for fields in lines}


def keys_and_rest(fields: list[str]) -> tuple[list[list[str]], list[str]]:
    """A principal's keys (version, enctype, contents, salt's type and octets), the others."""
    tl_count, key_count = int(fields[3]), int(fields[4])
    at = 15 + 3 * tl_count
    rest, keys = fields[:at], []
    for _ in range(key_count):
        parts = int(fields[at])
        keys.append(fields[at + 1:at + 2 + 3 * parts])
        at += 2 + 3 * parts
    return keys, rest + fields[at:]


def is_handle(key: list[str]) -> bool:
    return key[3].startswith("a000")  # the length before encryption, u16 little-endian


def without_contents(key: list[str]) -> list[str]:
    return [*key[:2], *key[4:]]


def populate(realm) -> None:
    realm.kadmin_local("addpol -minlength 6 -minclasses 2 -maxfailure 50 strict")
    realm.kadmin_local("addpol -history 3 remembers")
    for name, (password, options) in [*USERS.items(), (LEGACY[0], LEGACY[1:])]:
        realm.kadmin_local(f'addprinc {options} -pw "{password}" "{name}"')
    realm.kadmin_local('addprinc -expire "2001-01-01" -pw "too late" expired')
    realm.kadmin_local('addprinc -allow_tix -allow_svr -pw "no tickets" locked')
    realm.kadmin_local('addprinc +needchange -pw "to be changed" stale')
    realm.kadmin_local("addprinc -nokey keyless")
    realm.kadmin_local(f"addprinc -randkey krbtgt/OTHER.TEST@{NAME}")
    realm.kadmin_local(f"addprinc -randkey {REFUSED}")
    for service, keytab in ((SERVICE, "service"), (OLD_SERVICE, "keepold")):
        realm.kadmin_local(f"addprinc -randkey {service}")
        realm.kadmin_local(f"ktadd -k {realm.keytab(keytab)} {service}")
    realm.kadmin_local(f"cpw -randkey -keepold {OLD_SERVICE}")
    realm.kadmin_local('cpw -keepold -pw "the second password" alice')
    USERS["alice"] = ("the second password", "")
    realm.kadmin_local('cpw -pw "the second 1" elder')
    USERS["elder"] = ("the second 1", "")
    realm.kadmin_local(f"cpw -randkey -keepold krbtgt/{NAME}")


class Logins(threading.Thread):
    """All users, over and over, until it is told to end."""

    def __init__(self, realm):
        super().__init__(daemon=True)
        self.realm, self.over, self.good, self.bad = realm, threading.Event(), 0, []

    def run(self) -> None:
        while not self.over.is_set():
            for name, (password, _) in USERS.items():
                client = self.realm.client("during")
                done = client.kinit(name, password)
                if done.ok and name == "alice":
                    done = client.kvno(SERVICE)
                self.good += done.ok
                if not done.ok:
                    self.bad.append(f"{name}: {done.errors}")

    def end(self) -> None:
        self.over.set()
        self.join(60)


@pytest.fixture(scope="module")
def moved():
    """A realm on tkdc with its stock database as it was, tickets in alice's cache, and the
    database's dump."""
    with new_realm(stock=True) as realm:
        populate(realm)
        before = realm.client("before")
        assert before.kinit("alice", USERS["alice"][0]).ok
        realm.before = dump(realm, "before")
        realm.stop()
        realm.put_tkdc_before_database()
        realm.start()
        yield realm
    remove(realm)


def assert_all_log_in(realm) -> None:
    for name, (password, _) in USERS.items():
        done = realm.client("all").kinit(name, password)
        assert done.ok, f"{name}: {done.errors}"


def test_before_the_import_all_is_as_ever(moved):
    assert_all_log_in(moved)
    assert moved.client("before").kvno(OLD_SERVICE).ok


def test_legacy_keys_are_listed_and_refused(moved):
    for options in ([], ["--dry-run"], ["--drop-legacy"]):
        done = tkdc_import(moved, *options)
        assert done.code == 2, done.errors
        assert f"mixed@{NAME}: version 1: arcfour-hmac (23)" in done.output
        assert f"rc4only@{NAME}: version 1: arcfour-hmac (23); has no other keys" in done.output
        assert "Nothing was changed" in done.errors and "ktadd -e" in done.errors
    assert dump(moved, "refused") == moved.before


def test_dry_run_says_what_becomes_of_tickets(moved):
    done = tkdc_import(moved, "--dry-run", *ACCEPTS)
    assert done.code == 0, done.errors
    assert "tickets that users hold stay good" in done.output
    assert "version 1: aes256-cts" in done.output and "version 2: aes256-cts" in done.output
    assert "cpw -randkey -keepold krbtgt" in done.output
    before, servers, after = done.output.partition(" principals of one component may be servers")
    assert servers and "special" not in before, "only what needs attention is listed by name"
    assert f"special@{NAME}" in after, "all of them, so that none is overlooked"
    # USERS, expired and stale; the other two have no key to import or -allow_svr.
    assert f"{len(USERS) + 2} principals of one component may be servers" in done.output
    assert dump(moved, "dry") == moved.before


def test_a_realm_without_the_module_is_refused(moved):
    conf = moved.directory / "kdc.conf"
    text = conf.read_text()
    conf.write_text(text.replace("db_library = ktkdc", "db_library = db2"))
    done = tkdc_import(moved, *ACCEPTS)
    conf.write_text(text)
    assert done.code == 1
    assert "set database_module" in done.errors and "tkdc_wrapped = db2" in done.errors


def test_import_while_users_log_in(moved):
    logins = Logins(moved)
    logins.start()
    done = tkdc_import(moved, "--parallel", "2", "--leave-legacy")
    logins.end()
    assert done.code == 2, done.output + done.errors
    assert "2 keys of legacy enctypes stay" in done.output
    assert "1 principals whose keys the servers refuse" in done.output
    assert f"{REFUSED}: " in done.output
    assert not logins.bad, logins.bad
    assert logins.good > 3
    assert not list(moved.directory.glob("*.tkdc-import"))
    moved.kadmin_local(f"delprinc -force {REFUSED}")
    del moved.before[f"princ {REFUSED}"]


def test_legacy_keys_are_dropped_later(moved):
    done = tkdc_import(moved, *ACCEPTS)
    assert done.code == 2, done.output + done.errors  # rc4only has no other key
    assert "principals to write: 1" in done.output
    assert "1 keys of legacy enctypes stay" in done.output


def test_nothing_but_keys_has_changed(moved):
    after = dump(moved, "after")
    assert after.keys() == moved.before.keys()
    for name, fields in after.items():
        if not name.startswith("princ "):
            assert fields == moved.before[name]
            continue
        keys, rest = keys_and_rest(fields)
        old_keys, old_rest = keys_and_rest(moved.before[name])
        if name == f"princ mixed@{NAME}":
            old_keys = old_keys[:1]
            old_rest[4] = rest[4]
        assert [without_contents(k) for k in keys] == [without_contents(k) for k in old_keys]
        # n_key_data's neighbours: what logins and lockout counted meanwhile may differ.
        assert rest[:12] == old_rest[:12], name
        assert rest[15:] == old_rest[15:] or name == f"princ elder@{NAME}", name
        assert count(fields, "stock") == 0, name
        kept = name in (f"princ K/M@{NAME}", f"princ rc4only@{NAME}")
        assert all(is_handle(key) != kept for key in keys), name


def test_the_same_passwords_and_no_others(moved):
    assert_all_log_in(moved)
    for name in USERS:
        assert not moved.client("wrong").kinit(name, "wrong password").ok, name
    assert "expired" in moved.client("no").kinit("expired", "too late").errors
    assert "revoked" in moved.client("no").kinit("locked", "no tickets").errors
    assert "expired" in moved.client("no").kinit("stale", "to be changed").output


def test_tickets_and_keytabs_of_before(moved):
    """krbtgt's imported versions open what the stock KDC sealed; keytabs open new tickets."""
    before = moved.client("before")
    before.kvno_opened(moved.keytab("service"), SERVICE)
    assert moved.client("svc").kinit_keytab(SERVICE, moved.keytab("service")).ok


def test_a_new_krbtgt_and_the_old_tickets(moved):
    moved.kadmin_local(f"cpw -randkey -keepold krbtgt/{NAME}")
    moved.kadmin_local("addprinc -randkey host/later.test")
    assert moved.client("before").kvno("host/later.test").ok
    assert_all_log_in(moved)
    moved.kadmin_local(f"purgekeys krbtgt/{NAME}")
    moved.kadmin_local("addprinc -randkey host/last.test")
    assert not moved.client("before").kvno("host/last.test").ok
    assert_all_log_in(moved)


def test_administration_goes_on(moved):
    # Its key is in the clear still, and is remembered as one that is equal to none.
    moved.kadmin_local(f"modprinc -policy remembers {LEGACY[0]}")
    moved.kadmin_local(f'cpw -e aes256-cts:normal -pw "no arcfour now" {LEGACY[0]}')
    moved.kadmin_local('cpw -pw "the third 1" guarded')
    USERS["guarded"] = ("the third 1", "")
    done = tkdc_import(moved)
    assert done.code == 0, done.output + done.errors
    assert "to import: 0 keys" in done.output
    assert_all_log_in(moved)


def test_passwords_stay_remembered(moved):
    """What was remembered before the import, too: test_import_history.py."""
    for password in ("the second 1", "the first 1"):
        with pytest.raises(RealmError, match="Cannot reuse password"):
            moved.kadmin_local(f'cpw -pw "{password}" elder')
    USERS["elder"] = ("the third 1", "")
    moved.kadmin_local('cpw -pw "the third 1" elder')
    with pytest.raises(RealmError, match="Cannot reuse password"):
        moved.kadmin_local('cpw -pw "the first 1" elder')
    assert_all_log_in(moved)


def found(octets: bytes, entries: dict[str, list[str]]) -> tuple[int, int]:
    """How many keys' first octets, random by their confounder, are there, and of how many."""
    keys = [bytes.fromhex(key[3])[:26] for fields in entries.values() if fields[0] == "princ"
            and "K/M" not in fields[6] for key in keys_and_rest(fields)[0]]
    return sum(key in octets for key in keys), len(keys)


def test_a_fresh_file_holds_no_old_key(moved):
    """db2 leaves what it overwrites in its pages; dump and load make a file without."""
    database, path = moved.directory / "principal", moved.directory / "dump"
    left, _ = found(database.read_bytes(), moved.before)
    assert left > 0, "if db2 wipes its pages, operations.md need not ask for a new file"
    moved.admin_tool("kdb5_util", "dump", str(path))
    moved.admin_tool("kdb5_util", "load", str(path))
    octets = database.read_bytes()
    assert found(octets, moved.before)[0] == 0
    present, of = found(octets, dump(moved, "now"))
    assert present > of // 2, "the search finds what is there, unless a page ends in it"
    assert_all_log_in(moved)


def test_a_new_master_key(moved):
    """What operations.md asks for at the end of a move."""
    moved.admin_tool("kdb5_util", "add_mkey", "-s", stdin="another master\n" * 2)
    moved.admin_tool("kdb5_util", "use_mkey", "2")
    moved.admin_tool("kdb5_util", "update_princ_encryption", "-f")
    for name in ("kadmind", "krb5kdc"):
        moved.daemons[name].stop()
    moved.start_kdc()
    moved.start_kadmind()
    moved.admin_tool("kdb5_util", "purge_mkeys", "-f")
    shown = moved.admin_tool("kdb5_util", "list_mkeys").output
    assert "KVNO: 2" in shown and "KVNO: 1" not in shown
    assert_all_log_in(moved)
    assert "to import: 0 keys" in tkdc_import(moved).output


# -- killed at any moment -----------------------------------------------------------------


def kept_keys(realm) -> int:
    """At each server, once the three agree: one may be writing while another has."""
    for _ in range(100):
        status = json.loads(realm.tool("tkdc", "status", "--json", "--socket",
                                       str(realm.agent_socket("admin"))))
        counts = {server["keys"] for server in status["servers"]}
        if len(counts) == 1:
            return counts.pop()
        time.sleep(0.1)
    raise AssertionError(f"the servers hold different keys: {status}")


def handles(realm) -> int:
    """Of keys that principals have, and of those that their histories alone remember."""
    number = 0
    for fields in dump(realm, "handles").values():
        if fields[0] != "princ":
            continue
        keys = [key for key in keys_and_rest(fields)[0] if is_handle(key)]
        has = {(int(key[0]), int(key[1])) for key in keys}
        old = {(k.kvno, k.enctype) for p in history(fields) for k in p if k.form == "handle"}
        number += len(keys) + len(old - has)
    return number


REMEMBERING = range(3, 40, 4)  # users of a crowd


@pytest.fixture
def crowd():
    """A realm on tkdc with 40 users of a stock one, some with a former password."""
    with new_realm(stock=True) as realm:
        script = "addpol -history 3 remembers\n" + "".join(
            f'addprinc -policy remembers -pw "former {i}" user{i}\ncpw -pw "password {i}" user{i}\n'
            if i in REMEMBERING else f'addprinc -pw "password {i}" user{i}\n' for i in range(40))
        realm.admin_tool("kadmin.local", stdin=script)
        realm.stop()
        realm.put_tkdc_before_database()
        realm.start()
        yield realm
    remove(realm)


def start_import(realm, *options: str) -> subprocess.Popen:
    env = {key: value for key, value in realm.kdc_env().items() if key != "LD_PRELOAD"}
    return subprocess.Popen([realm.bin / "tkdc-import", *options], env=env, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def journal_bytes(realm) -> int:
    path = realm.directory / "principal.tkdc-import"
    return path.stat().st_size if path.exists() else 0


def database_written(realm) -> int:
    return (realm.directory / "principal").stat().st_mtime_ns


def kill_outside_of_a_page_write(realm, process: subprocess.Popen) -> None:
    """db2 has no journal: whoever is killed while it writes pages, kadmind too, leaves a damaged
    file. It writes them under the exclusive lock, which is shared here while the process dies."""
    with open(realm.directory / "principal.ok", "rb") as lock:
        while True:
            process.send_signal(signal.SIGSTOP)
            try:
                fcntl.lockf(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                process.send_signal(signal.SIGCONT)
                time.sleep(0.0005)
        process.kill()
        process.wait()


def kill_at_some_point(realm, chance: random.Random) -> bool:
    """One run of the import, killed around the moment when it writes keys down in its journal,
    or entries into the database; False when it came to its end."""
    mark = chance.choice((journal_bytes, database_written))
    before = max(mark(realm), 64)
    process = start_import(realm, "--parallel", "6")
    deadline = time.monotonic() + 4
    while process.poll() is None and mark(realm) <= before and time.monotonic() < deadline:
        time.sleep(0.0005)
    time.sleep(chance.choice((0, 0, 0.003, 0.01, 0.1, 0.4)) * chance.random())
    over = process.poll() is not None
    kill_outside_of_a_page_write(realm, process)
    _, errors = process.communicate()
    assert not over or process.returncode == 0, errors
    return not over


def test_killed_and_run_again(crowd):
    """No principal lost, none imported twice, no key at the servers that nobody has."""
    chance = random.Random(7)
    before = dump(crowd, "start")
    kills, most_orphans = 0, 0
    while kill_at_some_point(crowd, chance) and kills < 25:
        kills += 1
        most_orphans = max(most_orphans, kept_keys(crowd) - handles(crowd))
        user = chance.randrange(40)
        done = crowd.client("between").kinit(f"user{user}", f"password {user}")
        assert done.ok, done.errors
    assert kills >= 5 and most_orphans > 0, "nothing was interrupted where it matters"
    done = tkdc_import(crowd)
    assert done.code == 0, done.output + done.errors
    after = dump(crowd, "end")
    assert {name: keys_and_rest(f)[1][:12] for name, f in after.items() if f[0] == "princ"} == {
        name: keys_and_rest(f)[1][:12] for name, f in before.items() if f[0] == "princ"}
    assert kept_keys(crowd) == handles(crowd) == 2 * len(REMEMBERING) + sum(
        len(keys_and_rest(f)[0]) for n, f in after.items() if f[0] == "princ" and "K/M" not in n)
    for user in REMEMBERING:
        with pytest.raises(RealmError, match="Cannot reuse password"):
            crowd.kadmin_local(f'cpw -pw "former {user}" user{user}')
    for user in range(0, 40, 4):
        assert crowd.client("end").kinit(f"user{user}", f"password {user}").ok
    assert "to import: 0 keys" in tkdc_import(crowd).output


def stop_between_reading_and_writing(realm, process: subprocess.Popen) -> set[int]:
    """Once users' keys stand in the journal, which is before their entries are written: whose."""
    path = realm.directory / "principal.tkdc-import"
    deadline = time.monotonic() + 30
    users: list[str] = []
    while not users and time.monotonic() < deadline:
        time.sleep(0.0005)
        users = re.findall(rf" user(\d+)@{NAME}\n", path.read_text() if path.exists() else "")
    process.send_signal(signal.SIGSTOP)
    assert users, "nothing was imported"
    return {int(user) for user in users}


def test_passwords_changed_meanwhile_win(crowd):
    """kadmind writes between our reading and our writing: its key stays, ours goes."""
    process = start_import(crowd, "--parallel", "4")
    first = stop_between_reading_and_writing(crowd, process)
    for user in first:
        crowd.kadmin_local(f'cpw -pw "new {user}" user{user}')
    process.send_signal(signal.SIGCONT)
    changed = 0
    while process.poll() is None and changed < 8:
        user = 39 - changed
        crowd.kadmin_local(f'cpw -keepold -pw "new {user}" user{user}')
        changed += 1
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, output + errors
    assert changed > 0
    assert "its keys were changed meanwhile" in errors and "removed" in errors, errors
    for user in {*first, *range(28, 40)}:
        password = f"new {user}" if user in first or user >= 40 - changed else f"password {user}"
        done = crowd.client("end").kinit(f"user{user}", password)
        assert done.ok, f"user{user}: {done.errors}"
    assert kept_keys(crowd) == handles(crowd)


def test_two_at_once_are_refused(crowd):
    process = start_import(crowd, "--parallel", "1")
    deadline = time.monotonic() + 20
    while not list(crowd.directory.glob("*.tkdc-import")) and time.monotonic() < deadline:
        time.sleep(0.01)
    done = tkdc_import(crowd)
    process.terminate()
    _, errors = process.communicate(timeout=60)
    assert done.code == 1 and "another import is running" in done.errors
    assert process.returncode == 1 and re.search("stopped; run it again", errors), errors


def test_waits_for_servers_that_come_back(crowd):
    crowd.daemons["server1"].kill()
    process = start_import(crowd)
    time.sleep(3)
    assert process.poll() is None
    crowd.start_server(1)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, output + errors
    assert kept_keys(crowd) == handles(crowd)
