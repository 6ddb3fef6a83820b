# SPDX-License-Identifier: Apache-2.0
"""`tkdc circuit`: known answers by name and from a file, the table of docs, and what it refuses."""

import subprocess
from pathlib import Path

import pytest

from tests.support.realm import default_bin

PAGE = Path(__file__).resolve().parents[2] / "docs" / "protocols" / "18-circuits.md"
TKDC = default_bin() / "tkdc"
KEY = "000102030405060708090a0b0c0d0e0f"
PLAIN = "00112233445566778899aabbccddeeff"
SEALED = "69c4e0d86a7b0430d8cdb78070b4c55a"  # FIPS 197, appendix C.1
ADDER = "5 9\n2 2 2\n1 2\n2 1 0 2 7 XOR\n2 1 0 2 4 AND\n2 1 1 3 5 XOR\n2 1 4 5 8 XOR\n1 1 5 6 INV\n"

pytestmark = pytest.mark.skipif(not TKDC.exists(), reason="tkdc is not built")


def circuit(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(TKDC), "circuit", *words], capture_output=True, text=True,
                          check=False, timeout=60)


def output(*words: str) -> str:
    done = circuit(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refusal(*words: str) -> str:
    done = circuit(*words)
    assert done.returncode == 1 and not done.stdout
    return done.stderr


def test_a_block_by_name_and_by_file(tmp_path):
    keys = output("run", "aes128-expand", "--input", KEY).split()[-1]
    assert output("run", "aes128-encrypt", "--input", keys, PLAIN) == f"block {SEALED}\n"
    file = str(tmp_path / "aes.txt")
    assert output("convert", "aes128-encrypt", "--out", file) == ""
    assert output("run", file, "--input", keys, "--input", PLAIN) == f"out0 {SEALED}\n"
    assert "5120 ANDs" in output("info", file)
    assert "163840 octets of tables" in output("info", file)
    assert "exists" in refusal("convert", "aes128-encrypt", "--out", file)


def test_numbers_and_octets():
    low, high = "ff00000000000000", "01ff000000000000"
    assert output("run", "add64", "--input", low, high) == "sum 0000010000000000\n"
    assert output("run", "add64", "--integers", "--input", "00000000000000ff",
                  "000000000000ff01") == "sum 0000000000010000\n"


def test_a_file_is_folded_when_it_is_converted(tmp_path):
    file, small = tmp_path / "adder.txt", tmp_path / "small.txt"
    file.write_text(ADDER)
    assert "1 ANDs, 3 XORs, 1 NOTs" in output("info", str(file))
    output("convert", str(file), "--out", str(small))
    assert small.read_text().startswith("4 8\n")
    for a in range(4):
        for b in range(4):
            expected = f"out0 0{(a + b) % 4}\n"
            assert output("run", str(small), "--input", f"0{a}", f"0{b}") == expected


def test_the_page_has_the_table():
    assert output("table") in PAGE.read_text()


def test_what_is_refused(tmp_path):
    file = tmp_path / "bad.txt"
    file.write_text(ADDER.replace("2 1 4 5 8 XOR", "2 1 4 9 8 XOR"))
    assert f"{file}: line 7: '9' is more than the 8 allowed" in refusal("info", str(file))
    assert "no circuit has the name 'ase'" in refusal("info", "ase")
    assert "blocks from 1 to 64, not '65'" in refusal("info", "sha1:65")
    assert "is no file" in refusal("info", str(tmp_path))
    assert "1 inputs, --input 0: octet of 8 bits" in refusal("run", "aes-sbox")
    assert "give 2 hexadecimal digits" in refusal("run", "aes-sbox", "--input", "5")
    assert "give 2 hexadecimal digits" in refusal("run", "aes-sbox", "--input", "5g")
    file.write_text(ADDER)
    assert "the bits above them are zero" in refusal("run", str(file), "--input", "04", "00")


@pytest.mark.parametrize("command", ["info", "run", "convert", "table"])
def test_each_command_has_help(command):
    assert "--help" in output(command, "--help")
