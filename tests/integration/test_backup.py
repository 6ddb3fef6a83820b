# SPDX-License-Identifier: Apache-2.0
"""Backups of the three servers, written while users log in, bring a realm back whose stores are
gone: all three, or one that is still current. One of a former refresh epoch does not serve, and
what mends it is named. What must not be restored, or cannot, changes nothing.
"""

import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest

from tests.integration.conftest import STOCK, new_realm, remove
from tests.integration.test_breach import status
from tests.integration.test_refresh import refresh_epochs
from tests.integration.test_refresh import tkdc as of_server
from tests.integration.test_shares import SETTLED_S, turn_on, wait_for_session
from tests.support.process import wait_until
from tests.support.realm import Realm
from tests.support.terminal import run_on_terminal

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]

GOOD, FAILED, BAD, REFUSED = 0, 1, 2, 3
PASSWORD = "a password that outlives three disks"
SERVICE = "host/backup.test"


@pytest.fixture(scope="module")
def realm():
    with new_realm("BACKUP.REALM") as made:
        made.kadmin_local(f'addprinc -pw "{PASSWORD}" +requires_preauth alice')
        made.kadmin_local(f"addprinc -randkey {SERVICE}")
        made.kadmin_local(f"ktadd -k {made.keytab('service')} {SERVICE}")
        yield made
    remove(made)


def tkdc(realm: Realm, *words: str | Path, **more) -> subprocess.CompletedProcess:
    return subprocess.run([str(realm.bin / "tkdc"), *map(str, words)], env=realm.env(), text=True,
                          capture_output=True, timeout=60, check=False, **more)


def offline(realm: Realm) -> Path:
    """The administrators' machine, which is no server."""
    folder = realm.directory / "offline"
    if not folder.exists():
        folder.mkdir()
        for party in range(3):
            key = ("--out", folder / f"{party}.key", "--public", folder / f"{party}.pub")
            made = tkdc(realm, "backup", "key", *key)
            assert made.returncode == GOOD, made.stderr
            assert (folder / f"{party}.key").stat().st_mode & 0o777 == 0o600
            again = tkdc(realm, "backup", "key", *key)
            assert again.returncode == FAILED, "it overwrites nothing"
            public = realm.server_directory(party) / "backup.pub"
            shutil.copy(folder / f"{party}.pub", public)
    return folder


def secret(realm: Realm, party: int) -> Path:
    return offline(realm) / f"{party}.key"


def back_up(realm: Realm, party: int, name: str) -> Path:
    """By its administrator, into a folder of its own; the server runs."""
    offline(realm)
    folder = realm.directory / name
    folder.mkdir(exist_ok=True)
    done = tkdc(realm, "backup", "make", "--config", realm.server_directory(party) / "tkdc.toml",
                "--to", folder)
    assert done.returncode == GOOD, done.stderr
    return Path(done.stdout.partition(":")[0])


def verify(realm: Realm, file: Path, party: int) -> dict[str, str]:
    done = tkdc(realm, "backup", "verify", file, "--key", secret(realm, party))
    assert done.returncode == GOOD, done.stderr
    return dict(re.findall(r"^(\w[\w ]*?)  +(\S.*)$", done.stdout, re.MULTILINE))


def restore(realm: Realm, party: int, file: Path, *words: str, **more):
    return tkdc(realm, "restore", file, "--key", secret(realm, party), "--into",
                realm.server_directory(party), *words, **more)


def logs_in(realm: Realm) -> None:
    client = realm.client("alice")
    wait_until(lambda: client.kinit("alice", PASSWORD).ok, SETTLED_S, "a login")
    client.kvno_opened(realm.keytab("service"), SERVICE)


def store_of(realm: Realm, party: int) -> Path:
    return realm.server_directory(party) / "store"


@pytest.fixture(scope="module")
def first(realm) -> list[Path]:
    """One of each server, while somebody logs in."""
    failed, logins, done = [], [], threading.Event()

    def users():
        client = realm.client("meanwhile")
        while not done.is_set():
            outcome = client.kinit("alice", PASSWORD)
            (logins if outcome.ok else failed).append(outcome)

    others = threading.Thread(target=users)
    others.start()
    try:
        files = [back_up(realm, party, "first") for party in range(3)]
        wait_until(lambda: len(logins) > 2, SETTLED_S, "logins meanwhile")
    finally:
        done.set()
        others.join()
    assert not failed, failed[0]
    return files


