# SPDX-License-Identifier: Apache-2.0
"""tkdc bench pair: the agent gets what the circuit gives, octets are as counted."""

import json
import subprocess

from tests.support.realm import default_bin


def bench(*arguments):
    return subprocess.run([str(default_bin() / "tkdc"), "bench", "pair", *arguments],
                          capture_output=True, text=True, timeout=300)


def test_what_it_measures_is_right():
    # The program compares each job's answer with the circuit in the clear.
    done = bench("--operation", "aes128", "--jobs", "2", "--pool-blocks", "64", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["checked"]
    (aes,) = report["operations"]
    assert (aes["ands"], aes["record_bits"]) == (6400, 128)
    block, coin, proof, verdict, bits = 16, 16, 48, 1, 128
    # Session and number; of a block and a pad shares, R, three tags; a key.
    assert aes["dealt_octets"] == 2 * 16 + 2 * block + 4 * 16 + 32
    # Both: message, pad and R masked; the key under a digest; coin, proof, verdict; output, digest.
    each = 3 * block + block + 16 + coin + proof + verdict + block + 16
    labels, values, digests = 16 * 3 * bits, 6400 // 8, 2 * 16
    assert aes["online"]["octets"] == 2 * each + labels + values + digests
    for phase in ("setup", "pool", "bridge", "ahead", "online"):
        assert all(aes[phase][what] > 0 for what in ("wall_ms", "cpu_ms", "octets"))


def test_a_report_is_longer_than_a_pipe_holds():
    """The other process says each job's outputs: of a key's schedule 1,408 bits."""
    done = bench("--operation", "aes128-expand", "--jobs", "30", "--pool-blocks", "64", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["checked"]


def test_what_is_not_in_the_catalogue_is_refused_by_name():
    refused = bench("--operation", "seal99:249")
    assert refused.returncode != 0
    assert "seal99" in refused.stderr
