# SPDX-License-Identifier: Apache-2.0
"""kadmin makes a principal while a changed server lies of what its store did
(docs/protocols/10-admission.md, mpc-engine/service/lifecycle/management.cc)."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.attack.line import Play
from tests.attack.realm import AttackedRealm
from tests.support.kerberos import find_program

MANY = 100  # more than there is time for
WORD = "the password of somebody new"


@dataclass(frozen=True)
class Making:
    """A stock kadmin.local that is under way."""

    user: str
    process: subprocess.Popen
    said: Path

    def succeeded(self) -> bool:
        return self.process.poll() is not None and "created." in self.said.read_text()

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)


@contextmanager
def making(realm: AttackedRealm) -> Iterator[list[Making]]:
    """What still runs in the end is stopped."""
    made = realm.next_name()
    said = realm.directory / "kadmin.said"
    with said.open("w") as out:
        one = Making(made, subprocess.Popen(
            [find_program("kadmin.local"), "-q", f'addprinc -pw "{WORD}" {made}'],
            env=realm.kdc_env(), stdin=subprocess.DEVNULL, stdout=out,
            stderr=subprocess.STDOUT), said)
    try:
        yield [one]
    finally:
        one.end()


@contextmanager
def busy(realm: AttackedRealm) -> Iterator[None]:
    """kadmin.local makes one principal after the other."""
    names = [realm.next_name() for _ in range(MANY)]
    queries = realm.directory / "kadmin.queries"
    queries.write_text("".join(f'addprinc -pw "{WORD}" {name}\n' for name in names))
    with queries.open() as wanted:
        process = subprocess.Popen([find_program("kadmin.local")], env=realm.kdc_env(),
                                   stdin=wanted, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait(10)


def keys_held(realm: AttackedRealm) -> list[int]:
    return [server["keys"] for server in realm.status()]


def judge(realm: AttackedRealm, before: list[int], done: Play) -> None:
    """All three hold the same keys; what failed can be done anew, and is what it should be."""
    after = keys_held(realm)
    done.count("keys stored meanwhile", sum(after) - sum(before))
    done.expect(len(set(after)) == 1, f"the servers hold {after} keys")
    with making(realm) as (one,):
        one.process.wait(60)
        done.expect(one.succeeded(), f"no principal can be made: {one.said.read_text()}")
    done.expect(realm.client("made").kinit(one.user, WORD).ok, f"{one.user} cannot log in")
