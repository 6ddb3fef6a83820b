# SPDX-License-Identifier: Apache-2.0
"""Attacks on garbled circuits between three servers (docs/protocols/20-three-servers.md). One of
the three is changed, in one process each, where each octet of what it says can be: tests of ours,
by name. A control takes the protocol's answer out, and computes what the attacker then has."""

from tests.attack.line import Line
from tests.attack.realm import AttackedRealm
from tests.attack.stored import Stored

LATCHED = "ended the lane, and latched where no honest server comes to it"

ATTACKS = (
    Stored("two jobs of one shape, of which each garbler is told another one",
           {"threegarble_test": "SplitVerdicts.GiveEvaluatorNothing:"
                                "SplitVerdicts.EndTheLaneWithoutAResult"}, LATCHED),
    Stored("CONTROL: the same, with messages that are under no keys of the other garbler's",
           {"threegarble_test": "SplitVerdicts.ControlWithoutStreamsOneMessageIsAKey"},
           "saw nothing", "a key, by one message"),
    Stored("an agent's copies of a job that differ, with and without a garbler that knows it",
           {"threegarble_test": "Admission.CopiesThatDifferEndTheJobAloneAndNothingLeaves:"
                                "Admission.FindsAnAgentsDifferenceThatAGarblerKnows:Copies.*"},
           "ended that job, or the lane where a server lies"),
    Stored("CONTROL: the same, where evaluator's component is compared with no garbler's",
           {"threegarble_test": "Admission.ControlWithoutItAGarblerHidesAnAgentsDifference"},
           "saw nothing", "that a result of other inputs is taken"),
    Stored("guesses of a password held against what the evaluator hears",
           {"threegarble_test": "GuessedPasswords.AreNotConfirmedByWhatEvaluatorHears"},
           "sent nothing that confirms one"),
    Stored("an instance of a circuit that serves twice: named again, at one server alone",
           {"threegarble_test": "Run.AnInstanceServesOnce:Ledger.*:"
                                "Filling.AnotherInstanceAtOneServerLatchesBeforeItIsMade"},
           "used none twice"),
    Stored("CONTROL: the same, with no ledger",
           {"threegarble_test": "InstanceTwice.ControlWithoutTheLedgerIsDelta"}, "saw nothing",
           "the difference of all labels of the instance"),
    Stored("labels that are none, so that what the evaluator hashes depends on its share",
           {"threegarble_test": "Commitments.KeepAGarblerFromReadingEvaluatorsShare"}, LATCHED),
    Stored("CONTROL: the same, against an evaluator that looks at colours alone",
           {"threegarble_control": "Commitments.KeepAGarblerFromReadingEvaluatorsShare"},
           "saw nothing", "the evaluator's share of an input"),
    Stored("each octet of the tables, and of all three messages, changed by each party",
           {"threegarble_test": "Deviations.EveryOctetOfWhatIsSentAhead:Deviations.EveryOctetOfM1:"
                                "Deviations.EveryOctetOfM2:Deviations.EveryOctetOfM3"}, LATCHED),
    Stored("CONTROL: a wrong table, against an evaluator that holds it against no hash",
           {"threegarble_test": "Deviations.WithoutTheHashesATableFailsSelectively"},
           "saw nothing", "a value on a wire, by whether the job ends"),
    Stored("a label or a mask of the other value, a colour without its label, a mark that is none",
           {"threegarble_test": "Deviations.ALabelOfTheOtherValue:Deviations.AMaskOfTheOtherValue:"
                                "Deviations.AColourWithoutItsLabel:Deviations.AMarkThatIsNone"},
           LATCHED),
    Stored("a message that is kept back, or said to one server alone",
           {"threegarble_test": "Withheld.*:Deviations.AnM3ForOneAloneLatchesItAndTheOtherIsRight:"
                                "Filling.WhatOneIsToldAndTheOtherIsNotLatchesBoth"},
           "latched for what was wrong, and not for silence"),
    Stored("connections cut at each packet",
           {"threegarble_test": "Connections.AreCutAtAnyPacketAndTheJobIsDone"}, "did the job"),
    Stored("one key, or one agent, that asks for all that is prepared",
           {"garbled_test": "InstanceQuotas.OneKeyLeavesHalfToOthers:"
                            "InstanceQuotas.OneAgentLeavesAThirdToOthers:"
                            "InstanceQuotas.KrbtgtsKeyCountsForItsAgentAlone"},
           "left instances to the others"))


def lines(realm: AttackedRealm) -> list[Line]:
    return [Line(one.tried, [one.play(realm)], leaks=bool(one.learned)) for one in ATTACKS]
