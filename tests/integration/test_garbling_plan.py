# SPDX-License-Identifier: Apache-2.0
"""`tkdc garbling plan`: its figures are those of the circuits' layouts, which page 20 lists."""

import json
import re
import subprocess

import pytest

from tests.integration.conftest import STOCK
from tests.support.realm import ROOT, default_bin

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]

LANES = 1  # that garble: lane 0 of two does not
ROW = re.compile(r"^\| `([a-z0-9:-]+)` \| [\d,]+ \| [\d,]+ \| ([\d,]+) \|", re.MULTILINE)


def plan(*words):
    return subprocess.run([str(default_bin() / "tkdc"), "garbling", "plan", *words], text=True,
                          capture_output=True, check=False, timeout=60)


def planned(*words):
    done = plan("--json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_figures_follow_from_the_circuits():
    page = (ROOT / "docs/protocols/20-three-servers.md").read_text()
    tables = {name: int(octets.replace(",", "")) for name, octets in ROW.findall(page)}
    names = ["open17:60", "mac-sha1:64", "aes256"]
    words = [word for name in names for word in ("--circuit", f"{name}=2")]
    found = planned("--logins", "90", "--minutes", "3", *words)
    for one in found["circuits"]:
        table = tables[one["circuit"]]
        assert one["sent_bytes"] == table // 2
        assert table < one["kept_bytes"] < table + 16 * 8 * 100  # a label for each bit of output
    each = sum(2 * tables[name] for name in names) / 3
    assert found["layout_bytes"] > 12 * 80_000  # a gate's operands and result
    assert found["login_sent_bytes"] == pytest.approx(each, rel=0.001)
    assert found["mbit"] == pytest.approx(90 * each * 8 / 1e6 / 180, rel=0.001)
    assert found["at_once_mib"] == pytest.approx(90 * each / 2**20, rel=0.02)
    # Each login takes two of a kind, so six in a lane are three logins.
    assert found["instances"] == 90 * 2 / LANES
    assert found["configured_ready"] == LANES * 6 / 2
    assert found["configured_per_minute"] == pytest.approx(125e6 * 60 / each, rel=0.001)


def test_what_is_configured_is_what_it_carries(tmp_path):
    config = (ROOT / "config/tkdc.toml").read_text()
    for key, value in {"garbled_mb": 16, "garbled_instances": 900, "garbling_mbit": 10,
                       "lanes": 4}.items():
        config, changed = re.subn(rf"^{key} = \d+$", f"{key} = {value}", config, flags=re.MULTILINE)
        assert changed == 1, key
    (tmp_path / "tkdc.toml").write_text(config)
    words = ["--logins", "10", "--minutes", "1", "--circuit", "aes256"]
    found = planned(*words, "--config", str(tmp_path / "tkdc.toml"))
    kept, sent = found["login_kept_bytes"], found["login_sent_bytes"]
    assert found["configured_ready"] == 3 * (16 << 20) / kept // 1
    assert found["configured_per_minute"] == pytest.approx(10e6 / 8 * 60 / sent, rel=0.001)
    text = plan(*words, "--config", str(tmp_path / "tkdc.toml")).stdout
    assert f"circuits of {found['configured_ready']:.0f} logins stand ready" in text


def test_a_usual_login_is_planned():
    done = plan("--logins", "50", "--minutes", "1")
    assert done.returncode == 0, done.stderr
    assert "50 logins at once" in done.stdout


@pytest.mark.parametrize("circuit",
                         ["nothing:7", "open18:1", "aes256=0", "aes256=x", "open18:60=2x"])
def test_a_circuit_that_is_none_is_refused(circuit):
    done = plan("--logins", "1", "--minutes", "1", "--circuit", circuit)
    assert done.returncode == 1
    assert done.stderr.startswith("tkdc garbling: ")
