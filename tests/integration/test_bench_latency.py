# SPDX-License-Identifier: Apache-2.0
"""tkdc bench latency: its rounds are those of docs/protocols/16-one-hot-aes.md."""

import json
import subprocess

import pytest

from tests.support.realm import default_bin


@pytest.mark.parametrize(("bits", "layers", "masks"), [(128, 40, 10), (256, 56, 14)])
@pytest.mark.parametrize("security", ["semi-honest", "malicious"])
def test_rounds_of_both_variants(bits, layers, masks, security):
    # The program compares the result with OpenSSL's and fails if they differ.
    done = subprocess.run([str(default_bin() / "tkdc"), "bench", "latency", "--aes", str(bits),
                           "--security", security, "--count", "5", "--json"],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["measured"] == "party to party"
    malicious = security == "malicious"
    assert report["layers"]["block"]["rounds"] == layers
    assert report["layers"]["chain"]["rounds"] == 20 * layers
    # The servers' jobs are compared once, what they were sent after each block.
    assert report["masks"]["block"]["rounds"] == masks + (2 if malicious else 0)
    assert report["masks"]["chain"]["rounds"] == 20 * (masks + malicious) + malicious
    for variant in ("layers", "masks"):
        for kind in ("block", "chain"):
            one = report[variant][kind]
            assert (one["rounds_verified"] > one["rounds"]) == malicious
            for what in ("result_us", "usable_us"):
                assert 0 < one[what]["median"] <= one[what]["p99"]
