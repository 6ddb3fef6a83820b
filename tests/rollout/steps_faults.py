# SPDX-License-Identifier: Apache-2.0
"""Steps of the rollout: what breaks, what an administrator reads then, and that it comes back."""

import re
import threading
import time

from tests.rollout.lab import Machine
from tests.rollout.site import KDCS, SERVERS, Site, StepError, until
from tests.rollout.steps_install import followed, need


class Logins(threading.Thread):
    """alice logs in again and again; a client tries once more before it counts as lost."""

    def __init__(self, site: Site, again_after_s: float = 0.0):
        super().__init__(daemon=True)
        self.site, self.again_after_s = site, again_after_s
        self.done, self.retried, self.lost = 0, 0, 0
        self.words: list[str] = []  # what kinit said when it failed
        self.over = threading.Event()

    def __enter__(self) -> "Logins":
        self.start()
        return self

    def __exit__(self, *_exc) -> None:
        self.over.set()
        self.join()

    def run(self) -> None:
        while not self.over.is_set():
            if self.attempt():
                self.done += 1
            else:
                time.sleep(self.again_after_s)
                if self.attempt():
                    self.retried += 1
                else:
                    self.lost += 1
            time.sleep(0.1)

    def attempt(self) -> bool:
        done = self.site.client.run("kinit alice", stdin="secret of alice\n", check=False)
        if done.returncode != 0:
            self.words.append(done.stderr.strip())
        return done.returncode == 0

    def need_none_lost(self) -> None:
        counted = f"{self.done} logins meanwhile, {self.retried} of them at the second attempt"
        if self.lost > 0:
            raise StepError(f"{self.lost} logins lost, {counted}: {self.words}")
        self.site.note(counted)


def status(site: Site) -> tuple[int, str]:
    """On the primary, where its administrator looks."""
    done = site.host(site.primary).run(
        "tkdc status --config /etc/tkdc/agent-kdc/agent.toml", check=False)
    return done.returncode, done.stdout


def says(site: Site, code: int, *patterns: str) -> None:
    """With this exit status and these lines."""
    seen = status(site)

    def so() -> bool:
        nonlocal seen
        seen = status(site)
        return seen[0] == code and all(re.search(one, seen[1], re.M) for one in patterns)

    try:
        until(f"tkdc status ends with {code} and says {patterns}", so, 60)
    except AssertionError as late:
        raise AssertionError(f"{late}\nexit status {seen[0]}: {seen[1]}") from late


def is_away(site: Site, name: str) -> None:
    """As the agent has it, first or after some seconds, and as another server has it."""
    number = name[-1]
    says(site, 2, r"^tkdc is DEGRADED",
         rf"^  server {number}: connected, but does not answer$|"
         rf"^  server {number}: connection lost$",
         r"^  server \d: session: party \d did not call in time; ")


def more(logins: Logins, what: str) -> None:
    before = logins.done
    until(what, lambda: logins.done > before + 2, 60)


def no_login(site: Site, what: str) -> None:
    need(not site.kinit(), f"a login although {what}")


def partitions(site: Site) -> None:
    for name in SERVERS:
        server = site.host(name)
        server.cut_off()
        try:
            is_away(site, name)
            no_login(site, f"{name} is cut off")
        finally:
            server.reconnect()
        site.wait_healthy(f"the partition of {name}")
        site.wait_login(f"the partition of {name}")


def kill(site: Site, host: str, unit: str) -> None:
    machine = site.host(host)
    before = machine.run(f"systemctl show -p MainPID --value {unit}").stdout.strip()
    need(before != "0", f"{unit} does not run on {host}")
    machine.run(f"kill -9 {before}")
    until(f"{unit} on {host} is started again", lambda: machine.run(
        f"systemctl show -p MainPID --value {unit}").stdout.strip() not in ("0", before), 60)
    need("code=killed, status=9/KILL" in journal(machine, unit), f"{unit}'s journal says nothing")
    if host in SERVERS:
        loss_is_spoken_of(site)
    site.wait_healthy(f"kill -9 of {unit} on {host}")
    site.wait_login(f"kill -9 of {unit} on {host}")


