# SPDX-License-Identifier: Apache-2.0
"""How many instructions the same work takes these programs and those of an earlier release.

    TKDC_BIN=build/dev/bin python3 -m tests.bench.release_counts [--release VERSION]
                                                                 [--only login|logins|ctr|sha1]

Counts depend neither on the machine's load nor on its hour (tests.bench.release_pairs has CPU
time, which does). Callgrind counts; it knows no AVX-512, GFNI or VAES, so both sides compute as on
a CPU that has AVX2 and AES-NI. The release is built as `make build` builds.

ctr and sha1 are `tkdc bench` of both, with both securities: the three parties of a run, less those
of a shorter one, by block or compression. For logins the three servers of a realm run in callgrind,
and an agent asks them what krb5kdc asks for a login (docs/operations-table.md), one operation after
the other: for one login alone, or for several side by side. What idle servers take in the same time
is subtracted.
"""

import argparse
import json
import shutil
import struct
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.bench.instructions import plain
from tests.bench.operation_latency import handles, seal
from tests.support import agent_wire as wire
from tests.support import previous
from tests.support.kerberos import free_base_port
from tests.support.process import wait_until
from tests.support.realm import Realm, default_bin

NAME, PASSWORD, USER = "COUNTS.REALM", "a password", "alice"
LOGINS, AT_ONCE, IDLE_S, DEADLINE_MS = 3, 8, 20, 24_000
SECONDS = (2, 12)  # of the shorter and the longer run
MOST_DIFFERENT = 12
MAC, INTEGRITY = 4, 1  # service/wire/wire.h
# Of a login with an encrypted timestamp: operation, whose key, usage, octets. The timestamp's
# ciphertext is of nobody, which is found when all of it is computed.
LOGIN = ((wire.OPEN, "user", 1, 68), (MAC, "krbtgt", 17, 300), (MAC, "krbtgt", 17, 300),
         (wire.SEAL, "krbtgt", 2, 330), (MAC, "user", 56, 200), (wire.SEAL, "user", 3, 250))
Counts = Counter  # instructions by function
STATUS = "ControlPlane::answer_status"


def by_function(profiles: list[Path]) -> Counts:
    """Own costs in all objects, of all dumps, without what a status takes: an agent asks for it
    when a job takes long, and in Callgrind each does."""
    counts: Counts = Counter()
    for profile in profiles:
        function, called, inclusive = "", "", False
        for line in profile.read_text(errors="replace").splitlines():
            if line.startswith("fn="):
                function = plain(line[3:])
            elif line.startswith("cfn="):
                called = line
            elif line.startswith("calls="):
                inclusive = True
            elif line[:1].isdigit():
                if not inclusive:
                    counts[function] += int(line.split()[1])
                elif STATUS in called:
                    counts[STATUS] -= int(line.split()[1])
                inclusive = False
    return counts


def callgrind(out: Path) -> list[str]:
    return ["valgrind", "--quiet", "--tool=callgrind", "--compress-strings=no",
            "--compress-pos=no", f"--callgrind-out-file={out}"]


class Counted(Realm):
    """Its servers can run in callgrind, on what the same have stored without."""

    def __init__(self, binaries: Path, folder: Path):
        super().__init__(folder / "realm", NAME, free_base_port(), lanes=1, binaries=binaries)
        self.folder = folder

    def count(self) -> None:
        for party in range(3):
            self.daemons[f"server{party}"].stop()
        for party in range(3):
            program = self.folder / f"server{party}.sh"
            command = [*callgrind(self.folder / f"server{party}.out"),
                       str(self.bin / "tkdc-server")]
            program.write_text(f'#!/bin/sh\nexec {" ".join(command)} "$@"\n')
            program.chmod(0o755)
            self.server_programs[party] = str(program)
            self.server_env[party] = {"TKDC_ALLOW_DUMP": "1"}  # Valgrind stops it to look
            self.start_server(party, wait=False)
        for party in range(3):
            self.daemons[f"server{party}"].wait_notified(120)

    def dump(self) -> Counts:
        """What all three have run since the dump before."""
        for party in range(3):
            pid = self.daemons[f"server{party}"].pid
            subprocess.run(["vgdb", f"--pid={pid}", "--wait=20", "dump"], check=True,
                           capture_output=True, timeout=120)
        found = list(self.folder.glob("server*.out.*"))
        counts = by_function(found)
        for profile in found:
            profile.unlink()
        return counts


