# SPDX-License-Identifier: Apache-2.0
"""MIT's own test suite, without tkdc and with it: `make mit-suite`, docs/mit-suite.md.

    python3 -m tests.mit_suite [--only SCRIPT ...] [--variant stock|tkdc] [--again] [--report]

Fetches Debian's krb5 source package, builds it outside the tree (TKDC_MIT_SUITE, else
~/.cache/tkdc/mit-suite), and runs its Python scripts one at a time. Results are kept there by
script and variant, and only what has none yet, or failed, is run; --again runs all. --report
writes docs/mit-suite.md's tables from them. Status 1 when a script fails with tkdc that passes
without. One run at a time: the suite's ports are fixed.
"""

import argparse
import fcntl
import json
import os
import signal
import sys
from contextlib import nullcontext
from pathlib import Path

from tests.mit_suite import report, scripts
from tests.mit_suite.installation import Installation
from tests.mit_suite.run import Runner
from tests.mit_suite.source import Source, SourceError

ROOT = Path(__file__).resolve().parents[2]
VARIANTS = ("stock", "tkdc")
TIMEOUT_S = {"stock": 600.0, "tkdc": 1800.0}


def say(text: str) -> None:
    print(f"mit-suite: {text}", flush=True)


def default_directory() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("TKDC_MIT_SUITE") or cache / "tkdc" / "mit-suite").resolve()


class Results:
    def __init__(self, path: Path):
        self.path = path
        self.all: dict[str, dict[str, dict]] = json.loads(path.read_text()) if path.exists() else {}

    def outcome(self, script: str, variant: str) -> str:
        return self.all.get(script, {}).get(variant, {}).get("outcome", "")

    def store(self, script: str, variant: str, result: dict) -> None:
        self.all.setdefault(script, {})[variant] = result
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.all, indent=1, sort_keys=True) + "\n")
        new.replace(self.path)

    def worse(self) -> list[str]:
        return [name for name in self.all if self.outcome(name, "tkdc") == "failed"
                and self.outcome(name, "stock") == "passed"]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="mit_suite", description="MIT's suite against tkdc")
    parser.add_argument("--only", nargs="+", default=[], metavar="SCRIPT",
                        help="names like t_skew.py, or gssapi/t_s4u.py")
    parser.add_argument("--variant", choices=VARIANTS, help="one of both only")
    parser.add_argument("--again", action="store_true", help="also what has a result")
    parser.add_argument("--report", action="store_true", help="write the tables, run nothing")
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "dev" / "bin")
    return parser.parse_args()


def chosen(source: Source, only: list[str]) -> list[str]:
    found = [str(path.relative_to(source.source))
             for folder in scripts.FOLDERS
             for path in (source.source / folder).glob("t_*.py")
             if "k5test" in path.read_text(errors="replace")]
    names = scripts.ordered(found)
    if not only:
        return names
    picked = [name for name in names if any(name.endswith("/" + want) for want in only)]
    if not picked:
        raise SourceError(f"the suite has no {' '.join(only)}")
    return picked


def run_variant(variant: str, names: list[str], source: Source, results: Results,
                binaries: Path) -> None:
    if not names:
        return
    tkdc = variant == "tkdc"
    with (Installation(source.directory / "realm", binaries) if tkdc
          else nullcontext()) as installation:
        settings = installation.settings() if installation else None
        runner = Runner(source, variant, settings, TIMEOUT_S[variant])
        for name in names:
            before = installation.operations() if installation else 0
            result = runner.run(name)
            if installation:
                result.operations = installation.operations() - before
                if not installation.ready():
                    result.outcome, result.failure = "failed", "tkdc's servers are not in session"
            results.store(name, variant, result.as_json())
            say(f"{variant:5} {name}: {result.outcome} {result.failure} {result.seconds:.0f} s")
            if installation and not installation.ready():
                raise SourceError("the servers are not in session: see " + str(
                    source.directory / "realm" / "log"))


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what runs is stopped
    options = arguments()
    directory = default_directory()
    directory.mkdir(parents=True, exist_ok=True)
    results = Results(directory / "results.json")
    source = Source(directory, say)
    if options.report:
        report.write(ROOT / "docs" / "mit-suite.md", results.all, source.version())
        return 0
    with open(directory / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        source.prepare()
        names = chosen(source, options.only)
        for variant in [options.variant] if options.variant else VARIANTS:
            todo = [name for name in names if options.again or options.only
                    or results.outcome(name, variant) not in ("passed", "skipped")]
            run_variant(variant, todo, source, results, options.bin)
    worse = results.worse()
    for name in worse:
        say(f"fails with tkdc, passes without: {name}: {results.all[name]['tkdc']['failure']}")
    return 1 if worse else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SourceError as problem:
        sys.exit(f"mit-suite: {problem}")
