# SPDX-License-Identifier: Apache-2.0
"""A realm of a hundred thousand principals: made as a stock realm, imported, then driven.

All users have one key, since their salt is the realm's name alone: so the stock database is a
dump of one user's entry, once for each name, and the keytab that the generator reads needs no
hundred thousand derivations. The servers know nothing of that: each handle names a key of its
own, drawn out in shares of its own.
"""

import random
import struct
import subprocess
import time
from pathlib import Path

from tests.storm.common import failures, never_limited, say, sustained_rate, verdict
from tests.storm.disturbed import sessions
from tests.storm.scene import PASSWORD, Scene
from tests.support.kerberos import run_program
from tests.support.keymaterial import string_to_key
from tests.support.process import RealmError, wait_until
from tests.support.realm import ADMIN_TIMEOUT_S

ENCTYPE = 18
CROWD = "crowd%06d"
AT_ONCE = 128  # keys that are imported at once
LOAD_TIMEOUT_S = 3_600
IMPORT_TIMEOUT_S = 6 * 3_600
SERVER_CEILING_MB = 512  # of memory of its own: the store's file is mapped, and not counted
RESTART_S = 30
CROWD_P99_MS = 5_000


def own_mb(pid: int) -> float:
    """Memory that is no file's."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise RealmError(f"/proc/{pid}/status has no RssAnon")


def keytab_entry(realm: str, name: str, key: bytes) -> bytes:
    """MIT's file format, one component."""
    def counted(data: bytes) -> bytes:
        return struct.pack(">H", len(data)) + data

    entry = (struct.pack(">H", 1) + counted(realm.encode()) + counted(name.encode())
             + struct.pack(">IIBH", 1, int(time.time()), 1, ENCTYPE) + counted(key))
    return struct.pack(">i", len(entry)) + entry


class CrowdScene(Scene):
    """A stock realm of that many users, behind tkdc and imported."""

    import_s = 0.0

    def __init__(self, **options):
        super().__init__(stock=True, users=0, **options)

    @property
    def crowd(self) -> int:
        return self.terms.principals

    def who(self) -> list[str]:
        return ["--keytab", str(self.keytab("crowd"))]

    def start(self) -> None:
        self.admin_tool("kdb5_util", "create", "-s", "-P", "the stock realm's master password")
        self._populate()
        self._write_keytab()
        self.put_tkdc_before_database()
        super().start()
        self._import()

    def _populate(self) -> None:
        began = time.monotonic()
        self.kadmin_local(f'addprinc -e aes256-cts-hmac-sha1-96:onlyrealm -pw "{PASSWORD}" '
                          f'{CROWD % 0}')
        dump = self.directory / "crowd.dump"
        self.admin_tool("kdb5_util", "dump", str(dump))
        lines = dump.read_text().splitlines()
        first = f"{CROWD % 0}@{self.name}"
        template = next(line for line in lines if f"\t{first}\t" in line)
        with dump.open("a") as out:
            for number in range(1, self.crowd):  # names of one length, which the entry says
                out.write(template.replace(first, f"{CROWD % number}@{self.name}") + "\n")
        done = run_program(["kdb5_util", "load", str(dump)], self.kdc_env(),
                           timeout_s=LOAD_TIMEOUT_S)
        dump.unlink()
        if not done.ok:
            raise RealmError(f"kdb5_util load: {done.errors.strip()[-500:]}")
        say(f"{self.crowd} principals loaded in {time.monotonic() - began:.0f} s")

    def _write_keytab(self) -> None:
        key = string_to_key(PASSWORD, self.name, 32)
        numbers = list(range(self.crowd))
        random.Random(1).shuffle(numbers)  # the generator takes them in turn
        path = self.keytab("crowd")
        path.touch(mode=0o600)
        path.write_bytes(b"\x05\x02" + b"".join(
            keytab_entry(self.name, CROWD % number, key) for number in numbers))

    def _import(self) -> None:
        env = {key: value for key, value in self.kdc_env().items() if key != "LD_PRELOAD"}
        began = time.monotonic()
        done = subprocess.run([self.bin / "tkdc-import", "--parallel", str(AT_ONCE)], env=env,
                              capture_output=True, text=True, timeout=IMPORT_TIMEOUT_S,
                              check=False)
        self.import_s = time.monotonic() - began
        if done.returncode != 0:
            raise RealmError(f"tkdc-import: {(done.stdout + done.stderr).strip()[-500:]}")
        say(f"imported in {self.import_s:.0f} s, {self.crowd / self.import_s:.0f} per second")
        done = self.try_admin_tool("kadmin.local", "-q",
                                   f"cpw -randkey -keepold krbtgt/{self.name}",
                                   timeout_s=ADMIN_TIMEOUT_S)
        if not done.ok:
            raise RealmError(f"kadmin.local cpw: {done.errors.strip()[-500:]}")


def restart(scene: CrowdScene) -> tuple[float, float]:
    """Server 1 is killed: seconds until it is ready, and until a login succeeds again."""
    before = sessions(scene)
    scene.daemons["server1"].kill()
    began = time.monotonic()
    scene.start_server(1)
    ready = time.monotonic() - began
    wait_until(lambda: sessions(scene) > before, 60, "a new session of the servers")
    client = scene.client("after")
    wait_until(lambda: client.kinit_keytab(CROWD % 0, scene.keytab("crowd")).ok, 60, "a login")
    return ready, time.monotonic() - began


def many_principals(scene: CrowdScene, seconds: float) -> bool:
    """100,000 users (PRINCIPALS) of whom each that logs in is another, at half of the sustained

    rate: none fails, every ticket is checked, p99 stays within 5 s; no server has more than
    512 MB of its own; a server that is killed is back within 30 s.
    """
    store = [(scene.server_directory(k) / "store" / "data.mdb").stat().st_blocks * 512 / 1e6
             for k in range(3)]
    peak = sustained_rate(scene, seconds)
    result = scene.storm(f"--rate={peak / 2:.2f}", "--poisson", "--quiet",
                         duration_s=seconds, report="many-principals")
    ready, login = restart(scene)
    after = scene.storm(f"--rate={peak / 2:.2f}", "--poisson", "--quiet", duration_s=seconds)
    memory = {name: own_mb(pid) for name, pid in scene.pids().items()}
    keys = scene.status()["servers"][0]["keys"]
    say(f"{keys} keys, each store {max(store):.0f} MB; at {peak / 2:.1f} logins/s p50 "
        f"{result['latency_ms']['p50']:.0f}, p99 {result['latency_ms']['p99']:.0f} ms, after the "
        f"restart {after['latency_ms']['p99']:.0f} ms")
    say("memory of its own, MB: " + "  ".join(f"{n} {mb:.0f}" for n, mb in memory.items()))
    say(f"server 1 killed: ready after {ready:.1f} s, a login succeeded after {login:.1f} s")
    counts = [r["counts"] for r in (result, after)]
    return verdict({
        f"as many keys as principals, and more ({keys})": keys >= scene.crowd,
        "no failure": all(failures(r) == 0 for r in (result, after)),
        "every reply checked": all(c["checked"] == c["ok"] > 0 for c in counts),
        f"p99 within {CROWD_P99_MS} ms": result["latency_ms"]["p99"] <= CROWD_P99_MS,
        f"servers within {SERVER_CEILING_MB} MB of their own":
            max(memory[f"server{k}"] for k in range(3)) <= SERVER_CEILING_MB,
        f"back within {RESTART_S} s": login <= RESTART_S,
        **never_limited(scene)})


many_principals.scene = CrowdScene