def log_in(connection: wire.Connection, keys: dict[str, bytes], at_once: int = 1) -> bool:
    """So many side by side."""
    for op, whose, usage, octets in LOGIN:
        body = keys[whose] + struct.pack(">II", usage, octets) + bytes(octets)
        connection.send(b"".join(
            wire.header(op, number, len(body), deadline_ms=DEADLINE_MS) + body
            for number in range(at_once)))
        replies = [connection.receive() for _ in range(at_once)]
        expected = INTEGRITY if op == wire.OPEN else wire.OK
        if any(reply is None or reply.status != expected for reply in replies):
            return False
    return True


def logins(at_once: int, binaries: Path, security: str) -> Counts:
    """Of a login, all three servers."""
    folder = Path(tempfile.mkdtemp(prefix="tkdc-counts-"))
    realm = Counted(binaries, folder)
    try:
        realm.create()
        for config in realm.installation.rglob("*.toml"):
            config.write_text(config.read_text().replace('security = "malicious"',
                                                         f'security = "{security}"'))
        realm.start()
        realm.kadmin_local(f'addprinc -e aes256-cts-hmac-sha1-96:normal -pw "{PASSWORD}" {USER}')
        with wire.Connection(realm.agent_socket("kdc")) as connection:
            _security, installation = connection.hello()
            realm.bin = default_bin().resolve()  # a release has no program that lists its keys
            keys = {whose: next(key for key in handles(realm, principal, 18, installation)
                                if seal(connection, key, usage, 64))
                    for whose, principal, usage in (("user", USER, 3), ("krbtgt", "krbtgt", 2))}
            realm.bin = binaries
            realm.count()
            wait_until(lambda: log_in(connection, keys), 300, "a login")
            realm.dump()
            began = time.monotonic()
            for _ in range(LOGINS):
                if not log_in(connection, keys, at_once):
                    raise RuntimeError("an operation was refused or took too long")
            took = time.monotonic() - began
            busy = realm.dump()
            time.sleep(IDLE_S)
            idle = realm.dump()
    finally:
        realm.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return Counter({name: (count - idle[name] * took / IDLE_S) / (LOGINS * at_once)
                    for name, count in busy.items()})


def kernel(what: str, units: str, cohort: str) -> Callable[[Path, str], Counts]:
    """Of a block or compression, all three parties."""

    def run(tkdc: Path, security: str, seconds: float) -> tuple[Counts, int]:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [*callgrind(Path(folder) / "%p.out"), "--trace-children=yes", tkdc, "bench", what,
                 "--json", f"--cohort={cohort}", f"--seconds={seconds}",
                 f"--security={security}"], capture_output=True, text=True, check=True,
                timeout=600)
            return (by_function(list(Path(folder).iterdir())),
                    json.loads(done.stdout.splitlines()[-1])[units])

    def count(binaries: Path, security: str) -> Counts:
        (less, few), (more, many) = (run(binaries / "tkdc", security, s) for s in SECONDS)
        return Counter({name: (count - less[name]) / (many - few) for name, count in more.items()})

    return count


WORK = {"ctr": kernel("ctr", "blocks", "1024"), "sha1": kernel("sha1", "compressions", "512"),
        "login": partial(logins, 1), "logins": partial(logins, AT_ONCE)}


def compare(work: str, security: str, release: tuple[str, str]) -> None:
    """Prints the ratio and what differs most; the last line is JSON."""
    sides = (previous.binaries(release, optimised=True), default_bin().resolve())
    before, now = (WORK[work](binaries, security) for binaries in sides)
    sums = before.total(), now.total()
    print(f"{work}, {security}: {sums[0]:,.0f} before, {sums[1]:,.0f} now, "
          f"ratio {sums[1] / sums[0]:.4f}")
    both = before.keys() | now.keys()
    for name in sorted(both, key=lambda n: -abs(now[n] - before[n]))[:MOST_DIFFERENT]:
        print(f"  {now[name] - before[name]:+14,.0f} {name}: {before[name]:,.0f} before")
    print(json.dumps({"work": work, "security": security, "release": release[0],
                      "before": round(sums[0]), "now": round(sums[1])}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python3 -m tests.bench.release_counts")
    parser.add_argument("--release", default=previous.releases()[-1][0])
    parser.add_argument("--only", choices=WORK)
    options = parser.parse_args()
    release = next(r for r in previous.releases() if r[0] == options.release)
    for work in [options.only] if options.only else WORK:
        for security in ("semi-honest", "malicious"):
            compare(work, security, release)


if __name__ == "__main__":
    main()
