# SPDX-License-Identifier: Apache-2.0
"""Where tkdc-storm runs: a folder, a KDC on loopback, its users, and the processes to watch.

Scene (a realm) and Alone (a responder) are stages. The generator ends by itself; what a stage
started is stopped by its context manager, which then removes the folder unless something failed.
"""

import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from tests.support.process import RealmError
from tests.support.realm import ROOT

NAME = "STORM.REALM"
PATTERN = "user%03d"
PASSWORD = "the common password of the load generator's users"
LATE_ANSWERS_S = 1  # those of a run before, to ports that are given out again
GENERATOR_EXTRA_S = 90  # over its planned time


def new_folder() -> Path:
    # Unix socket paths are short: not below a long temporary folder.
    return Path(tempfile.mkdtemp(prefix="storm-", dir=os.environ.get("STORM_DIR", "/tmp")))


class Stage:
    """Who derives from it has env(), kdc_port(), processes() by name, and stop()."""

    directory: Path
    bin: Path
    users: int

    def __exit__(self, failure: type | None, *_rest) -> None:
        self.stop()
        if failure is None and os.environ.get("KEEP", "") in ("", "0"):
            shutil.rmtree(self.directory, ignore_errors=True)

    @property
    def password_file(self) -> Path:
        return self.directory / "password"

    def write_password(self) -> None:
        self.password_file.write_text(PASSWORD + "\n")

    def who(self) -> list[str]:
        """The generator's users."""
        return ["--user", PATTERN, "--users", str(self.users),
                "--password-file", str(self.password_file)]

    def generator(self, who: list[str], *options: str) -> list[str]:
        watch = [f"--watch={name}=" + "+".join(map(str, pids))
                 for name, pids in self.processes().items()]
        return [str(self.bin / "tkdc-storm"), "--kdc", f"127.0.0.1:{self.kdc_port()}",
                "--realm", NAME, *who, *watch, *options]

    def storm(self, *options: str, duration_s: float, report: str = "",
              who: list[str] | None = None) -> dict:
        """Runs the generator; its JSON, with its exit status as "status"."""
        time.sleep(LATE_ANSWERS_S)
        return self.finish_storm(self.start_storm(*options, duration_s=duration_s, report=report,
                                                  who=who), duration_s)

    def start_storm(self, *options: str, duration_s: float, report: str = "",
                    name: str = "storm", who: list[str] | None = None) -> subprocess.Popen:
        """`name`: two generators at once have different ones. `who`: other users."""
        results = self.directory / f"{name}.json"
        where = [f"--json={results}", f"--duration={duration_s}"]
        if report:
            folder = ROOT / "build" / "storm"
            folder.mkdir(parents=True, exist_ok=True)
            where += [f"--html={folder / report}.html", f"--title={report}"]
        results.unlink(missing_ok=True)
        return subprocess.Popen(self.generator(who or self.who(), *where, *options),
                                env=self.env(), stdin=subprocess.DEVNULL)

    def finish_storm(self, process: subprocess.Popen, duration_s: float,
                     name: str = "storm") -> dict:
        results = self.directory / f"{name}.json"
        try:
            status = process.wait(duration_s + GENERATOR_EXTRA_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        if not results.exists():
            raise RealmError(f"tkdc-storm gave no results (exit status {status})")
        return {**json.loads(results.read_text()), "status": status}


def cpu_per_answer_us(result: dict) -> dict[str, float]:
    answers = result["counts"]["ok"] + result["counts"]["refused"]
    return {name: 1e6 * process["cpu_s"] / max(1, answers)
            for name, process in result["processes"].items()}
