# SPDX-License-Identifier: Apache-2.0
"""Who may include whom: the rooms of the house from the bottom to the top, each with the rooms
below it that its files may include. Faults are: a file in a folder that is neither a room nor
listed as a room's part (tests and examples have none), a room that docs/ARCHITECTURE.md does not
name under "Folders", an arrow that is not in the table, a circle of files, and a picture in
docs/ARCHITECTURE.md that differs from the files.

    python3 -m tests.house_arrows    prints the picture as it has to be
"""

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = "docs/ARCHITECTURE.md"
MARKS = ("```mermaid\n", "```\n")

# The engine knows no Kerberos, no store and no agent; the key service stands on it.
SERVICE, PLUGIN = "mpc-engine/service", "kdc-plugin"
ROOMS: dict[str, set[str]] = {}
PROTOCOLS: list[str] = []


def room(name: str, *below: str) -> None:
    """The rooms below are named before it, so that no arrow can run upwards."""
    if not set(below) <= ROOMS.keys():
        raise ValueError(f"{name} stands on a room that is not below it")
    ROOMS[name] = set(below)


def protocol(name: str, *below: str) -> None:
    """A room with a ProtocolOffer, which the server's list may name."""
    room(name, *below)
    PROTOCOLS.append(name)


room("mpc-engine/base")
room("mpc-engine/field", "mpc-engine/base")
room("mpc-engine/circuit", "mpc-engine/base")
room("circuits", "mpc-engine/base", "mpc-engine/field", "mpc-engine/circuit")
room("circuits/command", "mpc-engine/base", "mpc-engine/circuit", "circuits")
room("mpc-engine/link", "mpc-engine/base")
room("mpc-engine/garble", "mpc-engine/base", "mpc-engine/field", "mpc-engine/circuit",
     "mpc-engine/link")
room("mpc-engine/ot", "mpc-engine/base", "mpc-engine/field", "mpc-engine/garble", "mpc-engine/link")
room("mpc-engine/pair", "mpc-engine/base", "mpc-engine/circuit", "mpc-engine/garble",
     "mpc-engine/ot")
room("mpc-engine/lut", "mpc-engine/base", "mpc-engine/field", "mpc-engine/garble", "mpc-engine/ot",
     "mpc-engine/pair")
room("mpc-engine/session", "mpc-engine/base", "mpc-engine/link")
room("mpc-engine/lane", "mpc-engine/base", "mpc-engine/link", "mpc-engine/session")
room("mpc-engine/protocol", "mpc-engine/base", "mpc-engine/field", "mpc-engine/session",
     "mpc-engine/lane")
room("mpc-engine/mac", "mpc-engine/base", "mpc-engine/field", "mpc-engine/lane",
     "mpc-engine/protocol")
room("mpc-engine/rep3", "mpc-engine/base", "mpc-engine/field", "mpc-engine/link",
     "mpc-engine/session", "mpc-engine/lane", "mpc-engine/protocol")
room("mpc-engine/rep3/verify", "mpc-engine/base", "mpc-engine/field", "mpc-engine/lane",
     "mpc-engine/protocol", "mpc-engine/rep3")
protocol("mpc-engine/rep3/unit", "mpc-engine/base", "mpc-engine/field", "mpc-engine/circuit",
         "mpc-engine/session", "mpc-engine/lane", "mpc-engine/protocol", "mpc-engine/rep3",
         "mpc-engine/rep3/verify")
room("mpc-engine/threegarble", "mpc-engine/base", "mpc-engine/circuit", "mpc-engine/garble",
     "mpc-engine/link", "mpc-engine/session", "mpc-engine/lane", "mpc-engine/protocol")
