# SPDX-License-Identifier: Apache-2.0
"""The three servers and two agents that serve all realms of a run.

An installation is bound to no realm: a principal's name carries it. So each script makes its
databases anew, and the servers and agents go on.
"""

import subprocess
from pathlib import Path

from tests.support.kerberos import free_base_port
from tests.support.process import RealmError
from tests.support.realm import SERVER_TIMEOUT_S, Realm

# Beside those of the tests, and below those that the system gives out itself.
PORTS = range(16_000, 20_000, 40)


class Installation:
    def __init__(self, directory: Path, binaries: Path):
        self.realm = Realm(directory, "KRBTEST.COM", free_base_port(PORTS), binaries=binaries)

    def __enter__(self) -> "Installation":
        try:
            self.realm.create()
            for party in range(3):
                self.realm.start_server(party, wait=False)
            for party in range(3):
                self.realm.daemons[f"server{party}"].wait_notified(SERVER_TIMEOUT_S)
            for role in ("kdc", "admin"):
                self.realm.start_agent(role)
        except BaseException:
            self.realm.stop()
            raise
        return self

    def __exit__(self, *_exc) -> None:
        self.realm.stop()

    def settings(self) -> dict[str, str]:
        """What inject.py needs to put tkdc before the suite's databases."""
        return {"bin": str(self.realm.bin),
                "kdc_socket": str(self.realm.agent_socket("kdc")),
                "admin_socket": str(self.realm.agent_socket("admin"))}

    def operations(self) -> int:
        """How many operations both agents have recorded."""
        return sum(len(self.realm.operations(role)) for role in ("kdc", "admin"))

    def ready(self) -> bool:
        """All three servers are there and in session."""
        config = self.realm.installation / "agent-kdc" / "agent.toml"
        try:
            self.realm.tool("tkdc", "status", "--config", str(config), timeout_s=20)
        except (RealmError, subprocess.SubprocessError):
            return False
        return True
