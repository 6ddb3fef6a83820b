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

LANES = (1, 2, 4)
COHORTS = (256, 512, 1024, 2048, 4096, 8192)
COLOURS = {1: "#4477aa", 2: "#cc3311", 4: "#228833"}
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 460, 320, 62, 40, 18, 46


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


def nice_top(value: float) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    step = 10.0 ** (len(str(int(value))) - 1)
    return next(factor * step for factor in (1, 2, 5, 10) if factor * step >= value)


def panel(points: list[dict], key: str, title: str, shown, left: int) -> str:
    """One diagram: cohort sizes to the right, in doublings, values upwards from 0."""
    top = nice_top(max(point[key] for point in points))
    x0, x1 = left + LEFT, left + WIDTH - RIGHT
    y0, y1 = HEIGHT - BOTTOM, TOP

    def x(cohort: int) -> float:
        return x0 + (x1 - x0) * COHORTS.index(cohort) / (len(COHORTS) - 1)

    def y(value: float) -> float:
        return y0 - (y0 - y1) * value / top

    parts = [f'<text x="{(x0 + x1) / 2}" y="22" text-anchor="middle">{title}</text>']
    for k in range(6):
        value = top * k / 5
        parts.append(f'<line x1="{x0}" x2="{x1}" y1="{y(value):.1f}" y2="{y(value):.1f}" '
                     'stroke="#ddd"/>'
                     f'<text x="{x0 - 6}" y="{y(value) + 4:.1f}" text-anchor="end">'
                     f'{shown(value)}</text>')
    for cohort in COHORTS:
        parts.append(f'<text x="{x(cohort):.1f}" y="{y0 + 18}" text-anchor="middle">'
                     f'{cohort}</text>')
    parts.append(f'<text x="{(x0 + x1) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
                 'blocks in flight per lane</text>')
    for lanes, colour in COLOURS.items():
        line = sorted((p["cohort"], p[key]) for p in points if p["lanes"] == lanes)
        where = " ".join(f"{x(cohort):.1f},{y(value):.1f}" for cohort, value in line)
        parts.append(f'<polyline points="{where}" fill="none" stroke="{colour}" '
                     'stroke-width="2"/>')
        parts += [f'<circle cx="{x(c):.1f}" cy="{y(v):.1f}" r="3" fill="{colour}"/>'
                  for c, v in line]
    return "\n".join(parts)


def plot(points: list[dict]) -> str:
    legend = "".join(
        f'<text x="{LEFT + 20 + 90 * k}" y="{TOP + 4}" fill="{colour}">{lanes} '
        f'lane{"s" if lanes > 1 else ""}</text>'
        for k, (lanes, colour) in enumerate(COLOURS.items()))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * WIDTH}" height="{HEIGHT}" '
            'font-family="sans-serif" font-size="12">\n'
            f'<rect width="{2 * WIDTH}" height="{HEIGHT}" fill="white"/>\n'
            + panel(points, "blocks_per_s", "AES-128 blocks per second",
                    lambda v: f"{v / 1e6:.1f} M", 0) + "\n"
            + panel(points, "cpu_us_per_block", "CPU per block, all three parties",
                    lambda v: f"{v:.0f} &#181;s", WIDTH) + f"\n{legend}\n</svg>\n")


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
