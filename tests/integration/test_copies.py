# SPDX-License-Identifier: Apache-2.0
"""Copies of a server's backups come to another host, over a real sshd; one that cannot be made is
said, also by status and the doctor, and what is there is no half of a backup."""

import os
import shutil
import time
from pathlib import Path

import pytest

from tests.integration.conftest import STOCK, new_realm, remove
from tests.integration.test_backup import FAILED, GOOD, offline, secret, tkdc
from tests.integration.test_breach import status
from tests.support.kerberos import free_base_port
from tests.support.sftp_host import SSHD, SftpHost

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes"),
              pytest.mark.skipif(not SSHD.exists(), reason="no sshd: ./bootstrap --test")]
DAYS = 86_400


@pytest.fixture(scope="module")
def realm():
    with new_realm("COPIES.REALM") as made:
        offline(made)
        yield made
    remove(made)


@pytest.fixture(scope="module")
def vault(realm):
    host = SftpHost(free_base_port())
    (host.disk / "server0").mkdir()
    os.chown(host.disk / "server0", host.user.pw_uid, host.user.pw_gid)
    folder = realm.server_directory(0)
    (folder / "backup.copy").write_text(f"vault:{host.disk}/server0\n")
    (folder / "backup.ssh").write_text(host.ssh_config())
    host.start()
    yield host
    host.remove()


def of_server(realm, *words: str):
    return tkdc(realm, *words, "--config", realm.server_directory(0) / "tkdc.toml")


def make(realm) -> Path:
    time.sleep(1.1)  # a name has the second
    made = of_server(realm, "backup", "make")
    assert made.returncode == GOOD, made.stderr
    return Path(made.stdout.partition(":")[0])


def there(vault) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in (vault.disk / "server0").iterdir()}


def warning(realm) -> str:
    return next(one for one in status(realm) if one.get("party") == 0).get("backup_warning", "")


def set_clock_back(realm, days: int) -> None:
    """Of what says since when copies are to be made, and when they were."""
    then = time.time() - days * DAYS
    os.utime(realm.server_directory(0) / "backup.copy", (then, then))
    copied = realm.server_directory(0) / "backups" / "copied"
    if copied.exists():
        os.utime(copied, (then, then))


def test_what_is_new_is_copied(realm, vault):
    none = of_server(realm, "backup", "copy")
    assert none.returncode == FAILED, none.stdout
    made = [make(realm), make(realm)]
    done = of_server(realm, "backup", "copy")
    assert done.returncode == GOOD, done.stderr
    assert there(vault) == {one.name: one.read_bytes() for one in made}
    for name in there(vault):
        whole = tkdc(realm, "backup", "verify", vault.disk / "server0" / name, "--key",
                     secret(realm, 0))
        assert whole.returncode == GOOD, whole.stderr
    made.append(make(realm))
    again = of_server(realm, "backup", "copy")
    assert again.returncode == GOOD and "2 of before and 1 new" in again.stdout, again
    assert "copied to" in again.stdout and again.stdout.count("copied to") == 1
    assert len(there(vault)) == 3
    quiet = of_server(realm, "backup", "copy")
    assert quiet.returncode == GOOD and "3 of before and 0 new" in quiet.stdout


def test_one_that_was_cut_there_is_sent_again(realm, vault):
    name, octets = next(iter(there(vault).items()))
    (vault.disk / "server0" / name).write_bytes(octets[:-1])
    done = of_server(realm, "backup", "copy")
    assert done.returncode == GOOD and "1 new" in done.stdout, done.stderr
    assert there(vault)[name] == octets


def test_what_is_only_there_is_said(realm, vault):
    gone = sorted((realm.server_directory(0) / "backups").glob("*.tkdc-backup"))[0]
    gone.unlink()
    done = of_server(realm, "backup", "copy")
    assert done.returncode == GOOD and "1 lie there that are not here any more" in done.stdout
    assert gone.name in there(vault), "nothing is removed there"


def fails(realm, words: str) -> None:
    done = of_server(realm, "backup", "copy")
    assert done.returncode == FAILED and words in done.stderr, done.stdout + done.stderr
    assert "sftp -F" in done.stderr, "what to try"
    assert not (realm.server_directory(0) / "backups" / "copying").exists()


def test_a_copy_that_cannot_be_made_is_said(realm, vault):
    made = make(realm)
    vault.stop()
    fails(realm, "Connection refused")
    set_clock_back(realm, 2)
    assert warning(realm) == ""
    set_clock_back(realm, 4)
    assert "no backup of this server has come to another host since" in warning(realm)
    doctor = of_server(realm, "doctor", "--json")
    assert "tkdc backup copy --config" in doctor.stdout, doctor.stdout
    (realm.server_directory(0) / "backups" / "copied").unlink()
    assert "no backup of this server has come to another host yet" in warning(realm)
    vault.start()
    assert of_server(realm, "backup", "copy").returncode == GOOD
    assert made.name in there(vault) and warning(realm) == ""
    assert "all were at another host at" in of_server(realm, "doctor").stdout


def test_a_host_that_takes_nothing(realm, vault):
    folder = vault.disk / "server0"
    for one in folder.iterdir():
        one.unlink()
    folder.chmod(0o500)
    fails(realm, "Permission denied")
    folder.chmod(0o700)
    away = vault.disk / "away"
    folder.rename(away)
    fails(realm, "server0")
    away.rename(folder)
    stranger = vault.known.read_text()
    vault.known.write_text("")
    fails(realm, "Host key verification failed")
    vault.known.write_text(stranger)
    authorized = vault.directory / "authorized"
    shutil.move(authorized, vault.directory / "kept")
    fails(realm, "Permission denied (publickey)")
    shutil.move(vault.directory / "kept", authorized)
    assert of_server(realm, "backup", "copy").returncode == GOOD


@pytest.mark.parametrize("text", ["", "vault", ":folder", "vault:", "-oProxyCommand=x:y",
                                  "vault:a\nvault:b\n", 'vault:a"b\n', "va ult:x"])
def test_a_place_that_is_none(realm, vault, text):
    place = realm.server_directory(0) / "backup.copy"
    good = place.read_text()
    place.write_text(text)
    done = of_server(realm, "backup", "copy")
    place.write_text(good)
    assert done.returncode == FAILED and "backup.copy" in done.stderr, done.stderr


def test_without_a_place_there_is_none(realm):
    done = tkdc(realm, "backup", "copy", "--config", realm.server_directory(1) / "tkdc.toml")
    assert done.returncode == FAILED and "HOST:FOLDER, of where copies go" in done.stderr