room("mpc-engine/cipher", "mpc-engine/base", "mpc-engine/field", "mpc-engine/protocol")
room("mpc-engine/api", "mpc-engine/base", "mpc-engine/field", "mpc-engine/circuit",
     "mpc-engine/link", "mpc-engine/session", "mpc-engine/protocol", "mpc-engine/rep3",
     "mpc-engine/rep3/unit", "mpc-engine/lane", "mpc-engine/cipher")
room("cuda", "mpc-engine/base", "mpc-engine/session", "mpc-engine/protocol", "mpc-engine/rep3",
     "mpc-engine/rep3/verify", "mpc-engine/rep3/unit")
room(f"{SERVICE}/wire", "mpc-engine/base")
room(f"{SERVICE}/store", "mpc-engine/base", "mpc-engine/link", "mpc-engine/session",
     "mpc-engine/protocol", "mpc-engine/mac", f"{SERVICE}/wire")
room(f"{SERVICE}/sealing", "mpc-engine/base", "mpc-engine/cipher", f"{SERVICE}/store")
room(f"{SERVICE}/admit", "mpc-engine/base", f"{SERVICE}/wire", f"{SERVICE}/store")
room(f"{SERVICE}/operation", "mpc-engine/base", "mpc-engine/protocol", "mpc-engine/cipher",
     f"{SERVICE}/wire", f"{SERVICE}/store", f"{SERVICE}/sealing", f"{SERVICE}/admit")
room(f"{SERVICE}/garbled", *ROOMS[f"{SERVICE}/operation"], "mpc-engine/circuit", "circuits",
     "mpc-engine/threegarble", f"{SERVICE}/operation")
room(f"{SERVICE}/lifecycle", *ROOMS[f"{SERVICE}/operation"], "mpc-engine/lane", "mpc-engine/mac",
     "mpc-engine/session", f"{SERVICE}/operation")
room(f"{SERVICE}/job", "mpc-engine/base", "mpc-engine/link", "mpc-engine/session",
     "mpc-engine/protocol", "mpc-engine/rep3", "mpc-engine/rep3/unit", "mpc-engine/lane",
     "mpc-engine/cipher", "mpc-engine/mac",
     *(f"{SERVICE}/{one}" for one in ("wire", "store", "sealing", "admit", "operation", "garbled",
                                      "lifecycle")))
room(f"{SERVICE}/pair", "mpc-engine/base", "mpc-engine/link", "mpc-engine/circuit",
     "mpc-engine/garble", "mpc-engine/ot", "mpc-engine/pair", "mpc-engine/lut",
     "mpc-engine/session", "mpc-engine/protocol", "mpc-engine/cipher", "circuits",
     *(f"{SERVICE}/{one}" for one in ("wire", "store", "sealing", "admit", "operation", "garbled",
                                      "lifecycle", "job")))
room(f"{SERVICE}/export", "mpc-engine/base", "mpc-engine/protocol", f"{SERVICE}/wire")
room(f"{SERVICE}/backup", "mpc-engine/base", "mpc-engine/session", f"{SERVICE}/wire",
     f"{SERVICE}/store")
room(f"{SERVICE}/server", "mpc-engine/base", "mpc-engine/link", "mpc-engine/session",
     "mpc-engine/pair", "mpc-engine/protocol", *PROTOCOLS, "mpc-engine/cipher", "cuda",
     *(f"{SERVICE}/{one}" for one in ("wire", "store", "sealing", "garbled", "job", "pair",
                                      "export")))
room("mpc-engine/tools/bench", "mpc-engine/base", "mpc-engine/circuit", "circuits",
     "mpc-engine/garble", "mpc-engine/ot", "mpc-engine/pair", "mpc-engine/lut", "mpc-engine/link",
     "mpc-engine/session", "mpc-engine/protocol", "mpc-engine/rep3", "mpc-engine/rep3/verify",
     "mpc-engine/rep3/unit", "mpc-engine/lane", "mpc-engine/cipher", "cuda", f"{SERVICE}/job",
     f"{SERVICE}/pair")
