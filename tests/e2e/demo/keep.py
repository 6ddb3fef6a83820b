# SPDX-License-Identifier: Apache-2.0
"""KEEP=1: leaves the demo's realm running, and stops it later (`make demo-stop`).

The processes are remembered by pid and start time in var/demo/running.json, so that a pid
that the system has given to another process since is never touched.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from tests.e2e.demo.screen import Screen
from tests.support.realm import ROOT, Realm

STOP_ORDER = ("kadmind", "krb5kdc", "agent-admin", "agent-kdc", "server2", "server1", "server0")
STOP_TIMEOUT_S = 10.0


def _start_time(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] == "Z" else fields[19]


def remember(realm: Realm) -> None:
    running = {name: {"pid": pid, "start": _start_time(pid)} for name, pid in realm.pids().items()}
    (realm.directory / "running.json").write_text(json.dumps(running, indent=2) + "\n")


def instructions(realm: Realm, screen: Screen, password: str) -> None:
    status = realm.installation / "agent-admin"
    server = realm.installation / "server1"
    pids = realm.pids()
    for line in (
        "The realm keeps running (KEEP=1). Use it from a shell:",
        f"  export KRB5_CONFIG={realm.directory}/krb5.conf KRB5CCNAME={realm.directory}/ccache.me",
        f"  kinit alice                   # password: {password}",
        "  kvno host/demo.test && klist -e",
        f"  {realm.bin}/tkdc status --config {status}/agent.toml",
        f"  KRB5_KDC_PROFILE={realm.directory}/kdc.conf LD_PRELOAD={realm.bin}/libtkdc-k5.so \\",
        "    kadmin.local                # or any of its queries with -q",
        "Stop a server, see what happens, start it again:",
        f"  kill {pids['server1']}",
        f"  {realm.bin}/tkdc-server --config {server}/tkdc.toml &",
        f"Logs: {realm.logs}, {realm.directory}/*.trace",
        "Stop it:  make demo-stop",
    ):
        screen.say(line)


def stop(directory: Path) -> int:
    """Stops what remember() noted; how many processes were still running."""
    note = directory / "running.json"
    if not note.exists():
        return 0
    running = json.loads(note.read_text())
    stopped = 0
    for name in STOP_ORDER:
        entry = running.get(name)
        if not entry or _start_time(entry["pid"]) != entry["start"]:
            continue
        os.kill(entry["pid"], signal.SIGTERM)
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while _start_time(entry["pid"]) == entry["start"]:
            if time.monotonic() >= deadline:
                os.kill(entry["pid"], signal.SIGKILL)
                break
            time.sleep(0.05)
        stopped += 1
    note.unlink()
    return stopped + _stop_restarted(directory)


def _stop_restarted(directory: Path) -> int:
    """Servers and agents that were started by hand on the demo's files, as instructions() says."""
    stopped = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        ours = Path(words[0].decode(errors="replace")).name in ("tkdc-server", "tkdc-agent")
        if ours and any(word.startswith(f"{directory}/".encode()) for word in words[1:]):
            os.kill(int(folder.name), signal.SIGTERM)
            stopped += 1
    return stopped


if __name__ == "__main__":
    count = stop(ROOT / "var" / "demo")
    sys.stdout.write(f"stopped {count} processes\n" if count else "no demo is running\n")
