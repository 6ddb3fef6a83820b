# SPDX-License-Identifier: Apache-2.0
"""The database against the servers: an older dump that was loaded, principals that were deleted
while a server was away. `tkdc reconcile` names each key, and its exit status tells. Keys that were
removed are dropped: two administrators give them back, a purge ends them."""

import json
import re
import subprocess

import pytest

from tests.integration.conftest import STOCK, new_realm, remove
from tests.support.export import Approvers
from tests.support.kerberos import Outcome
from tests.support.process import RealmError, wait_until
from tests.support.realm import MASTER_PASSWORD, Realm
from tests.support.terminal import run_on_terminal

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
PASSWORD = "a password of now"
SOON_S = 30.0
# Without krbtgt's key: of kinit, and of krb5kdc's log.
SEEN = "kinit: Generic error (see e-text) while getting initial credentials"
LOGGED = "tkdc: the servers hold no such key for this principal"
NOT_COMPARED = r"ktkdc: what is to be loaded was not compared with the servers \([^\n]+\)"


@pytest.fixture(scope="module")
def realm():
    with new_realm("AGREE.REALM") as made:
        made.kadmin_local('addprinc -pw "a former password" nora')
        made.kadmin_local("addprinc -randkey host/a.test")
        yield made
    remove(made)


def tools_env(realm: Realm) -> dict[str, str]:
    return {key: value for key, value in realm.kdc_env().items() if key != "LD_PRELOAD"}


def shown_at_terminal(realm: Realm, *options: str) -> Outcome:
    return run_on_terminal([str(realm.bin / "tkdc"), "reconcile", *options], tools_env(realm))


