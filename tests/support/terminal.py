# SPDX-License-Identifier: Apache-2.0
"""A program at a terminal: what it shows there of long work, and what is typed to it."""

import os
import pty
import subprocess
import threading

from tests.support.kerberos import Outcome


def run_on_terminal(argv: list[str], env: dict[str, str] | None = None,
                    timeout_s: float = 120, typed: str | None = None) -> Outcome:
    """Its output, and what it wrote on the terminal. `typed`: stdin is the terminal, too."""
    ours, terminal = pty.openpty()
    shown = []

    def read() -> None:
        while True:
            try:
                octets = os.read(ours, 4096)
            except OSError:  # EIO: nobody has the other end any more
                return
            if not octets:
                return
            shown.append(octets)

    stdin = subprocess.DEVNULL if typed is None else terminal
    process = subprocess.Popen(argv, env=env, stdin=stdin, stdout=subprocess.PIPE,
                               stderr=terminal, text=True)
    os.write(ours, (typed or "").encode())
    os.close(terminal)
    reader = threading.Thread(target=read)
    reader.start()
    try:
        output = process.communicate(timeout=timeout_s)[0]
    finally:
        process.kill()
        process.wait()
        reader.join()
        os.close(ours)
    return Outcome(process.returncode, output, b"".join(shown).decode())
