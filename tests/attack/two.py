# SPDX-License-Identifier: Apache-2.0
"""Attacks on two servers (docs/protocols/22-authenticated-garbling.md, 26-two-server-keys.md,
27-two-server-jobs.md). One of both is changed. On the whole realm: a copy of its store that goes
back, and a bit of it. In one process each, where each octet of what it says can be changed: tests
of ours, by name, with controls in which a guard is taken out."""

import shutil
import threading
from dataclasses import dataclass

from tests.attack.line import Line, Play
from tests.attack.realm import USERS, AttackedRealm, password
from tests.attack.served import WRONG, Seen, Served, failed_attempts, no_result
from tests.attack.served import play as play_served
from tests.attack.stored import Stored
from tests.attack.tap import Tap
from tests.support.kerberos import Outcome
from tests.support.process import RealmError, wait_until
from tests.support.two_servers import given_up

OK = "ended the session, and latched where no honest server comes to it"

TOLD_S, ENDS_S = 40.0, 5.0
GUESSED = USERS[3]


# -- one server is changed, on the whole realm ------------------------------------------------


def _no_result_said(realm: AttackedRealm, tap: Tap, seen: Seen, done: Play) -> None:
    """Both have to answer alike: there is no result, and no right password is called wrong."""
    no_result(realm, tap, seen, done)
    done.expect(not [error for error in seen.errors if WRONG in error],
                "a right password is called wrong")
    told = "one of them is faulty or changed" in seen.agent
    done.expect(told, f"the agent does not say that they differ: {seen.agent}")


def _nobody_let_in(realm: AttackedRealm, tap: Tap, seen: Seen, done: Play) -> None:
    """One says that it opened what the other one found wrong."""
    done.count("answers changed", tap.answers)
    done.learned += [f"a login of {user} with a wrong password" for user in seen.let_in]
    done.learned += ["the opening of a timestamp" for op in seen.operations
                     if op["op"] == "open" and op["usage"] in (1, 54) and op["status"] == "ok"]
    done.expect("one of them is faulty or changed" in seen.agent,
                f"the agent does not say that they differ: {seen.agent}")
    done.honest = "saw nothing of it"


BOTH = (0, 1)
ANSWERS = (
    Served("answers: an octet of it changed", "answer-output", _no_result_said, BOTH, (1,)),
    Served("answers: \"denied\" of what the other one did", "answer-denied", _no_result_said,
           BOTH),
    Served("answers: \"no such key\" of what the other one did", "answer-unknown",
           _no_result_said, BOTH),
    Served("answers: \"wrong key\" of what the other one opened", "answer-integrity",
           _no_result_said, BOTH),
    Served("answers: \"opened\" of a wrong password, with octets of its own", "answer-ok",
           _nobody_let_in, BOTH),
)


@dataclass(frozen=True)
class Streamed:
    """In a record of its streams (deviate/liar.h)."""

    tried: str
    then: str  # "", "break" or "die"
    records: tuple[int, ...]  # counted from when it is told to
    begins: bool = False  # a session; else users log in, and kadmin makes a principal


STREAMED = (
    Streamed("an octet of what it says changed while a session begins", "", (1, 4), True),
    Streamed("an octet of what it says changed in logins and in a key's making", "",
             (1, 3, 30)),
    Streamed("gone instead, back with a new session", "break", (2, 30)),
    Streamed("dead instead, as by kill -9, and started again", "die", (1, 4, 40)),
)


def sessions(realm: AttackedRealm) -> list[int]:
    return [server.get("sessions", 0) for server in realm.status()]