room("mpc-engine/tools/setup", "mpc-engine/base", "mpc-engine/link", "mpc-engine/session",
     f"{SERVICE}/wire", f"{SERVICE}/export")
room("mpc-engine/tools/workbench", "mpc-engine/base", "circuits/command", "mpc-engine/tools/bench")
room("mpc-engine/tools/cli", "mpc-engine/base", "mpc-engine/link", "mpc-engine/session",
     "mpc-engine/tools/setup",
     *(f"{SERVICE}/{one}" for one in ("wire", "store", "sealing", "garbled", "pair", "export",
                                      "backup", "server")))
room("mpc-engine/tools/exporter", "mpc-engine/base", f"{SERVICE}/wire", "mpc-engine/tools/cli")
room(f"{PLUGIN}/preload", f"{SERVICE}/wire")
room(f"{PLUGIN}/kdb", f"{SERVICE}/wire", f"{PLUGIN}/preload")
room(f"{PLUGIN}/check", "mpc-engine/base")
room(f"{PLUGIN}/agent", "mpc-engine/base", f"{SERVICE}/wire", "mpc-engine/pair")
room(f"{PLUGIN}/migrate", "mpc-engine/base", f"{SERVICE}/wire", f"{SERVICE}/export",
     f"{PLUGIN}/preload", f"{PLUGIN}/kdb")

# Folders in a room that are no rooms: they may include what it may, and it may include them.
PARTS = {
    "mpc-engine/api/in_tree/tkdc", "mpc-engine/api/tkdc", "mpc-engine/cipher/ghash",
    "mpc-engine/garble/half_gates", "mpc-engine/link/gcm", "mpc-engine/lut/kernels",
    "mpc-engine/ot/kernels", "cuda/block", "cuda/device", "cuda/thread",
    *(f"mpc-engine/rep3/unit/{one}" for one in ("aes", "bits", "circuit", "sha1", "sha2")),
}

# Where an include without its folder is looked for, after the file's own folder.
ROOTS = ("mpc-engine", PLUGIN, ".", "mpc-engine/api", "mpc-engine/api/in_tree", f"{SERVICE}/wire",
         f"{PLUGIN}/kdb", f"{PLUGIN}/preload")
UNKNOWN = "?"
DEEPEST_NAME = 6  # columns before a folder's name; text that goes on has more
NOT_IN_ROOMS = ("tests", "examples")
SOURCE = (".c", ".cc", ".h", ".cu", ".cuh", ".inl")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)
MADE = {"sbox_constants.h", "embedding_constants.h", "tkdc_commit.h",
        "interposed_names.h"}  # by the build


def room_of(name: str) -> str | None:
    """Of a file whose folder is a room, or a part of one."""
    folder = Path(name).parent
    if str(folder) not in ROOMS.keys() | PARTS:
        return None
    around = (str(one) for one in (folder, *folder.parents))
    return next((one for one in around if one in ROOMS), None)


def includes(names: list[str], root: Path = ROOT) -> dict[str, set[str]]:
    """Which of these files each of them includes; UNKNOWN and the name of what is not among them,
    nor the system's, nor made by the build."""
    there = set(names)
    found: dict[str, set[str]] = {}
    for name in names:
        places = (str(Path(name).parent), *ROOTS)
        found[name] = set()
        for mark, asked in INCLUDE.findall((root / name).read_text()):
            paths = (os.path.normpath(Path(place) / asked) for place in places)
            ours = [path for path in paths if path in there][:1]
            unknown = mark == '"' and not ours and asked not in MADE
            found[name] |= {UNKNOWN + asked} if unknown else set(ours)
    return found


def circle(graph: dict[str, set[str]]) -> list[str]:
    """One, if there is any."""
    done: set[str] = set()
    for start in sorted(graph):
        way, left = [start], [iter(sorted(graph[start]))]
        while way:
            following = next((one for one in left[-1] if one not in done), None)
            if following is None:
                left.pop()
                done.add(way.pop())
            elif following in way:
                return way[way.index(following):]
            else:
                way.append(following)
                left.append(iter(sorted(graph[following])))
    return []


