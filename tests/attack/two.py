# SPDX-License-Identifier: Apache-2.0
"""Attacks on two servers (docs/protocols/22-authenticated-garbling.md, 26-two-server-keys.md,
27-two-server-jobs.md). One of both is changed. On the whole realm: a copy of its store that goes
back, and a bit of it. In one process each, where each octet of what it says can be changed: tests
of ours, by name, with controls in which a guard is taken out."""

import shutil
import subprocess

from tests.attack.line import Line, Play
from tests.attack.realm import AttackedRealm
from tests.attack.stored import Stored

OK = "ended the session, and latched where no honest server comes to it"
TRIED_S = 60

ATTACKS = (
    Stored("an evaluator that flips one value Λ",
           {"pair_test": "PairAttack.AFlippedValueEndsTheSessionBeforeTheGarblerSaysAnything"}, OK),
    Stored("CONTROL: the same, against a garbler that compares no labels",
           {"pair_unchecked_test":
            "PairControl.AFlippedValueReadsASecretFromAGarblerThatDoesNotCheck"}, "saw nothing",
           "the true value of a wire"),
    Stored("a garbler that sends the other label of an input",
           {"pair_test": "PairAttack.AWrongLabelEndsTheRunWhateverTheInputs"}, OK),
    Stored("CONTROL: the same, against an evaluator that compares no colours",
           {"pair_unchecked_test":
            "PairControl.AWrongLabelReadsASecretFromAnEvaluatorThatDoesNotCheck"}, "saw nothing",
           "a bit of a neighbouring input"),
    Stored("rows that a server has chosen, for the other one's difference, for two flipped bits",
           {"pair_test": "Side/ChosenRows.*"}, OK),
    Stored("CONTROL: the same, with the hash of gates for rows",
           {"pair_unchecked_test": "Side/ChosenRowsControl.*"}, "saw nothing",
           "the difference on which all MACs of a session rest"),
    Stored("each message of setup, preprocessing and online changed, by either",
           {"pair_test": "PairAttack.EveryOnlineMessageChangedEndsWhateverTheInputs:"
                         "PairAttack.EveryMessageOfTheSetupChangedIsFoundOrMeansNothing:"
                         "PairAttack.EachMessageBehindTheTablesChangedIsFound:"
                         "PairAttack.TablesOfGatesChangedAreFoundOrNotUsed"}, OK),
    Stored("guesses in leaky ANDs", {
        "pair_test": "PairAttack.AGuessInALeakyAndIsCaughtWhereItIsWrong:Buckets.*"},
        "ended at each wrong guess"),
    Stored("two sessions mixed", {"pair_test": "PairAttack.TwoSessionsDoNotMix"}, OK),
    Stored("a server that enters another share of what an agent dealt",
           {"pair_test": "PairDealt.AServerThatFlipsABitOfThePadChangesNothing:"
                         "Side/PairDealtMessages.*"}, "dropped the job"),
    Stored("CONTROL: the same, with no proof of dealt inputs",
           {"pair_unchecked_test":
            "PairControl.AServerFlipsABitOfTheAgentsOutputWhereMacsAreNotChecked"}, "saw nothing",
           "that the agent's output is another one"),
    Stored("a deal that serves twice", {"pair_test": "PairDealt.WhatWasDealtServesOnce",
                                        "pair_job_test": "PairKeysOfServers.ADealServesOnce:"
                                                         "PairServersDiffer.NumbersOfDeals"},
           "refused it"),
    Stored("CONTROL: the same, with numbers that are not looked at",
           {"pair_unchecked_test": "PairControl.ADealThatServesTwiceGivesAShareAway"},
           "saw nothing", "a share of the agent's input"),
    Stored("a bit, a MAC, a version or a record in another's place in a store",
           {"pair_test": "PairKeys.WhatOneServerHasChangedInItsStoreEndsTheSession:"
                         "PairCircuitBridge.WhatOneServerHasChangedInItsStoreEndsTheSession",
            "pair_job_test": "PairServersDiffer.AStoredBitThatOneHasChanged:"
                             "PairServersDiffer.AStoredMacThatOneHasChanged:"
                             "PairServersDiffer.AFieldInThePlaceOfAnother:"
                             "PairServersDiffer.AVersionOfARecord:"
                             "PairServersDiffer.ABlockOfThePoolThatOneHasChanged"}, OK),
    Stored("CONTROL: a stored bit, with no proof of stored keys",
           {"pair_unchecked_test": "PairControl.AStoredBitIsFlippedWhereNothingIsProved"},
           "saw nothing", "that both compute with another key"),
    Stored("a block of the pool that serves twice: named, after a crash, in two sessions",
           {"pair_test": "PairKeys.ABlockIsNotUsedTwice:"
                         "PairPool.TwoSessionsAtOnceDoNotReserveTheSameBlocks"}, "used none twice"),
    Stored("CONTROL: the same, with a number that is not looked at",
           {"pair_unchecked_test": "PairControl.ABlockThatServesTwiceGivesAShareAway"},
           "saw nothing", "a share of a stored key"),
    Stored("a store that was restored from its backup, again and again",
           {"pair_job_test": "RestoredServers.KeysServeFromABackupAsOftenAsItIsRestored"},
           "used no block of before"),
    Stored("CONTROL: a copy of the store's folder in its place",
           {"pair_job_test": "RestoredPool.ABackupBringsNoBlockBack"}, "saw nothing",
           "a share of a stored key"),
    Stored("MACs under two differences in one proof",
           {"pair_test": "PairKeys.TwoDeltasAreNotProvedTogether"}, "said nothing"),
    Stored("CONTROL: the same, where nobody looks",
           {"pair_unchecked_test": "PairControl.TwoDeltasInOneProofGiveAShareAway"},
           "saw nothing", "a share of a stored key"),
    Stored("a server that guesses a restored key, by other keys than it has stored",
           {"pair_test": "PairCircuitBridge.AnEvaluatorThatGuessesWrongIsFoundBeforeItKnows"},
           "latched before it knew"),
    Stored("an agent that tells the two different things, or names one key to each",
           {"pair_job_test": "PairServersDiffer.AJobOfWhichTheyAreToldDifferentThings:"
                             "PairFastDiffers.AJobOfWhichTheyAreToldDifferentThings",
            "pair_test": "PairKeys.ServersThatAreAskedForDifferentKeysRefuseAndLatchNobody"},
           "refused it, and latched nobody"),
)


