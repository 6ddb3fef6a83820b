# SPDX-License-Identifier: Apache-2.0
"""What a user waits for: stock kinit and kvno, one after the other, near and far servers.

    TKDC_BIN=build/release/bin python3 -m tests.bench.login_latency [--rtt-ms 0,5,50,100]

As root. The three servers and the KDC's host each have a network namespace of their own; between
any two of them a packet takes half of --rtt-ms. Malicious mode, PAC on. First by replicated sharing
(data.garbling = "never"), then as shipped ("far"), then by garbled circuits ("always") and masks,
which the servers make by themselves between two logins. A login begins when they are through, or
after PATIENCE_S. By sharing no farther than SHARED_MS: beyond it stock clients give up. As shipped,
servers look at how far they are from each other, so each distance has a realm of its own, where it
is there from the start.

The last line is JSON: by garbling and round trip the measured round trip, kinit's and kvno's median
and 99th percentile, and the rounds of the last kinit's operations.
"""

import argparse
import json
import shutil
import time

from tests.storm.far import FarScene
from tests.support.process import wait_until

PASSWORD, USER, SERVICE = "a password", "alice", "host/latency.test"
PATIENCE_S = 20
SHARED_MS = 5
LEARNT = 3  # logins and tickets before those that are measured, without delay
MASKED_BLOCKS = 128


def percentile(values: list[float], part: float) -> float:
    return round(sorted(values)[min(int(part * len(values)), len(values) - 1)], 1)


def make_realm(garbling: str, rtt_ms: float = 0) -> FarScene:
    realm = FarScene(lanes=2, users=0)
    realm.create()
    realm.network.delay(rtt_ms / 2)
    for party in range(3):
        realm.set_data(party, "garbling", f'"{garbling}"')
        realm.set_data(party, "masked_blocks", str(MASKED_BLOCKS if garbling == "always" else 0))
    realm.start()
    realm.kadmin_local(f'addprinc -pw "{PASSWORD}" +requires_preauth {USER}')
    realm.kadmin_local(f"addprinc -randkey {SERVICE}")
    return realm


def await_reserve(realm: FarScene) -> None:
    """Until the servers make no instance any more."""
    made: list[int] = []

    def still() -> bool:
        before, made[:] = list(made), [one["garbled_made"] for one in realm.status()["servers"]]
        time.sleep(0.1)
        return before == made
    try:
        wait_until(still, PATIENCE_S, "a full reserve")
    except (AssertionError, RuntimeError, TimeoutError):
        print("the reserve was not full again in time")


def timed(command) -> float:
    began = time.perf_counter()
    done = command()
    if not done.ok:
        raise RuntimeError(done.errors)
    return 1000 * (time.perf_counter() - began)


def rounds_and_jobs(realm: FarScene) -> tuple[int, int]:
    operations = realm.operations("kdc")
    return sum(one["rounds"] for one in operations), len(operations)


def measure(realm: FarScene, rtt_ms: float, count: int) -> dict:
    realm.network.delay(rtt_ms / 2)
    logins, tickets = [], []
    for number in range(count):
        client = realm.patient(f"c{rtt_ms}-{number}")
        await_reserve(realm)
        before = rounds_and_jobs(realm)
        login = timed(lambda: client.kinit(USER, PASSWORD, timeout_s=200))  # noqa: B023
        wait_until(lambda: len(realm.operations("kdc")) > before[1], 10, "the log")  # noqa: B023
        time.sleep(0.2)  # the agent writes its log now and then
        after = rounds_and_jobs(realm)
        await_reserve(realm)
        ticket = timed(lambda: client.kvno(SERVICE))  # noqa: B023
        logins.append(login)
        tickets.append(ticket)
    return {"measured_rtt_ms": round(realm.round_trip_ms(), 2),
            "kinit_p50_ms": percentile(logins, 0.5), "kinit_p99_ms": percentile(logins, 0.99),
            "kvno_p50_ms": percentile(tickets, 0.5), "kvno_p99_ms": percentile(tickets, 0.99),
            "one_way_delays": after[0] - before[0], "jobs": after[1] - before[1]}


def as_shipped(rtt_ms: float, count: int) -> dict:
    realm = make_realm("far", rtt_ms)
    try:
        measure(realm, rtt_ms, LEARNT)
        return measure(realm, rtt_ms, count)
    finally:
        realm.stop()
        shutil.rmtree(realm.directory, ignore_errors=True)


def run(garbling: str, rtts: list[float], count: int) -> dict:
    if garbling == "far":
        return {f"{rtt:g}": as_shipped(rtt, count) for rtt in rtts}
    realm = make_realm(garbling)
    try:
        measure(realm, 0, LEARNT)
        return {f"{rtt:g}": measure(realm, rtt, count) for rtt in rtts
                if garbling != "never" or rtt <= SHARED_MS}
    finally:
        realm.stop()
        shutil.rmtree(realm.directory, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python3 -m tests.bench.login_latency")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--rtt-ms", default="0,5,50,100")
    parser.add_argument("--garbling", default="never,far,always")
    options = parser.parse_args()
    rtts = [float(one) for one in options.rtt_ms.split(",")]
    rows = {one: run(one, rtts, options.count) for one in options.garbling.split(",")}
    print("| garbling | round trip, ms | kinit p50, ms | kinit p99 | kvno p50 | rounds |\n"
          "|---|---|---|---|---|---|")
    for garbling, by_rtt in rows.items():
        for row in by_rtt.values():
            print(f"| {garbling} | {row['measured_rtt_ms']} | {row['kinit_p50_ms']} | "
                  f"{row['kinit_p99_ms']} | {row['kvno_p50_ms']} | {row['one_way_delays']} |")
    print(json.dumps({"security": "malicious with abort, three servers", "rtt_ms": rows}))


if __name__ == "__main__":
    main()
