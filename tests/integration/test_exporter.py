# SPDX-License-Identifier: Apache-2.0
"""tkdc-exporter beside a real agent: its metrics are what `tkdc status` says, a real Prometheus
finds what each panel of the dashboard asks for, and its socket answers nothing else.
"""

import grp
import json
import os
import re
import shutil
import socket
import stat
import struct
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from tests.integration.conftest import STOCK, new_realm, remove
from tests.integration.test_breach import status
from tests.support import agent_wire
from tests.support.monitoring import Exporter, Prometheus, get
from tests.support.process import wait_until

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
DASHBOARD = Path(__file__).parents[2] / "config/monitoring/tkdc.dashboard.json"
SOON_S = 90.0
NOBODY = 65534  # a user and a group of no rights
STATUS, HAND_OVER = 4, 2  # of service/server/local_socket.h


@pytest.fixture(scope="module", name="realm")
def fixture_realm(monitored):
    realm = new_realm("EXPORTER")
    realm.create()
    config = realm.installation / "agent-admin" / "agent.toml"
    text = config.read_text()
    config.write_text(text.replace('[agent]\n', '[agent]\nstatus_socket = "status.sock"\n', 1))
    config = realm.server_directory(2) / "tkdc.toml"
    text = config.read_text()
    config.write_text(text.replace('[control]\n', f'[control]\nstatus_socket = "{monitored}"\n', 1))
    try:
        realm.start()
        yield realm
    finally:
        realm.stop()
        remove(realm)


@pytest.fixture(scope="module", name="monitored")
def fixture_monitored():
    """A server's socket, in a folder of the group that may look."""
    with tempfile.TemporaryDirectory(prefix="tkdc-") as folder:
        if os.geteuid() == 0:
            os.chown(folder, 0, NOBODY)
        Path(folder).chmod(0o2750)
        yield Path(folder) / "server2.sock"


@pytest.fixture(scope="module", name="status_socket")
def fixture_status_socket(realm):
    return realm.installation / "agent-admin" / "status.sock"


@pytest.fixture(scope="module", name="exporter")
def fixture_exporter(realm, status_socket):
    exporter = Exporter(realm, status_socket)
    yield exporter
    exporter.stop()


def test_metrics_are_what_the_status_says(realm, exporter):
    said = {one["party"]: one for one in status(realm)}
    samples = exporter.samples()
    assert samples["tkdc_agent_up", ""] == samples["tkdc_healthy", ""] == 1
    assert samples["tkdc_other_agent_up", 'agent="agent-kdc"'] == 1
    for party, one in said.items():
        who = f'server="{party}"'
        assert samples["tkdc_server_keys", who] == one["keys"]
        assert samples["tkdc_server_session_up", who] == 1
        assert samples["tkdc_server_latched", who] == 0
        assert samples["tkdc_server_jobs_done_total", who] <= one["jobs_done"] + 100
        assert samples["tkdc_server_disk_free_bytes", f'{who},of="store"'] > 0
        what = f'{who},build="{one["build"]}",program="{one["program"]}",security="malicious"'
        assert ("tkdc_server_build_info", what) in samples
        for result, count in one["results"].items():
            assert samples["tkdc_server_results_total", f'{who},result="{result}"'] >= count
        # realm.create() has made keys, and nothing is made meanwhile.
        for operation in ("stage", "bind"):
            times = one["times"]["by"][operation]
            of = f'{who},operation="{operation}"'
            assert samples["tkdc_server_operation_seconds_count", of] == sum(times["counts"]) > 0
            assert samples["tkdc_server_operation_seconds_sum", of] == \
                pytest.approx(times["seconds"], rel=1e-6)
            assert samples["tkdc_agent_operation_seconds_count", f'operation="{operation}"'] > 0
            for cost in ("rounds", "message_bytes"):
                name = f"tkdc_server_{cost}_of_operations"
                assert samples[f"{name}_count", of] == sum(times[f"{cost}_counts"]) == \
                    sum(times["counts"])
                assert samples[f"{name}_sum", of] == times[cost]
        checks = one["verification"]
        assert samples["tkdc_server_verification_seconds_count", who] == \
            checks["checks"] == sum(checks["counts"]) > 0
        assert samples["tkdc_server_verification_seconds_sum", who] == \
            pytest.approx(checks["seconds"], rel=1e-6)
        assert samples["tkdc_server_verified_claims_total", who] == checks["claims"] > 0
        begun = samples["tkdc_server_lane_operations_total", f'{who},lane="0"']
        assert begun >= one["by_lane"][0]["operations"] > 0
    # A number that a server says, and nobody has decided about, is missing here first.
    assert samples["tkdc_exporter_fields_unknown", ""] == 0
    assert not any("@" in labels for _, labels in samples)
    ids = {name for name, labels in samples if re.search(r"[0-9a-fA-F]{32}", labels)}
    assert ids == {"tkdc_server_build_info"}, "a handle, a digest of a principal or a session's id"
    assert get(f"http://{exporter.url}/readyz") == (200, "ok\n")
    assert get(f"http://{exporter.url}/other")[0] == 404


