# SPDX-License-Identifier: Apache-2.0
"""One scenario on a stage of its own, on loopback; the last line says how it went.

Exit status: 0 what the scenario asserts held, 1 it did not, 2 it could not be run.
"""

import argparse
import os
import sys

from tests.storm.scenarios import SCENARIOS, say
from tests.storm.scene import Scene, Terms
from tests.support.process import RealmError
from tests.support.realm import ROOT


def main() -> int:
    parser = argparse.ArgumentParser(prog="make storm", description=__doc__)
    parser.add_argument("scenario", choices=SCENARIOS)
    parser.add_argument("--seconds", type=float, default=10, help="of each run (10)")
    parser.add_argument("--lanes", type=int, default=2, help="lanes of the servers (2)")
    parser.add_argument("--minutes", type=float, default=60, help="of soak (60)")
    parser.add_argument("--principals", type=int, default=100_000,
                        help="of many-principals (100000)")
    parser.add_argument("--rtt-ms", type=float, default=5,
                        help="of wan: there and back between any two machines (5)")
    arguments = parser.parse_args()
    os.environ.setdefault("TKDC_BIN", str(ROOT / "build" / "release" / "bin"))
    scenario = SCENARIOS[arguments.scenario]
    say(f"{arguments.scenario}: {scenario.__doc__.strip()}\n")
    terms = Terms(arguments.minutes, arguments.principals, arguments.rtt_ms)
    make_scene = getattr(scenario, "scene", Scene)
    try:
        with make_scene(lanes=arguments.lanes, terms=terms) as scene:
            good = scenario(scene, arguments.seconds)
    except (RealmError, FileNotFoundError) as error:
        print(f"storm: {error}", file=sys.stderr)
        return 2
    if arguments.scenario != "versus-stock":  # whose own last line is read by programs
        say(f"{arguments.scenario}: {'ok' if good else 'failed'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
