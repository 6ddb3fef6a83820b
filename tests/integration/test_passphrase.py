# SPDX-License-Identifier: Apache-2.0
"""How `tkdc approver` asks for a passphrase on a terminal, and what it leaves when it is stopped.

Input follows its prompt, which comes when the terminal is ready for it: nothing depends on time.
"""

import os
import pty
import select
import signal
import subprocess
import termios

import pytest

from tests.integration.conftest import STOCK
from tests.support.realm import default_bin

pytestmark = pytest.mark.skipif(STOCK, reason="about tkdc's own command")

LONGEST_S = 60
FIRST, AGAIN = "new key: ", "new key, again: "


class Asked:
    """The program on a terminal of its own; its messages come through a pipe."""

    def __init__(self, out):
        self.ours, self.terminal = pty.openpty()
        self.program = subprocess.Popen(
            [str(default_bin() / "tkdc"), "approver", "--out", str(out)], stdin=self.terminal,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            # A shell that runs the tests in the background has it ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.said = ""

    def prompted(self, prompt: str) -> None:
        while not self.said.endswith(prompt):
            ready, _, _ = select.select([self.program.stderr], [], [], LONGEST_S)
            octets = os.read(self.program.stderr.fileno(), 4096) if ready else b""
            assert octets, f"{prompt!r} did not come: {self.said!r}"
            self.said += octets.decode()

    def type(self, octets: bytes) -> None:
        os.write(self.ours, octets)

    def shows_input(self) -> bool:
        return bool(termios.tcgetattr(self.terminal)[3] & termios.ECHO)

    def end(self) -> tuple[int, str]:
        _, errors = self.program.communicate(timeout=LONGEST_S)
        assert self.shows_input()
        return self.program.returncode, self.said + errors.decode()


@pytest.fixture
def asked(tmp_path):
    started = Asked(tmp_path / "my.key")
    started.out = tmp_path / "my.key"
    yield started
    if started.program.poll() is None:
        started.program.kill()
        started.program.communicate()
    os.close(started.ours)
    os.close(started.terminal)


def test_a_new_one_is_asked_for_twice_and_not_shown(asked):
    for prompt in (FIRST, AGAIN):
        asked.prompted(prompt)
        assert not asked.shows_input()
        asked.type(b"a long passphrase\n")
    assert asked.end()[0] == 0
    assert asked.out.stat().st_size > 0


def test_two_that_differ_make_no_key(asked):
    asked.prompted(FIRST)
    asked.type(b"a long passphrase\n")
    asked.prompted(AGAIN)
    asked.type(b"a long passphrasf\n")
    code, errors = asked.end()
    assert code == 1 and "two different passphrases" in errors
    assert not asked.out.exists()


def test_one_that_was_cut_short_is_refused(asked):
    asked.prompted(FIRST)
    asked.type(b"a long passphrase\x04\x04")  # no return key
    code, errors = asked.end()
    assert code == 1 and "not ended by the return key" in errors
    assert not asked.out.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stopped_it_leaves_the_terminal_as_it_was(asked, number):
    asked.prompted(FIRST)
    assert not asked.shows_input()
    asked.type(b"half of a pass")
    asked.program.send_signal(number)
    assert asked.end()[0] == -number
    assert not asked.out.exists()


def test_other_signals_change_nothing(asked):
    asked.prompted(FIRST)
    asked.program.send_signal(signal.SIGSTOP)
    asked.program.send_signal(signal.SIGCONT)
    asked.type(b"a long passphrase\n")
    asked.prompted(AGAIN)
    asked.type(b"a long passphrase\n")
    assert asked.end()[0] == 0


def test_what_exists_is_not_overwritten(asked):
    asked.out.write_bytes(b"a key")
    for prompt in (FIRST, AGAIN):
        asked.prompted(prompt)
        asked.type(b"a long passphrase\n")
    code, errors = asked.end()
    assert code == 1 and "remove it if a run was interrupted" in errors
    assert asked.out.read_bytes() == b"a key"
