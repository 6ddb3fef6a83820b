# SPDX-License-Identifier: Apache-2.0
"""`tkdc tables plan`: its figures are those of the operations, of the reserve's bounds and of rates
that `tkdc bench ahead` measures."""

import json
import re
import subprocess

import pytest

from tests.integration.conftest import STOCK
from tests.support.realm import ROOT, default_bin

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]

TABLE = 512  # octets of one, kept
AND = 192
STEP = 4096  # tables that are made at once
PAGE = ROOT / "docs/protocols/29-tables-in-jobs.md"
ROW = re.compile(r"^\| (SEAL|OPEN), enctype (\d+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|", re.M)
COUNTED = 1.004  # before it is laid out, a circuit has some ANDs more
SCHEDULE = {16: 40, 32: 52}  # S-boxes of a key's schedule


def tkdc(*words):
    return subprocess.run([str(default_bin() / "tkdc"), *words], text=True, capture_output=True,
                          check=False, timeout=300)


def plan(*words):
    return tkdc("tables", "plan", *words)


def planned(*words):
    done = plan("--json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def config_of_two(folder, **values):
    made = tkdc("init", "--servers", "2", "--out", str(folder), "--realm", "EXAMPLE.TEST")
    assert made.returncode == 0, made.stderr
    path = folder / "server0/tkdc.toml"
    config = path.read_text()
    for key, value in values.items():
        config = re.sub(rf"^{key} = .*\n", "", config, flags=re.M)
        config = re.sub(r"^\[data\]\n", rf"\g<0>{key} = {value}\n", config, flags=re.M)
    path.write_text(config)
    return path


def test_figures_are_those_of_the_operations():
    """The page's table says lookups and ANDs of a ticket of 249 octets."""
    rows = ROW.findall(PAGE.read_text())
    assert len(rows) == 5
    for name, enctype, whole, beside, lookups in rows:
        size = 249 if name == "SEAL" else 277
        circuit = f"{name.lower()}{enctype}:{size}"
        found = planned("--logins", "1", "--circuit", circuit)["operations"]
        assert [one["circuit"] for one in found] == [circuit]
        number = int(lookups.replace(",", ""))
        schedule = SCHEDULE[16 if enctype in ("17", "19") else 32]
        seal, opened = (number + schedule, 0) if name == "SEAL" else (schedule, number)
        assert (found[0]["tables_to_seal"], found[0]["tables_to_open"]) == (seal, opened)
        for counted, laid_out in (("ands", beside), ("ands_without_tables", whole)):
            ands = int(laid_out.replace(",", ""))
            assert ands <= found[0][counted] < COUNTED * ands


def test_gigabytes_and_hours_follow():
    words = ["--circuit", "seal18:312", "--circuit", "open18:340", "--circuit", "mac-sha1:144=3",
             "--tables-per-s", "10000", "--ands-per-s", "100000", "--mbit", "100"]
    found = planned("--logins", "700", *words)
    seal = 14 * 16 * 21 + 2 * 52  # 21 blocks of 312 + 16 octets; both keys' schedules
    opened = 14 * 16 * 21
    ands = sum(one["ands"] * one["times"] for one in found["operations"])
    assert found["operations"][2]["ands"] == found["operations"][2]["ands_without_tables"]
    assert (found["login_tables_to_seal"], found["login_tables_to_open"]) == (seal, opened)
    assert found["tables_gb"] == pytest.approx(700 * (seal + opened) * TABLE / 1e9)
    assert found["circuits_gb"] == pytest.approx(700 * ands * AND / 1e9)
    assert found["tables_hours"] == pytest.approx(700 * (seal + opened) / 10_000 / 3600)
    assert found["circuits_hours"] == pytest.approx(700 * ands / 100_000 / 3600)
    assert found["line_hours"] == pytest.approx(found["sent_gb"] / 2 * 8000 / 100 / 3600)
    assert found["hours"] == pytest.approx(
        max(found["tables_hours"] + found["circuits_hours"], found["line_hours"]))
    assert found["logins_per_hour"] == pytest.approx(700 / found["hours"])
    steps = -(-700 * seal // STEP) + -(-700 * opened // STEP)
    assert found["tables_mb"] == -(-steps * STEP * TABLE // 2**20)
    # A slow line is what takes longest.
    slow = planned("--logins", "700", *words[:-1], "10")
    assert slow["hours"] == slow["line_hours"] > found["hours"]
    # Where all are of one way, that way's part of the room is what counts.
    alone = planned("--logins", "700", "--circuit", "open18:340")
    steps = -(-700 * opened // STEP)
    assert alone["tables_mb"] >= steps * STEP * TABLE / 0.75 / 2**20


def test_what_is_configured_is_what_it_keeps(tmp_path):
    path = str(config_of_two(tmp_path / "on", tables_mb=64, prepared_mb=900))
    words = ["--logins", "5", "--config", path]
    found = planned(*words)
    one = found["login_table_bytes"]
    assert found["configured_table_logins"] == (64 << 20) // one
    # mac-sha1 and others have one circuit of each length in a login: eight stand ready at most.
    by_room = (900 << 20) // found["login_circuit_bytes"]
    assert found["configured_circuit_logins"] == min(8, by_room) > 0
    text = plan(*words).stdout
    assert f"tables of {found['configured_table_logins']:.0f} logins stand ready" in text
    assert "tables_mb 64, prepared_mb 900" in text
    off = plan("--logins", "5", "--config", str(config_of_two(tmp_path / "off"))).stdout
    assert "no lookup tables, until both servers set data.tables_mb" in off


def test_a_usual_login_is_planned():
    done = plan("--logins", "1000")
    assert done.returncode == 0, done.stderr
    assert "1000 logins: " in done.stdout
    assert " GB of tables at each server" in done.stdout
    assert " hours: " in done.stdout
    much = plan("--logins", "1000000")
    assert "more than it may be (65536: " in much.stdout


@pytest.mark.parametrize(("words", "says"), [
    (["--circuit", "nothing:7"], "nothing:7"),
    (["--circuit", "open18:1"], "open18:1"),
    (["--circuit", "seal18:2500"], "longer than they can prepare"),
    (["--circuit", "seal18:60=0"], "1 to 1000"),
    (["--circuit", "mac-sha1:60"], "name a SEAL or an OPEN"),
    (["--config", str(ROOT / "config/tkdc.toml")], "use `tkdc garbling plan`"),
])
def test_what_cannot_be_planned_is_refused(words, says):
    done = plan("--logins", "1", *words)
    assert done.returncode == 1
    assert done.stderr.startswith("tkdc tables: ")
    assert says in done.stderr
    assert not done.stdout


@pytest.mark.parametrize("words", [
    [], ["--logins", "0"], ["--logins", "5", "--mbit", "0"],
    ["--logins", "5", "--tables-per-s", "-3"],
])
def test_what_is_no_number_is_refused(words):
    done = plan(*words)
    assert done.returncode != 0
    assert "--" in done.stderr


def test_octets_are_those_that_are_sent():
    """What the plan takes for a table and an AND is what two servers send for it."""
    done = tkdc("bench", "ahead", "--steps", "6", "--circuits", "4", "--json")
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)
    assert measured["tables"] == 6 * STEP
    words = ["--logins", "1", "--circuit", "seal18:312"]
    found = planned(*words)
    [one] = found["operations"]
    assert measured["ands"] <= 4 * one["ands"] < COUNTED * measured["ands"]
    sent = (one["tables_to_seal"] * measured["tables_octets"] + one["ands"] *
            measured["ands_octets"])
    assert found["login_sent_bytes"] == pytest.approx(sent, rel=0.1)
    for rate in ("tables_per_s", "ands_per_s", "tables_cpu_us", "ands_cpu_us"):
        assert measured[rate] > 0
    text = tkdc("bench", "ahead", "--steps", "1", "--circuits", "1")
    options = re.search(r"--tables-per-s \d+ --ands-per-s \d+$", text.stdout, re.MULTILINE)
    assert plan(*words, *options[0].split()).returncode == 0
