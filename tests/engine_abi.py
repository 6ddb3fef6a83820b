# SPDX-License-Identifier: Apache-2.0
"""What programs that are built against libtkdc-engine rely on: its names, and the layout of the
structures in its headers. mpc-engine/api/SONAME.abi has it as it was promised (docs/api.md).

    python3 -m tests.engine_abi    prints it as it is

A line of that file that is not printed any more, or in another way, needs another soname: another
SOVERSION and TKDC_ node in mpc-engine/api/, and a file of that name. A line that is only new is
added to the file that there is.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.realm import ROOT, default_bin

API = ROOT / "mpc-engine" / "api"
HEADERS = (API / "tkdc" / "circuit.h", API / "tkdc" / "party.h", API / "tkdc" / "shares.h",
           ROOT / "mpc-engine" / "base" / "result.h")
LAYOUT = ROOT / "tests" / "unit" / "api" / "layout.cc"
LIBRARY = default_bin() / "libtkdc-engine.so"
INCLUDE = (ROOT / "mpc-engine", API, API / "in_tree")


def output(*command: str | Path) -> str:
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True,
                          timeout=120, check=True)
    return done.stdout


def soname(library: Path = LIBRARY) -> str:
    found = re.search(r"SONAME\s+(\S+)", output("objdump", "-p", library))
    assert found, f"{library} has no soname"
    return found[1]


def names(library: Path = LIBRARY) -> list[str]:
    """Mangled: types of arguments are part of them."""
    listed = output("nm", "-D", "--defined-only", "--with-symbol-versions", library)
    found = (line.split() for line in listed.splitlines())
    return sorted("name " + name for _, kind, name in found if kind not in "aA")


def layout(include: tuple[Path, ...] = INCLUDE) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "layout"
        output("c++", "-std=c++20", *(f"-I{one}" for one in include), LAYOUT, "-o", program)
        return output(program).splitlines()


def current() -> list[str]:
    return [*names(), *layout()]


def promised() -> list[str]:
    return (API / f"{soname()}.abi").read_text().splitlines()


if __name__ == "__main__":
    sys.stdout.write("".join(line + "\n" for line in current()))