def units(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """A header and the source of its name are one."""
    of: dict[str, set[str]] = {}
    for name, included in graph.items():
        unit = str(Path(name).with_suffix(""))
        others = {str(Path(one).with_suffix("")) for one in included}
        of.setdefault(unit, set()).update(others - {unit})
    return {unit: others & of.keys() for unit, others in of.items()}


def arrows(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {name: set() for name in ROOMS}
    for name, included in graph.items():
        for one in included:
            here, there = room_of(name), room_of(one)
            if here and there and here != there:
                found[here].add(there)
    return found


def drawn(found: dict[str, set[str]]) -> str:
    """Without the arrows that others make plain: from a room to what a room below it includes."""
    below: dict[str, set[str]] = {}
    lines = ["graph BT"]
    for name in ROOMS:
        direct = found[name]
        below[name] = direct.union(*(below[one] for one in direct))
        plain = {far for one in direct for far in below[one]}
        lines += [f"  {short(name)} --> {short(one)}" for one in sorted(direct - plain)]
    return "\n".join(lines) + "\n"


def short(name: str) -> str:
    return name.removeprefix("mpc-engine/")


def picture() -> str:
    page = (ROOT / PAGE).read_text()
    return page.partition(MARKS[0])[2].partition(MARKS[1])[0]


def folders_named() -> set[str]:
    """What the block under "Folders" names: a name below a less indented one is in it."""
    block = (ROOT / PAGE).read_text().partition("## Folders")[2].partition("```\n")[2]
    around: list[tuple[int, str]] = []
    found = set()
    for line in block.partition("```\n")[0].splitlines():
        entry = re.match(r"( *)([\w/-]+)/(?: |$)", line)
        if not entry or len(entry[1]) > DEEPEST_NAME:
            continue
        around = [one for one in around if one[0] < len(entry[1])]
        around.append((len(entry[1]), entry[2]))
        found.add("/".join(one for _, one in around))
    return found


def sources(tracked: list[str], root: Path = ROOT) -> list[str]:
    return [name for name in tracked
            if Path(name).parts[0] not in NOT_IN_ROOMS and name.endswith(SOURCE)
            and (root / name).exists()]


def arrows_not_allowed(graph: dict[str, set[str]]) -> list[str]:
    wrong = [f"{name}: includes {one.removeprefix(UNKNOWN)}, which is in no room"
             for name, included in graph.items() for one in sorted(included) if one[0] == UNKNOWN]
    for name, included in graph.items():
        here = room_of(name)
        wrong += [f"{name}: includes {one}: {here} does not stand on {room_of(one)}"
                  for one in sorted(included)
                  if here and one[0] != UNKNOWN and room_of(one) not in {here, *ROOMS[here]}]
    return wrong


def check(tracked: list[str]) -> list[str]:
    names = sources(tracked)
    graph = includes(names)
    wrong = [f"{name}: in no room of tests/house_arrows.py" for name in names if not room_of(name)]
    wrong += arrows_not_allowed(graph)
    wrong += [f"{PAGE}: names no folder {name}" for name in ROOMS if name not in folders_named()]
    wrong += [f"{name}: holds no file" for name in [*ROOMS, *sorted(PARTS)]
              if not any(one.startswith(name + "/") for one in names)]
    if around := circle(units(graph)):
        wrong.append("a circle of files: " + " -> ".join([*around, around[0]]))
    if picture() != drawn(arrows(graph)):
        wrong.append(f"{PAGE}: its picture is not what `python3 -m tests.house_arrows` prints")
    return wrong


if __name__ == "__main__":
    from tests import house_rules
    sys.stdout.write(drawn(arrows(includes(sources(house_rules.tracked())))))
