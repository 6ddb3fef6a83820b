# SPDX-License-Identifier: Apache-2.0
"""What those who watch a realm see of a fault: the exporter's metrics, and `tkdc doctor --json`."""

import json
import re
import socket
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

from tests.support.process import wait_until
from tests.support.realm import Realm

SAMPLE = re.compile(r'^(?P<name>[a-z0-9_]+)(\{(?P<labels>[^}]*)\})? (?P<value>\S+)$')


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def get(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=10) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class Exporter:
    def __init__(self, realm: Realm, path: Path, option: str = "--socket"):
        self.url = f"127.0.0.1:{free_port()}"
        self.process = subprocess.Popen([str(realm.bin / "tkdc-exporter"), option, str(path),
                                         "--listen", self.url], stderr=subprocess.PIPE, text=True)
        wait_until(self._listens, 20, "the exporter listens")

    def __enter__(self) -> "Exporter":
        return self

    def __exit__(self, *_exc) -> None:
        self.stop()

    def _listens(self) -> bool:
        assert self.process.poll() is None, self.process.stderr.read()
        try:
            return get(f"http://{self.url}/livez")[0] == 200
        except OSError:
            return False

    def samples(self) -> dict[tuple[str, str], float]:
        code, text = get(f"http://{self.url}/metrics")
        assert code == 200
        found = [SAMPLE.match(line) for line in text.splitlines() if not line.startswith("#")]
        return {(one["name"], one["labels"] or ""): float(one["value"]) for one in found}

    def of_servers(self, name: str) -> dict[str, float]:
        """A metric's value of each server."""
        return {re.search(r'server="(\d)"', labels)[1]: value
                for (of, labels), value in self.samples().items() if of == name}

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)


def metrics(realm: Realm, *names: str) -> list[dict[str, float]]:
    """Each metric's value of each server, by the agent of krb5kdc, now."""
    with Exporter(realm, realm.agent_socket("kdc")) as exporter:
        return [exporter.of_servers(name) for name in names]


def doctors(realm: Realm, *options: str) -> dict[str, dict]:
    """What `tkdc doctor` finds wrong, or warns of, by its check."""
    done = subprocess.run([str(realm.bin / "tkdc"), "doctor", "--json", *options],
                          env=realm.env(), text=True, capture_output=True, timeout=120, check=False)
    document = json.loads(done.stdout)
    found = {one["check"]: one for one in document["findings"]
             if one["state"] in ("wrong", "warning")}
    assert done.returncode == (1 if found else 0), done.stdout + done.stderr
    return found
