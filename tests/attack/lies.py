# SPDX-License-Identifier: Apache-2.0
"""What a changed server tries: the lies of deviate/liar.h, who can tell them, and what honest
servers then have to do. Which tick is the last in which they may still send something:

  comparison  the first one in which anything is opened: there they compare what they were told
  verdict     the one in which they tell whether the check held
  heard       the one in which they compare what they heard of masked values
  number      so many after the lie: whoever was told the truth goes on until it needs the other,
              at the latest in the next tick in which all three speak (service/job/lane_runner.cc)
"""

from dataclasses import dataclass

ALL = (0, 1, 2)
LEADER = (0,)
BOTH, ONE, NONE = "both", "one", "none"
# Octets that each opens: a digest, and whether the check held; the product and 32 random ones.
VERDICT, LACKING = 32 + 1, 8 + 32
VERDICT_AFTER = 6  # ticks from the first opening of what the claims lack to the verdict


@dataclass(frozen=True)
class Lie:
    tried: str
    order: str
    liars: tuple[int, ...] = ALL
    latched: str = BOTH
    last: str | int = "comparison"
    new_session: bool = False  # it is told when a session begins
    stores: bool = False  # while kadmin makes a principal; else while users log in
    beside: bool = False  # and kadmin makes others, in lane 0
    short: tuple[int, ...] = ()

    def must_latch(self) -> int:
        """How many honest servers: at once, or when they meet again in a handshake. One that is
        latched stops all three."""
        return {BOTH: 2, ONE: 1}.get(self.latched, 0)


LIES = (
    Lie("verdicts: one told \"A, not B\", the other \"B, not A\"", "verdicts", short=ALL),
    Lie("the same, and silent from the comparing tick on", "verdicts withhold", short=(2,)),
    Lie("the same, and packets of another length in that tick", "verdicts shorten", short=(1,)),
    Lie("the same, and gone 1 tick after it", "verdicts abort 1"),
    Lie("the same, and gone 300 ticks after it", "verdicts abort 300", short=(0,)),
    Lie("the same, and gone 1,000 ticks after it", "verdicts abort 1000"),
    Lie("verdicts: a job put back for one, refused for the other", "put-back"),
    Lie("manifest: another time of sealing for one", "sealed-at", LEADER, short=LEADER),
    Lie("the same, and silent from the comparing tick on", "sealed-at withhold", LEADER),
    Lie("manifest: another order for one", "order", LEADER, short=LEADER),
    Lie("the same, and gone 300 ticks after it", "order abort 300", LEADER),
    Lie("manifest: a job for one that nobody asked for", "names", LEADER),
    Lie("revoked windows told to one only", "windows", new_session=True, short=(2,)),
    Lie("the same, and silent from the comparing tick on", "windows withhold", new_session=True),
    Lie("audit heads that differ", "audit-heads", short=(1,)),
    Lie("a layer's octets changed", "layer", last="verdict", short=(1,)),
    Lie("the same, and \"the check held\" told to both", "layer-then-good", last="verdict",
        short=(2,)),
    Lie("the same, and gone where it would open what the claim lacks; back with its session",
        f"layer break {LACKING}", last="verdict", short=(0,)),
    Lie("the same, and gone in the verdict's tick", f"layer break {VERDICT}", last="verdict"),
    Lie("an opening's component changed", "opening", latched=ONE, last=2, short=(0,)),
    Lie("an opening's digest changed", "opening-digest", latched=ONE, last=2),
    Lie("\"the check failed\" told to one only", "verdict-bad", latched=ONE,
        last=16 + 1),
    Lie("votes of a store: \"not prepared\" told to one while kadmin makes a principal", "vote",
        latched=ONE, last=1, stores=True, short=(1,)),
    Lie("the same: \"not committed\"", "vote-second", latched=ONE, last=1, stores=True),
    Lie("a packet sent again in place of the next", "replay", latched=NONE, last=2, short=(1,)),
    Lie("connections cut, and HELLO: which session it holds, for one only", "held", latched=NONE,
        last=2, short=(2,)),
    Lie("a packet cut by an octet", "truncated", latched=NONE, last=2),
)

# In a realm with two lanes: lane 0 makes keys, lane 1 has the logins.
LANES = (
    Lie("split verdicts in a lane of two, while the other makes keys", "verdicts on 1",
        beside=True),
    Lie("the same, and gone 300 ticks after it", "verdicts abort 300 on 1", beside=True),
    Lie("a layer's octets changed in a lane of two", "layer on 1", last="verdict", beside=True),
)

# In a realm whose servers make masks while they are idle (docs/protocols/16-one-hot-aes.md).
MASKS = (
    Lie("a masked value changed for one", "masked-one", latched=ONE, last="heard"),
    Lie("a masked value changed for both", "masked-both", last="verdict"),
    Lie("split verdicts, with masks", "verdicts"),
)