def test_promtool_finds_no_fault_in_them(exporter):
    text = get(f"http://{exporter.url}/metrics")[1]
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True,
                             text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_status_socket_answers_nothing_else(realm, status_socket):
    """Who may look could else ask for each key that the agent reaches."""
    tkdc = str(realm.bin / "tkdc")
    shown = subprocess.run([tkdc, "status", "--socket", str(status_socket), "--json"],
                           capture_output=True, text=True, check=False)
    assert shown.returncode == 0 and json.loads(shown.stdout)["healthy"]
    for path, said in ((status_socket, agent_wire.DENIED),
                       (realm.agent_socket("admin"), agent_wire.BAD_REQUEST)):
        with agent_wire.Connection(path) as connection:
            for op in (agent_wire.SEAL, agent_wire.OPEN, agent_wire.STAGE):
                assert connection.ask(op, b"").status == said, (path, op)


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a folder of another group")
def test_a_unit_that_sees_no_other_group_makes_a_socket_of_its_folders(realm):
    """As PrivateUsers=yes has it: there no file can be given to a group."""
    group = grp.getgrgid(1)
    with tempfile.TemporaryDirectory(prefix="tkdc-") as place:
        shutil.copytree(realm.installation / "agent-kdc", f"{place}/agent",
                        ignore=shutil.ignore_patterns("*.sock"))
        folder, config = Path(place) / "status", Path(place) / "agent/agent.toml"
        folder.mkdir()
        os.chown(folder, 0, group.gr_gid)
        folder.chmod(0o2750)
        config.write_text(config.read_text().replace(
            "[agent]\n", f'[agent]\nstatus_socket = "{folder}/s"\n'
                          f'status_group = "{group.gr_name}"\n', 1))
        with subprocess.Popen(["unshare", "--user", "--map-root-user", realm.bin / "tkdc-agent",
                               "--config", config], stderr=subprocess.PIPE, text=True) as agent:
            wait_until(lambda: (folder / "s").exists() or agent.poll() is not None, 20, "a socket")
            agent.terminate()
            said = agent.communicate(timeout=20)[1]
        assert "listens on" in said, said


def test_other_hosts_are_not_served(realm, status_socket):
    refused = subprocess.run([str(realm.bin / "tkdc-exporter"), "--socket", str(status_socket),
                              "--listen", "0.0.0.0:9747"], capture_output=True, text=True,
                             timeout=20, check=False)
    assert refused.returncode == 1 and "must be 127.0.0.1:PORT" in refused.stderr


def ask_local(path: Path, op: int, more: bytes = b"") -> tuple[int, bytes]:
    """Good or not, and what is said. Of a frame that is too long no octet is read."""
    frame = b"TKL1" + bytes([op]) + struct.pack(">I", len(more)) + more + b"\0"
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(20)
        one.connect(str(path))
        one.sendall(struct.pack(">I", len(frame)) + frame)
        answer = b"".join(iter(lambda: one.recv(65536), b""))
    return answer[8], answer[13:]


def test_a_server_without_an_agent(realm, monitored):
    """The account for monitoring sees its own server, and can ask it for nothing else."""
    assert stat.S_IMODE(monitored.stat().st_mode) == 0o660
    good, said = ask_local(monitored, STATUS)
    assert good == 1 and json.loads(said)["party"] == 2
    good, said = ask_local(monitored, HAND_OVER)
    assert good == 0 and b"answers the status alone" in said
    with pytest.raises(ConnectionResetError):
        ask_local(monitored, STATUS, bytes(1000))
    tkdc = [str(realm.bin / "tkdc"), "status", "--server-socket", str(monitored), "--json"]
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    shown = subprocess.run(tkdc, capture_output=True, text=True, check=False, **who)
    assert shown.returncode == 0 and json.loads(shown.stdout)["of_server"] == 2, shown
    if who:
        shown = subprocess.run(tkdc, capture_output=True, text=True, check=False,
                               **{**who, "group": NOBODY - 1})
        assert shown.returncode == 1 and "Permission denied" in shown.stdout, shown
    doctor = [str(realm.bin / "tkdc"), "doctor", "--json", "--server-socket", str(monitored)]
    seen = subprocess.run(doctor, capture_output=True, text=True, check=False, **who)
    found = {one["check"]: one["state"] for one in json.loads(seen.stdout)["findings"]}
    assert seen.returncode == 0 and set(found.values()) == {"ok"}, seen
    assert {"running", "session", "clocks", "disks", "audit-log"} < set(found)
    assert not {"configuration", "files", "ports"} & set(found)
    if who:
        seen = subprocess.run(doctor, capture_output=True, text=True, check=False,
                              **{**who, "group": NOBODY - 1})
        bad = [one for one in json.loads(seen.stdout)["findings"] if one["state"] == "wrong"]
        assert seen.returncode == 1 and [one["check"] for one in bad] == ["running"], seen
        assert "Permission denied" in bad[0]["text"], bad
    exporter = Exporter(realm, monitored, "--server-socket")
    try:
        samples = exporter.samples()
        assert samples["tkdc_server_up", ""] == samples["tkdc_healthy", ""] == 1
        assert samples["tkdc_server_session_up", 'server="2"'] == 1
        assert samples["tkdc_server_keys", 'server="2"'] == status(realm)[2]["keys"]
        assert {labels for name, labels in samples if name == "tkdc_server_lanes"} == {'server="2"'}
        assert not any(name.startswith("tkdc_agent") for name, _ in samples)
        assert get(f"http://{exporter.url}/readyz") == (200, "ok\n")
    finally:
        exporter.stop()


