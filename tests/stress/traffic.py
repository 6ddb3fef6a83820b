# SPDX-License-Identifier: Apache-2.0
"""What users and administrators do at once while servers go away and come back.

Each worker is a thread. While a server is away anything may fail, but in one way only: without an
answer. A right password is never called wrong, a wrong one never taken, a ticket is one that its
service's keytab opens and that names its user.
"""

import random
import subprocess
import threading
from collections import Counter
from collections.abc import Callable

from tests.stress.realm import SanitizedRealm
from tests.support.kerberos import Client, Outcome
from tests.support.process import RealmError

SERVICE = "host/stress.test"
LIES = ("Password incorrect", "Preauthentication failed", "revoked", "expired",
        "integrity check failed", "Wrong principal", "keytab entry not")


class PatientClient(Client):
    """To wait too long for an answer is to get none."""

    def run(self, *argv: str, **more) -> Outcome:
        try:
            return super().run(*argv, **more)
        except subprocess.TimeoutExpired:
            return Outcome(1, "", "no answer in time")


def client_of(realm: SanitizedRealm, name: str) -> PatientClient:
    return PatientClient(realm.env(), realm.directory / f"ccache.{name}")


class Ledger:
    """What happened, by name, and what must not have."""

    def __init__(self) -> None:
        self.passwords: dict[str, list[str]] = {}  # what each user's may be in the end
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.over = threading.Event()
        self._lock = threading.Lock()

    def count(self, what: str) -> None:
        with self._lock:
            self.counts[what] += 1

    def accuse(self, what: str) -> None:
        with self._lock:
            self.wrong.append(what)

    def judge(self, what: str, done) -> bool:
        """Whether it worked; notes a failure that is more than the lack of an answer."""
        text = done.output + done.errors
        lie = next((lie for lie in LIES if lie in text), None)
        if lie and not done.ok:
            self.accuse(f"{what}: {text.strip()}")
        self.count(f"{what}, {'done' if done.ok else 'no answer'}")
        return done.ok


def log_in(realm: SanitizedRealm, ledger: Ledger, user: str, password: str) -> None:
    """AS, then TGS: the ticket is opened with the service's keytab and names the user."""
    client = client_of(realm, f"stress-{user}")
    while not ledger.over.is_set():
        if not ledger.judge("login", client.kinit(user, password)):
            continue
        done = client.run("kvno", "-k", str(realm.keytab("stress")), SERVICE)
        if ledger.judge("ticket", done) and "keytab entry valid" not in done.output:
            ledger.accuse(f"{user}'s ticket: {done.output}")
        shown = client.klist().output
        if f"Default principal: {user}@{realm.name}" not in shown:
            ledger.accuse(f"{user}'s cache: {shown}")


def guess(realm: SanitizedRealm, ledger: Ledger, user: str) -> None:
    client = client_of(realm, f"guess-{user}")
    while not ledger.over.is_set():
        ledger.count("guess")
        if client.kinit(user, "not the password").ok:
            ledger.accuse(f"a wrong password of {user} was taken")


def change_passwords(realm: SanitizedRealm, ledger: Ledger, user: str, chance: int) -> None:
    """By kpasswd, under a policy with a history: the present password is refused, a new one taken.

    A change without an answer may have happened: then both are possible, until one logs in.
    """
    client = client_of(realm, f"change-{user}")
    dice, possible, number = random.Random(chance), [f"{user} 0"], 0
    while not ledger.over.is_set():
        known = next((word for word in possible if client.kinit(user, word).ok), None)
        if known is None:
            ledger.count("change, unknown")
            continue
        possible = [known]
        if dice.random() < 0.3:
            done = client.kpasswd(user, known, known)
            ledger.count("reuse tried")
            if done.ok:
                ledger.accuse(f"{user} kept his password by changing it: {done.output}")
            continue
        number += 1
        possible.append(f"{user} {number}")
        done = client.kpasswd(user, known, possible[-1])
        if done.ok:
            possible = possible[-1:]
        ledger.count("change, done" if done.ok else "change, no answer")
    ledger.passwords[user] = possible


def administer(realm: SanitizedRealm, ledger: Ledger, chance: int) -> None:
    """kadmin.local: principals come, get keys and go."""
    number = 0
    while not ledger.over.is_set():
        number += 1
        name = f"host/made{chance}-{number}.test"
        keytab = realm.keytab(f"made{chance}")
        keytab.unlink(missing_ok=True)
        try:
            realm.kadmin_local(f"addprinc -randkey {name}")
            realm.kadmin_local(f"ktadd -k {keytab} {name}")
            done = client_of(realm, f"made{chance}").kinit_keytab(name, keytab)
            ledger.judge("keytab login", done)
            realm.kadmin_local(f"delprinc -force {name}")
            ledger.count("administration, done")
        except (RealmError, subprocess.TimeoutExpired):
            ledger.count("administration, no answer")


def restart_servers(realm: SanitizedRealm, ledger: Ledger, chance: int) -> None:
    """One after the other, by chance, asked or killed; back after a moment."""
    dice = random.Random(chance)
    while not ledger.over.wait(dice.uniform(5, 12)):
        party = dice.randrange(3)
        daemon = realm.daemons[f"server{party}"]
        how = dice.choice((daemon.stop, daemon.kill))
        how()
        ledger.over.wait(dice.uniform(0, 2))
        realm.start_server(party)
        ledger.count(f"server restarts after {how.__name__}")


def start(work: Callable[..., None], ledger: Ledger, *arguments) -> threading.Thread:
    def guarded() -> None:
        try:
            work(*arguments)
        except Exception as error:  # a worker that ends early would hide what it should see
            ledger.accuse(f"{work.__name__}: {type(error).__name__}: {error}")

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    return thread
