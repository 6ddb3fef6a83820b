# SPDX-License-Identifier: Apache-2.0
"""tkdc bench pair: what it measures was computed, its text can be read, and bounds are printed."""

import json
import subprocess

import pytest

from tests.support.realm import default_bin


def bench(*arguments):
    return subprocess.run([str(default_bin() / "tkdc"), "bench", "pair", *arguments],
                          capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("transport", ["tcp", "tls"])
def test_each_block_is_checked(transport):
    # The program compares each block with OpenSSL's and fails where one differs.
    done = bench("--blocks", "3", "--transport", transport, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["checked"]
    assert report["ands"] == 6400
    online = report["each"]["online"]["octets"]
    # A label of 16 octets for each input bit, a bit for each AND, and little else.
    assert 16 * 256 + 6400 / 8 < online < 16 * 256 + 6400 / 8 + 400
    # A table and a bit from the garbler, two bits of each side under digests.
    assert 32.6 < report["each"]["dependent"]["octets"] / 6400 < 33
    for phase in ("independent", "dependent", "online"):
        assert report["one"][phase]["cpu_ms"] > 0


def test_the_text_names_what_it_measured():
    done = bench("--blocks", "1")
    assert done.returncode == 0, done.stderr
    for words in ("setup, once a session", "one block alone, online", "an AND ahead"):
        assert words in done.stdout
    assert "tkdc bench pair --bound 1000" in bench("--help").stdout


@pytest.mark.parametrize(("ands", "made", "bucket", "bound"), [
    (1, 1000, 6, -58.0), (1000, 1000, 6, -58.0), (5600, 5600, 5, -56.5),
    (2**18, 2**18, 4, -59.3),
])
def test_bounds_of_batches(ands, made, bucket, bound):
    done = bench("--bound", str(ands), "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["ands"], report["bucket"]) == (made, bucket)
    assert report["bound_log2"] == pytest.approx(bound, abs=0.1)
    assert f"buckets of {bucket}" in bench("--bound", str(ands)).stdout