def test_backups_say_what_they_are(realm, first):
    heads = [verify(realm, file, party) for party, file in enumerate(first)]
    assert len({head["state"] for head in heads}) == 1, "they belong together"
    assert [head["server"] for head in heads] == ["0", "1", "2"]
    held = {(int(head["keys"]), int(head["dropped"])) for head in heads}
    assert len(held) == 1 and min(keys - dropped for keys, dropped in held) == 10
    assert "tkdc.toml" in heads[0]["files"] and "store.key" not in heads[0]["files"]
    listed = tkdc(realm, "backup", "list", first[0].parent)
    assert listed.returncode == GOOD and listed.stdout.count(heads[0]["state"]) == 3
    assert all(head["digest"][:16] in listed.stdout for head in heads)
    together = tkdc(realm, "backup", "prune", first[0].parent, "--yes")
    assert together.returncode == BAD and "several servers" in together.stderr
    assert all(file.exists() for file in first)
    for party, file in enumerate(first):
        octets = file.read_bytes()
        folder = realm.server_directory(party)
        for name in ("curve.key", "tls.key.pem", "store.key"):
            assert (folder / name).read_bytes().strip()[-20:] not in octets, name


def test_how_far_it_is_is_shown(realm, first):
    config, into = realm.server_directory(2) / "tkdc.toml", realm.directory / "shown"
    for words, says in (
            (("backup", "make", "--config", config, "--to", realm.directory / "shown-to"),
             [r"0 of \d+ values"]),
            (("backup", "verify", first[2], "--key", secret(realm, 2)), ["MiB of the backup"]),
            (("restore", first[2], "--key", secret(realm, 2), "--into", into),
             ["MiB checked", "MiB restored"])):
        done = run_on_terminal([str(realm.bin / "tkdc"), *map(str, words)], realm.env())
        assert done.code == GOOD and done.errors.endswith("\r\033[K"), done
        assert all(re.search(one, done.errors) for one in says), done.errors


def test_a_server_that_runs_keeps_its_store(realm, first):
    done = restore(realm, 0, first[0], "--replace")
    assert done.returncode == REFUSED and "in use" in done.stderr, done.stderr
    logs_in(realm)


def test_what_is_not_this_servers_is_refused(realm, first):
    wrong = tkdc(realm, "backup", "verify", first[0], "--key", secret(realm, 1))
    assert wrong.returncode == BAD and "for another key" in wrong.stderr
    other = tkdc(realm, "restore", first[1], "--key", secret(realm, 1), "--into",
                 realm.server_directory(0))
    assert other.returncode == REFUSED and "party 1" in other.stderr, other.stderr
    forged = restore(realm, 0, first[0], "--replace", "--digest", "0" * 64)
    assert forged.returncode == REFUSED and "another digest" in forged.stderr, forged.stderr
    elsewhere = realm.directory / "elsewhere"
    shutil.copytree(realm.server_directory(0), elsewhere, ignore=shutil.ignore_patterns("store"))
    text = (elsewhere / "tkdc.toml").read_text()
    digit = re.search('^id = "(.)', text, re.MULTILINE)[1]
    another = "1" if digit == "0" else "0"
    (elsewhere / "tkdc.toml").write_text(text.replace(f'id = "{digit}', f'id = "{another}', 1))
    other = tkdc(realm, "restore", first[0], "--key", secret(realm, 0), "--into", elsewhere)
    assert other.returncode == REFUSED and "of installation" in other.stderr, other.stderr
    assert not (elsewhere / "store").exists()


def test_one_that_is_current_serves(realm, first):
    """No key was made or removed since; so its disk may be lost."""
    realm.daemons["server1"].stop()
    shutil.rmtree(store_of(realm, 1))
    head = verify(realm, first[1], 1)
    done = restore(realm, 1, first[1], "--digest", head["digest"])
    assert done.returncode == GOOD, done.stderr
    assert f"made {head['made']}, digest {head['digest']}" in done.stdout
    realm.start_server(1)
    wait_for_session(realm)
    logs_in(realm)


