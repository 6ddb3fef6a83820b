# SPDX-License-Identifier: Apache-2.0
"""A realm that a real Prometheus watches: one exporter beside the KDC's agent, one beside server 2.
Its servers start at any time of the calendar, one of them deviates on demand, and one has a small
disk of its own for its audit log. For tests that look which alerts fire."""

import shutil
import subprocess
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from tests.support.monitoring import Exporter, Prometheus
from tests.support.process import RealmError, wait_until
from tests.support.small_disk import SmallDiskRealm

PASSWORD = "a password that somebody watches"
SERVERS = range(3)
SEEN_BY = 2  # the server with an exporter on its own host
SOON_S = 60.0
STAYS_S = 2.2  # longer than a rule waits here: what else follows would be seen
FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)


class WatchedRealm(SmallDiskRealm):
    deviating = moved = 1  # servers

    def create(self) -> None:
        super().create()
        self.change(self.config(SEEN_BY), "[control]\n", '[control]\nstatus_socket = "status"\n')

    @property
    def trigger(self) -> Path:
        """While it is there the server deviates, once."""
        return self.directory / "deviate"

    def config(self, party: int) -> Path:
        return self.server_directory(party) / "tkdc.toml"

    def store(self, party: int) -> Path:
        return self.server_directory(party) / "store"

    @staticmethod
    def change(file: Path, old: str, new: str) -> str:
        """What it was."""
        text = file.read_text()
        assert old in text, (file, old)
        file.write_text(text.replace(old, new, 1))
        return text

    def begin_at(self, days: int) -> None:
        """Servers that start from here on believe that it is so many days from now."""
        for party in SERVERS:
            self.server_env[party] = {"LD_PRELOAD": str(FAKETIME), "FAKETIME": f"{days:+d}d",
                                      "DONT_FAKE_MONOTONIC": "1"} if days else {}
        self.server_env[self.deviating] |= {
            "LD_PRELOAD": f"{self.bin / 'deviate.so'} {FAKETIME if days else ''}",
            "TKDC_TEST_DEVIATE": str(self.trigger)}

    def clock_from_file(self) -> None:
        """Of one server, from its next start on: set_clock() moves it."""
        self.set_clock(0)
        self.server_env[self.moved] = {
            "LD_PRELOAD": str(FAKETIME), "DONT_FAKE_MONOTONIC": "1", "FAKETIME_NO_CACHE": "1",
            "FAKETIME_FORCE_MONOTONIC_FIX": "0", "FAKETIME_TIMESTAMP_FILE": str(self._clock)}

    @property
    def _clock(self) -> Path:
        return self.directory / "clock"

    def set_clock(self, ahead_s: int) -> None:
        new = self._clock.with_suffix(".new")
        new.write_text(f"{ahead_s:+d}s\n")
        new.rename(self._clock)

    def restart(self, *parties: int) -> None:
        self.stop_servers(*parties)
        for party in parties:
            self.start_server(party, wait=False)
        for party in parties:
            self.daemons[f"server{party}"].wait_notified(SOON_S)

    def stop_servers(self, *parties: int) -> None:
        for party in parties:
            self.daemons[f"server{party}"].stop()

    def tkdc(self, *words: str | Path) -> subprocess.CompletedProcess:
        """As on the KDC's host, where tkdc finds its library itself."""
        env = {name: value for name, value in self.kdc_env().items() if name != "LD_PRELOAD"}
        return subprocess.run([str(self.bin / "tkdc"), *map(str, words)], env=env, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                              check=False)

    def logs_in(self) -> bool:
        return self.client("lea").kinit("lea", PASSWORD).ok

    def logs_in_beside(self) -> threading.Thread:
        """Whatever comes of it."""
        one = threading.Thread(target=self.logs_in)
        one.start()
        return one

    def flood(self, logins: int) -> None:
        """So many within a second or so, whatever comes of them."""
        word = self.directory / "password"
        word.write_text(PASSWORD + "\n")
        subprocess.run([str(self.bin / "tkdc-storm"), "--kdc", f"127.0.0.1:{self.ports.kdc}",
                        "--realm", self.name, "--user", "lea", "--password-file", str(word),
                        "--warmup=0", "--quiet", f"--rate={logins}", "--duration=1",
                        "--timeout-ms=2000", "--retransmit-ms=0"], env=self.env(), timeout=60,
                       check=False, capture_output=True)

    def copy_store(self, party: int, name: str) -> Path:
        """Of a server that is stopped."""
        copy = self.directory / name
        shutil.copytree(self.store(party), copy,
                        ignore=shutil.ignore_patterns("*.sock", "lock.mdb"))
        return copy

    def put_store(self, party: int, copy: Path) -> None:
        shutil.rmtree(self.store(party))
        shutil.copytree(copy, self.store(party))


class Site:
    """The realm, its exporters and the Prometheus that scrapes them."""

    def __init__(self, realm: WatchedRealm, folder: Path):
        self.realm, self.broken = realm, False
        self.standing: set[str] = set()  # alerts of before, which nothing but time ends
        self.exporter = Exporter(realm, realm.agent_socket("kdc"))
        self.of_server = Exporter(realm, realm.server_directory(SEEN_BY) / "status",
                                  "--server-socket")
        self.prometheus = Prometheus(folder, self.exporter.url, self.of_server.url)

    def __enter__(self) -> "Site":
        wait_until(lambda: {one["value"][1] for one in self._healthy()} == {"1"}
                   and len(self._healthy()) == 2, SOON_S, "Prometheus has scraped both")
        return self

    def __exit__(self, *_exc) -> None:
        self.prometheus.__exit__()
        self.exporter.stop()
        self.of_server.stop()

    def _healthy(self) -> list[dict]:
        return self.prometheus.ask("query?query=tkdc_healthy").get("result", [])

    def export_from(self, socket: Path) -> None:
        """The agent's exporter begins anew, of another socket, where it was."""
        self.exporter.stop()
        self.exporter = Exporter(self.realm, socket, url=self.exporter.url)

    def sees(self, alerts: Iterable[str] = ()) -> None:
        """These fire, and no other, now and after a rule's time."""
        wanted = self.standing | set(alerts)
        seen: list[set[str]] = []

        def fires() -> bool:
            seen.append(self.prometheus.firing())
            return seen[-1] == wanted

        for pause_s in (0.0, STAYS_S):
            time.sleep(pause_s)
            try:
                wait_until(fires, SOON_S, "the alerts", pause_s=0.2)
            except RealmError as error:
                said = f"{sorted(seen[-1])} fire, and not {sorted(wanted)}"
                raise AssertionError(said) from error
