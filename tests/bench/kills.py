# SPDX-License-Identifier: Apache-2.0
"""How often kill -9 of a server meets a check of messages, while users log in.

    python3 -m tests.bench.kills [--kills N] [--users N]

A whole realm on loopback in malicious mode. What a session that is given up had under way is what
the two servers that go on write into their audit logs. For docs/testing.md, "Killed under load".
"""

import argparse
import json
import random
import time

from tests.integration.conftest import new_realm, remove
from tests.integration.test_broken_checks import PASSWORD, SESSION_S, in_session, load
from tests.support.process import wait_until
from tests.support.realm import Realm

KILLED, COUNTING = 2, (0, 1)
BUSY_S = (0.5, 1.5)


def events(realm: Realm, party: int) -> list[dict]:
    lines = (realm.server_directory(party) / "audit.jsonl").read_text().splitlines()
    return [event for line in lines
            if (event := json.loads(line)["event"]).get("event") == "check broken"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--users", type=int, default=6)
    options = parser.parse_args()
    pause = random.Random(1)
    realm = new_realm("KILLS.REALM", stock=False)
    realm.limits["broken_checks_per_day"] = 1_000_000
    with realm:
        realm.kadmin_local(f'addprinc -pw "{PASSWORD}" lea')
        with load(realm, options.users) as logins:
            for _ in range(options.kills):
                wait_until(lambda: in_session(realm), SESSION_S, "a session")
                time.sleep(pause.uniform(*BUSY_S))
                realm.daemons[f"server{KILLED}"].kill()
                realm.start_server(KILLED)
            wait_until(lambda: in_session(realm), SESSION_S, "a session")
        for party in COUNTING:
            met = events(realm, party)
            opened = sum(event["opened"] for event in met)
            print(f"server {party}: {options.kills} kills met {len(met)} checks, {opened} of which "
                  f"had opened X and Y; {logins.ok} logins meanwhile")
    remove(realm)


if __name__ == "__main__":
    main()
