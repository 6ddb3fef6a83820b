# SPDX-License-Identifier: Apache-2.0
"""What a changed server wrote down of the packets that honest servers sent it (deviate/liar.h)."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Packet:
    side: str  # "prev" or "next", as the changed server sees it
    tick: int
    octets: int
    opened: int  # of them, openings and exchanges; seen from "prev" alone


@dataclass
class Tap:
    lied_at: int | None = None
    compares_at: int | None = None  # by what the changed server itself was about to send
    silent_from: int | None = None  # it withheld, or went
    closed: int = 0
    answers: int = 0  # that it changed
    over: bool = False  # it has read all that came, from both
    got: list[Packet] = field(default_factory=list)
    beside: list[Packet] = field(default_factory=list)  # since the lie, in other lanes

    def first_opening(self) -> int | None:
        """The first tick after the lie's in which an honest server opened or exchanged anything.
        What it sends in the lie's own tick was made before it heard the lie."""
        ticks = [p.tick for p in self.got if p.opened > 0 and p.tick > (self.lied_at or 0)]
        return min(ticks, default=None)

    def first_of(self, opened: int) -> int | None:
        ticks = [p.tick for p in self.got if p.opened == opened and p.tick >= (self.lied_at or 0)]
        return min(ticks, default=None)

    def first_verdict(self) -> int | None:
        """Beside one may stand what others open; no other piece has an odd number of octets."""
        ticks = [p.tick for p in self.got if p.opened % 2 == 1 and p.tick >= (self.lied_at or 0)]
        return min(ticks, default=None)

    def heard_tick(self) -> int | None:
        """The first in which an honest server exchanged no masked values any more, but a digest."""
        after = [p for p in self.got if p.opened > 0 and p.tick > (self.lied_at or 0)]
        values = next((p.opened for p in after if p.tick == (self.lied_at or 0) + 1), None)
        return min((p.tick for p in after if p.opened != values), default=None)

    def later_than(self, tick: int) -> list[Packet]:
        return [packet for packet in self.got if packet.tick > tick]


def read_tap(path: Path) -> Tap:
    tap = Tap()
    if not path.exists():
        return tap
    text = path.read_text()
    for line in text[:text.rfind("\n") + 1].splitlines():  # the last may be on its way
        words = line.split()
        if words[0] == "lie":
            tap.lied_at = int(words[1])
            tap.beside.clear()
        elif words[0] == "compares":
            tap.compares_at = int(words[1])
        elif words[0] in ("withheld", "aborted"):
            tap.silent_from = int(words[1])
        elif words[0] == "closed":
            tap.closed += 1
            tap.over = tap.over or tap.closed >= 2
        elif words[0] == "end":
            tap.over = True
        elif words[0] == "answer":
            tap.answers += 1
        elif words[0] in ("got", "beside"):
            packets = tap.got if words[0] == "got" else tap.beside
            packets.append(Packet(words[1], *map(int, words[2:])))
    return tap
