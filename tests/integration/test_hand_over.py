# SPDX-License-Identifier: Apache-2.0
"""A spare KDC's keytab comes from the primary, and what its host's keytab had before stays, also
when the realm is taken off: the collection's own words, run on other paths."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.realm import ROOT

TASKS = ROOT / "ansible" / "roles" / "kdc" / "tasks"


def words_of(file: str, name: str) -> str:
    tasks = yaml.safe_load((TASKS / file).read_text())
    return next(one for one in tasks if one["name"] == name)["ansible.builtin.shell"]["cmd"]


def keytab(path: Path, *entries: tuple[str, int, str]) -> None:
    words = "".join(f"addent -password -p {name} -k {kvno} -e aes256-cts\n{password}\n"
                    for name, kvno, password in entries)
    subprocess.run(["ktutil"], input=words + f"wkt {path}\n", text=True, check=True,
                   capture_output=True, timeout=30)


def entries(path: Path) -> list[tuple[str, str, str]]:
    shown = subprocess.run(["klist", "-k", "-K", str(path)], text=True, check=True,
                           capture_output=True, timeout=30).stdout
    return re.findall(r"^ *(\d+) (\S+) \(0x(\w+)\)", shown, re.M)


@pytest.fixture
def host(tmp_path):
    """A host to which the message has come; the words that put it in place."""
    run, etc = tmp_path / "run", tmp_path / "etc"
    for folder in (run, etc / "krb5kdc"):
        folder.mkdir(parents=True)
    keytab(run / "keytab", ("host/spare@R", 2, "new"), ("kiprop/spare@R", 2, "new"))
    (run / "stash").write_text("stash")
    words = words_of("hand_over.yml", "Put them in their places")
    unpack = next(line for line in words.splitlines() if line.startswith("openssl cms"))
    words = words.replace(unpack, ":").replace("/etc/", f"{etc}/")
    return etc, words.replace("/run/tkdc-hand-over", str(run))


def run_words(words: str, first_in_path: Path | None = None) -> subprocess.CompletedProcess:
    path = os.environ["PATH"] if first_in_path is None else f"{first_in_path}:{os.environ['PATH']}"
    return subprocess.run(["bash", "-c", words], text=True, capture_output=True, timeout=60,
                          env={**os.environ, "PATH": path}, check=False)


def test_what_the_keytab_had_stays_in_it(host):
    etc, words = host
    keytab(etc / "krb5.keytab", ("nfs/spare@R", 7, "of before"), ("host/spare@R", 2, "stale"),
           ("HTTP/spare@OTHER", 1, "of before"))
    (etc / "krb5.keytab").chmod(0o640)
    before = entries(etc / "krb5.keytab")
    done = run_words(words)
    assert done.returncode == 0, done.stderr
    now = entries(etc / "krb5.keytab")
    assert len(now) == 5 and set(before) < set(now)
    first = next(key for kvno, name, key in now if (kvno, name) == ("2", "host/spare@R"))
    assert ("2", "host/spare@R", first) not in before, "libkrb5 takes the first: the new one"
    assert (etc / "krb5.keytab").stat().st_mode & 0o777 == 0o640
    assert (etc / "krb5kdc" / "stash").read_text() == "stash"
    assert not list(etc.glob("*.tkdc")) and not (etc.parent / "run").exists()


def test_a_host_without_one_gets_one(host):
    etc, words = host
    done = run_words(words)
    assert done.returncode == 0, done.stderr
    assert [(kvno, name) for kvno, name, _ in entries(etc / "krb5.keytab")] == [
        ("2", "host/spare@R"), ("2", "kiprop/spare@R")]
    assert (etc / "krb5.keytab").stat().st_mode & 0o777 == 0o600


def test_a_keytab_that_cannot_be_read_is_left_alone(host):
    etc, words = host
    (etc / "krb5.keytab").write_text("no keytab")
    done = run_words(words)
    assert done.returncode != 0
    assert (etc / "krb5.keytab").read_text() == "no keytab"
    assert not (etc.parent / "run").exists(), "the primary's keys do not stay behind"


@pytest.mark.parametrize("program", ["cp", "sync", "mv"])
def test_a_step_that_fails_ends_it(host, tmp_path, program):
    etc, words = host
    keytab(etc / "krb5.keytab", ("host/spare@R", 1, "of before"))
    before = entries(etc / "krb5.keytab")
    broken = tmp_path / "broken"
    broken.mkdir()
    # Only on what stands beside the keytab.
    (broken / program).write_text("#!/bin/bash\n"
                                  '[[ "$*" != *krb5.keytab.tkdc* ]] || exit 1\n'
                                  f'exec {shutil.which(program)} "$@"\n')
    (broken / program).chmod(0o755)
    assert run_words(words, broken).returncode != 0
    assert entries(etc / "krb5.keytab") == before
    assert not (etc / "krb5kdc" / "stash").exists(), "a play that is run again goes on here"
    assert not list(etc.glob("*.tkdc")) and not (etc.parent / "run").exists()


@pytest.fixture
def leaving(tmp_path):
    """A host that loses its realm; the words that look after its keytab."""
    words = words_of("uninstall.yml", "Take the realm's entries of KDC hosts out of the keytab")
    words = words.replace("{{ tkdc_fqdn }}", "spare").replace("{{ tkdc_realm }}", "R")
    assert "{{" not in words
    return tmp_path, words.replace("/etc/", f"{tmp_path}/")


def test_what_is_of_other_realms_and_services_outlives_the_realm(leaving):
    etc, words = leaving
    keytab(etc / "krb5.keytab", ("host/spare@R", 2, "new"), ("host/spare@OTHER", 4, "other"),
           ("kiprop/spare@R", 2, "new"), ("nfs/spare@R", 7, "other"), ("host/spare@R", 1, "stale"))
    (etc / "krb5.keytab").chmod(0o640)
    others = [one for one in entries(etc / "krb5.keytab")
              if one[1] in ("host/spare@OTHER", "nfs/spare@R")]
    for _ in range(2):
        done = run_words(words)
        assert done.returncode == 0, done.stderr
        assert entries(etc / "krb5.keytab") == others
        assert (etc / "krb5.keytab").stat().st_mode & 0o777 == 0o640
        assert [one.name for one in etc.iterdir()] == ["krb5.keytab"]
    assert not done.stdout, "a second run has nothing to change"


def test_a_keytab_of_nothing_else_goes_with_the_realm(leaving):
    etc, words = leaving
    keytab(etc / "krb5.keytab", ("host/spare@R", 2, "new"), ("kiprop/spare@R", 2, "new"))
    done = run_words(words)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "removed\n" and not list(etc.iterdir())
    assert run_words(words).returncode == 0, "a host without a keytab"


def test_a_keytab_that_cannot_be_read_outlives_the_realm(leaving):
    etc, words = leaving
    (etc / "krb5.keytab").write_text("no keytab")
    done = run_words(words)
    assert done.returncode == 0 and "cannot be read" in done.stderr
    assert (etc / "krb5.keytab").read_text() == "no keytab"