def lines(realm: AttackedRealm, short: bool) -> list[Line]:
    found = []
    for one in ATTACKS[:4] if short else ATTACKS:
        found.append(Line(one.tried, [one.play(realm)], leaks=bool(one.learned)))
    return found


def of_stores(realm: AttackedRealm) -> list[Line]:
    """A copy of server 0's store goes back, with a session that its audit log has seen."""
    copied = Play()
    realm.wait_well()
    store = realm.server_directory(0) / "store"
    newest, copy = store.with_name("newest"), store.with_name("copy")
    realm.daemons["server0"].stop()
    shutil.copytree(store, copy)
    realm.start_server(0)
    realm.wait_well()
    realm.daemons["server0"].stop()
    store.rename(newest)
    copy.rename(store)
    tried = subprocess.run([str(realm.bin / "tkdc-server"), "--config",
                            str(realm.server_directory(0) / "tkdc.toml")], env=realm.env(),
                           text=True, capture_output=True, timeout=TRIED_S, check=False)
    copied.expect(tried.returncode != 0 and "a copy was put in its place" in tried.stderr,
                  f"it starts: {tried.stderr}")
    copied.honest = "did not start with it"
    shutil.rmtree(store)
    newest.rename(store)
    realm.start_server(0)
    realm.wait_well()
    copied.status = "healthy" if "tkdc is healthy" in realm.status_text() else "DEGRADED"
    copied.expect(copied.status == "healthy", "`tkdc status` is not healthy after it")
    copied.expect(realm.refuses_wrong_password(), "a wrong password was not refused")
    return [Line("a copy of a server's store in its place", [copied])]
