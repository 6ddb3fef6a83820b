# SPDX-License-Identifier: Apache-2.0
"""A whole realm of which one server is changed: lie.so (tests/support/deviate) stands between the
installed program and OpenSSL there. The two other servers, the agents and MIT's programs are as
they are installed.
"""

import json
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.attack.tap import Tap, read_tap
from tests.support.kerberos import find_program
from tests.support.process import RealmError, wait_until
from tests.support.realm import Realm

USERS = ("alice", "bruno", "clara", "diego")  # names of one length: jobs of one shape
SERVICE = "host/service.test"
WELL_S = 60.0
TOLD_S = 15.0
LATCHED_S = 45.0  # until the next handshake, if that is where they see it
STATUS_S = 15.0
STOPPED_S = 0.7  # for four clients to have come as far as the agent


def password(user: str) -> str:
    return f"the right password of {user}"


@dataclass(frozen=True)
class Login:
    """A stock kinit that is under way."""

    user: str
    process: subprocess.Popen

    def succeeded(self) -> bool:
        return self.process.poll() == 0

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)


class AttackedRealm(Realm):
    """`server`: the program that all three run, perhaps one without a guard (CMakeLists.txt).
    `masked_blocks`: of each server's [data]."""

    def __init__(self, directory: Path, name: str, base_port: int, *, lanes: int = 1,
                 server: str = "tkdc-server", masked_blocks: int = 0, **more):
        super().__init__(directory, name, base_port, lanes=lanes, **more)
        self.server_programs = [server] * self.servers
        self.masked_blocks = masked_blocks
        self.login_s = 5.0 if self.servers == 3 else 60.0  # two servers prepare the first
        self.liar: int | None = None
        self._names = 0

    # -- the realm ---------------------------------------------------------------------

    def create(self) -> None:
        super().create()
        for party in range(self.servers if self.masked_blocks else 0):
            self.set_data(party, "masked_blocks", str(self.masked_blocks))

    def populate(self) -> None:
        for user in USERS:
            self.kadmin_local(f'addprinc -pw "{password(user)}" {user}')
        self.kadmin_local(f"addprinc -randkey {SERVICE}")

    def next_name(self) -> str:
        """Of a principal that nobody has made."""
        self._names += 1
        return f"made{self._names:03}"

    def restart(self, party: int) -> None:
        self.daemons[f"server{party}"].stop()
        self.start_server(party)

    # -- the changed server ------------------------------------------------------------

    @property
    def lies(self) -> Path:
        return self.directory / "lies"

    def change(self, party: int | None) -> None:
        """From now on this server is the changed one."""
        if party == self.liar:
            return
        before, self.liar = self.liar, party
        self.lies.mkdir(exist_ok=True)
        for one in {before, party} - {None}:
            self.server_env[one] = {} if one != party else {
                "LD_PRELOAD": str(self.bin / "lie.so"), "TKDC_TEST_LIES": str(self.lies),
                **({"TKDC_TEST_LIES_OF_TWO": "1"} if self.servers == 2 else {})}
            self.restart(one)
        self.wait_well()

    def honest(self) -> list[int]:
        return [party for party in range(self.servers) if party != self.liar]

    def arm(self, order: str) -> None:
        """The name of a lie and what comes of it (deviate/liar.h)."""
        for name in ("tap", "received"):
            (self.lies / name).unlink(missing_ok=True)
        waiting = self.lies / "armed.new"
        waiting.write_text(order)
        waiting.rename(self.lies / "armed")

    def restart_armed(self, order: str) -> None:
        """Its first words are the lie: those of its stop are not to take the order."""
        self.daemons[f"server{self.liar}"].stop()
        self.arm(order)
        self.start_server(self.liar)

    def disarm(self) -> None:
        (self.lies / "armed").unlink(missing_ok=True)

    def tap(self) -> Tap:
        return read_tap(self.lies / "tap")

    @property
    def received(self) -> Path:
        """All that honest servers sent the changed one from the lie's order on."""
        return self.lies / "received"

    # -- what is seen from outside -----------------------------------------------------

    def status(self) -> list[dict]:
        return self._status()["servers"]

    def installation_id(self) -> bytes:
        return bytes.fromhex(self._status()["installation"])

    def _status(self) -> dict:
        done = subprocess.run([str(self.bin / "tkdc"), "status", "--json", "--socket",
                               str(self.agent_socket("kdc"))], env=self.env(), text=True,
                              capture_output=True, timeout=60, check=False)
        return json.loads(done.stdout)

    def status_text(self) -> str:
        done = subprocess.run([str(self.bin / "tkdc"), "status", "--socket",
                               str(self.agent_socket("kdc"))], env=self.env(), text=True,
                              capture_output=True, timeout=60, check=False)
        return done.stdout

    def latch(self, party: int) -> Path:
        return self.server_directory(party) / "store" / "latched"

    def latched(self) -> dict[int, str]:
        """Why, by server."""
        found = {}
        for party in range(self.servers):
            try:
                found[party] = self.latch(party).read_text().strip()
            except OSError:
                continue
        return {party: reason for party, reason in found.items() if reason}

    def results(self) -> list[dict]:
        """What the KDC's agent put together from three answers, successfully."""
        return [op for op in self.operations("kdc")
                if op["status"] == "ok" and op["op"] not in ("HELLO", "STATUS")]

    def audit_events(self, party: int) -> list[dict]:
        lines = (self.server_directory(party) / "audit.jsonl").read_text().splitlines()
        return [json.loads(line)["event"] for line in lines]

    # -- clients -----------------------------------------------------------------------

    def login(self, user: str, word: str, name: str) -> Login:
        client = self.client(name)
        client.ccache.unlink(missing_ok=True)
        process = subprocess.Popen([find_program("kinit"), user], env=client.env, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        assert process.stdin is not None
        process.stdin.write(word + "\n")
        process.stdin.close()
        return Login(user, process)

    @contextmanager
    def logins_at_once(self) -> Iterator[list[Login]]:
        """All users log in. The agent sleeps until all their timestamps wait for it, so that the
        servers name them together. What still runs in the end is stopped."""
        self.signal("agent-kdc", signal.SIGSTOP)
        logins = []
        try:
            for user in USERS:
                logins.append(self.login(user, password(user), f"at-once-{user}"))
            time.sleep(STOPPED_S)
        finally:
            self.signal("agent-kdc", signal.SIGCONT)
        try:
            yield logins
        finally:
            for login in logins:
                login.end()

    def session_up(self) -> bool:
        return all(server.get("session_up") for server in self.status())

    def wait_session(self) -> None:
        wait_until(self.session_up, WELL_S, "a session", pause_s=0.1)

    def wait_well(self) -> None:
        """A session, and a login by stock programs."""
        self.wait_session()
        client = self.client("well")

        def logs_in() -> bool:
            try:
                return client.kinit(USERS[0], password(USERS[0]), timeout_s=self.login_s).ok
            except subprocess.TimeoutExpired:
                return False

        wait_until(logs_in, WELL_S + 2 * self.login_s, "a login", pause_s=0.1)

    def wait_masks(self) -> None:
        """Of each lane, for as many blocks as there may be: nothing is made any more."""
        made: list[list[int]] = [[]]

        def full() -> bool:
            made.append([server["masks_made"] for server in self.status()])
            return made[-1] == made[-2] and all(made[-1])

        wait_until(full, WELL_S, "masks", pause_s=0.5)

    def refuses_wrong_password(self) -> bool:
        done = self.client("wrong").kinit(USERS[1], "not " + password(USERS[1]))
        return not done.ok and "Password incorrect" in done.errors

    def release(self, parties: Iterable[int] | None = None) -> None:
        for party in range(self.servers) if parties is None else parties:
            self.tool("tkdc", "release", "--config",
                      str(self.server_directory(party) / "tkdc.toml"))

    def wait_status(self, check, what: str) -> list[dict]:
        """The status when check(status) holds."""
        last: list[list[dict]] = []

        def look() -> bool:
            last[:] = [self.status()]
            return check(last[0])

        try:
            wait_until(look, STATUS_S, what, pause_s=0.1)
        except RealmError as late:
            raise RealmError(f"{late}; it says {last[0]}") from None
        return last[0]
