# SPDX-License-Identifier: Apache-2.0
"""Ends a running program of ours at a named step, without a word of that in the program.

A breakpoint instruction is written over the step's own code, in that process alone; whichever
thread comes there first ends the process by SIGTRAP. Nobody handles that signal: as with kill -9
nothing is written, said or closed any more.
"""

import functools
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.support.process import RealmError

BREAKPOINT = b"\xcc"


@dataclass(frozen=True)
class Step:
    """The call of a function: before its first instruction, or when it is about to return."""

    function: str  # without our namespace, as far as it has to be said
    after: bool = False

    def __str__(self) -> str:
        return f"{'after' if self.after else 'before'} {self.function}"


def printed(argv: list[str]) -> str:
    return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=True).stdout


@functools.cache
def symbols(program: Path) -> tuple[tuple[int, int, str], ...]:
    """Functions with their address and length."""
    lines = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [tTwW] (.+)$",
                       printed(["nm", "-C", "-S", "--defined-only", str(program)]), re.MULTILINE)
    return tuple((int(at, 16), int(size, 16), name) for at, size, name in lines)


@functools.cache
def addresses(program: Path, step: Step) -> tuple[int, ...]:
    found = [(at, size) for at, size, name in symbols(program)
             if name.startswith(f"tkdc::{step.function}(") and "[clone" not in name]
    if len(found) != 1:
        raise RealmError(f"{program} has {len(found)} functions {step.function}")
    at, size = found[0]
    if not step.after:
        return (at,)
    code = printed(["objdump", "-d", "--no-show-raw-insn", f"--start-address={at}",
                    f"--stop-address={at + size}", str(program)])
    ends = []
    for line in code.splitlines():
        shown = re.match(r"^ *([0-9a-f]+):\s+(ret|jmp)\b *(?:([0-9a-f]+) <([^>]+)>)?", line)
        if not shown:
            continue
        there, what, to, name = shown.groups()
        # Its last act may be another function's call. What is rare lies elsewhere (".cold").
        leaves = to and not at <= int(to, 16) < at + size and not name.partition("+")[0].endswith(
            ".cold")
        if what == "ret" or leaves:
            ends.append(int(there, 16))
    if not ends:
        raise RealmError(f"{step.function} of {program} has no instruction that returns")
    return tuple(ends)


def end_at(pid: int, step: Step) -> None:
    program = Path(f"/proc/{pid}/exe").resolve()
    maps = Path(f"/proc/{pid}/maps").read_text()
    base = next(int(line.split("-")[0], 16) for line in maps.splitlines()
                if line.endswith(str(program)))
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        for address in addresses(program, step):
            memory.seek(base + address)
            memory.write(BREAKPOINT)
