# SPDX-License-Identifier: Apache-2.0
"""Incremental propagation: kadmind logs changes, kpropd at a replica pulls and replays them, and
takes the whole database where the log does not reach. With tkdc and with stock db2, the same steps.

kpropd runs until it has what there is (-t) and says what came (-d). Where it asks for the whole
database before it listens itself, it asks again after iprop_resync_timeout."""

import re

import pytest

from tests.integration.conftest import NAME, SERVICE, STOCK, new_realm, remove
from tests.support.kerberos import Outcome, find_program, run_program
from tests.support.process import Daemon, RealmError, wait_until
from tests.support.realm import KDC_TIMEOUT_S, Realm
from tests.support.replica import HOST, ReplicatedRealm

PASSWORD = "the password of iris"
PRIMARY = "127.0.0.1"  # what the replica calls it: another principal than its own
TIMEOUT_S = 120


def sorted_data(line: str) -> str:
    """A principal of a dump without what each KDC counts for itself (last success, last failure,
    how many), and with its tl_data in the order of their types: a log reorders them."""
    fields = line.split("\t")
    if fields[0] != "princ":
        return line
    first, count = 15, int(fields[3])
    fields[12:first] = ["0", "0", "0"]
    data = sorted(fields[first + 3 * i:first + 3 * i + 3] for i in range(count))
    return "\t".join([*fields[:first], *(f for d in data for f in d), *fields[first + 3 * count:]])


class IncrementalRealm(ReplicatedRealm):
    def write_kerberos_configuration(self) -> None:
        super().write_kerberos_configuration()
        path = self.directory / "kdc.conf"
        path.write_text(path.read_text().replace("        max_life = ", (
            "        iprop_enable = true\n"
            f"        iprop_port = {self.replica_ports.kpasswd}\n"
            f"        iprop_logfile = {self.directory}/ulog\n"
            "        iprop_replica_poll = 1s\n"
            "        iprop_resync_timeout = 30s\n"
            "        max_life = ")))
        with open(self.directory / "kadm5.acl", "a") as acl:
            acl.write(f"kiprop/{HOST}@{self.name} p\n")

    def start_kadmind(self) -> Daemon:
        """With what it needs to send the whole database: kdb5_util, kprop, a place for a dump."""
        env = {**self.kdc_env(), "KRB5_KTNAME": str(self.keytab("host"))}
        daemon = self._daemon("kadmind", [
            find_program("kadmind"), "-nofork", "-p", find_program("kdb5_util"),
            "-K", find_program("kprop"), "-k", str(self.replica_ports.gss),
            "-F", str(self.directory / "to_replicas")], env)
        daemon.start()
        daemon.wait_port(self.ports.kadmin, KDC_TIMEOUT_S)
        return daemon

    def kpropd(self) -> list[str]:
        return [*super().kpropd(), "-d", "-A", PRIMARY]

    def kpropd_once(self) -> Outcome:
        # timeout(1) ends its children too.
        argv = ["timeout", "-k", "5", str(TIMEOUT_S), *self.kpropd(), "-t"]
        return run_program(argv, self.kpropd_env(), timeout_s=TIMEOUT_S + 10)

    def pull(self) -> str:
        done = self.kpropd_once()
        said = done.output + done.errors
        assert done.ok, said
        assert "ktkdc" not in said, said
        return said

    def at_replica(self, *argv: str) -> Outcome:
        return run_program(list(argv), self.replica_env(), timeout_s=TIMEOUT_S)

    def dumps(self) -> tuple[list[str], list[str]]:
        """The primary's and the replica's principals and policies, in an order of their own."""
        out = []
        for env in (self.kdc_env(), self.replica_env()):
            path = self.directory / "compared"
            done = run_program(["kdb5_util", "dump", str(path)], env)
            assert done.ok, done.errors
            out.append(sorted(sorted_data(line) for line in path.read_text().splitlines()))
        return out[0], out[1]


