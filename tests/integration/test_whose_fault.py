# SPDX-License-Identifier: Apache-2.0
"""What an outage leaves in logs, for those who read them: one line that names the server, no line
that blames a user, and a status that knows nothing it was not told."""

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.integration.conftest import STOCK, new_realm, remove
from tests.support.kerberos import TKDC_MODULE
from tests.support.monitoring import doctors, metrics
from tests.support.process import RealmError, wait_until
from tests.support.realm import MASTER_PASSWORD, Realm

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
PASSWORD = "an innocent password"
SOON_S = 30.0
LONGEST_LINE = 400


@pytest.fixture(scope="module")
def realm():
    with new_realm("FAULT.REALM") as made:
        made.kadmin_local(f'addprinc +requires_preauth -pw "{PASSWORD}" ina')
        assert made.client("before").kinit("ina", PASSWORD).ok
        yield made
    remove(made)


def log_of(realm: Realm, name: str) -> str:
    """The KDC's is where its [logging] says."""
    path = realm.directory / "kdc.trace" if name == "krb5kdc" else realm.daemons[name].log
    return path.read_text()


def kdc_lines_of(realm: Realm, fault, mend, look=lambda: None) -> list[str]:
    """What krb5kdc logs while one kinit fails because of it, before all comes back. `look`: at what
    else is seen of it."""
    before = len(log_of(realm, "krb5kdc"))
    fault()
    try:
        done = realm.client("during").kinit("ina", PASSWORD, timeout_s=90)
        lines = log_of(realm, "krb5kdc")[before:].splitlines()
        look()
    finally:
        mend()
    assert not done.ok and "Password incorrect" not in done.errors
    wait_until(lambda: realm.client("after").kinit("ina", PASSWORD).ok, SOON_S, "a login")
    return lines


def assert_nobody_is_blamed(lines: list[str], why: str) -> None:
    assert not any("PREAUTH_FAILED" in line for line in lines), lines
    # krb5kdc's own line for each try does not repeat the reason; those of tries that came again
    # meanwhile ("should discard this request") stay.
    assert not [line for line in lines if "tkdc: " in line and "while dispatching" in line], lines
    told = [line for line in lines if "the client is not to blame" in line]
    assert told, lines
    assert all(why in line for line in told), told
    assert all(len(line) < LONGEST_LINE for line in told), told
    assert all(re.search(r", TKDC_REQUEST=[0-9a-f]{16}$", line) for line in told), told
    # A line is due each five seconds, and a client tries for 90 at most.
    assert len(told) <= 18, told


def test_a_hung_server_is_named_and_no_user_blamed(realm):
    by_agent = ("--socket", str(realm.agent_socket("kdc")))

    def look() -> None:
        assert metrics(realm, "tkdc_server_reachable") == [{"0": 1, "1": 0, "2": 1}]
        found = doctors(realm, *by_agent)["session"]
        assert found["state"] == "wrong" and "server 1: " in found["text"], found
        assert "takes connections and says nothing" in found["text"], found
        assert found["remedy"] == "on that server's host: tkdc doctor"

    lines = kdc_lines_of(realm, lambda: realm.signal("server1", signal.SIGSTOP),
                         lambda: realm.signal("server1", signal.SIGCONT), look)
    wait_until(lambda: metrics(realm, "tkdc_server_reachable") == [{"0": 1, "1": 1, "2": 1}],
               SOON_S, "a metric that says so")
    assert "session" not in doctors(realm, *by_agent)
    assert_nobody_is_blamed(lines, "server 1 (tcp://")
    told = [line for line in lines if "the client is not to blame" in line]
    assert not any("server 0 (tcp://" in line or "server 2 (tcp://" in line for line in told), told


def test_a_stopped_server_is_named_and_no_user_blamed(realm):
    lines = kdc_lines_of(realm, realm.daemons["server1"].stop, lambda: realm.start_server(1))
    assert_nobody_is_blamed(lines, "server 1 (tcp://")
    told = [line for line in lines if "the client is not to blame" in line]
    assert not any("server 0 (tcp://" in line or "server 2 (tcp://" in line for line in told), told


def test_an_agent_that_is_away_is_named_and_no_user_blamed(realm):
    lines = kdc_lines_of(realm, realm.daemons["agent-kdc"].stop, lambda: realm.start_agent("kdc"))
    assert_nobody_is_blamed(lines, "agent")


def test_what_else_is_said_of_a_request_that_was_lost_is_logged(realm):
    """For what, from where: only lines that blame the user are left out."""
    client = realm.client("holder")
    assert client.kinit("ina", PASSWORD).ok
    before = len(log_of(realm, "krb5kdc"))

    def lines() -> list[str]:
        return log_of(realm, "krb5kdc")[before:].splitlines()

    realm.daemons["agent-kdc"].stop()
    asking = subprocess.Popen(["kvno", "kadmin/admin"], env=client.env,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: any("TGS_REQ" in line and "kadmin/admin" in line
                               for line in lines()), SOON_S, "a line that says what was asked for")
    finally:
        asking.kill()
        asking.wait()
        realm.start_agent("kdc")
    assert any("the client is not to blame" in line for line in lines()), lines()
    assert not any("PREAUTH_FAILED" in line for line in lines()), lines()
    wait_until(lambda: realm.client("again").kinit("ina", PASSWORD).ok, SOON_S, "a login")


