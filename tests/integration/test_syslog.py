# SPDX-License-Identifier: Apache-2.0
"""Lines go to another host as config/monitoring/tkdc.rsyslog.conf has it: with a real rsyslogd,
which ./bootstrap --test unpacks, and a log that is closed, as servers close theirs."""

import json
import os
import re
import socket
import subprocess
import threading

import pytest

from tests.integration.conftest import STOCK
from tests.support.monitoring import free_port
from tests.support.process import wait_until
from tests.support.realm import ROOT

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]

EXAMPLE = ROOT / "config" / "monitoring" / "tkdc.rsyslog.conf"
UNPACKED = ROOT / "build" / "debian"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
AUDIT, HOST, PORT = "/var/lib/tkdc/server0/audit.jsonl", "logs.example.test", 'port="514"'
SOON_S = 20


class OtherHost:
    """Takes syslog's lines over TCP."""

    def __init__(self, port: int):
        self.said: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._read, args=(connection,), daemon=True).start()

    def _read(self, connection: socket.socket) -> None:
        with connection, connection.makefile(encoding="utf-8") as lines:
            self.said.extend(line.rstrip("\n") for line in lines)

    def audit(self) -> list[str]:
        return [line.split("tkdc-audit: ", 1)[1] for line in self.said if "tkdc-audit: " in line]

    def close(self) -> None:
        self._listener.close()


class Rsyslog:
    def __init__(self, folder, port: int):
        self.folder, self.config = folder, folder / "rsyslog.conf"
        self.log, self.process = folder / "audit.jsonl", None
        (folder / "work").mkdir()
        text = EXAMPLE.read_text()
        for was, becomes in ((AUDIT, str(self.log)), (HOST, "127.0.0.1"), (PORT, f'port="{port}"')):
            assert text.count(was) == 1, f"{EXAMPLE} says it in another way: {was}"
            text = text.replace(was, becomes)
        # As Debian's rsyslog.conf begins, with a socket of its own in /dev/log's place.
        self.config.write_text(
            f'global(workDirectory="{folder}/work")\n'
            'module(load="imuxsock" SysSock.Use="off")\n'
            f'input(type="imuxsock" Socket="{folder}/log")\n' + text)

    def argv(self, *more: str) -> list[str]:
        program = UNPACKED / "rsyslog/usr/sbin/rsyslogd"
        if not program.exists():
            pytest.fail("rsyslog is not unpacked: ./bootstrap --test")
        return [str(program), "-f", str(self.config), "-i", str(self.folder / "pid"), *more,
                "-M", str(UNPACKED / "rsyslog" / LIBRARIES / "rsyslog")]

    def env(self) -> dict[str, str]:
        libraries = [str(UNPACKED / one / LIBRARIES) for one in ("libestr0", "libfastjson4")]
        return {**os.environ, "LD_LIBRARY_PATH": ":".join(libraries)}

    def start(self) -> None:
        self.process = subprocess.Popen(self.argv("-n"), env=self.env())

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(SOON_S)

    def append(self, line: str) -> None:
        with open(self.log, "a", encoding="utf-8") as out:
            out.write(line + "\n")

    def close_file(self, number: int, first_of_next: str) -> None:
        """As a server does: the next one begins, this one gets a second name and is replaced."""
        draft = self.log.with_name("audit.jsonl.new")
        draft.write_text(first_of_next + "\n", encoding="utf-8")
        os.link(self.log, f"{self.log}.{number}")
        draft.rename(self.log)


@pytest.fixture(name="port")
def fixture_port():
    return free_port()


@pytest.fixture(name="other_host")
def fixture_other_host(port):
    host = OtherHost(port)
    yield host
    host.close()


@pytest.fixture(name="rsyslog")
def fixture_rsyslog(tmp_path, port):
    rsyslog = Rsyslog(tmp_path, port)
    yield rsyslog
    if rsyslog.process:
        rsyslog.stop()


def line(number: int) -> str:
    return json.dumps({"n": number, "event": "job", "op": "seal", "prev": "ab" * 32})


def test_rsyslog_takes_the_example(rsyslog):
    done = subprocess.run(rsyslog.argv("-N1"), env=rsyslog.env(), capture_output=True, text=True,
                          timeout=SOON_S, check=False)
    assert done.returncode == 0 and "error" not in done.stderr.lower(), done.stderr


def test_each_audit_line_goes_to_the_other_host_once(rsyslog, other_host):
    """Those of before, those behind a file that was closed, and those of a restart."""
    for number in range(3):
        rsyslog.append(line(number))
    rsyslog.start()
    wait_until(lambda: len(other_host.audit()) >= 3, SOON_S, "the lines of before are there")
    rsyslog.append(line(3))
    wait_until(lambda: len(other_host.audit()) >= 4, SOON_S, "and one that is new")
    rsyslog.close_file(4, line(4))
    rsyslog.append(line(5))
    wait_until(lambda: len(other_host.audit()) >= 6, SOON_S, "and those of the next file")
    rsyslog.stop()
    rsyslog.append(line(6))
    rsyslog.start()
    wait_until(lambda: len(other_host.audit()) >= 7, SOON_S, "and one of when rsyslog was down")
    assert other_host.audit() == [line(number) for number in range(7)]


def test_what_daemons_log_goes_there_and_nothing_else(rsyslog, other_host):
    rsyslog.append(line(0))
    rsyslog.start()
    wait_until((rsyslog.folder / "log").exists, SOON_S, "its socket is there")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journald:
        journald.connect(str(rsyslog.folder / "log"))
        for said in ("sshd[7]: not for there", "tkdc-server[8]: session up",
                     "tkdc-agent[9]: server 2 is away"):
            journald.send(f"<30>{said}".encode())
    wait_until(lambda: len(other_host.said) >= 3, SOON_S, "two lines and an audit line")
    found = sorted(re.search(r"(tkdc-\w+)\S* ?(.*)", one).group() for one in other_host.said)
    assert found == ["tkdc-agent[9]: server 2 is away", f"tkdc-audit: {line(0)}",
                     "tkdc-server[8]: session up"]
