# SPDX-License-Identifier: Apache-2.0
"""The rules of docs/STYLE.md that a program can check; `make lint` and a test run it."""

import re
import subprocess
import sys
from pathlib import Path

from tests import house_alike, house_arrows

ROOT = Path(__file__).resolve().parents[1]
SOURCES = (".c", ".h", ".cc", ".cu", ".py", ".sh", ".map")
MAX_COLUMNS = 100
MAX_FILE_LINES = 500
# What everybody reads who adds a protocol.
FEWER_LINES = {"mpc-engine/protocol/protocol.h": 150}
MAX_FUNCTION_LINES = 70

# Rule, where it holds, pattern, and what to do instead.
FORBIDDEN = [
    ("unfinished", r".", r"\b(TODO|FIXME|XXX)\b", "finish it or leave it out"),
    ("memcmp", r"^(kdc-plugin|mpc-engine)/", r"\b(memcmp|bcmp)\s*\(",
     "use sodium_memcmp or CRYPTO_memcmp, or std::equal on what is not secret"),
    ("unsafe string", r"^(kdc-plugin|mpc-engine)/", r"\b(strcpy|strcat|sprintf|gets)\(",
     "use a call that knows the size"),
    ("weak random", r"^(kdc-plugin|mpc-engine)/", r"(?<![\w.>:])(srand\w*|rand|random)\s*\(\)",
     "use randombytes_buf"),
    ("abort in the KDC", r"^(kdc-plugin/(kdb|preload)|mpc-engine/service/wire)/",
     r"\b(abort|exit|_exit|assert)\s*\(", "return an error: a KDC must go on"),
    ("another hex", r"^(?!mpc-engine/base/hex\.h$).*\.(cc|h)$", r"\bsodium_(bin2hex|hex2bin)\s*\(",
     "use base/hex.h"),
    ("another errno text", r"^(?!mpc-engine/base/|tests/support/keyscan/).*\.(cc|h)$",
     r"\bstrerror\w*\s*\(", "use base/system_error.h"),
    ("another time as text", r"^(kdc-plugin|mpc-engine/(?!base/utc_time\.cc$))",
     r"\b(strftime|strptime|gmtime_r|localtime_r|put_time)\s*\(", "use base/utc_time.h"),
    ("another durable writer", r"^(kdc-plugin/|mpc-engine/(?!base/)|circuits/).*\.(c|cc|h)$",
     r"(?<![\w:.>])((::|(std::)?filesystem::|fs::)link|(::|(std::)?filesystem::|fs::)?"
     r"(rename|fsync|fdatasync))\s*\(", "use base/durable_file.h"),
    ("another reader of arguments", r"^(kdc-plugin|mpc-engine|circuits)/",
     r"\bgetopt\w*\s*\(|\bargv\[", "use CLI11"),
    ("private path", r".", r"(/home/\w+|/Users/\w+)", "no path of one machine"),
]
ALLOWED_MARK = "house-rule:"  # followed by the reason, on the same line


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    return [name for name in listed.stdout.decode().split("\0") if name]


def check_file(name: str) -> list[str]:
    if name.startswith("config/") and name.endswith(".toml"):
        return [f"{name}:{number}: {len(line)} columns" for number, line in
                enumerate((ROOT / name).read_text().splitlines(), 1) if len(line) > MAX_COLUMNS]
    if not name.endswith(SOURCES) or name == "tests/house_rules.py":
        return []
    text = (ROOT / name).read_text()
    lines = text.splitlines()
    found = []
    if "SPDX-License-Identifier: Apache-2.0" not in "\n".join(lines[:3]):
        found.append(f"{name}:1: no SPDX licence line")
    if len(lines) > (most := FEWER_LINES.get(name, MAX_FILE_LINES)):
        found.append(f"{name}: {len(lines)} lines, and may have {most}: one idea in each file")
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            found.append(f"{name}:{number}: {len(line)} columns")
        if line != line.rstrip():
            found.append(f"{name}:{number}: blanks at the end of the line")
        for rule, where, pattern, instead in FORBIDDEN:
            if re.search(where, name) and re.search(pattern, line) and ALLOWED_MARK not in line:
                found.append(f"{name}:{number}: {rule}: {instead}")
    return found + long_functions(name, lines)


def long_functions(name: str, lines: list[str]) -> list[str]:
    """C and C++ functions: from a line that opens a body in column 0 to its `}` in column 0."""
    if not name.endswith((".c", ".cc", ".h", ".cu")):
        return []
    found, start = [], None
    for number, line in enumerate(lines, 1):
        opens = line == "{" or (re.match(r"^[A-Za-z].*\) (const )?(noexcept )?\{$", line))
        if opens and not line.startswith(("namespace", "extern", "enum", "struct", "class")):
            start = number
        elif line.startswith("}") and start is not None:
            if number - start > MAX_FUNCTION_LINES:
                found.append(f"{name}:{start}: a function of {number - start} lines")
            start = None
    return found


DECISIONS = "docs/protocols/10-admission.md"
SAID_TO_BOTH = "mpc-engine/service/job/lane_control.cc"


def check_parts() -> list[str]:
    """The page lists the parts of what a server says to both others by the numbers in the code."""
    code = re.findall(r"^  k(?!All\b)\w+ = (\d+),?$", (ROOT / SAID_TO_BOTH).read_text(), re.M)
    line = re.search(r"u8 parts \(([^)]*)\)", (ROOT / DECISIONS).read_text())
    listed = re.findall(r"\b(\d+) [a-z]", line.group(1)) if line else []
    if code and code == listed:
        return []
    return [f"{DECISIONS}: what is for both has the parts {', '.join(code)}, "
            f"not {', '.join(listed)}"]


def check_decisions() -> list[str]:
    """Each row of the table of decisions names tests that exist: Suite.Name or Suite.*."""
    page = (ROOT / DECISIONS).read_text().partition("| decision |")[2]
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    if len(rows) < 10:
        return [f"{DECISIONS}: the table of decisions is not there"]
    tests = set()
    for name in tracked():
        if name.startswith("tests/unit/") and name.endswith("_test.cc"):
            text = (ROOT / name).read_text()
            tests.update(re.findall(r"^TEST(?:_[PF])?\((\w+),\s*(\w+)\)", text, re.M))
    suites = {suite for suite, _ in tests}
    wrong = []
    for row in rows:
        named = re.findall(r"`(\w+)\.(\w+|\*)`", row.rsplit("|", 2)[1])
        if not named:
            wrong.append(f"{DECISIONS}: a decision without a test: {row}")
        for suite, test in named:
            if suite not in suites or (test != "*" and (suite, test) not in tests):
                wrong.append(f"{DECISIONS}: there is no test {suite}.{test}")
    return wrong


def main() -> int:
    found = [problem for name in tracked() if (ROOT / name).exists()
             for problem in check_file(name)]
    found += check_decisions() + check_parts()
    found += house_arrows.check(tracked()) + house_alike.check(tracked())
    for problem in found:
        sys.stdout.write(problem + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