def reconcile(realm: Realm, *options: str) -> Outcome:
    env = tools_env(realm)
    done = subprocess.run([str(realm.bin / "tkdc"), "reconcile", *options], env=env, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
    return Outcome(done.returncode, done.stdout, done.stderr)


def load_anyway(realm: Realm, dump: str, *options: str) -> Outcome:
    """Of a dump that names keys which no server holds."""
    return realm.admin_tool("kdb5_util", "-x", "load_anyway", "load", *options, dump)


def refused_load(realm: Realm, dump: str, *words: str) -> str:
    """What it says: the database is the same afterwards."""
    before, after = realm.directory / "before-load", realm.directory / "after-load"
    realm.admin_tool("kdb5_util", "dump", str(before))
    with pytest.raises(RealmError) as refused:
        realm.admin_tool("kdb5_util", *words, dump)
    realm.admin_tool("kdb5_util", "dump", str(after))
    assert after.read_bytes() == before.read_bytes()
    assert not (realm.directory / "principal~").exists()
    return str(refused.value)


def told(realm: Realm) -> dict:
    done = reconcile(realm, "--json")
    assert done.code in (0, 2), done.errors
    return json.loads(done.output)


def test_what_agrees_agrees(realm):
    done = reconcile(realm)
    assert done.code == 0, done.output + done.errors
    assert "Database and servers agree." in done.output
    shown = told(realm)
    assert shown["dead"] == [] and shown["orphans"] == []
    assert shown["server_keys"] == shown["database_keys"] + shown["remembered_keys"] > 0


def test_keys_that_an_older_dump_brings_back_are_dead_and_named(realm):
    dump, after = str(realm.directory / "older"), str(realm.directory / "newer")
    realm.admin_tool("kdb5_util", "dump", dump)
    realm.kadmin_local(f'cpw -pw "{PASSWORD}" nora')
    assert realm.client("now").kinit("nora", PASSWORD).ok
    realm.admin_tool("kdb5_util", "dump", after)
    loaded = load_anyway(realm, dump)
    assert "no server holds version 1, enctype 18, of nora@AGREE.REALM" in loaded.errors
    assert "exist at no server" in loaded.errors
    assert not realm.client("old").kinit("nora", "a former password").ok

    done = reconcile(realm)
    assert done.code == 2
    assert "nora@AGREE.REALM, version 1: aes256-cts-hmac-sha1-96 (18)" in done.output
    assert "1 principals have no key left" in done.output
    shown = told(realm)
    assert {key["principal"] for key in shown["dead"]} == {"nora@AGREE.REALM"}
    left = {(key["principal"], key["kvno"]) for key in shown["orphans"]}
    assert left == {("nora@AGREE.REALM", 2)}
    assert shown["without_keys"] == ["nora@AGREE.REALM"]
    for program, options in (("import", ["--dry-run"]), ("export", ["request", "--dry-run"])):
        env = {key: value for key, value in realm.kdc_env().items() if key != "LD_PRELOAD"}
        counted = subprocess.run([str(realm.bin / "tkdc"), program, *options], env=env, text=True,
                                 capture_output=True, timeout=60, check=False)
        assert "nora@AGREE.REALM, version 1" in counted.stdout, counted.stdout + counted.stderr
        assert "DEAD" in counted.stdout
        assert (counted.returncode == 1) == (program == "export"), counted.stderr
    request = [str(realm.bin / "tkdc"), "export", "request", "--dry-run", "--without-dead"]
    without = subprocess.run(request, env=env, text=True, capture_output=True, timeout=60,
                             check=False)
    assert without.returncode == 0, without.stderr
    assert "dead keys are left out" in without.stdout + without.stderr
    quiet = realm.admin_tool("kdb5_util", "load", after)
    assert "no server holds" not in quiet.errors and "not compared" not in quiet.errors
    assert reconcile(realm).code == 0
    assert realm.client("again").kinit("nora", PASSWORD).ok


def test_an_older_dump_changes_nothing_unless_it_is_told_to(realm):
    """Whose keys are gone is said first; then the load ends, and the live database serves on."""
    dump, newest = str(realm.directory / "refused"), str(realm.directory / "after-it")
    for name in ("ada", "zoe"):
        realm.kadmin_local(f'addprinc -pw "a former password" {name}')
    realm.admin_tool("kdb5_util", "dump", dump)
    for name in ("ada", "zoe"):
        realm.kadmin_local(f'cpw -pw "{PASSWORD}" {name}')
    realm.admin_tool("kdb5_util", "dump", newest)
    dead = {name: f"no server holds version 1, enctype 18, of {name}@AGREE.REALM"
            for name in ("ada", "zoe")}
    for words in (["load"], ["-x", "compare_only", "load"]):
        said = refused_load(realm, dump, *words)
        assert all(one in said for one in dead.values()), said
        assert "4 of the keys that are to be loaded exist at no server" in said
        assert "4 of them are dropped: two administrators can give them back" in said
        assert "nothing was changed" in said
        assert ("kdb5_util -x load_anyway load" in said) == (words == ["load"])
    said = refused_load(realm, dump, "load", "-update")
    assert dead["ada"] in said and dead["zoe"] not in said, "it ends at the first"
    assert "kdb5_util -x compare_only load -update" in said
    compared = realm.admin_tool("kdb5_util", "-x", "compare_only", "load", "-update", dump)
    assert all(one in compared.errors for one in dead.values()), compared.errors
    with pytest.raises(RealmError, match="goes with `kdb5_util load` alone"):
        realm.admin_tool("kdb5_util", "-x", "compare_only", "use_mkey", "1")
    assert reconcile(realm).code == 0, "nothing became dead, and no orphan"
    assert realm.client("ada").kinit("ada", PASSWORD).ok
    quiet = realm.admin_tool("kdb5_util", "load", newest)
    assert "ktkdc" not in quiet.errors, "control: what the servers hold is loaded"
    assert load_anyway(realm, dump).ok and reconcile(realm).code == 2, "control: it was older"
    realm.admin_tool("kdb5_util", "load", newest)
    with pytest.raises(RealmError):  # of other programs it is no word
        realm.admin_tool("kadmin.local", "-x", "load_anyway", "-q", "getprinc ada")


def status(realm: Realm, *options: str) -> Outcome:
    done = subprocess.run([str(realm.bin / "tkdc"), "status", *options, "--config",
                           str(realm.installation / "agent-kdc/agent.toml")], env=tools_env(realm),
                          text=True, capture_output=True, timeout=60, check=False)
    return Outcome(done.returncode, done.stdout, done.stderr)


def test_a_krbtgt_whose_key_is_gone_is_no_healthy_realm(realm):
    """What a client sees, what krb5kdc logs, and that status says it, which was healthy then."""
    dump, newest = str(realm.directory / "old-krbtgt"), str(realm.directory / "new-krbtgt")
    realm.kadmin_local(f'addprinc -pw "{PASSWORD}" vera')
    assert json.loads(status(realm, "--json").output)["krbtgt_held"] is True
    realm.admin_tool("kdb5_util", "dump", dump)
    rotated = subprocess.run([str(realm.bin / "tkdc"), "rotate", "krbtgt", "--now", "--purge"],
                             env=tools_env(realm), text=True, capture_output=True, timeout=60,
                             check=False)
    assert rotated.returncode == 0, rotated.stderr
    realm.admin_tool("kdb5_util", "dump", newest)
    assert status(realm).code == 0, status(realm).output
    load_anyway(realm, dump)
    logged = len((realm.directory / "kdc.trace").read_text())
    try:
        refused = realm.client("dead").kinit("vera", PASSWORD)
        assert not refused.ok and SEEN in refused.errors, refused.errors
        log = (realm.directory / "kdc.trace").read_text()[logged:]
        assert LOGGED in log and "PREAUTH_FAILED" not in log, log
        shown = status(realm)
        assert shown.code == 2 and "tkdc is DEGRADED" in shown.output, shown.output
        own = f"krbtgt/{realm.name}@{realm.name}"
        assert f"database: no server holds the key of {own}" in shown.output, shown.output
        told_of = json.loads(status(realm, "--json").output)
        assert told_of["krbtgt_held"] is False and told_of["healthy"] is False
        alone = reconcile(realm, "--krbtgt")
        assert alone.code == 2 and "DEAD: no ticket can be issued" in alone.output, alone
        assert own in told(realm)["without_keys"], "by which the doctor knows it"
        anew = subprocess.run([str(realm.bin / "tkdc"), "rotate", "krbtgt", "--now"],
                              env=tools_env(realm), text=True, capture_output=True, timeout=60,
                              check=False)
        assert anew.returncode == 0, anew.stderr
        assert status(realm).code == 0, "as the message says"
        assert realm.client("anew").kinit("vera", PASSWORD).ok
    finally:
        realm.admin_tool("kdb5_util", "load", newest)
    assert reconcile(realm, "--krbtgt").code == 0
    assert realm.client("newest").kinit("vera", PASSWORD).ok
    left = reconcile(realm, "--destroy", "--yes", "--settle", "2")
    assert left.code == 0, left.output + left.errors


def test_a_realm_with_a_misspelt_module_is_no_healthy_one(realm):
    """krb5kdc would start on db2, and kadmin.local would make whole keys."""
    profile = realm.directory / "kdc.conf"
    right = profile.read_text()
    stanza = re.search(r"database_module = (\S+)", right).group(1)
    own = f"database_module = {stanza}"
    assert reconcile(realm, "--module").code == 0 and status(realm).code == 0
    try:
        profile.write_text(right.replace(own, "database_module = misspelt"))
        refused = reconcile(realm, "--module")
        assert refused.code == 3 and refused.errors.count("\n") == 1, refused
        assert (f"[realms], {realm.name}: database_module = misspelt is no stanza" in refused.errors
                and f"write {own}" in refused.errors), refused.errors
        shown = status(realm)
        assert shown.code == 2 and "tkdc is DEGRADED" in shown.output, shown
        served = f'database: realm {realm.name} is served by the database module "db2"'
        assert served in shown.output, shown.output
        assert f"write {own}" in shown.output, shown.output
        # As while a realm is set up, and as it is reverted to a stock one.
        for other in ("", "database_module = stock"):
            stock = f"[dbmodules]\n    stock = {{\n        db_library = db2\n    }}\n{right}"
            profile.write_text(stock.replace(own, other))
            assert reconcile(realm, "--module").code == 0, other
    finally:
        profile.write_text(right)
    assert status(realm).code == 0


def test_an_older_dump_that_is_loaded_into_the_database_is_compared_too(realm):
    """MIT promotes nothing after `load -update`: what is dead is said when the database closes."""
    dump, after = str(realm.directory / "older-entry"), str(realm.directory / "newer-entry")
    realm.kadmin_local('addprinc -pw "a former password" rosa')
    realm.admin_tool("kdb5_util", "dump", dump)
    realm.kadmin_local(f'cpw -pw "{PASSWORD}" rosa')
    realm.admin_tool("kdb5_util", "dump", after)
    loaded = load_anyway(realm, dump, "-update")
    assert "no server holds version 1, enctype 18, of rosa@AGREE.REALM" in loaded.errors
    assert "rosa@AGREE.REALM: not all old keys could be read" in loaded.errors
    assert "tkdc reconcile" in loaded.errors and "tkdc status" not in loaded.errors

    assert reconcile(realm).code == 2
    shown = told(realm)
    assert {(key["principal"], key["kvno"]) for key in shown["dead"]} == {("rosa@AGREE.REALM", 1)}
    assert {(key["principal"], key["kvno"]) for key in shown["orphans"]} == {
        ("rosa@AGREE.REALM", 2)}
    back = realm.admin_tool("kdb5_util", "load", "-update", after)
    assert "no server holds" not in back.errors, "control: what the servers hold is not named"
    assert reconcile(realm).code == 0
    assert realm.client("rosa").kinit("rosa", PASSWORD).ok

    realm.daemons["agent-admin"].stop()
    try:
        for options in ([], ["-update"]):
            said = refused_load(realm, dump, "-x", "compare_only", "load", *options)
            assert re.search(NOT_COMPARED, said) and "nothing was changed" in said, said
        alone = realm.admin_tool("kdb5_util", "load", "-update", dump)
        assert re.search(NOT_COMPARED, alone.errors), alone.errors
    finally:
        realm.start_agent("admin")
    realm.admin_tool("kdb5_util", "load", "-update", after)
    wait_until(lambda: reconcile(realm).code == 0, SOON_S, "the admin agent's session")


def test_orphans_are_named_and_destroyed_after_a_confirmation(realm):
    realm.kadmin_local("addprinc -randkey host/orphan.test")
    before = told(realm)["server_keys"]
    realm.daemons["server2"].stop()
    realm.admin_tool("kadmin.local", "-q", "delprinc -force host/orphan.test")
    away = reconcile(realm)
    assert away.code == 1
    assert "server 2" in away.errors
    realm.start_server(2)
    wait_until(lambda: realm.client("back").kinit("nora", PASSWORD).ok, SOON_S, "a login")

    wait_until(lambda: reconcile(realm, "--json").code == 2, SOON_S, "the admin agent's session")
    shown = told(realm)
    orphans = shown["orphans"]
    assert {key["principal"] for key in orphans} == {"host/orphan.test@AGREE.REALM"}
    assert shown["dead"] == []

    refused = reconcile(realm, "--destroy")
    assert refused.code == 1
    assert "say --yes" in refused.errors
    assert told(realm)["server_keys"] == before
    done = reconcile(realm, "--destroy", "--yes", "--settle", "2")
    assert done.code == 0, done.output + done.errors
    assert f"{len(orphans)} keys were removed" in done.output
    assert reconcile(realm).code == 0
    assert told(realm)["server_keys"] == before - len(orphans)
    assert realm.client("still").kinit("nora", PASSWORD).ok


def test_a_key_that_gets_a_name_meanwhile_is_no_orphan(realm):
    """As one that kadmind makes just now: it is at the servers before its entry is written."""
    dump, with_key = str(realm.directory / "without"), str(realm.directory / "with")
    realm.admin_tool("kdb5_util", "dump", dump)
    realm.kadmin_local('addprinc -pw "a young password" paul')
    realm.admin_tool("kdb5_util", "dump", with_key)
    realm.admin_tool("kdb5_util", "load", dump)
    assert told(realm)["orphans"], "paul's keys are at the servers alone"
    env = {key: value for key, value in realm.kdc_env().items() if key != "LD_PRELOAD"}
    process = subprocess.Popen([str(realm.bin / "tkdc"), "reconcile", "--destroy", "--yes",
                                "--settle", "6"], env=env, text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE)
    for line in process.stdout:
        if line.startswith("waiting for"):
            break
    realm.admin_tool("kdb5_util", "load", with_key)
    rest = process.communicate(timeout=60)[0]
    assert "0 keys were removed" in rest
    assert process.returncode == 0
    assert realm.client("paul").kinit("paul", "a young password").ok


def test_the_agent_of_krb5kdc_tells_nobody_which_keys_there_are(realm):
    env = {key: value for key, value in realm.kdc_env().items() if key != "LD_PRELOAD"}
    env["TKDC_AGENT_SOCKET"] = str(realm.agent_socket("kdc"))
    done = subprocess.run([str(realm.bin / "tkdc"), "reconcile"], env=env, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "role admin" in done.stderr


def test_a_database_that_was_destroyed_and_made_anew_leaves_orphans(realm):
    """All that the former one named; it comes back by its dump."""
    dump = str(realm.directory / "before-the-destruction")
    realm.admin_tool("kdb5_util", "dump", dump)
    wait_until(lambda: reconcile(realm).code != 1, SOON_S, "the admin agent's session")
    assert not told(realm)["orphans"]
    former = {line.split("\t")[6] for line in open(dump).read().splitlines()
              if line.startswith("princ\t")} - {f"K/M@{realm.name}"}
    assert "nora@AGREE.REALM" in former
    realm.admin_tool("kdb5_util", "destroy", "-f")
    stash = realm.directory / "stash"
    elsewhere = stash.rename(realm.directory / "another-stash")
    anew = realm.admin_tool("kdb5_util", "-sf", str(elsewhere), "create", "-s", "-P",
                            MASTER_PASSWORD)
    elsewhere.rename(stash)
    assert "compared" not in anew.errors, "nothing came from elsewhere: " + anew.errors
    try:
        done = reconcile(realm)
        shown = told(realm)
    finally:
        realm.admin_tool("kdb5_util", "load", dump)
    assert done.code == 2 and "ORPHANS" in done.output, done.output + done.errors
    assert {key["principal"] for key in shown["orphans"]} == former
    assert shown["dead"] == []
    made = told(realm)["orphans"]
    done = shown_at_terminal(realm, "--destroy", "--yes", "--settle", "2")
    assert done.ok, "what create made: " + done.errors
    assert f" of {len(made)} keys" in done.errors, done.errors
    assert reconcile(realm).code == 0
    assert realm.client("restored").kinit("nora", PASSWORD).ok


@pytest.fixture(scope="module")
def approvers(realm):
    made = Approvers(realm)
    for party in range(realm.servers):
        realm.daemons[f"server{party}"].stop()
    for party in range(realm.servers):
        realm.start_server(party)
    wait_until(lambda: reconcile(realm, "--json").code != 1, SOON_S, "the admin agent's session")
    return made


def dropped(realm: Realm, name: str) -> list[dict]:
    done = reconcile(realm, "dropped", "--json")
    assert done.ok, done.errors
    told = json.loads(done.output)
    assert told["keep_dropped_days"] == 30
    return [key for key in told["dropped"] if key["principal"] == f"{name}@AGREE.REALM"]


def test_dropped_keys_come_back_by_two_administrators_alone(realm, approvers):
    older = str(realm.directory / "before-the-change")
    realm.kadmin_local('addprinc -pw "an older password" olga')
    realm.admin_tool("kdb5_util", "dump", older)
    realm.kadmin_local('cpw -pw "a newer password" olga')
    keys = dropped(realm, "olga")
    assert {key["kvno"] for key in keys} == {1}
    assert all(key["due_at"] - key["dropped_at"] == 30 * 24 * 3600 for key in keys)

    loaded = load_anyway(realm, older)
    assert "of olga@AGREE.REALM: it is dropped, and can be given back" in loaded.errors
    assert "two administrators can give them back" in loaded.errors
    assert not realm.client("gone").kinit("olga", "an older password").ok
    named = reconcile(realm)
    assert f"{len(keys)} of these keys are dropped" in named.output, named.output
    assert len(told(realm)["recoverable"]) == len(keys)

    request = realm.directory / "give-back"
    asked = reconcile(realm, "request", "--out", str(request))
    assert asked.ok, asked.errors
    assert reconcile(realm, "give-back", str(request)).code == 1, "nobody has approved it"
    approvals = [approvers.approve(party, request) for party in (0, 1)]
    alone = approvers.give_back(2, request, [approvals[0], approvals[0]])
    assert alone.code == 1, alone.output
    for party in (0, 1):
        assert approvers.give_back(party, request, approvals).ok
    assert reconcile(realm, "give-back", str(request)).code == 1, "a third server knows nothing"
    assert not realm.client("gone").kinit("olga", "an older password").ok
    done = approvers.give_back(2, request, approvals)
    assert done.ok, done.errors
    back = reconcile(realm, "give-back", str(request))
    assert back.ok and f"{len(keys)} keys were given back" in back.output, back.errors
    assert realm.client("back").kinit("olga", "an older password").ok
    assert dropped(realm, "olga") == []
    allowed = [e for e in approvers.audit(2) if e["event"] == "give-back allowed"]
    assert allowed[-1]["approvers"] == ["admin0", "admin1"]


def test_a_give_back_that_was_cut_goes_on(realm, approvers):
    older = str(realm.directory / "before-the-cut")
    for name in ("paula", "pedro"):
        realm.kadmin_local(f'addprinc -pw "an older password" {name}')
    realm.admin_tool("kdb5_util", "dump", older)
    for name in ("paula", "pedro"):
        realm.kadmin_local(f"delprinc -force {name}")
    assert load_anyway(realm, older).ok
    both, half = realm.directory / "both", realm.directory / "half"
    names = ["--principal", "paula", "--principal", "pedro"]
    assert reconcile(realm, "request", "--out", str(both), *names).ok
    assert reconcile(realm, "request", "--out", str(half), *names[:2]).ok
    keys = len(dropped(realm, "paula"))
    approvals = {path: [approvers.approve(party, path) for party in (0, 1)]
                 for path in (both, half)}
    for path, given in approvals.items():
        assert all(approvers.give_back(party, path, given).ok for party in range(3))
    assert reconcile(realm, "give-back", str(half)).ok, "as far as the first run came"
    realm.daemons["server1"].kill()
    realm.start_server(1)
    cut = reconcile(realm, "give-back", str(both))
    assert cut.code == 1, cut.output
    assert "where servers refuse because one was started since" in cut.errors, cut.errors
    assert "same request and approvals" in cut.errors
    assert len(dropped(realm, "pedro")) == keys
    again = approvers.give_back(1, both, approvals[both])
    assert again.ok and f"{keys} are in use already" in again.output, again.errors
    done = reconcile(realm, "give-back", str(both))
    assert done.ok and f"{keys} keys of the request are in use already" in done.output, done.errors
    assert f"{keys} keys were given back" in done.output
    for name in ("paula", "pedro"):
        assert realm.client(f"cut-{name}").kinit(name, "an older password").ok
    assert "0 keys were given back" in reconcile(realm, "give-back", str(both)).output


def test_what_was_purged_never_comes_back(realm, approvers):
    older = str(realm.directory / "before-the-purge")
    realm.kadmin_local('addprinc -pw "an older password" oskar')
    realm.admin_tool("kdb5_util", "dump", older)
    realm.kadmin_local("delprinc -force oskar")
    keys = dropped(realm, "oskar")
    assert keys
    request = realm.directory / "purged"
    assert reconcile(realm, "request", "--out", str(request), "--principal", "oskar").ok
    assert "nothing to purge" in reconcile(realm, "purge", "--due").output
    both = reconcile(realm, "purge", "--due", "--principal", "oskar")
    assert both.code == 1 and "excludes" in both.errors, both.errors
    for what in (["--all"], ["--principal", "oskar"]):
        refused = reconcile(realm, "purge", *what)
        assert refused.code == 1 and "say --yes" in refused.errors
        assert any("oskar@AGREE.REALM" in line for line in refused.output.splitlines())
    refused = reconcile(realm, "purge", "--principal", "oskar")
    assert refused.code == 1 and "say --yes" in refused.errors
    assert dropped(realm, "oskar") == keys
    done = shown_at_terminal(realm, "purge", "--principal", "oskar", "--yes")
    assert f" of {len(keys)} keys" in done.errors, done.errors
    assert done.ok and f"{len(keys)} keys were purged" in done.output, done.errors
    assert dropped(realm, "oskar") == []
    late = approvers.try_approve(0, request)
    assert late.code == 1 and "what was purged never comes back" in late.errors, late.errors
    loaded = load_anyway(realm, older)
    assert "of oskar@AGREE.REALM\n" in loaded.errors, loaded.errors
    assert not realm.client("purged").kinit("oskar", "an older password").ok
