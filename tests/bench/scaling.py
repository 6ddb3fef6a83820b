# SPDX-License-Identifier: Apache-2.0
"""How the engine scales with lanes and blocks in flight: figures and a plot.

    python3 -m tests.bench.scaling PROGRAMS --out docs/scaling.svg [--runs 4 --seconds 0.5]

Measures every number of lanes with every cohort size, semi-honest AES-128, all
three parties on this machine; all points in turn, so often as --runs says. A
point is the least CPU time per block and the highest rate of its runs, since
other load only ever adds. Writes a plot of both and prints the figures as JSON.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from tests.bench.diagram import WIDTH, Line, diagram, picture

LANES = (1, 2, 4)
COHORTS = (256, 512, 1024, 2048, 4096, 8192)
COLOURS = {1: "#4477aa", 2: "#cc3311", 4: "#228833"}


def run_once(tkdc: Path, lanes: int, cohort: int, seconds: float) -> dict:
    out = subprocess.run(
        [tkdc, "bench", "ctr", "--security", "semi-honest", "--lanes", str(lanes),
         "--cohort", str(cohort), "--seconds", str(seconds), "--json"],
        check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def measure(tkdc: Path, runs: int, seconds: float) -> list[dict]:
    points: dict = {}
    for _ in range(runs):
        for lanes in LANES:
            for cohort in COHORTS:
                one = run_once(tkdc, lanes, cohort, seconds)
                best = points.setdefault((lanes, cohort), {
                    "lanes": lanes, "cohort": cohort, "blocks_per_s": 0.0,
                    "cpu_us_per_block": float("inf")})
                best["blocks_per_s"] = max(best["blocks_per_s"], round(one["blocks_per_s"]))
                best["cpu_us_per_block"] = min(best["cpu_us_per_block"],
                                               round(one["cpu_us_per_block"], 3))
                best["wire_bytes"] = round(one["wire_bytes_per_block_per_party"], 3)
    return list(points.values())


def lines_of(points: list[dict], key: str) -> list[Line]:
    return [Line(f'{lanes} lane{"s" if lanes > 1 else ""}', colour,
                 [(p["cohort"], p[key]) for p in points if p["lanes"] == lanes])
            for lanes, colour in COLOURS.items()]


def plot(points: list[dict]) -> str:
    rates, costs = lines_of(points, "blocks_per_s"), lines_of(points, "cpu_us_per_block")
    below = "blocks in flight per lane"
    return picture([
        diagram(rates, "AES-128 blocks per second", below, lambda v: f"{v / 1e6:.1f} M", 0),
        diagram(costs, "CPU per block, all three parties", below, lambda v: f"{v:.0f} &#181;s",
                WIDTH)], rates)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m tests.bench.scaling")
    parser.add_argument("programs", type=Path, help="folder with tkdc")
    parser.add_argument("--out", type=Path, required=True, help="SVG file to write")
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=0.5)
    arguments = parser.parse_args()
    points = measure(arguments.programs / "tkdc", arguments.runs, arguments.seconds)
    arguments.out.write_text(plot(points))
    print(json.dumps(points, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