def test_one_that_is_behind_is_named(realm, first):
    realm.kadmin_local(f'addprinc -pw "{PASSWORD}" bob')
    realm.daemons["server1"].stop()
    newer = restore(realm, 1, first[1])
    assert newer.returncode == REFUSED and "is newer" in newer.stderr, newer.stderr
    kept = store_of(realm, 1).with_name("kept")
    shutil.copytree(store_of(realm, 1), kept)
    done = restore(realm, 1, first[1], "--replace")
    assert done.returncode == GOOD, done.stderr
    before = Path(re.search(r"store of before is in (\S+):", done.stdout)[1])
    assert (before / "data.mdb").read_bytes() == (kept / "data.mdb").read_bytes()
    realm.start_server(1)
    wait_until(lambda: any("tkdc repair" in one.get("trouble", "") for one in status(realm)),
               SETTLED_S, "a session that is refused")
    # The way back, while that store is still there.
    realm.daemons["server1"].stop()
    shutil.rmtree(store_of(realm, 1))
    before.rename(store_of(realm, 1))
    realm.start_server(1)
    wait_for_session(realm)
    logs_in(realm)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, and another user beside it")
def test_root_reads_and_moves_nothing_for_a_services_account(realm, first):
    """Which writes the folder, and could lead root to what is another's."""
    root = Path(tempfile.mkdtemp(prefix="tkdc-"))
    root.chmod(0o711)
    (root / "secret").write_text("root's own")
    (root / "secret").chmod(0o600)
    folder = root / "server0"
    done = tkdc(realm, "restore", first[0], "--key", secret(realm, 0), "--into", folder)
    assert done.returncode == GOOD and (folder / "store/data.mdb").exists(), done.stderr
    for one in (folder, *folder.rglob("*")):
        shutil.chown(one, "nobody", "nogroup")
    shutil.chown(folder / "backup.pub", "root", "root")
    (folder / "backup.pub").chmod(0o600)
    make = ("backup", "make", "--config", folder / "tkdc.toml", "--to", folder / "backups")
    done = tkdc(realm, *make)
    assert done.returncode == GOOD, done.stderr
    assert (folder / "backups").owner() == "nobody"
    made = Path(done.stdout.partition(":")[0])
    assert verify(realm, made, 0)["digest"] in done.stdout, "the journal's line"
    made.unlink()
    (folder / "x.introduction").symlink_to(root / "secret")
    done = tkdc(realm, *make)
    assert done.returncode == GOOD, done.stderr
    assert "x.intro" not in verify(realm, Path(done.stdout.partition(":")[0]), 0)["files"]
    Path(done.stdout.partition(":")[0]).unlink()
    (folder / "y.introduction").write_text("everybody's")
    done = tkdc(realm, *make)
    assert done.returncode == GOOD, done.stderr
    assert "y.introduction" in verify(realm, Path(done.stdout.partition(":")[0]), 0)["files"]
    (folder / "tls.cert.pem").unlink()
    (folder / "tls.cert.pem").symlink_to(root / "secret")
    done = tkdc(realm, *make)
    assert done.returncode == FAILED and "Permission denied" in done.stderr, done.stderr
    (folder / "tls.cert.pem").unlink()
    (root / "roots").mkdir()
    config = folder / "tkdc.toml"
    text = config.read_text()
    # Where everybody may lay files: it would stay root, and take x.introduction.
    everybodys = root / "everybodys"
    everybodys.mkdir()
    everybodys.chmod(0o1777)
    for name in ("data.mdb", "keys"):
        shutil.copy(folder / "store" / name, everybodys)
        shutil.chown(everybodys / name, "nobody", "nogroup")
    config.write_text(text.replace('path = "store"', f'path = "{everybodys}"'))
    done = tkdc(realm, *make[:-1], everybodys)
    assert done.returncode == FAILED and "belongs to another user" in done.stderr, done.stderr
    # A link of the account's to what is root's, beside its own files.
    (folder / "link").symlink_to(everybodys)
    config.write_text(text.replace('path = "store"', 'path = "link"'))
    done = tkdc(realm, *make[:-1], everybodys)
    assert done.returncode == FAILED and "belongs to another user" in done.stderr, done.stderr
    assert not list(everybodys.glob("*.tkdc-backup"))
    config.write_text(text.replace('path = "store"', f'path = "{root}/roots"'))
    done = tkdc(realm, "restore", first[0], "--key", secret(realm, 0), "--into", folder)
    assert done.returncode == REFUSED and "belongs to another user" in done.stderr, done.stderr
    assert not list((root / "roots").iterdir())
    shutil.rmtree(root)


