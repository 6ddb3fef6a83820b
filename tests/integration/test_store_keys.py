# SPDX-License-Identifier: Apache-2.0
"""A server's store gets other keys while its realm waits: logins go on afterwards, the old key does
not open the store, nor the new one an old backup, and a key for recovery opens a copy. With key
files; credentials are tests/packages/test_units.py's."""

import base64
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.integration.conftest import STOCK, new_realm, remove
from tests.support.process import wait_until
from tests.support.realm import Realm
from tests.support.terminal import run_on_terminal

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]


@pytest.fixture(scope="module")
def realm():
    with new_realm("KEYS.REALM") as made:
        made.kadmin_local("addprinc -pw secret +requires_preauth alice")
        yield made
    remove(made)


def tkdc(realm: Realm, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(realm.bin / "tkdc"), *words], env=realm.env(), text=True,
                          capture_output=True, timeout=60, check=False)


def config(realm: Realm) -> str:
    return str(realm.server_directory(0) / "tkdc.toml")


def logs_in(realm: Realm) -> None:
    wait_until(lambda: realm.client("alice").kinit("alice", "secret").ok, 30.0, "a login")


def test_keys_are_changed_with_the_server_stopped(realm):
    folder = realm.server_directory(0)
    running = tkdc(realm, "store", "rekey", "--config", config(realm))
    assert running.returncode == 1 and "in use by another process" in running.stderr
    logs_in(realm)
    realm.daemons["server0"].stop()
    before = (folder / "store.key").read_bytes()
    shutil.copytree(folder / "store", realm.directory / "backup")
    (realm.directory / "backup.key").write_bytes(before)
    done = run_on_terminal([str(realm.bin / "tkdc"), "store", "rekey", "--config", config(realm)],
                           realm.env())
    assert done.ok, done.errors
    values = re.search(r"^(\d+) values are under new keys", done.output, re.M)[1]
    assert f"0 of {values} values rewritten" in done.errors, done.errors
    assert "Backups of `tkdc backup` are good as they are" in done.output, done.output
    after = (folder / "store.key").read_bytes()
    assert len(after) == 32 and after != before
    assert (folder / "store.key").stat().st_mode & 0o777 == 0o600
    assert not list(folder.glob("*.new")) and not list((folder / "store").glob("*.new"))
    realm.start_server(0)
    logs_in(realm)


def test_old_keys_do_not_open_it_but_backups_of_before(realm):
    """So those are destroyed, as tkdc says."""
    realm.daemons["server0"].stop()
    folder = realm.server_directory(0)
    now = (folder / "store.key").read_bytes()
    (folder / "store.key").write_bytes((realm.directory / "backup.key").read_bytes())
    wrong = tkdc(realm, "epochs", "--config", config(realm))
    assert wrong.returncode == 1 and "does not open" in wrong.stderr, wrong.stderr
    (folder / "store.key").write_bytes(now)
    shutil.move(folder / "store", realm.directory / "present")
    shutil.copytree(realm.directory / "backup", folder / "store")
    old = tkdc(realm, "epochs", "--config", config(realm))
    assert old.returncode == 1 and "does not open" in old.stderr, old.stderr
    (folder / "store.key").write_bytes((realm.directory / "backup.key").read_bytes())
    assert tkdc(realm, "epochs", "--config", config(realm)).returncode == 0
    shutil.rmtree(folder / "store")
    shutil.move(realm.directory / "present", folder / "store")
    (folder / "store.key").write_bytes(bytes(32))
    wrong = tkdc(realm, "epochs", "--config", config(realm))
    assert wrong.returncode == 1 and "does not open" in wrong.stderr, wrong.stderr
    (folder / "store.key").write_bytes(now)
    assert tkdc(realm, "epochs", "--config", config(realm)).returncode == 0


def test_a_recovery_key_opens_it_and_the_next_change_ends_that(realm):
    folder, safe = realm.server_directory(0), realm.directory / "safe"
    done = tkdc(realm, "store", "recovery", "--config", config(realm), "--out", str(safe))
    assert done.returncode == 0, done.stderr
    assert safe.stat().st_mode & 0o777 == 0o600 and len(safe.read_bytes()) == 32
    again = tkdc(realm, "store", "recovery", "--config", config(realm), "--out", str(safe))
    assert again.returncode == 1, "it overwrites nothing"
    elsewhere = folder / "elsewhere.toml"
    elsewhere.write_text((folder / "tkdc.toml").read_text().replace('"store.key"', f'"{safe}"'))
    assert tkdc(realm, "epochs", "--config", str(elsewhere)).returncode == 0
    done = tkdc(realm, "store", "rekey", "--config", config(realm))
    assert done.returncode == 0, done.stderr
    assert "A recovery key of before does not open this store" in done.stdout
    assert tkdc(realm, "epochs", "--config", str(elsewhere)).returncode == 1
    realm.start_server(0)
    logs_in(realm)


