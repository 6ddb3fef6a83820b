# SPDX-License-Identifier: Apache-2.0
"""What becomes of one attack: a line of the table, and the reasons for which it did not hold."""

from collections import Counter
from dataclasses import dataclass, field

NOTHING = "nothing"


@dataclass
class Play:
    """One attack, played once. `learned` names each thing that the attacker got and should not."""

    measured: Counter[str] = field(default_factory=Counter)  # on which "nothing" rests
    learned: list[str] = field(default_factory=list)
    honest: str = ""
    status: str = ""
    wrong: list[str] = field(default_factory=list)

    def count(self, what: str, number: int) -> None:
        self.measured[what] += number

    def expect(self, holds: bool, otherwise: str) -> None:
        if not holds:
            self.wrong.append(otherwise)


@dataclass
class Line:
    tried: str
    plays: list[Play] = field(default_factory=list)
    leaks: bool = False  # a control: the attacker is to learn something

    def reasons(self) -> list[str]:
        found = []
        for play in self.plays:
            found += play.wrong
            if not self.leaks:
                found += [f"the attacker learned {what}" for what in play.learned]
            elif not play.learned:
                found.append("the control shows no leak, so the attack above it shows nothing")
        if not self.plays:
            found.append("not played")
        return [f"{self.tried}: {reason}" for reason in found]

    def text(self) -> str:
        learned = _counted(what for play in self.plays for what in play.learned) or NOTHING
        measured: Counter[str] = Counter()
        for play in self.plays:
            measured.update(play.measured)
        if measured:
            learned += f" ({', '.join(f'{number:,} {what}' for what, number in measured.items())})"
        return " | ".join([self.tried, str(len(self.plays)), learned,
                           _counted(play.honest for play in self.plays),
                           _counted(play.status for play in self.plays)])


def _counted(texts) -> str:
    counts = Counter(text for text in texts if text)
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{text} ({count})" for text, count in counts.items())