def full_disk(room: int):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    return limit


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(one): one.read_bytes() for one in folder.rglob("*")
            if one.is_file() and one.name != "lock.mdb"}


def test_damage_and_full_disks_change_nothing(realm, first):
    realm.daemons["server2"].stop()
    folder = realm.server_directory(2)
    before = everything_in(folder)
    octets = first[2].read_bytes()
    damaged = realm.directory / "damaged"
    for name, made in (("cut short", octets[:-1]), ("changed", octets[:-9] + b"x" + octets[-8:]),
                       ("head", octets[:100]), ("no backup", b"something else" * 100)):
        damaged.write_bytes(made)
        done = restore(realm, 2, damaged, "--replace")
        assert done.returncode == BAD and str(damaged) in done.stderr, (name, done.stderr)
    for room in (0, 5_000, 20_000):
        done = restore(realm, 2, first[2], "--replace", preexec_fn=full_disk(room))
        assert done.returncode == FAILED and "nothing was changed" in done.stderr, done.stderr
    assert everything_in(folder) == before
    full = tkdc(realm, "backup", "make", "--config", folder / "tkdc.toml", "--to",
                realm.directory / "full", preexec_fn=full_disk(2_000))
    assert full.returncode == FAILED and "File too large" in full.stderr
    assert not list((realm.directory / "full").iterdir())
    realm.start_server(2)
    wait_for_session(realm)


def test_all_three_come_back(realm):
    """Their hosts are gone: stores, keys and configuration."""
    files = [back_up(realm, party, "second") for party in range(3)]
    states = {verify(realm, file, party)["state"] for party, file in enumerate(files)}
    assert len(states) == 1
    for party in range(3):
        realm.daemons[f"server{party}"].stop()
        shutil.rmtree(realm.server_directory(party))
    for party, file in enumerate(files):
        for state in ((), ("--state", "0" * 16)):
            refused = restore(realm, party, file, "--all-three", *state)
            assert refused.returncode == REFUSED, refused.stdout
            assert state or "of one state" in refused.stderr, refused.stderr
        done = restore(realm, party, file, "--all-three", "--state", *states)
        assert done.returncode == GOOD, done.stderr
        assert "era 1" in done.stdout and "tkdc rotate krbtgt --now" in done.stdout
        assert (realm.server_directory(party) / "curve.key").stat().st_mode & 0o777 == 0o600
        realm.start_server(party)
    wait_for_session(realm)
    # krbtgt's version of before only opens: its nonces could come twice.
    assert not realm.client("early").kinit("alice", PASSWORD).ok
    realm.kadmin_local("cpw -randkey -keepold krbtgt/BACKUP.REALM")
    logs_in(realm)
    client = realm.client("bob")
    assert client.kinit("bob", PASSWORD).ok, "made after the first backup"
    realm.kadmin_local(f'addprinc -pw "{PASSWORD}" carol')
    assert realm.client("carol").kinit("carol", PASSWORD).ok