@pytest.fixture(scope="module", params=["tkdc", "stock"])
def site(request):
    with new_realm(stock=STOCK or request.param == "stock", kind=IncrementalRealm) as running:
        running.kadmin_local(f'addprinc -pw "{PASSWORD}" iris')
        running.kadmin_local(f"addprinc -randkey kiprop/{PRIMARY}")
        running.add_service(SERVICE, "service")
        running.add_service(f"host/{HOST}", "host")
        running.add_service(f"kiprop/{HOST}", "host")
        running.start_replica()
        first = running.pull()
        assert "Full resync needed" in first and "KDC is synchronized" in first, first
        running.start_replica_kdc()
        yield running
    remove(running)


def incremental(site: Realm, changes: int) -> None:
    """The replica pulls just these, and is then what the primary is."""
    said = site.pull()
    assert f"Incremental updates: {changes} updates" in said, said
    assert "Full resync" not in said, said
    first, second = site.dumps()
    assert first == second


def full(site: Realm) -> None:
    said = site.pull()
    assert "Full resync needed" in said and "KDC is synchronized" in said, said
    first, second = site.dumps()
    assert first == second


def test_nothing_to_pull(site, replica):
    said = site.pull()
    assert "KDC is synchronized" in said and "Full resync" not in said, said
    assert replica.kinit("iris", PASSWORD).ok
    assert replica.kvno(SERVICE).ok


def test_a_new_user_and_a_new_password(site, primary, replica):
    site.kadmin_local('addprinc -pw "the first" joins')
    incremental(site, 1)
    assert replica.kinit("joins", "the first").ok
    site.kadmin_local('cpw -pw "the second" joins')
    incremental(site, 1)
    assert not replica.kinit("joins", "the first").ok
    for client in (replica, primary):
        assert client.kinit("joins", "the second").ok


def test_changes_in_one_pull(site, primary, replica):
    """A password by kpasswd's way through kadmind, others by kadmin.local; one user leaves."""
    for name in ("stays", "leaves"):
        site.kadmin_local(f'addprinc -pw "the first" {name}')
    incremental(site, 2)
    assert primary.kpasswd("stays", "the first", "the second").ok
    site.kadmin_local("modprinc -maxlife 3h stays")
    site.kadmin_local("delprinc -force leaves")
    site.kadmin_local('addprinc -pw "the first" comes')
    incremental(site, 4)
    assert replica.kinit("stays", "the second").ok
    assert replica.kinit("comes", "the first").ok
    gone = replica.kinit("leaves", "the first")
    assert not gone.ok and "not found in Kerberos database" in gone.errors


def test_keys_of_a_service(site, primary, replica):
    """ktadd: drawn and given out at the primary; a ticket of the replica's fits the keytab."""
    keytab = site.keytab("moves")
    site.kadmin_local("addprinc -randkey host/moves.test")
    site.kadmin_local(f"ktadd -k {keytab} host/moves.test")
    incremental(site, 2)
    assert primary.kinit("iris", PASSWORD).ok
    replica.kvno_opened(keytab, "host/moves.test")


def test_krbtgt_rollover(site, primary, replica):
    assert primary.kinit("iris", PASSWORD).ok
    site.kadmin_local(f"cpw -randkey -keepold krbtgt/{NAME}")
    incremental(site, 1)
    assert replica.kvno(SERVICE).ok
    assert replica.kinit("iris", PASSWORD).ok
    assert primary.kvno(SERVICE).ok


def test_password_history_travels(site):
    """A policy is no principal: it comes with the whole database. What is remembered of a
    principal is in its entry, which grows past what the log has room for: the log starts anew."""
    site.kadmin_local("addpol -history 3 remembers")
    full(site)
    site.kadmin_local('addprinc -policy remembers -pw "password 1" forgets')
    for number in (2, 3):
        site.kadmin_local(f'cpw -pw "password {number}" forgets')
    site.pull()
    first, second = site.dumps()
    assert first == second
    with pytest.raises(RealmError, match="reuse"):
        site.kadmin_local('cpw -pw "password 1" forgets')


