# SPDX-License-Identifier: Apache-2.0
"""A relay before each server's data plane, for a network that resets TCP connections.

`Resetter(realm)` stands between the servers of a realm that has been created and not started:
each [[peers]] address becomes the relay's. reset() ends every connection of one server, or of all,
with RST, at both ends, within whatever is being sent.
"""

import contextlib
import re
import selectors
import socket
import struct
import threading

from tests.support.realm import Realm

CHUNK = 1 << 16
LINGER = struct.pack("ii", 1, 0)  # close() sends RST and drops what waits


class _Pair:
    """A connection and its other half."""

    def __init__(self, server: int, ends: tuple[socket.socket, socket.socket]):
        self.server, self.ends = server, ends

    def reset(self) -> None:
        for end in self.ends:
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER)
            end.close()


class Resetter:
    def __init__(self, realm: Realm):
        self.lock, self.over = threading.Lock(), threading.Event()
        self.selector = selectors.DefaultSelector()
        self.pairs: list[_Pair] = []
        self.listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
        self.targets: list[int] = [0, 0, 0]
        for party in range(3):
            config = realm.server_directory(party) / "tkdc.toml"
            config.write_text(self._relayed(config.read_text()))
        for server, listener in enumerate(self.listeners):
            listener.setblocking(False)
            self.selector.register(listener, selectors.EVENT_READ, server)
        self.resets = 0
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _relayed(self, text: str) -> str:
        """A server's configuration with its peers behind the relays."""
        def through(peer: re.Match) -> str:
            party = int(peer[1])
            self.targets[party] = int(peer[3])
            return f"party = {party}{peer[2]}127.0.0.1:{self.listeners[party].getsockname()[1]}\""

        head, mark, peers = text.partition("[[peers]]")
        changed = re.sub(r"party = (\d)(\n(?:#.*\n)*address = \")127\.0\.0\.1:(\d+)\"", through,
                         peers)
        return head + mark + changed

    def __enter__(self) -> "Resetter":
        self.thread.start()
        return self

    def __exit__(self, *_exc) -> None:
        self.over.set()
        self.thread.join()
        for pair in self.pairs:
            pair.reset()
        for listener in self.listeners:
            listener.close()
        self.selector.close()

    def reset(self, server: int | None = None) -> int:
        """How many connections it has ended, of that server's own or of all."""
        with self.lock:
            chosen = [pair for pair in self.pairs if server is None or pair.server == server]
            for pair in chosen:
                self._drop(pair)
        self.resets += len(chosen)
        return len(chosen)

    def _drop(self, pair: _Pair) -> None:
        for end in pair.ends:
            with contextlib.suppress(KeyError, ValueError):
                self.selector.unregister(end)
        pair.reset()
        self.pairs.remove(pair)

    def _run(self) -> None:
        while not self.over.is_set():
            for key, _ in self.selector.select(0.05):
                with self.lock:
                    if isinstance(key.data, int):
                        self._accept(key.data)
                    elif key.data[0] in self.pairs:
                        self._carry(*key.data)

    def _accept(self, server: int) -> None:
        try:
            taken, _ = self.listeners[server].accept()
            onward = socket.create_connection(("127.0.0.1", self.targets[server]), timeout=5)
        except OSError:  # the server is not up
            with contextlib.suppress(UnboundLocalError):
                taken.close()
            return
        pair = _Pair(server, (taken, onward))
        self.pairs.append(pair)
        for source, sink in (pair.ends, pair.ends[::-1]):
            source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            source.settimeout(5)
            self.selector.register(source, selectors.EVENT_READ, (pair, source, sink))

    def _carry(self, pair: _Pair, source: socket.socket, sink: socket.socket) -> None:
        try:
            data = source.recv(CHUNK)
            sink.sendall(data)
        except OSError:
            data = b""
        if not data:
            self._drop(pair)
