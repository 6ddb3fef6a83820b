# SPDX-License-Identifier: Apache-2.0
"""How fast a stock realm moves onto tkdc and back, and what logins notice of it.

    python3 -m tests.bench.migration build/release/bin --principals 1000 [--servers 2]

A stock realm with that many users (two keys each) is put behind tkdc and imported, on
loopback of this machine; with --logins one client logs in all the while, as users from both
ends of the database, imported already or not yet. With --back it is exported again, by two
administrators' approval; then the dumps of before and after are compared, and a stock KDC logs
users of both ends in; exit status 1 if anything differs or anybody cannot. CPU time is the
processes' own, from /proc. JSON on stdout, progress on stderr.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

from tests.integration.conftest import new_realm, remove
from tests.integration.test_import import dump, is_handle, keys_and_rest
from tests.support.export import Approvers, restore, tkdc_export
from tests.support.realm import Realm


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def populate(realm: Realm, principals: int) -> None:
    script = "".join(f"addprinc -pw password{i} user{i}\n" for i in range(principals))
    done = realm.try_admin_tool("kadmin.local", stdin=script, timeout_s=3600)
    if done.output.count("created.") != principals:
        raise RuntimeError(f"kadmin.local: {done.errors[-500:]}")


class Logins(threading.Thread):
    """From the database's two ends, one after the other."""

    def __init__(self, realm: Realm, principals: int):
        super().__init__(daemon=True)
        self.realm, self.principals = realm, principals
        self.over, self.seconds, self.failed = threading.Event(), [], 0

    def run(self) -> None:
        client, number = self.realm.client("during"), 0
        while not self.over.is_set():
            user = number % self.principals if number % 2 else -number % self.principals
            started = time.monotonic()
            done = client.kinit(f"user{user}", f"password{user}")
            self.seconds.append(time.monotonic() - started)
            self.failed += not done.ok
            number += 1

    def figures(self) -> dict:
        self.over.set()
        self.join()
        times = sorted(self.seconds)
        return {"logins": len(times), "failed": self.failed,
                "median_ms": round(1000 * times[len(times) // 2]),
                "p99_ms": round(1000 * times[len(times) * 99 // 100]),
                "longest_ms": round(1000 * times[-1])}


def import_all(realm: Realm, parallel: int) -> tuple[float, float]:
    """Wall and CPU seconds of tkdc-import."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    env = {key: value for key, value in realm.kdc_env().items() if key != "LD_PRELOAD"}
    subprocess.run([realm.bin / "tkdc-import", "--parallel", str(parallel)], env=env, check=True,
                   stdout=sys.stderr)
    wall = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(realm: Realm, principals: int, parallel: int, with_logins: bool) -> dict:
    servers = [f"server{party}" for party in range(realm.servers)]
    names = [*servers, "agent-admin", "krb5kdc"]
    before = {name: cpu_seconds(realm.daemons[name].pid) for name in names}
    logins = Logins(realm, principals)
    if with_logins:
        logins.start()
    wall, cpu = import_all(realm, parallel)
    used = {name: cpu_seconds(realm.daemons[name].pid) - before[name] for name in names}
    keys = 2 * principals
    out = {"servers": realm.servers, "principals": principals, "parallel": parallel,
           "wall_s": round(wall, 1),
           "keys_per_s": round(keys / wall),
           "server_cpu_ms_per_key": round(
               1000 * sum(used[s] for s in servers) / realm.servers / keys, 2),
           "agent_cpu_ms_per_key": round(1000 * used["agent-admin"] / keys, 2)}
    if with_logins:
        out["logins"] = logins.figures()
    else:
        out["import_cpu_ms_per_key"] = round(1000 * cpu / keys, 2)
    return out


def timed(what, *arguments) -> tuple[float, object]:
    started = time.monotonic()
    done = what(*arguments)
    return round(time.monotonic() - started, 1), done


def keys_of(realm: Realm, name: str) -> dict:
    """Each principal's keys, versions, enctypes and salts; contents under the master key differ
    by their confounder, so their lengths stand for them."""
    out = {}
    for principal, fields in dump(realm, name).items():
        if not principal.startswith("princ "):
            out[principal] = fields
            continue
        keys, rest = keys_and_rest(fields)
        if any(is_handle(key) for key in keys):
            raise RuntimeError(f"{principal} still has handles")
        own = principal.startswith("princ krbtgt/")  # has had new versions
        out[principal] = None if own else (
            [[*key[:3], len(key[3]), *key[4:]] for key in keys], rest[:12], rest[15:])
    return out


def checked(done) -> None:
    if not done.ok:
        raise RuntimeError(done.output + done.errors)


def export_all(realm: Realm, approvers: Approvers) -> dict:
    """Request, approvals, handing over, and the keys back in the database."""
    folder = realm.directory / "export"
    request_s, done = timed(tkdc_export, realm, "request", "--folder", str(folder))
    checked(done)
    request = folder / "request"
    approvals = [approvers.approve(party, request) for party in (0, 1)]
    out = {"request_s": request_s, "request_bytes": request.stat().st_size}
    times, shares = [], []
    for party in range(realm.servers):
        hand_over_s, path = timed(approvers.shares, party, request, approvals)
        times.append(hand_over_s)
        shares.append(path)
    out["hand_over_s"] = max(times)
    out["shares_bytes"] = shares[0].stat().st_size
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out["restore_s"], done = timed(restore, realm, folder, shares)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    checked(done)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    out["restore_cpu_s"] = round(used, 1)
    return out


def go_back(realm: Realm, approvers: Approvers, principals: int, before: dict,
            with_logins: bool) -> dict:
    logins = Logins(realm, principals)
    if with_logins:
        logins.start()
    out = export_all(realm, approvers)
    if with_logins:
        out["logins"] = logins.figures()
    out["finish_s"], done = timed(tkdc_export, realm, "finish", "--folder",
                                  str(realm.directory / "export"))
    checked(done)
    after = keys_of(realm, "after")
    out["principals_that_differ"] = sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    realm.take_tkdc_away()
    client = realm.client("stock")
    users = range(0, principals, max(1, principals // 100))
    out["stock_logins"] = sum(client.kinit(f"user{i}", f"password{i}").ok for i in users)
    out["stock_logins_tried"] = len(users)
    return out


def came_back_whole(back: dict) -> bool:
    """Every principal as it was before, and everybody logs in at the stock KDC."""
    return (not back["principals_that_differ"] and back["stock_logins_tried"] > 0
            and back["stock_logins"] == back["stock_logins_tried"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binaries", type=Path)
    parser.add_argument("--principals", type=int, default=1000)
    parser.add_argument("--servers", type=int, choices=(2, 3), default=3)
    parser.add_argument("--parallel", type=int, default=32)
    parser.add_argument("--logins", action="store_true")
    parser.add_argument("--back", action="store_true")
    options = parser.parse_args()
    os.environ["TKDC_BIN"] = str(options.binaries.resolve())
    realm = new_realm(stock=True, kind=partial(Realm, servers=options.servers))
    with realm:
        populate(realm, options.principals)
        before = keys_of(realm, "before")
        realm.stop()
        realm.put_tkdc_before_database()
        approvers = Approvers(realm)
        realm.start()
        figures = measure(realm, options.principals, options.parallel, options.logins)
        if options.back:
            realm.kadmin_local(f"cpw -randkey -keepold krbtgt/{realm.name}")
            figures["back"] = go_back(realm, approvers, options.principals, before,
                                      options.logins)
    remove(realm)
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")
    return 0 if not options.back or came_back_whole(figures["back"]) else 1


if __name__ == "__main__":
    sys.exit(main())