def test_three_of_different_states_come_to_serve(realm):
    """What not all three have goes, by name; nothing else does."""
    files = [back_up(realm, 0, "third-of-0")]
    realm.kadmin_local(f'addprinc -pw "{PASSWORD}" dora')
    files.append(back_up(realm, 1, "third-of-1"))
    realm.kadmin_local(f'addprinc -pw "{PASSWORD}" emil')
    files.append(back_up(realm, 2, "third-of-2"))
    lists = [realm.directory / f"list-{party}" for party in range(3)]
    for party, file in enumerate(files):
        realm.daemons[f"server{party}"].stop()
        done = restore(realm, party, file, "--all-three", "--state", "none", "--replace")
        assert done.returncode == GOOD and "tkdc store agree" in done.stdout, done.stderr
    configs = [realm.server_directory(party) / "tkdc.toml" for party in range(3)]
    for party in range(3):
        made = tkdc(realm, "store", "list", "--config", configs[party], "--out", lists[party])
        assert made.returncode == GOOD, made.stderr
    asked = tkdc(realm, "store", "agree", "--config", configs[0], *lists)
    assert asked.returncode == FAILED and "nothing was changed" in asked.stderr
    for party in range(3):
        done = tkdc(realm, "store", "agree", "--config", configs[party], "--yes", *lists)
        assert done.returncode == GOOD, done.stderr
        assert re.search(r"dora@BACKUP.REALM, version 1, enctype 18: at server 1, 2", done.stdout)
        assert "emil@BACKUP.REALM, version 1, enctype 18: at server 2" in done.stdout
        assert "alice@" not in done.stdout
        again = tkdc(realm, "store", "agree", "--config", configs[party], "--yes", *lists)
        assert again.returncode == FAILED and "not as its list says" in again.stderr
    for party in range(3):
        realm.start_server(party)
    wait_for_session(realm)
    realm.kadmin_local("cpw -randkey -keepold krbtgt/BACKUP.REALM")
    logs_in(realm)
    assert not realm.client("dora").kinit("dora", PASSWORD).ok
    realm.kadmin_local(f'cpw -pw "{PASSWORD}" dora')
    assert realm.client("dora").kinit("dora", PASSWORD).ok


def test_one_of_before_a_refresh_does_not_serve(realm):
    old = back_up(realm, 0, "third")
    for party in range(3):
        turn_on(realm, party)
        realm.daemons[f"server{party}"].stop()
        realm.start_server(party)
    wait_for_session(realm)
    assert of_server(realm, 0, "shares", "deal").returncode == GOOD
    refreshed = of_server(realm, 0, "refresh")
    assert refreshed.returncode == GOOD, refreshed.stderr
    wait_until(lambda: refresh_epochs(realm) == [1] * 3, SETTLED_S, "new shares")
    wait_for_session(realm)
    new = back_up(realm, 0, "third")
    assert verify(realm, new, 0)["refresh epoch"] == "1"
    listed = tkdc(realm, "backup", "list", new.parent)
    assert listed.returncode == BAD and "they are every key" in listed.stdout
    stale = [line for line in listed.stdout.splitlines() if "  stale  " in line]
    assert len(stale) == 1 and str(old) in stale[0]

    realm.daemons["server0"].stop()
    refused = restore(realm, 0, old)
    assert refused.returncode == REFUSED and "is newer (refresh epoch 1" in refused.stderr
    assert restore(realm, 0, old, "--replace").returncode == GOOD
    realm.start_server(0)
    wait_until(lambda: any("tkdc repair" in one.get("trouble", "") for one in status(realm)),
               SETTLED_S, "a session that is refused")
    # Control: the present one.
    realm.daemons["server0"].stop()
    done = restore(realm, 0, new)
    assert done.returncode == GOOD, done.stderr
    realm.start_server(0)
    wait_for_session(realm)
    logs_in(realm)
    assert of_server(realm, 1, "shares", "audit").returncode == GOOD

    asked = tkdc(realm, "backup", "prune", new.parent, "--keep", "1")
    assert asked.returncode == BAD and str(old) in asked.stdout and old.exists()
    done = tkdc(realm, "backup", "prune", new.parent, "--keep", "1", "--yes")
    assert done.returncode == GOOD and not old.exists() and new.exists()
    damaged = new.with_name("damaged.tkdc-backup")
    damaged.write_bytes(new.read_bytes()[:-1])
    left = tkdc(realm, "backup", "prune", new.parent, "--yes")
    assert left.returncode == BAD and str(damaged) in left.stdout and damaged.exists()


