# SPDX-License-Identifier: Apache-2.0
"""Hours of logins: nothing may grow.

The rule: of a process's samples, one each second, the first fifth is warming up and not looked
at. Of the rest, the median of the last quarter is compared with that of the first. Memory may be
at most 5 % and 8 MB more; open files at most 4 more. At 40 logins per second 1 KB that is never
given back at each of them is 14 MB between the two in ten minutes and 86 MB in an hour; a heap
that has found its size is none.
"""

import statistics

from tests.storm.common import all_well, always, say, sustained_rate, verdict
from tests.storm.scene import Scene

LEAST_S = 60
SHARE = 0.7  # of the sustained rate
WARMING_UP = 0.2
MORE_MEMORY, MORE_MB, MORE_FILES = 0.05, 8.0, 4
LATER = 2.0  # the last quarter's p99 may be so many times the first's
SLACK_MS = 500


def quarters(samples: list[float]) -> tuple[float, float]:
    """Medians of the first and the last quarter of what follows the warming up."""
    steady = samples[int(len(samples) * WARMING_UP):]
    quarter = max(1, len(steady) // 4)
    return statistics.median(steady[:quarter]), statistics.median(steady[-quarter:])


def growth(process: dict) -> dict[str, tuple[float, float, bool]]:
    """For memory and open files: at first, at last, whether that is growth."""
    first_mb, last_mb = quarters([second["mb"] for second in process["seconds"]])
    first_files, last_files = quarters([second["files"] for second in process["seconds"]])
    return {"MB": (first_mb, last_mb,
                   last_mb > first_mb * (1 + MORE_MEMORY) + MORE_MB),
            "files": (first_files, last_files, last_files > first_files + MORE_FILES)}


def soak(scene: Scene, seconds: float) -> bool:
    """An hour (MINUTES) at 70 % of the sustained rate, a fifth of it service tickets: no failure,

    none takes over 15 s, every ticket checked, no nonce used twice, latency at the end as at the
    beginning, and no process has more memory or open files at the end than at the beginning, by
    the rule in tests/storm/soak.py.
    """
    peak = sustained_rate(scene, seconds)
    result = scene.storm(f"--rate={SHARE * peak:.2f}", "--poisson", "--quiet", "--tgs=0.2",
                         "--service=host/service.test",
                         f"--service-keytab={scene.keytab('service')}", "--tickets=16",
                         duration_s=max(LEAST_S, 60 * scene.terms.minutes), report="soak")
    grown = []
    for name, process in result["processes"].items():
        measures = growth(process)
        say(f"{name:12} " + "   ".join(f"{what} {first:.1f} to {last:.1f}"
                                       for what, (first, last, _) in measures.items()))
        # The generator keeps what it measured.
        grown += [f"{name}'s {what}" for what, (_, _, more) in measures.items()
                  if more and name != "tkdc-storm"]
    p99 = quarters([second["p99"] for second in result["seconds"] if second["counts"]["ok"]])
    counts = result["counts"]
    say(f"{counts['ok']} tickets in {result['duration_s']:.0f} s; p99 of a second "
        f"{p99[0]:.0f} ms at first, {p99[1]:.0f} ms at last")
    return verdict({**all_well(result),
                    f"nothing grew ({', '.join(grown) or 'nothing'})": not grown,
                    "latency did not drift": p99[1] <= LATER * p99[0] + SLACK_MS,
                    **always(scene)})
