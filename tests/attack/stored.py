# SPDX-License-Identifier: Apache-2.0
"""Attacks on what servers store: MACs on shares, refresh, repair, dropped keys
(docs/protocols/23-share-macs.md, 25-repair.md, 28-dropped-keys.md). In one process each, where a
server's memory and disk can be changed octet by octet: tests of ours, by name, of which each has
its honest run beside the lie. A control repeats what a guard prevents, and computes what it gives
away."""

import re
import subprocess
from dataclasses import dataclass

from tests.attack.line import Line, Play
from tests.attack.realm import AttackedRealm

TIMEOUT_S = 600
PASSED = re.compile(r"^\[  PASSED  \] (\d+) tests?\.$", re.M)


@dataclass(frozen=True)
class Stored:
    tried: str
    tests: dict[str, str]  # by program
    honest: str
    learned: str = ""  # by a control

    def play(self, realm: AttackedRealm) -> Play:
        done = Play(honest=self.honest, status="none: in one process")
        for program, names in self.tests.items():
            for name in names.split(":"):
                ended = subprocess.run([str(realm.bin / program), f"--gtest_filter={name}"],
                                       text=True, capture_output=True, timeout=TIMEOUT_S,
                                       check=False)
                passed = PASSED.search(ended.stdout)
                count = int(passed[1]) if passed else 0
                done.count("tests", count)
                done.expect(ended.returncode == 0 and count > 0,
                            f"{program}, {name}: {ended.stdout[-2000:]}")
        if self.learned and not done.wrong:
            done.learned.append(self.learned)
        return done


ATTACKS = (
    Stored("tags of an aborted dealing, record, version or epoch for another one",
           {"mac_test": "MacCheck.NamesDealingsAndEpochsAreBound",
            "job_test": "Shares.RecordsThatAreSwappedFail:Shares.OldTagsUnderANewNameFail"},
           "named the record and the two servers"),
    Stored("CONTROL: the same, with one dealing's number used twice",
           {"mac_test": "MacAttacks.ADealingThatIsRepeatedGivesDeltaAway"}, "saw nothing",
           "the difference that all tags of a pair rest on"),
    Stored("CONTROL: the same, with records that share a name",
           {"mac_test": "StoredAttacks.RecordsThatShareANameCanBeSwapped"}, "saw nothing",
           "another account's key under its own name"),
    Stored("a dealer that deals wrong MACs",
           {"mac_test": "MacCheck.EachBitOfATagCounts:"
                        "MacCheck.ADealerThatHoldsAnotherComponentIsFound",
            "job_test": "Shares.AKeyWhoseMacsFailIsNotBound"}, "bound no key"),
    Stored("CONTROL: a dealer that knows the coins",
           {"mac_test": "MacAttacks.ADealerThatKnowsTheCoinsHidesAWrongTag"}, "saw nothing",
           "a wrong tag that passes, by which honest proofs fail later"),
    Stored("a prover whose share is a bit off", {"mac_test": "MacCheck.EachBitOfAComponentCounts"},
           "found each bit"),
    Stored("CONTROL: the same, with the verifier's Delta known",
           {"mac_test": "StoredAttacks.AProverThatKnowsDeltaTurnsABit"}, "saw nothing",
           "a key that is off by the bit it chose"),
    Stored("a server that returns old state",
           {"job_test": "Shares.AServerThatReturnsAnOldStateIsNamed"}, "named it"),
    Stored("CONTROL: the same, after a refresh with neither new MAC keys nor a new dealing",
           {"mac_test": "StoredAttacks.AShareOfBeforePassesWhereARefreshBringsNoNewKey"},
           "saw nothing", "its share of before passes for the new one"),
    Stored("a refresh with another delta", {"job_test": "SharesRefresh.AWrongDeltaEndsIt"},
           "kept the former shares"),
    Stored("CONTROL: the same, with new shares that nobody checks",
           {"mac_test": "StoredAttacks.AWrongDeltaThatNobodyChecksIsAFaultOfItsChoice"},
           "would keep them", "a fault of its choice in each job with that key"),
    Stored("approvals of a repair for different certificates",
           {"server_test": "RepairWatchTest.AllThreeOfferTheSameOrThereIsNone:"
                           "RepairWatchTest.WhatIsNotApproved",
            "session_test": "Features.ASessionIsForANewcomerWhereAllThreeOfferTheSame"},
           "began none"),
    Stored("CONTROL: the same, with what they are for left out of the comparison",
           {"server_test": "RepairWatchTest.OnlyWhatTheyAreForTellsTwoApprovalsApart"},
           "would begin one", "a store for a machine that one administrator has never seen"),
    Stored("a dropped key in use again without two approvals, at one server, after its purge",
           {"job_test": "DroppedKeys.*", "server_test": "GiveBacksTest.*"}, "had it not"))


def lines(realm: AttackedRealm) -> list[Line]:
    return [Line(one.tried, [one.play(realm)], leaks=bool(one.learned)) for one in ATTACKS]
