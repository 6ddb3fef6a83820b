# SPDX-License-Identifier: Apache-2.0
"""`make stress`: AS, TGS and kadmin traffic at once on a realm whose plugin is built with ASan,
while servers are stopped and killed by chance. It ends with "stress: ok", or says what is wrong.
"""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.integration.conftest import free_base_port
from tests.stress import traffic
from tests.stress.realm import SanitizedRealm
from tests.stress.traffic import SERVICE, Ledger, start
from tests.support.process import RealmError, wait_until

REALM = "STRESS.TEST"
USERS, CHANGERS, ADMINISTRATORS = 3, 2, 1
CALM_S = 120.0  # until all is well again, on a busy machine
LAST_STEP_S = 180.0  # what a worker has begun before the end


def populate(realm: SanitizedRealm, ledger: Ledger) -> None:
    realm.kadmin_local(f"addprinc -randkey {SERVICE}")
    realm.kadmin_local(f"ktadd -k {realm.keytab('stress')} {SERVICE}")
    realm.kadmin_local("addpol -history 3 remembers")
    realm.kadmin_local('addprinc -pw "nobody says it" guessed')
    for number in range(USERS):
        realm.kadmin_local(f'addprinc -pw "user{number} 0" user{number}')
        ledger.passwords[f"user{number}"] = [f"user{number} 0"]
    for number in range(CHANGERS):
        realm.kadmin_local(f'addprinc -policy remembers -pw "changer{number} 0" changer{number}')


def run(realm: SanitizedRealm, ledger: Ledger, minutes: float, seed: int) -> None:
    workers = [start(traffic.log_in, ledger, realm, ledger, f"user{n}", f"user{n} 0")
               for n in range(USERS)]
    workers += [start(traffic.change_passwords, ledger, realm, ledger, f"changer{n}", seed + n)
                for n in range(CHANGERS)]
    workers += [start(traffic.administer, ledger, realm, ledger, n) for n in range(ADMINISTRATORS)]
    workers.append(start(traffic.guess, ledger, realm, ledger, "guessed"))
    restarts = start(traffic.restart_servers, ledger, realm, ledger, seed)
    time.sleep(60 * minutes)
    ledger.over.set()
    restarts.join(LAST_STEP_S)
    for worker in workers:
        worker.join(LAST_STEP_S)
        if worker.is_alive():
            ledger.accuse("a worker hangs: a program that it runs does not end")


def all_well(realm: SanitizedRealm, ledger: Ledger) -> None:
    """Everybody logs in again, with programs that were never restarted."""
    def in_again(user: str, words: list[str]) -> bool:
        client = traffic.client_of(realm, "calm")
        return any(client.kinit(user, word).ok for word in words) and client.kvno(SERVICE).ok

    for user, words in sorted(ledger.passwords.items()):
        wait_until(lambda user=user, words=words: in_again(user, words), CALM_S,
                   f"a login of {user} after the last restart", pause_s=0.5)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make stress", description=__doc__)
    parser.add_argument("--plugins", type=Path, required=True, help="ktkdc.so and libtkdc-k5.so")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="tkdc-stress-"))
    ledger = Ledger()
    with SanitizedRealm(directory, REALM, free_base_port(), options.plugins,
                        say=print) as realm:
        populate(realm, ledger)
        stock = ("krb5kdc", "kadmind", "agent-kdc", "agent-admin")
        before = {name: realm.pids().get(name) for name in stock}
        run(realm, ledger, options.minutes, options.seed)
        try:
            all_well(realm, ledger)
        except (TimeoutError, RealmError) as late:
            ledger.accuse(str(late))
        for name in stock:
            if realm.pids().get(name) != before[name]:
                ledger.accuse(f"{name} ended\n{realm.daemons[name].tail()}")
    wrong = ledger.wrong + realm.complaints()
    for what, count in sorted(ledger.counts.items()):
        print(f"{count:7} {what}")
    for what in wrong:
        print(f"WRONG: {what}")
    print(f"stress: {len(wrong)} failures, all files in {directory}" if wrong else "stress: ok")
    if not wrong:
        shutil.rmtree(directory)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
