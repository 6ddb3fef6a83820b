# SPDX-License-Identifier: Apache-2.0
"""How fast: recorded in build/figures.json, not asserted; see docs/performance.md."""

import json
import statistics
import subprocess
import threading
import time

from tests.integration.conftest import STOCK
from tests.support.kerberos import find_program
from tests.support.realm import ROOT

CLIENTS = 64
SECONDS = 8.0


def record(name: str, value: float) -> None:
    path = ROOT / "build" / "figures.json"
    figures = json.loads(path.read_text()) if path.exists() else {}
    figures[name + (" (stock)" if STOCK else "")] = round(value, 2)
    path.write_text(json.dumps(figures, indent=2, sort_keys=True) + "\n")


def test_kinit_wall_time(client, shared_user):
    times = []
    for _ in range(20):
        began = time.monotonic()
        assert client().kinit(shared_user.name, shared_user.password).ok
        times.append(1000 * (time.monotonic() - began))
    record("kinit median ms", statistics.median(times))


def test_logins_of_64_clients_at_once(realm, client, user):
    """Each login is a process of the stock kinit -k, which takes its share of the CPU too."""
    keytab = realm.keytab("many")
    realm.kadmin_local(f"ktadd -k {keytab} {user.name}")
    kinit = find_program("kinit")
    done, failed, stop = [0] * CLIENTS, [0] * CLIENTS, time.monotonic() + SECONDS

    def log_in(number: int, env: dict[str, str]) -> None:
        while time.monotonic() < stop:
            code = subprocess.call([kinit, "-k", "-t", str(keytab), user.name], env=env,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, timeout=120)
            (done if code == 0 else failed)[number] += 1

    threads = [threading.Thread(target=log_in, args=(n, client().env)) for n in range(CLIENTS)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(180)
    assert not any(t.is_alive() for t in threads), "a login hangs"
    assert sum(done) > 0
    record(f"logins per second, {CLIENTS} clients at once", sum(done) / (time.monotonic() - began))
    record(f"failed logins, {CLIENTS} clients at once", sum(failed))
