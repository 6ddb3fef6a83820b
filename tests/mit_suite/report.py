# SPDX-License-Identifier: Apache-2.0
"""Writes results into docs/mit-suite.md, between its two marks."""

from pathlib import Path

from tests.mit_suite.departures import LEFT_OUT
from tests.mit_suite.scripts import ordered

BEGIN = "<!-- results: written by make mit-suite-report -->"
END = "<!-- end of results -->"


def cell(result: dict | None) -> str:
    if not result:
        return "not run"
    text = result["outcome"]
    if text == "failed":
        where = f" at “{result['last_mark']}”" if result["last_mark"] else ""
        text += f"{where}: {result['failure']}"
    elif text == "passed":
        text += f", {result['seconds']:.0f} s"
    return text.replace("|", "\\|")


class Notes:
    """Remarks that many scripts share, by number."""

    def __init__(self):
        self.numbers: dict[str, int] = {}

    def of(self, results: dict[str, dict]) -> str:
        """What stands in a script's row: numbers of notes, and in words what it says of itself."""
        found: list[str] = []
        for variant in ("stock", "tkdc"):
            result = results.get(variant, {})
            mine = [f"skips “{line}”" for line in result.get("skipped", ())]
            for line in result.get("departures", ()):
                reason, _, part = line.partition(LEFT_OUT)
                number = self.numbers.setdefault(reason, len(self.numbers) + 1)
                mine.append(f"{number}, left out from {part.rstrip(')')}" if part else f"{number}")
            found += [text for text in mine if text not in found]
        return "; ".join(found).replace("|", "\\|")

    def lines(self) -> list[str]:
        return [f"{number}. {reason}" for reason, number in self.numbers.items()]


def tables(results: dict[str, dict[str, dict]]) -> str:
    notes = Notes()
    lines = ["| script | without tkdc | with tkdc | operations | notes |", "|---|---|---|---|---|"]
    for name in ordered(list(results)):
        row = results[name]
        operations = row.get("tkdc", {}).get("operations", 0)
        lines.append(f"| `{name}` | {cell(row.get('stock'))} | {cell(row.get('tkdc'))} "
                     f"| {operations} | {notes.of(row)} |")
    return "\n".join([*lines, "", *notes.lines()])


def summary(results: dict[str, dict[str, dict]]) -> str:
    counts = {}
    for variant in ("stock", "tkdc"):
        outcomes = [row[variant]["outcome"] for row in results.values() if variant in row]
        counts[variant] = ", ".join(f"{outcomes.count(word)} {word}"
                                    for word in ("passed", "skipped", "failed"))
    return f"Without tkdc: {counts['stock']}. With tkdc: {counts['tkdc']}."


def write(page: Path, results: dict[str, dict[str, dict]], version: str) -> None:
    text = page.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    body = f"krb5 {version}. {summary(results)}\n\n{tables(results)}"
    page.write_text(f"{before}{BEGIN}\n{body}\n{END}{after}")
