# SPDX-License-Identifier: Apache-2.0
"""Logins of these programs beside those of an earlier release, in alternating pairs.

    TKDC_BIN=build/dev/bin python3 -m tests.bench.login_pairs [--pairs N] [--release VERSION]

Two realms stand side by side on loopback, one of each release, with the same users. In turn each
takes 96 users at once who ask again as soon as they are answered. What one login costs varies with
what else the machine does, so only ratios within a pair are compared. The release is built as
`make build` builds (tests/support/previous.py): compare it with programs built alike.
"""

import argparse
import json
import statistics

from tests.storm.scene import Scene
from tests.storm.stage import Stage, cpu_per_answer_us
from tests.support import previous
from tests.support.realm import default_bin

CLIENTS, SECONDS = 96, 4


class Beside(Scene):
    """Both with the same generator, that of these programs."""

    def generator(self, who: list[str], *options: str) -> list[str]:
        _, *arguments = Stage.generator(self, who, *options)
        return [str(default_bin().resolve() / "tkdc-storm"), *arguments]


def one_run(scene: Beside) -> dict[str, float]:
    """CPU us of a login by kind of process; "rate": logins a second."""
    result = scene.storm(f"--clients={CLIENTS}", "--quiet", duration_s=SECONDS)
    cpu = cpu_per_answer_us(result)
    servers = sum(us for name, us in cpu.items() if name.startswith("server"))
    whole = sum(us for name, us in cpu.items() if name != "tkdc-storm")
    return {"servers": servers, "krb5kdc": cpu["krb5kdc"], "whole": whole, "rate": result["rate"]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--release", default=previous.releases()[-1][0])
    options = parser.parse_args()
    release = next(r for r in previous.releases() if r[0] == options.release)
    with Beside(binaries=previous.binaries(release), users=CLIENTS) as before, \
            Beside(users=CLIENTS) as now:
        scenes, runs = (before, now), ([], [])
        for scene in scenes:
            one_run(scene)  # caches are cold
        for pair in range(options.pairs):
            for which in (0, 1) if pair % 2 else (1, 0):
                runs[which].append(one_run(scenes[which]))
    table = {"release": options.release, "pairs": options.pairs}
    for what in runs[0][0]:
        ratios = [now[what] / before[what] for before, now in zip(*runs, strict=True)]
        table[what] = {"before": statistics.median(run[what] for run in runs[0]),
                       "now": statistics.median(run[what] for run in runs[1]),
                       "least": min(ratios), "median": statistics.median(ratios),
                       "most": max(ratios)}
        print(f"{what}: {table[what]['before']:.0f} before, {table[what]['now']:.0f} now; ratios "
              f"{min(ratios):.3f} to {max(ratios):.3f}, median {statistics.median(ratios):.3f}")
    print(json.dumps(table))


if __name__ == "__main__":
    main()
