# SPDX-License-Identifier: Apache-2.0
"""Runs one of MIT's scripts, in a process of its own: launch.py SETTINGS SCRIPT.

SETTINGS is a file of JSON. Without "tkdc" in it the script runs as it is. With it, k5test is
changed in memory (inject.py) and the parts are left out that departures.py names.
"""

import ast
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def is_call(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Expr(ast.Call(func=ast.Name(called))):
            return called == name
    return False


def line_with(lines: list[str], words: str, after: int = 0) -> int:
    """The number of the first line after that one which has these words."""
    for number, line in enumerate(lines, 1):
        if number > after and words in line:
            return number
    sys.exit(f"departures.py names a line that the script does not have: {words}")


def part_of(tree: ast.Module, lines: list[str], start: str, until: str) -> range:
    first = line_with(lines, start)
    if until:
        return range(first, line_with(lines, until, first))
    ends = [s.lineno for s in tree.body
            if s.lineno > first and (is_call(s, "mark") or is_call(s, "success"))]
    return range(first, ends[0] if ends else len(lines) + 1)


def without_parts(source: str, name: str, parts: list[tuple[str, str]]) -> ast.Module:
    """The script without the outermost statements that begin in these parts."""
    tree, lines = ast.parse(source, name), source.splitlines()
    left_out = [part_of(tree, lines, *part) for part in parts]
    tree.body = [s for s in tree.body if not any(s.lineno in part for part in left_out)]
    return tree


def main() -> None:
    settings = json.loads(Path(sys.argv[1]).read_text())
    script = Path(sys.argv[2])
    parts = []
    # What k5test reads: the script's own name and options.
    sys.argv = [str(script), *sys.argv[3:]]
    sys.path[0] = settings["util"]
    if "tkdc" in settings:
        sys.path.append(str(ROOT))
        from tests.mit_suite import departures, inject

        mine = departures.of(settings["name"])
        parts = [(d.leave_out, d.until) for d in mine if d.leave_out]
        inject.inject(settings["tkdc"], mine, Path(settings["record"]))
    tree = without_parts(script.read_text(), str(script), parts)
    exec(compile(tree, str(script), "exec"), {"__name__": "__main__", "__file__": str(script)})


if __name__ == "__main__":
    main()