def play_streamed(realm: AttackedRealm, one: Streamed, record: int) -> Play:
    done = Play()
    realm.release()
    realm.wait_well()
    liar = realm.daemons[f"server{realm.liar}"]
    asked, failed = len(realm.operations("kdc")), failed_attempts(realm)
    order = f"stream-{record} {one.then}".strip()
    name, before = realm.next_name(), sessions(realm)
    made: list[Outcome] = []
    kadmin = threading.Thread(target=lambda: made.append(realm.try_admin_tool(
        "kadmin.local", "-q", f'addprinc -pw "{password(name)}" {name}', timeout_s=120)))
    (realm.restart_armed if one.begins else realm.arm)(order)
    with realm.logins_at_once() as logins:
        logins.append(realm.login(GUESSED, "not " + password(GUESSED), "guess"))
        kadmin.start()
        try:
            wait_until(lambda: realm.tap().lied_at is not None, TOLD_S, "its lie")
            wait_until(lambda: realm.latched() or sessions(realm) != before, ENDS_S, "its end")
        except RealmError:
            done.expect(realm.tap().lied_at is not None,
                        f"server {realm.liar} never told it: record {record}")
        if logins[-1].succeeded():
            done.learned.append("a login by another password")
    done.count("results at the agent", sum(op["status"] == "ok"
                                           for op in realm.operations("kdc")[asked:]))
    if one.then == "die":
        wait_until(lambda: not liar.running(), TOLD_S, "its death")
        realm.start_server(realm.liar)
    realm.arm("none")
    latched = realm.latched()
    done.expect(not one.then or not latched, f"who lost a connection is latched: {latched}")
    ended = latched or sessions(realm) != before
    done.honest = ("latched" if latched else "ended the session" if ended else
                   "refused it, or it meant nothing")
    done.status = "latched" if latched else "healthy after it"
    if latched:
        said = realm.wait_status(lambda servers: any(server.get("latched") for server in servers),
                                 "the status of the latched")
        done.expect(not all(server.get("session_up") for server in said), "a session is up")
    realm.release()
    kadmin.join()
    realm.wait_well()
    now = failed_attempts(realm)
    done.expect(all(now[user] <= failed[user] for user in USERS if user != GUESSED),
                f"right passwords count as failed attempts: {failed}, then {now}")
    done.expect("tkdc is healthy" in realm.status_text(), "`tkdc status` is not healthy after it")
    done.expect(realm.refuses_wrong_password(), "a wrong password was not refused")
    if "created." in made[0].output:
        done.expect(realm.client("made").kinit(name, password(name), timeout_s=60).ok,
                    f"{name} was made and cannot log in")
    return done


def by_servers(realm: AttackedRealm, short: bool, say) -> list[Line]:
    lines = {one: Line(one.tried) for one in (*ANSWERS, *STREAMED)}
    for liar in (1,) if short else BOTH:
        realm.change(liar)
        for attack in ANSWERS:
            if not short or liar in attack.short:
                say(f"server {liar}: {attack.tried}")
                lines[attack].plays.append(play_served(realm, attack))
        for streamed in STREAMED:
            for record in streamed.records[:1] if short else streamed.records:
                say(f"server {liar}: {streamed.tried}, record {record}")
                lines[streamed].plays.append(play_streamed(realm, streamed, record))
    realm.change(None)
    return [line for line in lines.values() if line.plays]


