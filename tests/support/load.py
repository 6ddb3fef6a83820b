# SPDX-License-Identifier: Apache-2.0
"""Clients that do the same over and over, a thread each, while a test does something else."""

import threading
from collections.abc import Callable, Iterable

from tests.support.kerberos import Client, Outcome

JOIN_S = 120


class Load:
    """Counts what came of it. Ends with the `with` block."""

    def __init__(self, clients: Iterable[Client], work: Callable[[Client], Outcome]):
        self._work = work
        self._stop = threading.Event()
        self.ok, self.errors = 0, []
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._run, args=(one,)) for one in clients]

    def _run(self, client: Client) -> None:
        while not self._stop.is_set():
            done = self._work(client)
            with self._lock:
                if done.ok:
                    self.ok += 1
                else:
                    self.errors.append(done.errors.strip())

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_exc) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(JOIN_S)
        assert not any(t.is_alive() for t in self._threads), "a client hangs"

    def assert_no_wrong_answers(self) -> None:
        """An outage may cost logins; it never answers that a key or a password is wrong."""
        for error in self.errors:
            assert "Password incorrect" not in error, error
            assert "integrity check failed" not in error, error
            assert "not found in Kerberos database" not in error, error