def test_a_wrong_password_is_a_users_mistake_as_ever(realm):
    before = len(log_of(realm, "krb5kdc"))
    assert not realm.client("wrong").kinit("ina", "not her password").ok
    lines = log_of(realm, "krb5kdc")[before:].splitlines()
    assert any("PREAUTH_FAILED: ina@FAULT.REALM" in line for line in lines), lines


def status(realm: Realm, *options: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(realm.bin / "tkdc"), "status", *options], env=realm.env(), text=True,
                          capture_output=True, timeout=60, check=False)


def test_status_knows_no_mode_that_no_server_told(realm):
    kdc = ("--socket", str(realm.agent_socket("kdc")))
    assert json.loads(status(realm, "--json", *kdc).stdout)["security"] == "malicious"
    for party in range(3):
        realm.signal(f"server{party}", signal.SIGSTOP)
    try:
        done = status(realm, "--json", *kdc)
        table = status(realm, *kdc).stdout
    finally:
        for party in range(3):
            realm.signal(f"server{party}", signal.SIGCONT)
    assert done.returncode == 2
    shown = json.loads(done.stdout)
    assert shown["security"] == "unknown" and shown["security_expected"] == "malicious"
    assert "security: unknown (no server says" in table
    wait_until(lambda: status(realm, *kdc).returncode == 0, SOON_S, "a healthy status")


def test_json_is_json_where_no_agent_answers(realm, tmp_path):
    done = status(realm, "--json", "--socket", str(tmp_path / "none.sock"))
    assert done.returncode == 1
    shown = json.loads(done.stdout)
    assert shown["healthy"] is False and "none.sock" in shown["error"]


def test_status_sees_the_hosts_other_agent(realm):
    config = str(realm.installation / "agent-kdc" / "agent.toml")
    wait_until(lambda: status(realm, "--json", "--config", config).returncode == 0, SOON_S,
               "a healthy status of both agents")
    realm.daemons["agent-admin"].stop()
    try:
        done = status(realm, "--config", config)
    finally:
        realm.start_agent("admin")
    assert done.returncode == 2
    assert "agent-admin" in done.stdout and "no key can be made" in done.stdout


def test_status_shows_the_commit_beside_the_version(realm):
    shown = json.loads(status(realm, "--json", "--socket", str(realm.agent_socket("kdc"))).stdout)
    said = realm.tool("tkdc-server", "--version").split(maxsplit=1)[1].strip()
    assert all(server["build"] == said for server in shown["servers"])
    assert shown["agent"]["build"] == said


def test_no_half_realm_is_left_by_a_create_without_a_server(realm):
    conf = realm.directory / "kdc.conf"
    database, other = realm.directory / "principal", realm.directory / "other"
    text = conf.read_text()
    conf.write_text(text.replace(f"database_name = {database}", f"database_name = {other}"))
    realm.signal("server2", signal.SIGSTOP)
    try:
        done = realm.try_admin_tool("kdb5_util", "create", "-s", "-P", MASTER_PASSWORD)
        assert not done.ok
        assert "nothing was created" in done.errors
        assert not list(realm.directory.glob("other*"))
    finally:
        realm.signal("server2", signal.SIGCONT)
        conf.write_text(text)
    wait_until(lambda: realm.client("created").kinit("ina", PASSWORD).ok, SOON_S, "a login")


def test_a_misspelt_key_of_kdc_conf_is_refused(realm):
    conf = realm.directory / "kdc.conf"
    text = conf.read_text()
    assert "tkdc_agent_socket" in TKDC_MODULE
    misspelt = "tkdc_timeout = 7000\n        tkdc_agent_socket"
    conf.write_text(text.replace("tkdc_agent_socket", misspelt, 1))
    try:
        done = realm.try_admin_tool("kadmin.local", "-q", "getprinc ina")
    finally:
        conf.write_text(text)
    assert not done.ok
    assert "there is no key tkdc_timeout" in done.errors
    assert "Principal: ina" in realm.kadmin_local("getprinc ina")


def test_renprinc_says_why_not(realm):
    with pytest.raises(RealmError, match="bound to its principal's name"):
        realm.kadmin_local("renprinc -force ina ida")


def test_a_refused_agent_is_logged_as_configurations_write_keys(realm):
    config = realm.installation / "agent-kdc" / "agent.toml"
    server = realm.server_directory(0) / "tkdc.toml"
    text = server.read_text()
    key = next(line.split('"')[1] for line in text.splitlines() if "curve_public_key" in line)
    assert Path(config).exists() and len(key) == 40
    realm.daemons["server0"].stop()
    server.write_text(text.replace(key, "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"))
    realm.start_server(0)
    try:
        wait_until(lambda: f"CURVE public key {key};" in log_of(realm, "server0"), SOON_S,
                   "a line with the refused key")
    finally:
        realm.daemons["server0"].stop()
        server.write_text(text)
        realm.start_server(0)
    wait_until(lambda: realm.client("listed").kinit("ina", PASSWORD).ok, SOON_S, "a login")
