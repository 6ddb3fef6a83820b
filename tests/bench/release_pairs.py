# SPDX-License-Identifier: Apache-2.0
"""What these programs cost beside those of an earlier release, in alternating pairs.

    TKDC_BIN=build/dev/bin python3 -m tests.bench.release_pairs [--pairs N] [--release VERSION]
                                                                [--only logins|ctr|sha1]

What the same work costs varies with what else the machine does, so only ratios within a pair are
compared. The release is built as `make build` builds (tests/support/previous.py): compare it with
programs built alike. Logins need tkdc-storm, which `make build` makes and `make demo` does not.

ctr and sha1 are `tkdc bench` of both, with both securities: CPU time of three parties on loopback.
For logins two realms stand side by side on loopback, one of each release, with the same users. In
turn each takes 96 users at once who ask again as soon as they are answered.
"""

import argparse
import json
import statistics
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from tests.storm.scene import Scene
from tests.storm.stage import Stage, cpu_per_answer_us
from tests.support import previous
from tests.support.realm import default_bin

CLIENTS, SECONDS = 96, 4
Run = Callable[[], dict[str, float]]  # figures by name, all of one unit of work


class Beside(Scene):
    """Both with the same generator, that of these programs."""

    def generator(self, who: list[str], *options: str) -> list[str]:
        _, *arguments = Stage.generator(self, who, *options)
        return [str(default_bin().resolve() / "tkdc-storm"), *arguments]


def logins(stack: ExitStack, binaries: Path | None) -> Run:
    """CPU us of a login by kind of process; "rate": logins a second."""
    scene = stack.enter_context(Beside(binaries=binaries, users=CLIENTS))

    def run() -> dict[str, float]:
        result = scene.storm(f"--clients={CLIENTS}", "--quiet", duration_s=SECONDS)
        cpu = cpu_per_answer_us(result)
        servers = sum(us for name, us in cpu.items() if name.startswith("server"))
        whole = sum(us for name, us in cpu.items() if name != "tkdc-storm")
        return {"servers": servers, "krb5kdc": cpu["krb5kdc"], "whole": whole,
                "rate": result["rate"]}

    return run


def kernel(what: str, unit: str, *options: str) -> Callable[[ExitStack, Path | None], Run]:
    """CPU us of a block or compression and party, by security."""

    def prepare(_stack: ExitStack, binaries: Path | None) -> Run:
        tkdc = str((binaries or default_bin()).resolve() / "tkdc")

        def one(security: str) -> float:
            done = subprocess.run([tkdc, "bench", what, "--json", "--seconds=2",
                                   f"--security={security}", *options],
                                  capture_output=True, text=True, check=True, timeout=60)
            return json.loads(done.stdout)[f"cpu_us_per_{unit}"]

        return lambda: {security: one(security) for security in ("semi-honest", "malicious")}

    return prepare


WORK = {"logins": logins, "ctr": kernel("ctr", "block", "--cohort=2^14"),
        "sha1": kernel("sha1", "compression")}


def compare(name: str, release: tuple[str, str], pairs: int) -> None:
    """Prints the medians and the ratios within the pairs; the last line is JSON."""
    with ExitStack() as stack:
        earlier = previous.binaries(release, optimised=True)
        sides = [WORK[name](stack, binaries) for binaries in (earlier, None)]
        for run in sides:
            run()  # caches are cold
        runs: list[list[dict[str, float]]] = [[], []]
        for pair in range(pairs):
            for which in (0, 1) if pair % 2 else (1, 0):
                runs[which].append(sides[which]())
    table: dict[str, object] = {"work": name, "release": release[0], "pairs": pairs}
    for what in runs[0][0]:
        ratios = [now[what] / before[what] for before, now in zip(*runs, strict=True)]
        row = {"before": statistics.median(run[what] for run in runs[0]),
               "now": statistics.median(run[what] for run in runs[1]),
               "least": min(ratios), "median": statistics.median(ratios), "most": max(ratios)}
        table[what] = row
        print(f"{name}, {what}: {row['before']:.2f} before, {row['now']:.2f} now; ratios "
              f"{row['least']:.3f} to {row['most']:.3f}, median {row['median']:.3f}")
    print(json.dumps(table), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--release", default=previous.releases()[-1][0])
    parser.add_argument("--only", choices=WORK)
    options = parser.parse_args()
    release = next(r for r in previous.releases() if r[0] == options.release)
    for name in [options.only] if options.only else WORK:
        compare(name, release, options.pairs)


if __name__ == "__main__":
    main()
