# SPDX-License-Identifier: Apache-2.0
"""Each alert rule that is shipped fires in a real Prometheus by its fault, made for real; no other
does that does not follow from it; and it is over when the fault is mended.

A fault does what has to be done, yields which alerts are to fire, and mends it behind the yield.
Before it and behind it nothing fires. Rules' expressions are the shipped ones; what they wait for
(`for`) is a second here. `make alerts-test` makes all faults, in this order, on one realm. Else
those run that are `quick`: one of a server's own, of its host, of an agent, of several alerts at
once.
"""

import os
import re
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.integration.conftest import STOCK, new_realm, remove
from tests.support import agent_wire
from tests.support.monitoring import RULES
from tests.support.process import wait_until
from tests.support.watched import FAKETIME, PASSWORD, SEEN_BY, SERVERS, SOON_S, Site, WatchedRealm

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
ALL = os.environ.get("TKDC_ALERTS", "") == "all"
DAY_S = 86_400
SILENT_S = 120.0  # an agent of a KDC that is warned of
LONG_AGO_DAYS = -40  # longer than removed keys are kept and a week more
NO_SESSION = {f"TkdcNoSession {party}" for party in SERVERS}
Course = Callable[[Site], Iterator[set[str]]]


@dataclass(frozen=True)
class Fault:
    course: Course
    alerts: tuple[str, ...]  # that are named for it, and none else is
    quick: bool
    stays: bool  # what a rule counts within an hour, or ten minutes, is not over sooner


FAULTS: list[Fault] = []


def fault(*alerts: str, quick: bool = False, stays: bool = False) -> Callable[[Course], Course]:
    def add(course: Course) -> Course:
        FAULTS.append(Fault(course, alerts, quick, stays))
        return course

    return add


@fault("TkdcDroppedLate", quick=True)
def nobody_ended_a_removed_key(site):
    """It was removed when the realm was made, and nobody has purged since."""
    site.realm.begin_at(0)
    site.realm.restart(*SERVERS)
    yield {f"TkdcDroppedLate {party}" for party in SERVERS}
    done = site.realm.tkdc("reconcile", "purge", "--due", "--yes")
    assert done.returncode == 0, done.stderr


@fault("TkdcExporterAway")
def the_exporter_ends(site):
    site.exporter.stop()
    yield {"TkdcExporterAway"}
    site.export_from(site.realm.agent_socket("kdc"))


@fault("TkdcAgentAway", quick=True)
def the_agent_ends(site):
    site.realm.daemons["agent-kdc"].stop()
    yield {"TkdcAgentAway"}
    site.realm.start_agent("kdc")


@fault("TkdcAgentSilent")
def the_agent_is_away_for_minutes(site):
    """Which a server's own host sees, too, by the exporter there."""
    site.realm.daemons["agent-kdc"].stop()
    site.sees({"TkdcAgentAway"})
    warning = "tkdc_server_agents_warning"
    wait_until(lambda: site.of_server.of_servers(warning) == {str(SEEN_BY): 1.0}, SILENT_S + SOON_S,
               "a server finds the agent silent", pause_s=1.0)
    yield {"TkdcAgentAway", f"TkdcAgentSilent {SEEN_BY}"}
    site.realm.start_agent("kdc")


@fault("TkdcOtherAgentAway")
def the_agent_of_kadmind_is_killed(site):
    """Which the exporter beside krb5kdc's agent is not asked about."""
    site.realm.daemons["agent-admin"].kill()
    yield {"TkdcOtherAgentAway"}
    site.realm.start_agent("admin")


@fault("TkdcRevokedNow")
def what_is_sealed_now_was_revoked(site):
    def revoke(party: int, *words: str) -> None:
        site.realm.tool("tkdc", "revoke", "--config", str(site.realm.config(party)), "--yes",
                        *words)

    revoke(1, "--sealed-between", "1h", "now")
    yield {f"TkdcRevokedNow {party}" for party in SERVERS}
    for party in SERVERS:
        revoke(party, "--lift")


@fault("TkdcServerDown", "TkdcServerAway", quick=True)
def a_server_is_killed(site):
    site.realm.daemons[f"server{SEEN_BY}"].kill()
    yield {"TkdcServerDown", f"TkdcServerAway {SEEN_BY}",
           *NO_SESSION - {f"TkdcNoSession {SEEN_BY}"}}
    site.realm.start_server(SEEN_BY)


@fault("TkdcNoSession")
def a_server_takes_another_for_a_stranger(site):
    config = site.realm.config(0)
    pin = re.search(r'^certificate_sha256 = "(.*)"$', config.read_text(), re.M)[1]
    before = site.realm.change(config, pin, "ab" * 32)
    site.realm.restart(0)
    yield NO_SESSION
    config.write_text(before)
    site.realm.restart(0)


