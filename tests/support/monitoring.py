# SPDX-License-Identifier: Apache-2.0
"""What those who watch a realm see of a fault: the exporter's metrics, what a real Prometheus makes
of them, and `tkdc doctor --json`."""

import json
import os
import re
import shutil
import socket
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

from tests.support.process import wait_until
from tests.support.realm import ROOT, Realm

RULES = ROOT / "config/monitoring/tkdc.rules.yml"
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
    def __init__(self, realm: Realm, path: Path, option: str = "--socket", url: str = ""):
        self.url = url or f"127.0.0.1:{free_port()}"
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


class Prometheus:
    """Debian's, with the alert rules as they are shipped, but for how long a fault has to last
    (`for`): a second."""

    def __init__(self, folder: Path, *targets: str):
        rules, config = folder / "tkdc.rules.yml", folder / "prometheus.yml"
        rules.write_text(re.sub(r"for: \d+[mhd]$", "for: 1s", RULES.read_text(), flags=re.M))
        config.write_text("global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
                          f"rule_files: [{rules}]\nscrape_configs:\n  - job_name: tkdc\n"
                          f"    static_configs: [{{targets: {json.dumps(targets)}}}]\n")
        self.url = f"127.0.0.1:{free_port()}"
        with open(folder / "prometheus.log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [shutil.which("prometheus"), f"--config.file={config}",
                 f"--web.listen-address={self.url}", f"--storage.tsdb.path={folder / 'data'}"],
                stdout=log, stderr=log, env={**os.environ, "GOMAXPROCS": "1"})

    def __enter__(self) -> "Prometheus":
        return self

    def __exit__(self, *_exc) -> None:
        self.process.terminate()
        self.process.wait(20)

    def ask(self, what: str) -> dict:
        """Nothing while it starts."""
        try:
            code, text = get(f"http://{self.url}/api/v1/{what}")
        except OSError:
            return {}
        return json.loads(text)["data"] if code == 200 else {}

    def firing(self) -> set[str]:
        """Each alert, with its server where it names one."""
        return {" ".join([one["labels"]["alertname"], *filter(None, [one["labels"].get("server")])])
                for one in self.ask("alerts").get("alerts", []) if one["state"] == "firing"}


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
