# SPDX-License-Identifier: Apache-2.0
"""tkdc bench lut: its blocks are OpenSSL's, its octets as counted; the rest is refused."""

import json
import subprocess

import pytest

from tests.support.realm import default_bin


# Of a batch: two checks, of a digest, coins, a masked sum and its opening each.
CHECKS_OF_SEVERAL = 2 * (32 + 112 + (16 + 128 * 16) + 112)


def bench(*arguments):
    return subprocess.run([str(default_bin() / "tkdc"), "bench", "lut", *arguments],
                          capture_output=True, text=True, timeout=300)


# Two parties; a lookup opens an octet of each.
@pytest.mark.parametrize(("mode", "security", "threads", "rounds", "online"), [
    ("AES-LT", "malicious", 1, 10, 2 * (16 + 160 + 16)),
    ("AES-T16", "malicious", 1, 30, 2 * (16 + 3 * 160 + 16)),
    ("AES-BD", "malicious", 1, 50, 2 * (16 + 14 * 160 + 16)),
    ("AES-RP", "malicious", 1, 70, 2 * (16 + 12 * 160 + 16)),
    ("3DES-LT", "malicious", 1, 46, 2 * (8 + 384 + 8)),
    ("3DES-PV", "malicious", 1, 230, 2 * (8 + 9 * 384 + 8)),
    ("3DES-Raw", "malicious", 1, 138, 2 * (8 + 9 * 384 + 8)),
    ("AES-LT", "semi-honest", 2, 10, 2 * (160 + 16)),
])
def test_what_it_measures_is_right(mode, security, threads, rounds, online):
    # The program compares blocks of each batch with OpenSSL and fails where one differs.
    done = bench("--mode", mode, "--security", security, "--threads", str(threads), "--blocks",
                 "8", "--batch", "4", "--singles", "2", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["checked"]
    assert (report["mode"], report["security"], report["parties"]) == (mode, security, 2)
    assert (report["threads"], report["blocks"], report["rounds"]) == (threads, 8, rounds)
    checks = 128 * 2 / 4 if security == "malicious" else 0  # of a batch: two equalities
    assert report["online_octets_per_block"] == online + checks
    for name in ("ahead_blocks_per_s", "ahead_octets_per_block", "online_blocks_per_s",
                 "latency_ms", "memory_octets_per_block"):
        assert report[name] > 0
    assert (report["statistical_security_bits"] >= 56) == (security == "malicious")


# Each party sends each octet to each other one.
@pytest.mark.parametrize(("mode", "parties", "opened"), [
    ("AES-LT", 3, 16 + 160 + 16), ("AES-LT", 5, 16 + 160 + 16), ("3DES-LT", 3, 8 + 384 + 8),
])
def test_several_parties(mode, parties, opened):
    done = bench("--mode", mode, "--parties", str(parties), "--blocks", "8", "--batch", "4",
                 "--singles", "2", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["checked"]
    assert (report["mode"], report["parties"]) == (mode, parties)
    links = parties * (parties - 1)
    assert report["online_octets_per_block"] == links * (opened + CHECKS_OF_SEVERAL / 4)
    assert report["statistical_security_bits"] >= 56


@pytest.mark.parametrize("arguments", [
    ("--mode", "AES-T16", "--security", "semi-honest"),
    ("--parties", "3", "--security", "semi-honest"),
    ("--mode", "3DES-LT", "--security", "semi-honest"),
])
def test_what_is_not_built_is_refused_by_name(arguments):
    done = bench(*arguments)
    assert done.returncode != 0
    assert f" {arguments[1]}" in done.stderr
    assert "is not built" in done.stderr
    assert "AES-LT malicious" in done.stderr


def test_an_unknown_mode_and_too_much_memory_are_refused_before_work():
    assert "AES-T16" in bench("--mode", "AES-99").stderr
    refused = bench("--batch", "65536", "--blocks", "65536")
    assert refused.returncode != 0
    assert "MiB are free: take fewer by --batch" in refused.stderr


def test_constants_are_printed_by_their_formula():
    done = bench("--constants")
    assert done.returncode == 0
    assert "2^-t n C(t, B) / C(n B, B)" in done.stdout
    bounds = [float(line.split()[3]) for line in done.stdout.splitlines()
              if len(line.split()) == 4 and line.split()[0].isdigit()]
    assert len(bounds) == 7
    assert max(bounds) <= -59