@fault("TkdcLatched")
def a_server_deviates(site):
    site.realm.trigger.touch()
    user = site.realm.logs_in_beside()

    def latched() -> list[int]:
        return [party for party in SERVERS if (site.realm.store(party) / "latched").exists()]

    wait_until(latched, SOON_S, "a latch")
    time.sleep(1.0)  # both who were lied to look at the same verdict
    saw = latched()
    yield {*NO_SESSION, *(f"TkdcLatched {party}" for party in saw)}
    for party in saw:
        site.realm.tool("tkdc", "release", "--config", str(site.realm.config(party)))
    user.join()


@fault("TkdcAuditLogBehind", quick=True)
def an_audit_log_is_cut_at_its_end(site):
    realm, log = site.realm, site.realm.server_directory(0) / "audit.jsonl"
    realm.stop_servers(0)
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:3]))
    realm.start_server(0)
    yield {"TkdcAuditLogBehind 0"}
    realm.tool("tkdc", "release", "--config", str(realm.config(0)))


@fault("TkdcBackupOld", quick=True)
def no_backup_is_made_for_days(site):
    key, public = site.realm.directory / "backup.key", site.realm.server_directory(0) / "backup.pub"
    site.realm.tool("tkdc", "backup", "key", "--out", str(key), "--public", str(public))
    long_ago = time.time() - 4 * DAY_S
    os.utime(public, (long_ago, long_ago))
    yield {"TkdcBackupOld 0"}
    site.realm.tool("tkdc", "backup", "make", "--config", str(site.realm.config(0)), "--to",
                    str(site.realm.server_directory(0) / "backups"))


@fault("TkdcFormerKeys")
def former_keys_are_not_forgotten(site):
    """A server's at the agent, and a server's at another server."""
    agent = site.realm.installation / "agent-kdc/agent.toml"
    stranger = re.search(r'^curve_public_key = "(.*)"$', site.realm.config(0).read_text(), re.M)[1]
    pin = 'certificate_sha256 = "'
    server_was = site.realm.change(site.realm.config(0), pin, f'former_{pin}{"ab" * 32}"\n{pin}')
    agent_was = site.realm.change(agent, "curve_public_key = ",
                                  f'former_curve_public_key = "{stranger}"\ncurve_public_key = ')

    def begin_anew() -> None:
        site.realm.restart(0)
        site.realm.daemons["agent-kdc"].stop()
        site.realm.start_agent("kdc")

    begin_anew()
    yield {"TkdcFormerKeys", "TkdcFormerKeys 0"}
    site.realm.config(0).write_text(server_was)
    agent.write_text(agent_was)
    begin_anew()


@fault("TkdcCertificateEnds")
def a_certificate_is_near_its_end(site):
    """Server 1's, made anew for twenty days, which the two others know."""
    folder = site.realm.server_directory(1)
    certificate = folder / "tls.cert.pem"
    before = {path: path.read_text() for path in (certificate, *map(site.realm.config, (0, 2)))}

    def fingerprint() -> str:
        der = subprocess.run(["openssl", "x509", "-in", str(certificate), "-noout", "-sha256",
                              "-fingerprint"], check=True, capture_output=True, text=True).stdout
        return der.partition("=")[2].strip().replace(":", "").lower()

    old = fingerprint()
    subprocess.run(["openssl", "req", "-x509", "-new", "-key", str(folder / "tls.key.pem"), "-days",
                    "20", "-subj", "/CN=server1", "-out", str(certificate)], check=True,
                   capture_output=True)
    for party in (0, 2):
        site.realm.change(site.realm.config(party), old, fingerprint())
    site.realm.restart(*SERVERS)
    yield {"TkdcCertificateEnds 1"}
    for path, text in before.items():
        path.write_text(text)
    site.realm.restart(*SERVERS)


@fault("TkdcDiskLow", "TkdcAuditLogClosed")
def the_disk_of_an_audit_log_fills_up(site):
    site.realm.disk.fill()
    full = f"{site.realm.full}"
    yield {f"TkdcDiskLow {full}"}
    site.realm.flood(80)  # what is reserved for lines is used up by some logins
    yield {f"TkdcDiskLow {full}", f"TkdcAuditLogClosed {full}"}
    site.realm.disk.make_room()


