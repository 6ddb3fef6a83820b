# SPDX-License-Identifier: Apache-2.0
"""`tkdc top`: its figures are those of a load that the test makes, a terminal is left as it was,
and a server's host without an agent has it, too."""

import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import termios
import time
from collections import Counter

import pytest

from tests.integration.conftest import STOCK
from tests.support.process import wait_until

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
LOGINS = 3
ROWS, COLUMNS = 24, 80
ENTER, LEAVE, HOME = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l", "\x1b[H"


def command(realm, *options: str) -> list[str]:
    return [str(realm.bin / "tkdc"), "top", *options]


def of_agent(realm) -> tuple[str, str]:
    return "--socket", str(realm.agent_socket("kdc"))


def of_server(realm, party: int) -> tuple[str, str]:
    return "--config", str(realm.server_directory(party) / "tkdc.toml")


def counted(frames: list[dict], whose: str) -> Counter:
    """Operations in all frames together."""
    found: Counter = Counter()
    for frame in frames:
        for one in frame["operations"]:
            found[one["operation"]] += round(one.get(whose, {"per_s": 0})["per_s"]
                                             * frame["seconds"])
    return +found


def test_its_figures_are_those_of_a_known_load(realm, client, shared_user):
    client().kinit(shared_user.name, shared_user.password)  # the first one may have more to do
    before = len(realm.operations("kdc"))
    frames: list[dict] = []
    with subprocess.Popen(command(realm, *of_agent(realm), "--json", "--interval", "0.2"),
                          stdout=subprocess.PIPE, text=True) as top:
        frames.append(json.loads(top.stdout.readline()))
        for _ in range(LOGINS):
            assert client().kinit(shared_user.name, shared_user.password).ok
        load = realm.operations("kdc")[before:]
        expected = Counter(one["op"] for one in load)
        assert expected["seal"] >= 2 * LOGINS, expected

        def all_seen() -> bool:
            frames.append(json.loads(top.stdout.readline()))
            return counted(frames, "agent") == expected

        wait_until(all_seen, 20, f"the agent's {expected}")
        top.send_signal(signal.SIGINT)
        assert top.wait(10) == 0
    times = [one["ms"] for one in load]
    for frame in frames:
        assert frame["healthy"] and frame["agent"] == "agent-kdc" and not frame["faults"]
        assert [one["party"] for one in frame["servers"]] == [0, 1, 2]
        assert all(one["clocks_off_ms"] < 1000 for one in frame["servers"] if one["clocks_off_ms"])
        assert all(0 <= one["busy"] <= 1 for one in frame["lanes"])
        for one in (each["agent"] for each in frame["operations"] if "agent" in each):
            if one["per_s"] > 0:  # each bucket's bound is twice the one before
                assert min(times) / 2 <= one["p50_ms"] <= one["p99_ms"] <= max(2 * max(times), 0.5)
    # At servers a long operation is two jobs: its head and its tail.
    at_servers = counted(frames, "servers")
    assert at_servers.keys() == expected.keys()
    assert all(count <= at_servers[op] <= 2 * count for op, count in expected.items())
    done = {one["name"]: 0.0 for one in frames[0]["agents"]}
    for frame in frames:
        for one in frame["agents"]:
            done[one["name"]] += one["per_s"] * frame["seconds"]
    assert {name: round(count) for name, count in done.items()} == \
        {"agent-kdc": len(load), "agent-admin": 0}


def test_a_terminal_is_left_as_it_was(realm):
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    text = ""
    with subprocess.Popen(command(realm, *of_agent(realm), "--interval", "0.2"), stdout=terminal,
                          stderr=subprocess.PIPE) as top:
        os.close(terminal)
        while text.count(HOME) < 3:
            text += os.read(controller, 65536).decode()
        top.send_signal(signal.SIGINT)
        assert top.wait(10) == 0 and top.stderr.read() == b""
    text += os.read(controller, 65536).decode()
    os.close(controller)
    assert text.startswith(ENTER) and text.endswith(LEAVE)
    frame = text.split(HOME)[2]
    lines = [re.sub(r"\x1b\[[?0-9]*[A-Za-z]", "", line) for line in frame.splitlines()]
    assert "tkdc top, agent agent-kdc: healthy, malicious" in lines[0]
    assert len(lines) <= ROWS and all(len(line) <= COLUMNS for line in lines), lines
    for head in ("OPERATION", "SERVER", "LANE"):
        assert any(line.startswith(head) for line in lines), lines


def test_it_ends_when_nobody_reads(realm):
    with subprocess.Popen(command(realm, *of_agent(realm), "--interval", "0.2"),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as top:
        assert top.stdout.readline().startswith("tkdc top, ")
        top.stdout.close()
        assert top.wait(10) == 0 and top.stderr.read() == ""


def test_the_status_is_asked_for_again_until_somebody_stops_it(realm):
    argv = [str(realm.bin / "tkdc"), "status", *of_agent(realm), "--watch", "1"]
    # Whoever runs the tests in the background has them ignore it.
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as watch:
        healthy = (line for line in watch.stdout if "tkdc is healthy" in line)
        assert next(healthy) and next(healthy)
        watch.send_signal(signal.SIGINT)
        watch.wait(10)


def test_the_database_is_opened_once_for_many_looks(realm, tmp_path):
    """tkdc-reconcile, which opens it, is another here that counts."""
    shutil.copy(realm.bin / "tkdc", tmp_path)
    asked, installation = tmp_path / "asked", json.loads(subprocess.run(
        [str(realm.bin / "tkdc"), "status", *of_agent(realm), "--json"], text=True, timeout=30,
        capture_output=True, check=False).stdout)["installation"]
    program = tmp_path / "tkdc-reconcile"

    def looks(dead: str, seconds: float = 4.5) -> int:
        asked.write_text("")
        program.write_text(f"#!/bin/sh\necho >>{asked}\necho '{{\"installation\":"
                           f"\"{installation}\",\"dead\":[{dead}]}}'\nexit {2 if dead else 0}\n")
        program.chmod(0o755)
        with subprocess.Popen([str(tmp_path / "tkdc"), "status", *of_agent(realm), "--watch", "1"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as watch:
            time.sleep(seconds)
            watch.terminate()
        return len(asked.read_text().splitlines())

    assert looks("") == 1
    assert looks('{"principal":"krbtgt/R@R","kvno":1,"enctype":18}') > 2, "until it is mended"


def test_a_server_alone(realm):
    once = subprocess.run(command(realm, *of_server(realm, 1), "--once", "--interval", "0.2"),
                          capture_output=True, text=True, timeout=30, check=False)
    assert once.returncode == 0 and once.stdout.startswith("tkdc top, server 1: healthy")
    assert "\x1b" not in once.stdout
    shown = subprocess.run([str(realm.bin / "tkdc"), "status", *of_server(realm, 1), "--json"],
                           capture_output=True, text=True, timeout=30, check=False)
    document = json.loads(shown.stdout)
    assert shown.returncode == 0 and document["healthy"] and document["of_server"] == 1
    assert [one["party"] for one in document["servers"]] == [1]


def test_nobody_there(realm, tmp_path):
    for option in ("--socket", "--server-socket"):
        done = subprocess.run(command(realm, option, str(tmp_path / "none")), capture_output=True,
                              text=True, timeout=30, check=False)
        assert done.returncode == 1 and str(tmp_path / "none") in done.stderr
