# SPDX-License-Identifier: Apache-2.0
"""How the cost of lookup tables grows with blocks, threads and parties: figures and a plot.

    python3 -m tests.bench.lut_scaling PROGRAMS --out docs/lut-scaling.svg [--runs 2]

`tkdc bench lut`, malicious, all parties on this machine over TLS. Measures by how
many blocks have their tables made at once (one thread, two parties), by threads
(two parties) and by parties (one thread); all points in turn, so often as --runs
says. A point is the least CPU time per block of its runs, of all parties together,
since other load only ever adds. Writes a plot of CPU ahead, and prints figures as
rows for docs/measurements/lut.json.
"""

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path

from tests.bench.diagram import WIDTH, Line, diagram, picture

COLOURS = {"AES-LT": "#4477aa", "AES-T16": "#cc3311"}
VALUES = {"blocks": (1, 4, 16, 64, 256), "threads": (1, 2, 4), "parties": (2, 3, 4, 5)}
NAMES = {"blocks": "blocks at once", "threads": "threads of a party", "parties": "parties"}
BATCH = 64  # of what does not measure by blocks
BLOCKS = {"AES-LT": 128, "AES-T16": 256}  # of a point, of each thread


def run_once(tkdc: Path, mode: str, by: str, value: int) -> dict:
    threads = value if by == "threads" else 1
    batch = value if by == "blocks" else BATCH
    blocks = max(min(BLOCKS[mode], 32 * batch), batch) * threads
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(
        [tkdc, "bench", "lut", "--mode", mode, "--threads", str(threads), "--batch", str(batch),
         "--blocks", str(blocks), "--parties", str(value if by == "parties" else 2),
         "--singles", "0", "--json"], check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    one = json.loads(out)
    # Of several threads a phase's CPU is not told apart. So by threads it is that of the whole run,
    # nearly all of which is ahead.
    whole = 1e6 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / blocks
    ahead, online = whole, 0.0
    if by != "threads":
        ahead, online = one["ahead_cpu_us_per_block"], one["online_cpu_us_per_block"]
    return {"mode": mode, "by": by, "value": value, "ahead_cpu_us": ahead,
            "ahead_octets": one["ahead_octets_per_block"], "online_cpu_us": online}


def measure(tkdc: Path, runs: int) -> list[dict]:
    points: dict = {}
    for _ in range(runs):
        for by, values in VALUES.items():
            for mode in COLOURS:
                for value in values:
                    one = run_once(tkdc, mode, by, value)
                    best = points.setdefault((by, mode, value), one)
                    for key in ("ahead_cpu_us", "online_cpu_us"):
                        best[key] = min(best[key], one[key])
    return list(points.values())


def plot(points: list[dict]) -> str:
    lines = {by: [Line(mode, colour, [(p["value"], p["ahead_cpu_us"] / 1e3) for p in points
                                      if (p["by"], p["mode"]) == (by, mode)])
                  for mode, colour in COLOURS.items()] for by in VALUES}
    titles = {"blocks": "by blocks at once, two parties", "threads": "by threads, two parties",
              "parties": "by parties"}
    return picture([diagram(lines[by], f"CPU ahead for a block {titles[by]}", NAMES[by],
                            lambda v: f"{v:.0f} ms", k * WIDTH) for k, by in enumerate(VALUES)],
                   lines["blocks"], right=True)


def rows(points: list[dict]) -> list[list[str]]:
    """As docs/measurements/lut.json has them."""
    return [[NAMES[p["by"]], str(p["value"]), p["mode"], f"{p['ahead_cpu_us']:,.0f}",
             f"{p['ahead_octets']:,.0f}", f"{p['online_cpu_us']:.1f}" if p["online_cpu_us"] else ""]
            for p in points]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m tests.bench.lut_scaling")
    parser.add_argument("programs", type=Path, help="folder with tkdc")
    parser.add_argument("--out", type=Path, required=True, help="SVG file to write")
    parser.add_argument("--runs", type=int, default=2)
    arguments = parser.parse_args()
    points = measure(arguments.programs / "tkdc", arguments.runs)
    arguments.out.write_text(plot(points))
    print(",\n".join(json.dumps(row) for row in rows(points)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