@fault("TkdcKeyNearLimit")
def a_key_has_sealed_nearly_all_it_may(site):
    """More than half of 2^38 tickets, by its mark in one server's store."""
    realm, party = site.realm, 0
    realm.stop_servers(party)
    set_keys = realm.tool("tkdc-rebuild", "seals", str(realm.config(party)),
                          f"krbtgt/{realm.name}@{realm.name}", str(2**37 + 1))
    assert int(set_keys) > 0
    realm.start_server(party)
    wait_until(realm.logs_in, SOON_S, "a login")
    yield {f"TkdcKeyNearLimit {party}"}
    done = realm.tkdc("rotate", "krbtgt", "--now")
    assert done.returncode == 0, done.stderr
    realm.restart(party)  # or a day after the former key has sealed last
    wait_until(realm.logs_in, SOON_S, "a login")


@fault("TkdcClockOff", "TkdcClockWrong")
def a_clock_goes_wrong(site):
    site.realm.clock_from_file()
    site.realm.restart(site.realm.moved)
    site.sees()
    site.realm.set_clock(60)
    yield {f"TkdcClockOff {party}" for party in SERVERS}
    site.realm.set_clock(200)
    yield {f"TkdcClockWrong {party}" for party in SERVERS}
    site.realm.set_clock(0)


@fault("TkdcEpochs")
def few_nonce_epochs_are_left(site):
    realm = site.realm

    def epochs(*words: str) -> None:
        realm.stop_servers(*SERVERS)
        for party in SERVERS:
            realm.tool("tkdc", "epochs", words[0], "--config", str(realm.config(party)),
                       *words[1:], "--now")
        realm.restart(*SERVERS)

    epochs("raise", "--to", "950000")
    yield {f"TkdcEpochs {party}" for party in SERVERS}
    epochs("begin-anew", "--era", "1")
    wait_until(lambda: realm.tkdc("rotate", "krbtgt", "--now").returncode == 0, SOON_S, "a key")
    wait_until(realm.logs_in, SOON_S, "a login")


@fault("TkdcSharesDiffer", "TkdcSharesAuditOverdue")
def a_server_was_set_back(site):
    """To what it stored before its shares had MACs. Then nobody audits them for four days."""
    realm, back = site.realm, 2

    def shares(*words: str) -> int:
        wait_until(realm.logs_in, SOON_S, "a session")
        return realm.tkdc("shares", "--config", realm.config(0), *words).returncode

    realm.stop_servers(*SERVERS)
    bare = realm.copy_store(back, "bare")
    for party in SERVERS:
        realm.change(realm.config(party), "[store]\n", "[store]\nshare_macs = true\n")
    realm.restart(*SERVERS)
    assert shares("deal") == 0 and shares("audit") == 0
    site.sees()
    realm.stop_servers(back)
    realm.put_store(back, bare)
    realm.start_server(back)
    assert shares("audit") != 0
    yield {f"TkdcSharesDiffer {party}" for party in SERVERS if party != back}
    assert shares("deal") == 0 and shares("audit") == 0
    realm.begin_at(4)
    realm.restart(*SERVERS)  # as its page says: until then they differ
    yield {f"TkdcSharesAuditOverdue {party}" for party in SERVERS}
    realm.begin_at(0)
    realm.restart(*SERVERS)


@contextmanager
def say_more(agent: Path, socket_path: Path, more: bytes) -> Iterator[None]:
    """Between exporter and agent: in each status servers say this, too."""
    def answer(client: socket.socket) -> None:
        with client, agent_wire.Connection(agent) as behind:
            while head := client.recv(agent_wire.HEADER_BYTES, socket.MSG_WAITALL):
                size = struct.unpack(">IBBHQII", head)[5]
                behind.send(head + client.recv(size, socket.MSG_WAITALL))
                reply = behind.receive()
                body = reply.body
                if reply.op == agent_wire.STATUS:
                    said = body[4:].replace(b'"session_up":', more + b',"session_up":')
                    body = struct.pack(">I", len(said)) + said
                client.sendall(struct.pack(">IBBHQII", agent_wire.MAGIC, agent_wire.VERSION,
                                           reply.op, reply.status, reply.id, len(body), 0) + body)

    with socket.socket(socket.AF_UNIX) as listens:
        listens.bind(str(socket_path))
        listens.listen()

        def serve() -> None:
            while True:
                try:
                    answer(listens.accept()[0])
                except OSError:
                    return

        server = threading.Thread(target=serve, daemon=True)
        server.start()
        yield
        listens.shutdown(socket.SHUT_RDWR)
    server.join(SOON_S)


@fault("TkdcExporterOld")
def servers_are_newer_than_the_exporter(site):
    """They say a number more, as a later release's do."""
    agent, between = site.realm.agent_socket("kdc"), site.realm.directory / "newer.sock"
    with say_more(agent, between, b'"of_tomorrow":7'):
        site.export_from(between)
        yield {"TkdcExporterOld"}
        site.export_from(agent)


