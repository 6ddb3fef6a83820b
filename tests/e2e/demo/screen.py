# SPDX-License-Identifier: Apache-2.0
"""What the demo prints: steps, commands with their output, tables. Nothing else prints."""

import sys
import time

WIDTH = 96


class Screen:
    def __init__(self, steps: int):
        self._steps, self._step, self._began = steps, 0, time.monotonic()

    def title(self, text: str) -> None:
        self._print(text)
        self._print("=" * len(text))

    def step(self, text: str) -> None:
        self._step += 1
        elapsed = time.monotonic() - self._began
        self._print(f"\n[{self._step}/{self._steps}] {text}  ({elapsed:.1f} s)")

    def say(self, text: str) -> None:
        self._print(f"  {text}")

    def command(self, text: str, output: str = "") -> None:
        self._print(f"  $ {text}")
        for line in output.rstrip().splitlines():
            self._print(f"    {line.expandtabs()}".rstrip())

    def table(self, header: list[str], rows: list[list[str]]) -> None:
        """Numbers to the right, everything else to the left."""
        widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
        right = [all(_numeric(row[i]) for row in rows) for i in range(len(header))]
        for row in [header, ["-" * width for width in widths], *rows]:
            cells = [cell.rjust(w) if r else cell.ljust(w)
                     for cell, w, r in zip(row, widths, right, strict=True)]
            self._print(("  " + "  ".join(cells)).rstrip())

    @staticmethod
    def _print(text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def _numeric(cell: str) -> bool:
    return cell.replace(",", "").replace(".", "").replace("-", "").isdigit() or not cell
