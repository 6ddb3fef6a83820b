# SPDX-License-Identifier: Apache-2.0
"""Commands of the operator that take long: how far they are is shown on a terminal, and whoever
stops one finds all as it was."""

import hashlib
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.integration.conftest import STOCK
from tests.support.process import wait_until
from tests.support.realm import default_bin
from tests.support.terminal import run_on_terminal

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
LINES = 300_000
CLEARED = "\r\033[K"


@pytest.fixture(scope="module", name="log")
def fixture_log(tmp_path_factory) -> Path:
    """A server's, of some months."""
    path, head = tmp_path_factory.mktemp("audit") / "audit.jsonl", b"\0" * 32
    with path.open("wb") as out:
        for n in range(1, LINES + 1):
            line = (f'{{"n":{n},"prev":"{head.hex()}","time":"2026-09-21T14:13:20.000Z",'
                    '"event":{"event":"open","party":0}}').encode()
            head = hashlib.blake2b(line, digest_size=32).digest()
            out.write(line + b"\n")
    return path


def verify(log: Path) -> list[str]:
    return [str(default_bin() / "tkdc"), "audit", "verify", str(log)]


def test_a_check_says_how_far_it_is(log):
    done = run_on_terminal(verify(log))
    assert done.code == 0 and f"{LINES} lines in 1 file, whole" in done.output, done
    shown = done.errors.split(CLEARED)
    mebibytes = -(-log.stat().st_size // 2**20)
    assert f"0 of {mebibytes} MiB of {log}" in shown, shown[:3]
    assert any(" a second, some " in one for one in shown), "rate and time left"
    assert shown[-1] == "", "the line is gone at the end"


def catches(pid: int, number: signal.Signals) -> bool:
    caught = re.search(r"^SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return bool(int(caught[1], 16) >> (number - 1) & 1)


def test_a_check_that_is_stopped_says_so(log):
    with subprocess.Popen(verify(log), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as one:
        wait_until(lambda: catches(one.pid, signal.SIGINT), 10, "a handler")
        one.send_signal(signal.SIGINT)
        output, errors = one.communicate(timeout=20)
    assert one.returncode == 1 and output == "", (one.returncode, output)
    assert errors == "tkdc audit verify: stopped, as it was asked to\n"
