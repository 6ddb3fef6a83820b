# SPDX-License-Identifier: Apache-2.0
"""One script, run once; what came of it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.mit_suite import departures
from tests.mit_suite.source import Source

SKIPPING = re.compile(r"^\*\*\* Skipping: (.*)$", re.MULTILINE)
FAILURE = re.compile(r"^\*\*\* Failure: (.*)$", re.MULTILINE)
LAST_MARK = re.compile(r"^====== (.*) ======$", re.MULTILINE)
COMPLAINT = re.compile(r"^(\w*(?:Error|Exception)\b.*|departures\.py names .*)$", re.MULTILINE)


@dataclass
class Result:
    outcome: str  # passed, skipped, failed
    seconds: float
    failure: str = ""
    last_mark: str = ""
    skipped: list[str] = field(default_factory=list)
    departures: list[str] = field(default_factory=list)
    operations: int = 0

    def as_json(self) -> dict:
        return asdict(self)


class Runner:
    """Scripts of one variant: stock, or with the installation's settings."""

    def __init__(self, source: Source, variant: str, tkdc: dict | None, timeout_s: float):
        self.source, self.variant, self.tkdc, self.timeout_s = source, variant, tkdc, timeout_s
        self.logs = source.directory / "logs" / variant
        self.logs.mkdir(parents=True, exist_ok=True)

    def run(self, script: str) -> Result:
        whole = [d for d in departures.of(script) if d.whole_script()] if self.tkdc else []
        if whole:
            return Result("skipped", 0.0, departures=[d.reason for d in whole])
        base = self.logs / script.replace("/", "_").removesuffix(".py")
        record = base.with_suffix(".departures")
        record.unlink(missing_ok=True)
        settings = {"name": script, "util": str(self.source.source / "util"),
                    "record": str(record), **({"tkdc": self.tkdc} if self.tkdc else {})}
        base.with_suffix(".json").write_text(json.dumps(settings))
        started = time.monotonic()
        code = self._execute(script, base)
        seconds = round(time.monotonic() - started, 1)
        result = self._judge(code, base.with_suffix(".log").read_text(errors="replace"))
        result.seconds = seconds
        used = record.read_text().splitlines() if record.exists() else []
        result.departures = [json.loads(line) for line in used]
        if self.tkdc:
            result.departures += [d.described() for d in departures.of(script) if d.leave_out]
        return result

    def _execute(self, script: str, base: Path) -> int | None:
        """The exit status; None when time ran out. Verbose, since the log is all that stays."""
        launch = Path(__file__).with_name("launch.py")
        argv = [sys.executable, "-B", str(launch), str(base.with_suffix(".json")),
                str(self.source.source / script), "-v"]
        env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
               "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"}
        folder = self.source.build / Path(script).parent
        with open(base.with_suffix(".log"), "wb") as log:
            process = subprocess.Popen(argv, cwd=folder, env=env, stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, start_new_session=True)
            try:
                return process.wait(self.timeout_s)
            except subprocess.TimeoutExpired:
                return None
            finally:
                self._end_group(process.pid)
                process.wait()

    @staticmethod
    def _end_group(leader: int) -> None:
        """Daemons that the script left, in the session that was made for it."""
        try:
            os.killpg(leader, signal.SIGKILL)
        except ProcessLookupError:
            return

    def _judge(self, code: int | None, log: str) -> Result:
        skipped = SKIPPING.findall(log)
        marks = LAST_MARK.findall(log)
        if code == 0:
            nothing = skipped and "Completed with return code" not in log
            return Result("skipped" if nothing else "passed", 0.0, skipped=skipped)
        found = FAILURE.findall(log) or COMPLAINT.findall(log)
        failure = found[0] if found else f"exit status {code}"
        if code is None:
            failure = f"not done after {self.timeout_s:.0f} s"
        return Result("failed", 0.0, failure, marks[-1] if marks else "", skipped)
