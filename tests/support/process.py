# SPDX-License-Identifier: Apache-2.0
"""Long-running programs of a realm: started, awaited, stopped by pid, output kept in a log.

Readiness is sd_notify's READY=1 where the program knows it, else a TCP port that answers.
Every wait has a deadline; what failed says which log to read, with the log's last lines.
"""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

STOP_TIMEOUT_S = 10.0


class RealmError(Exception):
    """A realm, or a program of it, did not do what it should in time."""


def wait_until(check, timeout_s: float, what: str, pause_s: float = 0.05):
    """The first true value of check(); RealmError when the time is over."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = check()
        if value:
            return value
        if time.monotonic() >= deadline:
            raise RealmError(f"{what}: not within {timeout_s:.0f} s")
        time.sleep(pause_s)


def port_answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def ports_free(ports: list[int]) -> bool:
    for port in ports:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            with socket.socket(socket.AF_INET, kind) as probe:
                if kind == socket.SOCK_STREAM:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError:
                    return False
    return True


class Daemon:
    """One program, its log, and where it notifies that it is ready."""

    def __init__(self, name: str, argv: list[str], env: dict[str, str], directory: Path):
        self.name, self.argv, self.env = name, argv, env
        self.log = directory / f"{name}.log"
        self._notify_path = directory / f"{name}.notify"
        self._notify: socket.socket | None = None
        self.process: subprocess.Popen | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None, f"{self.name} was not started"
        return self.process.pid

    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        self._notify_path.unlink(missing_ok=True)
        self._notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        self._notify.bind(str(self._notify_path))
        env = {**self.env, "NOTIFY_SOCKET": str(self._notify_path)}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.argv, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )

    def wait_notified(self, timeout_s: float) -> None:
        assert self._notify is not None
        deadline = time.monotonic() + timeout_s
        while True:
            if not self.running():
                raise RealmError(f"{self.name} ended while starting\n{self.tail()}")
            left = deadline - time.monotonic()
            if left <= 0:
                raise RealmError(f"{self.name} was not ready in {timeout_s:.0f} s\n{self.tail()}")
            self._notify.settimeout(min(left, 0.2))
            try:
                message = self._notify.recv(4096).decode(errors="replace")
            except TimeoutError:
                continue
            if "READY=1" in message.split("\n"):
                self._close()  # unread, what follows would fill it and block the program
                return

    def wait_port(self, port: int, timeout_s: float) -> None:
        def check():
            if not self.running():
                raise RealmError(f"{self.name} ended while starting\n{self.tail()}")
            return port_answers(port)

        wait_until(check, timeout_s, f"{self.name} on port {port} (log: {self.log})")

    def signal(self, number: int) -> None:
        if self.running():
            os.kill(self.pid, number)

    def stop(self) -> int | None:
        """SIGTERM, then SIGKILL after STOP_TIMEOUT_S; the exit status, None if never started."""
        if self.process is None:
            return None
        if self.running():
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.kill()
        self._close()
        return self.process.returncode

    def kill(self) -> None:
        """As a crash would: SIGKILL, at once."""
        if self.running():
            self.signal(signal.SIGKILL)
            assert self.process is not None
            self.process.wait(STOP_TIMEOUT_S)
        self._close()

    def _close(self) -> None:
        if self._notify is not None:
            self._notify.close()
            self._notify = None
        self._notify_path.unlink(missing_ok=True)

    def tail(self, lines: int = 15) -> str:
        try:
            text = self.log.read_text(errors="replace").splitlines()[-lines:]
        except OSError:
            text = ["(no log)"]
        return "\n".join([f"last lines of {self.log}:", *("  " + line for line in text)])
