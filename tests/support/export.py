# SPDX-License-Identifier: Apache-2.0
"""The administrators of an export, and of dropped keys that come back: keys, approvals, handing
over; `tkdc export` itself; and what a server could hand over that was changed."""

import ctypes
import json
import subprocess
import tomllib
from pathlib import Path

from tests.support.kerberos import Outcome
from tests.support.realm import Realm


def _run(realm: Realm, argv: list[str], env: dict[str, str], stdin: str = "") -> Outcome:
    done = subprocess.run([str(realm.bin / "tkdc"), *argv], env=env, input=stdin, text=True,
                          capture_output=True, timeout=600, check=False)
    return Outcome(done.returncode, done.stdout, done.stderr)


def tkdc_export(realm: Realm, *options: str, socket: Path | None = None) -> Outcome:
    env = {key: value for key, value in realm.kdc_env().items() if key != "LD_PRELOAD"}
    if socket is not None:
        env["TKDC_AGENT_SOCKET"] = str(socket)
    return _run(realm, ["export", *options], env)


def restore(realm: Realm, folder: Path, shares: list[Path], *options: str) -> Outcome:
    agent = realm.installation / "agent-admin" / "agent.toml"
    return tkdc_export(realm, "restore", "--folder", str(folder), "--agent-config", str(agent),
                       *options, *map(str, shares))


Z85 = ("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
       ".-:+=^!/*?&<>()[]{}@%$#")
TITLE, PARTY, DIGEST, NONCE, MAC = 21, 1, 32, 24, 16
BODY = PARTY + DIGEST + 4  # what stands in the box before the first key


def _from_z85(text: str) -> bytes:
    out = b""
    for at in range(0, len(text), 5):
        number = 0
        for one in text[at:at + 5]:
            number = 85 * number + Z85.index(one)
        out += number.to_bytes(4, "big")
    return out


def lying(realm: Realm, folder: Path, shares: Path, party: int, at: int) -> Path:
    """The file of a changed server: octet `at` behind the box's head is another one, and the box is
    good. Sealed with the recipient's secret key, which makes the same box as the server's."""
    agent = tomllib.loads((realm.installation / "agent-admin" / "agent.toml").read_text())
    server = next(one for one in agent["servers"] if one["party"] == party)
    keys = _from_z85(server["curve_public_key"]), (folder / "recipient.key").read_bytes()
    file = shares.read_bytes()
    head = TITLE + PARTY + DIGEST + NONCE
    nonce, box = file[head - NONCE:head], file[head:]
    sodium = ctypes.CDLL("libsodium.so.23")
    plain = ctypes.create_string_buffer(len(box) - MAC)
    length = ctypes.c_ulonglong(len(box))
    assert sodium.crypto_box_open_easy(plain, box, length, nonce, *keys) == 0
    octets = bytearray(plain.raw)
    octets[BODY + at] ^= 1
    length = ctypes.c_ulonglong(len(octets))
    sealed = ctypes.create_string_buffer(len(box))
    assert sodium.crypto_box_easy(sealed, bytes(octets), length, nonce, *keys) == 0
    path = realm.directory / f"{shares.name}.lie"
    path.write_bytes(file[:head] + sealed.raw)
    return path


class Approvers:
    """One administrator for each server, with a key of their own; the one behind them, of the
    number of servers, is a stranger. Made before the servers start, which read who may approve
    then."""

    def __init__(self, realm: Realm):
        self.realm, self.count, self.public_keys = realm, 0, []
        tables = [self._make_key(party) for party in range(realm.servers + 1)]
        for party in range(realm.servers):
            config = realm.server_directory(party) / "tkdc.toml"
            with open(config, "a", encoding="utf-8") as file:
                file.write("".join(tables[:-1]))

    def _passphrase(self, party: int) -> str:
        return f"the passphrase of administrator {party}"

    def _key(self, party: int) -> Path:
        return self.realm.directory / f"approver{party}.key"

    def _make_key(self, party: int) -> str:
        done = _run(self.realm, ["approver", "--out", str(self._key(party))], self.realm.env(),
                    self._passphrase(party) + "\n")
        assert done.ok, done.errors
        table = done.output[done.output.index("\n[[approvers]]"):]
        self.public_keys.append(table.split('public_key = "')[1][:64])
        return table.replace('"NAME"', f'"admin{party}"').replace("= N", f"= {party}")

    def _config(self, party: int) -> str:
        return str(self.realm.server_directory(party) / "tkdc.toml")

    def _new_file(self, kind: str) -> Path:
        self.count += 1
        return self.realm.directory / f"{kind}{self.count}"

    def try_approve(self, party: int, request: Path, *, key: int | None = None,
                    passphrase: str | None = None, out: Path | None = None) -> Outcome:
        owner = party if key is None else key
        path = out or self._new_file("approval")
        return _run(self.realm, ["approve", "--config", self._config(party), "--key",
                                 str(self._key(owner)), "--out", str(path), str(request)],
                    self.realm.env(), (passphrase or self._passphrase(owner)) + "\n")

    def approve(self, party: int, request: Path) -> Path:
        path = self._new_file("approval")
        done = self.try_approve(party, request, out=path)
        assert done.ok, done.errors
        return path

    def in_the_name_of(self, approval: Path, party: int) -> Path:
        """An approval that somebody else made."""
        lines = [f"approver {self.public_keys[party]}" if line.startswith("approver ") else line
                 for line in approval.read_text().splitlines()]
        path = self._new_file("approval")
        path.write_text("\n".join(lines) + "\n")
        return path

    def give_back(self, party: int, request: Path, approvals: list[Path]) -> Outcome:
        given = [word for path in approvals for word in ("--approval", str(path))]
        return _run(self.realm, ["give-back", "--config", self._config(party), *given,
                                 str(request)], self.realm.env())

    def hand_over(self, party: int, request: Path, approvals: list[Path],
                  out: Path | None = None) -> Outcome:
        given = [word for path in approvals for word in ("--approval", str(path))]
        return _run(self.realm, ["hand-over", "--config", self._config(party), *given, "--out",
                                 str(out or self._new_file("shares")), str(request)],
                    self.realm.env())

    def shares(self, party: int, request: Path, approvals: list[Path]) -> Path:
        path = self._new_file("shares")
        done = self.hand_over(party, request, approvals, path)
        assert done.ok, done.errors
        return path

    def audit(self, party: int) -> list[dict]:
        """What is no operation with a key."""
        log = self.realm.server_directory(party) / "audit.jsonl"
        lines = [json.loads(line)["event"] for line in log.read_text().splitlines()]
        return [event for event in lines if "event" in event]
