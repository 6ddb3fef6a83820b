# SPDX-License-Identifier: Apache-2.0
"""Network namespaces joined by nothing but storm-wan, which delays what goes between them.

They are made for one scenario and end with it. Nothing of the host's network is touched. Needs
root; where the kernel has no network namespaces or no TUN, RealmError says so.
"""

import ctypes
import os
import subprocess
from pathlib import Path

from tests.support.process import RealmError

CLONE_NEWNET = 0x40000000


class Network:
    """`nodes` machines. enter() moves the calling thread, and what it starts, to one of them; end()
    brings it home."""

    def __init__(self, binaries: Path, nodes: int):
        self.process = subprocess.Popen([str(binaries / "storm-wan"), str(nodes)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.addresses: list[str] = []
        self.paths: list[str] = []
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        while (line := self._line()) != "ready":
            _, _, address, path = line.split()
            self.addresses.append(address)
            self.paths.append(path)

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line:
            self.process.wait(10)
            assert self.process.stderr is not None
            raise RealmError(self.process.stderr.read().strip() or "storm-wan ended")
        return line

    def delay(self, one_way_ms: float) -> None:
        """Between any two nodes, from now on."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"delay {one_way_ms}\n")
        self.process.stdin.flush()
        answer = self._line().split()
        if answer[:1] != ["delay"] or answer[3] != "0":
            raise RealmError(f"storm-wan: {' '.join(answer)}")

    def enter(self, node: int) -> None:
        there = os.open(self.paths[node], os.O_RDONLY | os.O_CLOEXEC)
        self._join(there)
        os.close(there)

    def _join(self, descriptor: int) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(descriptor, CLONE_NEWNET) != 0:
            raise RealmError(f"setns: {os.strerror(ctypes.get_errno())}")

    def prefix(self, node: int) -> list[str]:
        """What starts a program there."""
        return ["nsenter", f"--net={self.paths[node]}", "--"]

    def end(self) -> None:
        self._join(self.home)
        os.close(self.home)
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
