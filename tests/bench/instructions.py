# SPDX-License-Identifier: Apache-2.0
"""Instruction counts of the engine's kernels, compared with a reference.

    python3 -m tests.bench.instructions PROGRAMS [--write]

Each workload of tests/bench/workload.cc is counted function by function: with
callgrind, or, for the AVX-512 backend, which Valgrind does not know, with the
single steps of tests/bench/steps.cc. Counts do not depend on the machine's load, their time does:
one step takes some 20 us of a virtual machine, all of them 75 s of CPU; everything two minutes.
What grew by more than LIMIT since tests/bench/instructions.json was written is
listed, and the program ends with 1. They depend on the compiler: with another
one, or after a change that is meant, --write writes the reference anew.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right
from collections import Counter
from pathlib import Path

REFERENCE = Path(__file__).with_name("instructions.json")
LIMIT = 0.03
SMALL = 0.01  # functions below that part of a workload are left out
NO_BACKEND = 3  # bench-workload's exit status

# The test's own way to take messages, an octet at a time; lanes do without.
HARNESS = ("Lane::append_to_prev", "Lane::append_to_next", "append")

# work, backend, jobs, what a count is divided by: parties times blocks or compressions
WORKLOADS = (
    ("aes-128", "scalar", 4, 3 * 64),
    ("aes-128", "avx2", 4, 3 * 64),
    ("aes-128-malicious", "scalar", 1, 3 * 16),
    ("sha1", "scalar", 64, 3 * 64),
    ("sha1-bits", "scalar", 512, 3 * 512),
    ("aes-128", "gfni", 1, 3 * 16),
    ("aes-128-malicious", "gfni", 1, 3 * 16),
    ("aes-128-malicious", "gfni", 8, 3 * 128),
    ("aes-256", "gfni", 1, 3 * 16),
    ("sha1-malicious", "scalar", 4, 3 * 4),
    ("sha1-bits-malicious", "scalar", 16, 3 * 16),
    ("sha1-circuit", "scalar", 512, 3 * 512),
    ("sha1-circuit-malicious", "scalar", 16, 3 * 16),
    ("aes-128-circuit", "scalar", 64, 3 * 64),
)


def plain(name: str) -> str:
    """The function's name without arguments, types and anonymous namespaces."""
    name = re.sub(r"\[clone.*\]|'\d+$", "", name)  # compiler's parts, callgrind's recursion
    name = name.replace("(anonymous namespace)::", "").replace("tkdc::", "")
    depth, kept = 0, []
    for letter in name:
        depth += letter in "(<["
        if depth == 0:
            kept.append(letter)
        depth -= letter in ")>]"
    words = [word for word in "".join(kept).split() if word != "const"]
    return words[-1] if words else name


def by_callgrind(programs: Path, work: str, backend: str, jobs: int) -> Counter | None:
    with tempfile.NamedTemporaryFile() as out:
        ran = subprocess.run(
            ["valgrind", "--quiet", "--tool=callgrind", "--compress-strings=no",
             "--compress-pos=no", "--toggle-collect=run_measured",
             f"--callgrind-out-file={out.name}", programs / "bench-workload", work, backend,
             str(jobs)], check=False)
        if ran.returncode == NO_BACKEND:
            return None
        ran.check_returncode()
        return own_costs(Path(out.name).read_text(errors="replace"))


def own_costs(profile: str) -> Counter:
    counts: Counter = Counter()
    own = False
    function = ""
    inclusive = False  # the line behind "calls=" has the callee's costs
    for line in profile.splitlines():
        if line.startswith("ob="):
            own = line.endswith("bench-workload")
        elif line.startswith("fn="):
            function = plain(line[3:])
        elif line.startswith("calls="):
            inclusive = True
        elif line[:1].isdigit():
            if not inclusive and own:
                counts[function] += int(line.split()[1])
            inclusive = False
    return counts


def by_steps(programs: Path, work: str, backend: str, jobs: int) -> Counter | None:
    program = programs / "bench-workload"
    able = subprocess.run([program, work, backend, str(jobs)], check=False, capture_output=True)
    if able.returncode == NO_BACKEND:
        return None
    steps = subprocess.run([programs / "bench-steps", program, work, backend, str(jobs), "--stop"],
                           check=True, capture_output=True, text=True).stdout
    table = subprocess.run(["nm", "--demangle", "--defined-only", "--numeric-sort", program],
                           check=True, capture_output=True, text=True).stdout
    symbols = [line.split(" ", 2) for line in table.splitlines()]
    symbols = [(int(address, 16), name) for address, kind, name in symbols if kind in "tTwWi"]
    starts = [address for address, _ in symbols]
    counts: Counter = Counter()
    for line in steps.splitlines():
        address, count = line.split()
        if address != "other":
            at = bisect_right(starts, int(address, 16)) - 1
            counts[plain(symbols[at][1]) if at >= 0 else "?"] += int(count)
    return counts


def measure(programs: Path) -> dict:
    figures = {}
    for work, backend, jobs, units in WORKLOADS:
        counter = by_steps if backend == "gfni" else by_callgrind
        began = time.monotonic()
        counts = counter(programs, work, backend, jobs)
        print(f"{work} {backend}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        if counts is None:
            print(f"{work} {backend}: not on this machine", file=sys.stderr)
            continue
        for name in HARNESS:
            counts.pop(name, None)
        total = sum(counts.values())
        figures[f"{work} {backend}, {units // 3} side by side"] = {
            "total": round(total / units),
            "functions": {name: round(count / units, 1) for name, count in counts.most_common()
                          if count >= SMALL * total},
        }
    return figures


def regressions(reference: dict, figures: dict) -> list[str]:
    """What costs more than it did, as lines of text."""
    lines = []
    for workload, now in figures.items():
        before = reference.get(workload)
        if before is None:
            continue
        pairs = [("total", before["total"], now["total"])]
        pairs += [(name, count, now["functions"].get(name, 0.0))
                  for name, count in before["functions"].items()]
        # A function that grew within a cheaper whole is no regression.
        if now["total"] <= before["total"] * (1 - LIMIT):
            continue
        lines += [f"{workload}: {name}: {old} -> {new} ({new / old - 1:+.1%})"
                  for name, old, new in pairs if new > old * (1 + LIMIT)]
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m tests.bench.instructions")
    parser.add_argument("programs", type=Path, help="folder with bench-workload and bench-steps")
    parser.add_argument("--write", action="store_true", help="write the reference anew")
    arguments = parser.parse_args()
    figures = measure(arguments.programs)
    for workload, one in figures.items():
        parts = ", ".join(f"{name} {count:g}" for name, count in
                          list(one["functions"].items())[:6])
        print(f"{workload}: {one['total']} instructions per block and party: {parts}")
    reference = json.loads(REFERENCE.read_text()) if REFERENCE.exists() else {}
    if arguments.write:
        REFERENCE.write_text(json.dumps(reference | figures, indent=1) + "\n")
        return 0
    worse = regressions(reference, figures)
    for line in worse:
        print(f"more than before: {line}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
