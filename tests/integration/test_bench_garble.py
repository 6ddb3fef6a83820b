# SPDX-License-Identifier: Apache-2.0
"""tkdc bench garble: what it measures was computed, by each kernel, and its text can be read."""

import json
import subprocess

import pytest

from tests.support.realm import default_bin


def bench(*arguments):
    return subprocess.run([str(default_bin() / "tkdc"), "bench", "garble", *arguments],
                          capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(("kernel", "instances"), [
    ("auto", 4), ("auto", 1), ("aesni", 4), ("reference", 1),
])
def test_both_circuits_are_checked(kernel, instances):
    # The program compares each chain's end with OpenSSL's and fails where one differs.
    done = bench("--seconds", "0.05", "--kernel", kernel, "--instances", str(instances), "--json")
    if kernel == "aesni" and "no kernel" in done.stderr:
        pytest.skip("this CPU has no AES instructions")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["checked"]
    assert kernel in ("auto", report["kernel"])
    assert {(one["circuit"], one["instances"]) for one in report["memory"]} \
        == {(circuit, count) for circuit in ("aes128", "sha256") for count in (1, 4)}
    assert {(one["circuit"], one["transport"]) for one in report["pairs"]} \
        == {(circuit, by) for circuit in ("aes128", "sha256") for by in ("tcp", "tls")}
    # The headline is the slower circuit.
    here = [one for one in report["memory"] if one["instances"] == instances]
    assert report["garble_ns"] == max(one["garble_ns"] for one in here) > 0
    assert report["evaluate_ns"] == max(one["evaluate_ns"] for one in here)
    for by in ("tcp", "tls"):
        rates = [one["ands_per_s"] for one in report["pairs"] if one["transport"] == by]
        assert report[f"ands_per_s_{by}"] == min(rates) > 0
    for one in report["pairs"]:  # 32 octets an AND, and little else
        octets = one["octets_per_s"] / one["ands_per_s"]
        assert 32 < octets < 36


def test_the_text_names_what_it_measured():
    done = bench("--seconds", "0.05")
    assert done.returncode == 0, done.stderr
    for words in ("nanoseconds for an AND", "sha256 over TLS", "AES alone", "CPU for an AND"):
        assert words in done.stdout
    assert "tkdc bench garble --kernel" in bench("--help").stdout


def test_an_unknown_kernel_is_refused():
    done = bench("--kernel", "mmx")
    assert done.returncode == 1
    assert "reference" in done.stderr