# What systemd makes and opens, without a host key: the name, and the secret in base64.
CREDS = r"""#!/bin/bash
set -eu
name=$(printf '%s\n' "$@" | sed -n 's/^--name=//p')
case "$1 $FAULT" in
  "encrypt none"|"encrypt shut") echo "$name $(base64 -w0)" ;;
  "encrypt other") cat >/dev/null; echo "$name $(head -c 32 /dev/zero | base64 -w0)" ;;
  decrypt*)
    read -r for secret < <(if [[ ${*: -2:1} == - ]]; then cat; else cat "${*: -2:1}"; fi)
    [[ $for == "$name" && ! ( $FAULT == shut && ${*: -2:1} == - ) ]] || exit 1
    base64 -d <<<"$secret" ;;
esac
"""
IN_ITS_PLACE = 'mount --bind "$1" /usr/bin/systemd-creds && shift && exec "$@"'


@pytest.fixture
def with_credential(realm, tmp_path):
    """Server 0's folder as it would be with a credential, and `tkdc` with that systemd."""
    if not Path("/usr/bin/systemd-creds").exists():
        pytest.skip("needs /usr/bin/systemd-creds, in whose place another stands")
    realm.daemons["server0"].stop()
    folder, script = tmp_path / "server0", tmp_path / "creds"
    shutil.copytree(realm.server_directory(0), folder,
                    ignore=shutil.ignore_patterns("*.sock"))
    realm.start_server(0)
    text = (folder / "tkdc.toml").read_text()
    (folder / "tkdc.toml").write_text(text.replace('"store.key"', '"%d/store.key"'))
    key = (folder / "store.key").read_bytes()
    (folder / "store.key").unlink()
    (folder / "store.key.cred").write_text(f"store.key {base64.b64encode(key).decode()}\n")
    script.write_text(CREDS)
    script.chmod(0o755)

    def run(*words: str, fault: str = "none") -> subprocess.CompletedProcess:
        return subprocess.run(
            ["unshare", "--mount", "--map-root-user", "bash", "-c", IN_ITS_PLACE, "bash",
             str(script), str(realm.bin / "tkdc"), *words, "--config", str(folder / "tkdc.toml")],
            env={**realm.env(), "FAULT": fault}, text=True, capture_output=True, timeout=60,
            check=False)

    return folder, run


@pytest.mark.parametrize("fault", ["other", "shut"])
def test_a_credential_that_does_not_open_replaces_no_key(with_credential, fault):
    """systemd said that it made one: the store is not to hang on that."""
    folder, run = with_credential
    before = {name: (folder / name).read_bytes() for name in ("store.key.cred", "store/keys")}
    assert run("epochs").returncode == 0
    done = run("store", "rekey", fault=fault)
    assert done.returncode == 1
    assert "does not open the credential that it made" in done.stderr, done.stderr
    for name, octets in before.items():
        assert (folder / name).read_bytes() == octets, name
    assert run("epochs").returncode == 0
    done = run("store", "rekey")
    assert done.returncode == 0, done.stderr
    assert (folder / "store.key.cred").read_bytes() != before["store.key.cred"]
    assert run("epochs").returncode == 0


def test_a_change_that_was_killed_is_taken_up(realm):
    """At whatever moment: the server starts, and the next run ends what was begun."""
    realm.daemons["server0"].stop()
    for wait_s in (0.002, 0.01, 0.03):
        begun = subprocess.Popen([str(realm.bin / "tkdc"), "store", "rekey", "--config",
                                  config(realm)], env=realm.env(), stdout=subprocess.DEVNULL)
        time.sleep(wait_s)
        os.kill(begun.pid, signal.SIGKILL)
        begun.wait()
        assert tkdc(realm, "epochs", "--config", config(realm)).returncode == 0
    realm.start_server(0)
    logs_in(realm)
    realm.daemons["server0"].stop()
    assert tkdc(realm, "store", "rekey", "--config", config(realm)).returncode == 0
    realm.start_server(0)
    logs_in(realm)