def journal(machine: Machine, unit: str) -> str:
    return machine.run(f"journalctl --no-pager -o cat -u {unit}").stdout


def loss_is_spoken_of(site: Site) -> None:
    """By the agent, where the primary's administrator looks."""
    said = site.host(site.primary).run("journalctl --no-pager -o cat -u tkdc-agent@agent-kdc "
                                       "--since -2min").stdout
    need("connection lost; see that server's journal" in said, "the agent says nothing", said)


def agent_of_kadmind_is_away(site: Site) -> None:
    """Logins go on."""
    primary = site.host(site.primary)
    primary.run("systemctl stop tkdc-agent@agent-admin")
    try:
        says(site, 2, r"^tkdc is DEGRADED", r"agent-admin: cannot connect")
        site.wait_login("the agent beside kadmind was stopped", 60)
    finally:
        primary.run("systemctl start tkdc-agent@agent-admin")
    site.wait_healthy("the agent beside kadmind was stopped")


def kills(site: Site) -> None:
    for name in SERVERS:
        kill(site, name, f"tkdc-server@{name}")
    for unit in ("tkdc-agent@agent-kdc", "tkdc-agent@agent-admin", "krb5-kdc",
                 "krb5-admin-server"):
        kill(site, site.primary, unit)
    agent_of_kadmind_is_away(site)


def one_kill(site: Site) -> None:
    kill(site, "server1", "tkdc-server@server1")


def reboots(site: Site) -> None:
    for name in (*SERVERS, *KDCS):
        site.host(name).reboot()
        if name in SERVERS:
            loss_is_spoken_of(site)
        site.wait_healthy(f"the reboot of {name}")
        site.wait_login(f"the reboot of {name}")


def kdc_hosts_lose_power(site: Site) -> None:
    """Each in turn: a client that has both in its krb5.conf loses no login."""
    for kdc in KDCS:
        machine = site.host(kdc)
        with Logins(site) as logins:
            more(logins, f"logins before {kdc} lost power")
            machine.cut_power()
            try:
                more(logins, f"logins while {kdc} has no power")
            finally:
                machine.power_on()
                machine.wait_up()
            site.wait_healthy(f"{kdc}'s loss of power")
            more(logins, f"logins with {kdc} again")
        logins.need_none_lost()


def power_cut_amid_keys(site: Site) -> None:
    """A server's host is gone while keys are made; afterwards all three stores agree."""
    primary = site.host(site.primary)
    over = threading.Event()

    def make_keys() -> None:
        number = 0
        while not over.is_set():
            primary.run(f"kadmin.local addprinc -randkey made/{number}", check=False)
            number += 1

    maker = threading.Thread(target=make_keys, daemon=True)
    maker.start()
    try:
        until("keys are being made", lambda: "made/3@" in primary.run(
            "kadmin.local listprincs 'made/*'", check=False).stdout, 120)
        site.host("server2").cut_power()
    finally:
        over.set()
    maker.join(180)
    is_away(site, "server2")
    no_login(site, "server2 has no power")
    site.host("server2").power_on()
    site.host("server2").wait_up()
    site.wait_healthy("server2's loss of power")
    site.wait_login("server2's loss of power")
    primary.run("kadmin.local addprinc -randkey made/afterwards")
    made = primary.run("kadmin.local listprincs 'made/*'").stdout.split()
    for principal in made:
        primary.run(f"kadmin.local ktadd -k /root/made.keytab {principal}")
    # A client that waits for a second asks the spare, too.
    followed(site, made[-1])
    for principal in made:
        primary.run(f"kinit -c /root/made.cc -k -t /root/made.keytab {principal}")
