# SPDX-License-Identifier: Apache-2.0
"""`make drill`: every drill of docs/operations/drills.md, and how long each took."""

import tempfile
from pathlib import Path

from tests.drills.play import play_all
from tests.drills.realm import DrillRealm
from tests.integration.conftest import free_base_port, remove


def main() -> None:
    directory = Path(tempfile.mkdtemp(prefix="tkdc-"))
    with DrillRealm(directory, "DRILL.REALM", free_base_port()) as realm:
        took = play_all(realm, short=False)
    remove(realm)
    print(f"{len(took) - 1} drills, {sum(took.values()):.0f} s; each ended with logins")


if __name__ == "__main__":
    main()