@fault("TkdcPoolLow", quick=True)
def keys_do_not_move_out_of_a_pool(site):
    """As two servers say it: a pool is that low after 2,500 keys, with a disk that is full."""
    agent, between = site.realm.agent_socket("kdc"), site.realm.directory / "low.sock"
    with say_more(agent, between, b'"pair":{"pool_least":8191,"pool_left":60000}'):
        site.export_from(between)
        yield {f"TkdcPoolLow {party}" for party in SERVERS}
        site.export_from(agent)


@fault("TkdcChecksBroken", stays=True)
def connections_broke_amid_verification(site):
    """So many as a server writes down beside its store; test_broken_checks.py breaks them."""
    realm, party = site.realm, 0
    realm.stop_servers(party)
    with (realm.store(party) / "broken-checks").open("a") as out:
        out.write(f"{int(time.time())} 1 0\n" * 5)
    realm.start_server(party)
    yield {f"TkdcChecksBroken {party}"}


@fault("TkdcAgentLimited", stays=True)
def an_agent_asks_too_often(site):
    realm, party = site.realm, 1
    was = realm.change(realm.config(party), "[limits]\n",
                       "[limits]\nagent_per_s = 1\nagent_burst = 1\n")
    realm.restart(party)
    site.sees()
    realm.flood(400)
    yield {f"TkdcAgentLimited {party}"}
    realm.config(party).write_text(was)
    realm.restart(party)


@fault("TkdcGarbledUsedUp", stays=True)
def more_logins_than_garbled_circuits(site):
    realm = site.realm
    was = [realm.change(realm.config(party), "[data]\n",
                        '[data]\ngarbling = "always"\ngarbled_mb = 16\n') for party in SERVERS]
    realm.restart(*SERVERS)
    wait_until(realm.logs_in, SOON_S, "a login, by which kinds are learned")

    def missed() -> bool:
        realm.flood(100)
        return all(count > 200 for count in
                   site.exporter.of_servers("tkdc_server_garbled_missed_total").values())

    wait_until(missed, SOON_S, "no circuit was left")
    yield {f"TkdcGarbledUsedUp {party}" for party in SERVERS}
    for party, text in enumerate(was):
        realm.config(party).write_text(text)
    realm.restart(*SERVERS)


@fault("TkdcKeysGone", stays=True)
def an_older_dump_of_the_database_is_loaded(site):
    """Of before krbtgt's key was drawn anew; the last one, since it counts what went well, too."""
    realm, dump, newest = site.realm, str(site.realm.directory / "old"), \
        str(site.realm.directory / "newest")
    realm.admin_tool("kdb5_util", "dump", dump)
    done = realm.tkdc("rotate", "krbtgt", "--now", "--purge")
    assert done.returncode == 0, done.stderr
    realm.admin_tool("kdb5_util", "dump", newest)
    realm.admin_tool("kdb5_util", "-x", "load_anyway", "load", dump)
    for _ in range(3):  # less than one key may be asked for
        realm.flood(150)
    yield {"TkdcKeysGone"}
    realm.admin_tool("kdb5_util", "load", newest)
    wait_until(realm.logs_in, SOON_S, "a login")


@pytest.fixture(scope="module", name="site")
def fixture_site(tmp_path_factory):
    """With a principal that was removed when its servers were made, long ago."""
    if FAKETIME is None:
        pytest.fail("libfaketime is not installed: ./bootstrap --test")
    realm = new_realm("ALERTS.REALM", kind=WatchedRealm)
    realm.begin_at(LONG_AGO_DAYS)
    try:
        with realm:
            realm.kadmin_local(f'addprinc -pw "{PASSWORD}" +requires_preauth lea')
            realm.kadmin_local("addprinc -randkey host/gone.test")
            realm.kadmin_local("delprinc -force host/gone.test")
            with Site(realm, tmp_path_factory.mktemp("prometheus")) as site:
                site.sees()
                yield site
    finally:
        remove(realm)


def test_each_rule_has_its_fault():
    groups = yaml.safe_load(RULES.read_text())["groups"]
    rules = [rule["alert"] for group in groups for rule in group["rules"]]
    assert sorted(rules) == sorted(alert for one in FAULTS for alert in one.alerts)


@pytest.mark.parametrize("one", [one for one in FAULTS if one.quick or ALL],
                         ids=lambda one: one.course.__name__)
def test_it_fires_by_its_fault(site, one):
    if site.broken:
        pytest.fail("the fault of before was not mended")
    site.broken = True
    assert not site.prometheus.firing() ^ site.standing
    fired: set[str] = set()
    for alerts in one.course(site):
        site.sees(alerts)
        fired |= {alert.partition(" ")[0] for alert in alerts}
        if one.stays:
            site.standing |= alerts
    assert fired >= set(one.alerts)
    site.sees()
    site.broken = False
