# SPDX-License-Identifier: Apache-2.0
"""How long logins wait while all keys are refreshed.

    python3 -m tests.bench.refresh_pause [--principals N] [--users N] [--refreshes N]

A whole realm on loopback, with N principals of two keys. `users` log in with kinit one after the
other without a pause, before a refresh and over it. The longest time without a login that ended
well, and the longest login: without a refresh, and amid one. For docs/measurements, "Audit and
refresh".
"""

import argparse
import subprocess
import threading
import time
from itertools import pairwise

from tests.integration.conftest import new_realm, remove
from tests.integration.test_refresh import refresh_epochs, settled, tkdc
from tests.integration.test_shares import PASSWORD, restart, turn_on, wait_for_session
from tests.support.process import wait_until
from tests.support.realm import Realm

QUIET_S = 10.0
SETTLED_S = 600.0


class Logins:
    """When each began and ended, and how many failed."""

    def __init__(self, realm: Realm, users: int):
        self.realm, self.over, self.failed = realm, threading.Event(), 0
        self.done: list[tuple[float, float]] = []
        self.threads = [threading.Thread(target=self._user, args=(n,)) for n in range(users)]
        for one in self.threads:
            one.start()

    def _user(self, number: int) -> None:
        client = self.realm.client(f"user{number}")
        while not self.over.is_set():
            began = time.monotonic()
            if client.kinit("asked", PASSWORD).ok:
                self.done.append((began, time.monotonic()))
            else:
                self.failed += 1

    def end(self) -> None:
        self.over.set()
        for one in self.threads:
            one.join()

    def say(self, what: str, since: float, until: float) -> None:
        within = [one for one in list(self.done) if since <= one[1] <= until]
        ends = sorted(one[1] for one in within)
        print(f"{what}: {until - since:.1f} s, {len(ends)} logins, {self.failed} failed, longest "
              f"time without one {max(b - a for a, b in pairwise(ends)):.2f} s, longest login "
              f"{max(b - a for a, b in within):.2f} s")


def populate(realm: Realm, principals: int) -> None:
    queries = "".join(f"addprinc -randkey p{number}\n" for number in range(principals))
    subprocess.run(["kadmin.local"], env=realm.kdc_env(), input=queries, text=True, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--principals", type=int, default=2000)
    parser.add_argument("--users", type=int, default=2)
    parser.add_argument("--refreshes", type=int, default=3)
    options = parser.parse_args()
    realm = new_realm("PAUSE.REALM", stock=False)
    with realm:
        for party in range(3):
            turn_on(realm, party)
            restart(realm, party)
        realm.kadmin_local(f'addprinc -pw "{PASSWORD}" asked')
        populate(realm, options.principals)
        for _ in range(options.refreshes):
            wait_until(lambda: settled(realm), SETTLED_S, "a session at rest")
            before = refresh_epochs(realm)
            logins = Logins(realm, options.users)
            began = time.monotonic()
            time.sleep(QUIET_S)
            logins.say("without a refresh", began, time.monotonic())
            began = time.monotonic()
            done = tkdc(realm, 0, "refresh", "--background")
            assert done.returncode == 0, done.stderr
            wait_until(lambda epoch=before[0] + 1: refresh_epochs(realm) == [epoch] * 3,
                       SETTLED_S, "new shares")
            wait_for_session(realm)
            time.sleep(3)
            logins.say("amid a refresh", began, time.monotonic())
            logins.end()
    remove(realm)


if __name__ == "__main__":
    main()
