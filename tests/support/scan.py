# SPDX-License-Identifier: Apache-2.0
"""Drives keyscan: the search proper and its positive control. See keyscan/forms.h."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.support.keymaterial import Values
from tests.support.process import RealmError

SEARCH_TIMEOUT_S = 900


@dataclass(frozen=True)
class Finding:
    target: str
    value: str
    form: str
    stride: int
    count: int
    where: str


@dataclass(frozen=True)
class Report:
    forms: dict[str, int]  # how many, by value
    octets: dict[str, int]  # by target
    findings: list[Finding]


def distinct(values: Values) -> Values:
    """One name for each value, so that none is looked for twice."""
    by_octets: dict[bytes, str] = {}
    for name, octets in values:
        by_octets.setdefault(octets, name)
    return [(name, octets) for octets, name in by_octets.items()]


def _lines(values: Values) -> str:
    return "".join(f"{name} {octets.hex()}\n" for name, octets in values)


class Scanner:
    def __init__(self, program: Path):
        self.program = str(program)

    def search(self, values: Values, pids: dict[str, int], paths: dict[str, Path],
               bulk: dict[str, Path] | None = None) -> Report:
        """RealmError when a target cannot be read: an unread target proves nothing. Through
        `bulk`, of which there are gigabytes, for forms whose octets lie side by side alone."""
        argv = [self.program, "search"]
        for name, pid in pids.items():
            argv += ["--pid", f"{name}={pid}"]
        for name, path in paths.items():
            argv += ["--path", f"{name}={path}"]
        for name, path in (bulk or {}).items():
            argv += ["--bulk", f"{name}={path}"]
        done = subprocess.run(argv, input=_lines(distinct(values)), text=True,
                              capture_output=True, timeout=SEARCH_TIMEOUT_S, check=False)
        if done.returncode != 0:
            raise RealmError(f"the search for key material failed: {done.stderr.strip()}")
        return _report(json.loads(done.stdout))

    def control(self, values: Values) -> tuple[int, list[str]]:
        """Searches a process that holds `values`; how many forms it holds, and those missed."""
        holder = subprocess.Popen([self.program, "hold"], text=True, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        assert holder.stdin is not None and holder.stdout is not None
        try:
            holder.stdin.write(_lines(values) + ".\n")
            holder.stdin.flush()
            held = json.loads(holder.stdout.readline())
            report = self.search(values, {"control": holder.pid}, {})
        finally:
            holder.stdin.close()
            holder.wait(10)
        found = {(f.value, f.form, f.stride): f.count for f in report.findings}
        missed = [f"{h['value']} as {h['form']}, every {h['stride']} octets" for h in held
                  if found.get((h["value"], h["form"], h["stride"]), 0) < h["count"]]
        return len(held), missed


def _report(raw: dict) -> Report:
    findings = [Finding(target["name"], f["value"], f["form"], f["stride"], f["count"], f["where"])
                for target in raw["targets"] for f in target["found"]]
    return Report(raw["forms"], {t["name"]: t["octets"] for t in raw["targets"]}, findings)