def test_a_log_that_was_reset(site, replica):
    done = run_program(["kproplog", "-R"], site.kdc_env())
    assert done.ok, done.errors
    site.kadmin_local('addprinc -pw "the first" afterwards')
    full(site)
    assert replica.kinit("afterwards", "the first").ok
    site.kadmin_local('cpw -pw "the second" afterwards')
    incremental(site, 1)
    assert replica.kinit("afterwards", "the second").ok


def test_replica_has_its_own_log(site):
    """For replicas of the replica: the same updates as the primary's."""
    site.kadmin_local("modprinc -maxlife 4h iris")
    incremental(site, 1)
    last = [re.search(r"Last serial # : (\d+)", done.output) for done in (
        run_program(["kproplog", "-h"], site.kdc_env()), site.at_replica("kproplog", "-h"))]
    assert last[0] and last[1] and last[0][1] == last[1][1]


def test_kpropd_that_stays(site, replica):
    site.start_kpropd()
    try:
        site.kadmin_local('addprinc -pw "the first" waits')
        wait_until(lambda: replica.kinit("waits", "the first").ok, TIMEOUT_S, "the change")
    finally:
        site.daemons["kpropd"].stop()


def test_a_host_that_may_not_pull(site):
    acl = site.directory / "kadm5.acl"
    kept = acl.read_text()
    acl.write_text(kept.replace(f"kiprop/{HOST}@", "kiprop/elsewhere.test@"))
    site.daemons["kadmind"].stop()
    site.start_kadmind()
    try:
        done = site.kpropd_once()
        assert "permission denied" in done.output + done.errors
    finally:
        acl.write_text(kept)
        site.daemons["kadmind"].stop()
        site.start_kadmind()
    site.pull()


@pytest.mark.behind
def test_servers_were_asked_nothing_by_kpropd(site, replica):
    """What the replica's agent did are logins and tickets; keys are made and removed by one."""
    if site.stock:
        pytest.skip("no agent")
    assert replica.kinit("iris", PASSWORD).ok
    site.kadmin_local("addprinc -randkey host/asks.test")
    site.pull()
    assert {"stage", "bind"} <= {done["op"] for done in site.operations("admin")}
    log = site.replica / "agent" / "operations.jsonl"
    asked = set(re.findall(r'"op": ?"([a-z-]+)"', log.read_text()))
    assert "seal" in asked and not asked & {"stage", "bind", "destroy", "export"}, asked


@pytest.mark.behind
def test_import_refuses_a_realm_with_a_log(site):
    if site.stock:
        pytest.skip("no import")
    done = run_program([str(site.bin / "tkdc-import"), "--dry-run"], site.kdc_env())
    assert not done.ok
    assert "iprop_enable is set" in done.errors and "kproplog -R" in done.errors, done.errors


@pytest.mark.behind
def test_what_only_reads_reads_a_realm_with_a_log(site):
    if site.stock:
        pytest.skip("no handles")
    compared = run_program([str(site.bin / "tkdc-reconcile")], site.kdc_env())
    assert compared.code in (0, 2), compared.errors  # what replaced keys leave is named
    purged = run_program([str(site.bin / "tkdc-reconcile"), "purge", "--due", "--yes"],
                         site.kdc_env())
    assert purged.ok and "nothing to purge" in purged.output, purged.output + purged.errors


@pytest.mark.behind
def test_only_comparing_begins_no_log_anew(site, replica):
    if site.stock:
        pytest.skip("no handles")
    dump = str(site.directory / "to-compare")
    assert run_program(["kdb5_util", "dump", dump], site.kdc_env()).ok
    for options in ([], ["-update"]):
        done = run_program(["kdb5_util", "-x", "compare_only", "load", *options, dump],
                           site.kdc_env())
        assert not done.ok and "iprop_enable is set" in done.errors, done.errors
    site.kadmin_local('cpw -pw "after comparing" iris')
    incremental(site, 1)
    assert replica.kinit("iris", "after comparing").ok