def test_the_doctor_of_who_may_look_at_an_agent(realm, status_socket):
    doctor = [str(realm.bin / "tkdc"), "doctor", "--socket", str(status_socket)]
    seen = subprocess.run(doctor, capture_output=True, text=True, check=False)
    assert seen.returncode == 0 and seen.stdout.endswith("All is well.\n"), seen
    both = subprocess.run([*doctor, "--root", "/"], capture_output=True, text=True, check=False)
    assert both.returncode != 0 and "excludes" in both.stdout + both.stderr, both


def queries() -> dict[str, str]:
    """Of the dashboard's panels, by title, as Grafana asks them."""
    found = {}
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", []):
            assert panel["datasource"]["uid"] == "${datasource}" and "datasource" not in target
            found[panel["title"]] = target["expr"].replace("$instance", ".*").replace(
                "$__rate_interval", "30s")
    assert len(found) > 25 and not any("$" in query for query in found.values())
    return found


def without_data(prometheus: Prometheus) -> list[str]:
    empty = [title for title, query in queries().items()
             if not prometheus.ask(f"query?query={urllib.parse.quote(query)}").get("result")]
    print("panels without data:", empty)
    return empty


def test_each_panel_has_something_to_show(exporter, tmp_path):
    """Which alerts fire there: test_alerts.py."""
    with Prometheus(tmp_path, exporter.url) as prometheus:
        wait_until(lambda: not without_data(prometheus), SOON_S, "each panel has data")


def test_who_looks_by_hand_reads_who_is_away(realm, exporter):
    realm.daemons["server1"].stop()
    wait_until(lambda: get(f"http://{exporter.url}/readyz")[0] == 503, SOON_S, "it is seen")
    said = get(f"http://{exporter.url}/readyz")[1]
    assert "server 1 reachable: " in said, said
    realm.start_server(1)
    wait_until(lambda: get(f"http://{exporter.url}/readyz")[0] == 200, SOON_S, "it is back")


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_another_agent_of_the_host_that_is_away_is_seen(realm, status_socket, exporter, how):
    """By who asks one agent over its status socket, where this one is well."""
    asked = [str(realm.bin / "tkdc"), "status", "--socket", str(status_socket)]
    getattr(realm.daemons["agent-kdc"], how)()
    try:
        time.sleep(1.1)  # what was asked for is shared for a second
        samples = exporter.samples()
        assert samples["tkdc_agent_up", ""] == 1 and samples["tkdc_healthy", ""] == 0
        assert samples["tkdc_other_agent_up", 'agent="agent-kdc"'] == 0
        code, said = get(f"http://{exporter.url}/readyz")
        assert code == 503 and said.startswith("agent agent-kdc: "), said
        shown = subprocess.run(asked, capture_output=True, text=True, check=False)
        assert shown.returncode == 2 and "tkdc is DEGRADED" in shown.stdout, shown
        assert "agent-kdc: " in shown.stdout, shown.stdout
        top = subprocess.run([str(realm.bin / "tkdc"), "top", "--once", "--json", "--interval",
                              "0.2", "--socket", str(status_socket)], capture_output=True,
                             text=True, check=False)
        assert top.returncode == 2 and "agent agent-kdc: " in top.stdout, top
    finally:
        realm.start_agent("kdc")
    wait_until(lambda: subprocess.run(asked, capture_output=True, check=False).returncode == 0,
               SOON_S, "it is back")


def test_an_agent_that_is_away_is_a_metric(realm, exporter):
    realm.daemons["agent-admin"].stop()
    time.sleep(1.1)  # what was asked for is shared for a second
    samples = exporter.samples()
    assert samples == {("tkdc_agent_up", ""): 0}
    assert get(f"http://{exporter.url}/readyz") == (503, "the agent does not answer\n")
    realm.start_agent("admin")
