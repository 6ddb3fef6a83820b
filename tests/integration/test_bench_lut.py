# SPDX-License-Identifier: Apache-2.0
"""tkdc bench lut: its blocks are OpenSSL's, its octets as counted; the rest is refused."""

import json
import re
import signal
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


def test_it_shows_how_far_it_is_and_keeps_what_is_finished_when_it_is_stopped():
    with subprocess.Popen([str(default_bin() / "tkdc"), "bench", "lut", "--mode", "AES-T16",
                           "--blocks", "1000000", "--batch", "64"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as one:
        shown = re.fullmatch(r"bench: (\d+) of 1000000 blocks, (\d+) a second ahead, "
                             r"(\d+) s left\n", one.stderr.readline())
        assert shown
        done, rate, left = map(int, shown.groups())
        assert left == pytest.approx((1_000_000 - done) / rate, rel=0.2)
        one.send_signal(signal.SIGINT)
        output, errors = one.communicate(timeout=60)
    assert one.returncode == 0, errors
    blocks = re.search(r"loopback; (\d+) blocks,", output)
    assert int(blocks[1]) >= done and int(blocks[1]) % 64 == 0
    assert "stopped, as it was asked to, before all 1000000 blocks were there" in output
    assert "blocks a second ahead" in output and "one block, ms" not in output
