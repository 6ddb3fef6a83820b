# SPDX-License-Identifier: Apache-2.0
"""A realm of very many principals: made as a stock realm, imported, then driven.

All users have one key, since their salt is the realm's name alone: so the stock database is a
dump of one user's entry, once for each name, and the keytabs that the generator reads need one
derivation. The servers know nothing of that: each handle names a key of its own, drawn out in
shares of its own.
"""

import random
import struct
import subprocess
import time
from pathlib import Path

from tests.storm.common import all_well, always, p99_within, say, sustained_rate, verdict
from tests.storm.scene import Scene
from tests.storm.stage import PASSWORD
from tests.support.kerberos import run_program
from tests.support.keymaterial import string_to_key
from tests.support.process import RealmError, wait_until
from tests.support.realm import ADMIN_TIMEOUT_S

ENCTYPE = 18
CROWD = "crowd%06d"
AT_ONCE = 128  # keys that are imported at once
LOAD_TIMEOUT_S = 3_600
IMPORT_TIMEOUT_S = 6 * 3_600
RESTART_S = 30
CROWD_P99_MS = 5_000


def keytab_entry(realm: str, name: str, key: bytes) -> bytes:
    """MIT's file format, one component."""
    def counted(data: bytes) -> bytes:
        return struct.pack(">H", len(data)) + data

    entry = (struct.pack(">H", 1) + counted(realm.encode()) + counted(name.encode())
             + struct.pack(">IIBH", 1, int(time.time()), 1, ENCTYPE) + counted(key))
    return struct.pack(">i", len(entry)) + entry


class CrowdScene(Scene):
    """A stock realm of that many users, behind tkdc and imported."""

    def __init__(self, *, crowd: int = 0, **options):
        super().__init__(stock=True, users=0, **options)
        self.crowd = crowd or self.terms.principals
        self.everybody = [CROWD % number for number in range(self.crowd)]
        random.Random(1).shuffle(self.everybody)  # the generator takes them in turn
        self.named = 0

    def who(self) -> list[str]:
        return ["--keytab", str(self.keytab("crowd"))]

    def next_users(self, count: int) -> list[str]:
        """So many of the crowd whom this has not named before, as the generator's users."""
        first, self.named = self.named, self.named + count
        if self.named > self.crowd:
            raise RealmError(f"a crowd of {self.crowd} has no {count} after {first}")
        users = self._write_keytab(f"crowd{first}", self.everybody[first:self.named])
        return ["--keytab", str(users)]

    def start(self) -> None:
        self.admin_tool("kdb5_util", "create", "-s", "-P", "the stock realm's master password")
        self._populate()
        self._write_keytab("crowd", self.everybody)
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

    def _write_keytab(self, name: str, users: list[str]) -> Path:
        key = string_to_key(PASSWORD, self.name, 32)
        path = self.keytab(name)
        path.touch(mode=0o600)
        path.write_bytes(b"\x05\x02" + b"".join(keytab_entry(self.name, user, key)
                                                for user in users))
        return path

    def _import(self) -> None:
        env = {key: value for key, value in self.kdc_env().items() if key != "LD_PRELOAD"}
        began = time.monotonic()
        done = subprocess.run([self.bin / "tkdc-import", "--parallel", str(AT_ONCE)], env=env,
                              capture_output=True, text=True, timeout=IMPORT_TIMEOUT_S,
                              check=False)
        took = time.monotonic() - began
        if done.returncode != 0:
            raise RealmError(f"tkdc-import: {(done.stdout + done.stderr).strip()[-500:]}")
        say(f"imported in {took:.0f} s, {self.crowd / took:.0f} per second")
        done = self.try_admin_tool("kadmin.local", "-q",
                                   f"cpw -randkey -keepold krbtgt/{self.name}",
                                   timeout_s=ADMIN_TIMEOUT_S)
        if not done.ok:
            raise RealmError(f"kadmin.local cpw: {done.errors.strip()[-500:]}")


def restart(scene: CrowdScene) -> tuple[float, float]:
    """Server 1 is killed: seconds until it is ready, and until a login succeeds again."""
    before = scene.sessions()
    scene.daemons["server1"].kill()
    began = time.monotonic()
    scene.start_server(1)
    ready = time.monotonic() - began
    wait_until(lambda: scene.sessions() > before, 60, "a new session of the servers")
    client = scene.client("after")
    wait_until(lambda: client.kinit_keytab(CROWD % 0, scene.keytab("crowd")).ok, 60, "a login")
    return ready, time.monotonic() - began


def many_principals(scene: CrowdScene, seconds: float) -> bool:
    """100,000 users (PRINCIPALS) of whom each that logs in is another, at half of the sustained

    rate: none fails or takes over 15 s, every ticket is checked, p99 stays within 5 s; a server
    that is killed is back within 30 s.
    """
    store = [(scene.server_directory(k) / "store" / "data.mdb").stat().st_blocks * 512 / 1e6
             for k in range(3)]
    load = (f"--rate={sustained_rate(scene, seconds) / 2:.2f}", "--poisson", "--quiet")
    result = scene.storm(*load, duration_s=seconds, report="many-principals")
    ready, login = restart(scene)
    after = scene.storm(*load, duration_s=seconds)
    keys = scene.status()["servers"][0]["keys"]
    say(f"each store {max(store):.0f} MB; p50 {result['latency_ms']['p50']:.0f} ms, after the "
        f"restart p99 {after['latency_ms']['p99']:.0f} ms; server 1 was ready after {ready:.1f} s")
    return verdict({
        f"as many keys as principals, and more ({keys})": keys >= scene.crowd,
        **all_well(result, after),
        **p99_within(CROWD_P99_MS, result),
        f"server 1 killed, a login succeeds within {RESTART_S} s ({login:.1f})":
            login <= RESTART_S,
        **always(scene)})


many_principals.scene = CrowdScene