# -- in one process each ----------------------------------------------------------------------

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
    Stored("what a server says of its pools when a session begins: numbers, blocks, ids, a refresh",
           {"pair_job_test": "LyingPeer.*:"
                             "PairRefreshPeerTest.KeysOfAPoolThatTheOtherOneHasNotAreSaid"},
           "used no block twice, and named the keys that do not serve"),
    Stored("a move's number behind which none would be left",
           {"pair_job_test": "PairRefreshTest.AMovesNumberIsOneThatCanHaveBeenMade"}, "refused it"),
    Stored("stores of before a refresh and of after it; and, as its CONTROL, of one side",
           {"pair_job_test": "PairRefreshTest.StoresOfBeforeAndAfterAreNoKey"},
           "kept nothing of before"),
    Stored("a difference that was stolen before a refresh; and, as its CONTROL, without one",
           {"pair_job_test": "PairRefreshTest.AStolenDeltaForgesNothing"}, "latched after it"),
    Stored("a refresh that a leader or a follower keeps from its end, or ends each session of",
           {"pair_job_test": "PairRefreshPeerTest.AServerThatRemovesNothingIsSaid:"
                             "PairRefreshPeerTest.ALeaderThatDoesNothingIsSaid:"
                             "PairRefreshTest.WhatEndsEachSessionIsLeftOut"},
           "served on, and said so"),
    Stored("a job that no agent sent, and an evaluator that drops what it has heard",
           {"pair_job_test": "PairServersDiffer.AJobThatOnlyOneHas:"
                             "PairServersDiffer.AnEvaluatorThatDropsWhatItHas"},
           "said nothing of it, and counted what may be known"),
    Stored("octets of jobs that either changes, and links that break amid them",
           {"pair_job_test": "PairServersDiffer.OctetsThatEitherSends:"
                             "PairServersDiffer.ALinkThatBreaksInTheMiddle"}, OK),
    Stored("made-up tickets and challenges of lengths that nobody has sealed",
           {"pair_job_test": "PairProvedTest.MadeUpTicketsOfNewLengthsAreRefusedAndOthersServed:"
                             "PairFastProved.ChallengesOfLengthsThatNobodySealedAreLimited"},
           "refused them above a bound, served others"),
    Stored("shares of another key, version or usage, handed over when the realm leaves",
           {"pair_job_test": "KeysOfTwoLeave.NotWithWhatOneServerHasChanged",
            "export_test": "PairParcels.*"}, "wrote nothing, and named the key"),
    Stored("a server of another version, mode, realm, certificate or number of servers",
           {"session_test": "PairMesh.DisagreementsNameBothValues:"
                            "PairMesh.APeerOfThreeServersIsToldApart:"
                            "PairMesh.AnotherCertificateIsRefusedOnBothSides"}, "began no session"),
    Stored("lookup tables: each message changed, a bit flipped, another way than was said",
           {"pair_tables_test": "PairTablesDiffer.*:PairTablesJobs.*",
            "lut_test": "LutAes.EveryOnlineMessageChangedEndsWhateverTheInputs:"
                        "LutHeldAes.EveryMessageChangedEndsItWhateverTheInput:"
                        "LutBitsOut.APartyThatFlipsABitEndsIt:"
                        "LutProducts.EveryMessageChangedIsFoundOrWithoutEffect"}, OK),
    Stored("CONTROL: a bit that leaves a table, where openings are not checked",
           {"lut_unchecked_test":
            "LutControl.APartyFlipsABitThatLeavesWhereOpeningsAreNotChecked"}, "saw nothing",
           "a chosen bit of an output"),
    Stored("lookup tables: another index opened than its share, in each round",
           {"lut_test": "LutNormTables.EveryOnlineMessageChangedEndsIt:"
                        "LutNormTables.EveryOnlineMessageOfTheInverseChangedEndsIt"}, OK),
    Stored("CONTROL: the same, where openings are not checked",
           {"lut_unchecked_test": "LutControl.AWrongIndexIsReadWhereOpeningsAreNotChecked"},
           "saw nothing", "that an octet is another one than the S-box's"),
    Stored("lookup tables: a wrong entry of its own table",
           {"lut_test": "LutAttack.AWrongEntryEndsTheNextCheck"}, OK),
    Stored("CONTROL: the same, where openings are not checked",
           {"lut_unchecked_test": "LutControl.AWrongEntryIsTakenWhereOpeningsAreNotChecked"},
           "saw nothing", "that an octet is another one than the S-box's"),
    Stored("lookup tables: a MAC by a guess; and, as its CONTROL, by all of Δ",
           {"lut_test": "LutAttack.AMacByAGuessIsFoundUnlessAllOfItIsRight"}, OK),
    Stored("lookup tables: an entry or a mask that serves twice; as its CONTROL, one that did",
           {"lut_test": "LutOnce/*.ServesOnceAndIsWipedThen:"
                        "LutBitsOut.OneMaskForTwoValuesWouldTellTheirDifference",
            "pair_tables_test": "PairTablesJobs.ALinkThatBreaksInAJobTakesAllTablesWithIt"},
           "refused it"),
    Stored("lookup tables: guessed bits in Demux, against the bound; as its CONTROL, no buckets",
           {"lut_test": "LutProducts.ABucketIsGuessedAsRarelyAsTheBoundSays:"
                        "LutProducts.PlansKeepTheBound"},
           "were guessed as rarely as the bound says"),
    Stored("lookup tables: of two sessions; as its CONTROL, where nobody refuses them",
           {"lut_test": "LutAttack.TablesOfAnotherSessionAreRefusedAndWouldEndTheCheck:"
                        "LutOnce/*.OfAnotherSessionIsRefused:"
                        "LutHeldAes.WhatIsOfAnotherSessionIsRefused:"
                        "LutTableQueue.OfAnotherSessionIsRefused"}, "refused it before a word"),
    Stored("a flood with one key, or by one agent",
           {"pair_job_test": "PairQuotas.*", "pair_tables_test":
            "PairTablesJobs.AKeysFloodLeavesSomeToOthers"}, "served all, and left some to others"),
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
    """A copy of server 0's store goes back, with a session that its audit log has seen: it starts,
    and gives up the blocks that have served since, and those that have not."""
    copied = Play()
    realm.wait_well()
    store = realm.server_directory(0) / "store"
    newest, copy = store.with_name("newest"), store.with_name("copy")
    realm.daemons["server0"].stop()
    shutil.copytree(store, copy)
    realm.start_server(0)
    realm.wait_well()
    copied.expect(given_up(realm, 0) == 0, "the control: blocks are given up after a stop")
    realm.daemons["server0"].stop()
    store.rename(newest)
    copy.rename(store)
    realm.start_server(0)
    realm.wait_well()
    copied.count("pools given up", given_up(realm, 0))
    copied.expect(given_up(realm, 0) > 0, "blocks of a copy serve again")
    copied.honest = "used no block of before"
    shutil.rmtree(newest)
    copied.status = "healthy" if "tkdc is healthy" in realm.status_text() else "DEGRADED"
    copied.expect(copied.status == "healthy", "`tkdc status` is not healthy after it")
    copied.expect(realm.refuses_wrong_password(), "a wrong password was not refused")
    return [Line("a copy of a server's store in its place", [copied])]
