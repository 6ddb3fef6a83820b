# SPDX-License-Identifier: Apache-2.0
"""A throw-away realm on loopback: stock krb5 binaries, the two plugins, and
plain_agent in place of the real agent. Everything lives in one directory and
on ports that the kernel picked; nothing of the system's realm is touched.

    with PlainRealm(tmp_path) as realm:
        realm.start()
        realm.kadmin_local("addprinc -pw secret alice")
        realm.kinit("alice", "secret")
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TKDC_BUILD", ROOT / "build" / "dev"))
BIN = BUILD / "bin"
REALM = "DEMO.TEST"
MASTER_PASSWORD = "master"


def free_port() -> int:
    """A port free for both UDP and TCP at this moment."""
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp:
            tcp.bind(("127.0.0.1", 0))
            port = tcp.getsockname()[1]
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
                try:
                    udp.bind(("127.0.0.1", port))
                except OSError:
                    continue
                return port


class PlainRealm:
    def __init__(self, directory: Path, wrapped: str = "db2", module_lines: str = ""):
        self.dir = Path(directory)
        self.wrapped = wrapped
        self.module_lines = module_lines
        self.kdc_port, self.kadmin_port, self.kpasswd_port = free_port(), free_port(), free_port()
        self.processes: dict[str, subprocess.Popen] = {}
        self.socket = self.dir / "agent.sock"
        self.ccache = self.dir / "ccache"
        self.keytab = self.dir / "host.keytab"
        self._write_config()

    # -- configuration ----------------------------------------------------

    def _write_config(self) -> None:
        plugins = self.dir / "plugins"
        plugins.mkdir(exist_ok=True)
        link = plugins / "ktkdc.so"
        if not link.is_symlink():
            link.symlink_to(BIN / "ktkdc.so")
        (self.dir / "krb5.conf").write_text(f"""
[libdefaults]
    default_realm = {REALM}
    dns_lookup_kdc = false
    dns_canonicalize_hostname = false
    rdns = false
    udp_preference_limit = 1400
    permitted_enctypes = aes256-cts aes128-cts
[realms]
    {REALM} = {{
        kdc = 127.0.0.1:{self.kdc_port}
        admin_server = 127.0.0.1:{self.kadmin_port}
        kpasswd_server = 127.0.0.1:{self.kpasswd_port}
    }}
[domain_realm]
    demo.test = {REALM}
    localhost = {REALM}
""")
        (self.dir / "kdc.conf").write_text(f"""
[kdcdefaults]
    kdc_listen = 127.0.0.1:{self.kdc_port}
    kdc_tcp_listen = 127.0.0.1:{self.kdc_port}
[realms]
    {REALM} = {{
        database_module = tkdc
        database_name = {self.dir}/principal
        key_stash_file = {self.dir}/stash
        acl_file = {self.dir}/kadm5.acl
        kadmind_listen = 127.0.0.1:{self.kadmin_port}
        kpasswd_listen = 127.0.0.1:{self.kpasswd_port}
        max_renewable_life = 7d
        master_key_type = aes256-cts
        supported_enctypes = aes256-cts:normal aes128-cts:normal
    }}
[dbmodules]
    db_module_dir = {plugins}
    tkdc = {{
        db_library = ktkdc
        tkdc_wrapped = {self.wrapped}
        tkdc_agent_socket = {self.socket}
        database_name = {self.dir}/principal
        disable_last_success = true
        {self.module_lines}
    }}
[plugins]
    kdcpreauth = {{
        disable = spake
    }}
[logging]
    kdc = FILE:{self.dir}/kdc.log
    admin_server = FILE:{self.dir}/kadmind.log
""")
        (self.dir / "kadm5.acl").write_text(f"admin/admin@{REALM} *\n")

    def env(self, preload: bool = True, **more: str) -> dict[str, str]:
        env = dict(os.environ)
        env.pop("LD_PRELOAD", None)
        env.update(
            KRB5_CONFIG=f"{self.dir}/krb5.conf",
            KRB5_KDC_PROFILE=f"{self.dir}/kdc.conf",
            KRB5CCNAME=f"FILE:{self.ccache}",
            KRB5_TRACE=os.environ.get("KRB5_TRACE", "/dev/null"),
            LC_ALL="C",
        )
        if preload:
            # A sanitizer's run-time library has to come first.
            first = os.environ.get("TKDC_TEST_PRELOAD", "")
            env["LD_PRELOAD"] = f"{first}:{BIN}/libtkdc-k5.so" if first else str(
                BIN / "libtkdc-k5.so")
        env.update(more)
        return env

    # -- processes --------------------------------------------------------

    def start_agent(self, *options: str) -> None:
        self.stop("agent")
        log = open(self.dir / "agent.log", "a")
        self.processes["agent"] = subprocess.Popen(
            [BIN / "plain_agent", self.socket, self.dir / "agent.state", "--verbose", *options],
            env=self.env(preload=False), stderr=log, stdout=log)
        self._wait(self.socket.exists, "agent's socket")

    def create(self) -> None:
        self.run("kdb5_util", "create", "-s", "-r", REALM, "-P", MASTER_PASSWORD)

    def start_kdc(self, *options: str) -> None:
        self._start_daemon("kdc", ["krb5kdc", "-n", *options], self.kdc_port)

    def start_kadmind(self) -> None:
        self._start_daemon("kadmind", ["kadmind", "-nofork"], self.kadmin_port)

    def _start_daemon(self, name: str, command: list[str], port: int) -> None:
        log = open(self.dir / f"{name}.err", "a")
        process = subprocess.Popen(command, env=self.env(), stdout=log, stderr=log)
        self.processes[name] = process

        def listening() -> bool:
            if process.poll() is not None:
                raise RuntimeError(f"{name} ended: {(self.dir / f'{name}.err').read_text()}")
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return True
            except OSError:
                return False

        self._wait(listening, name)

    def start(self, *agent_options: str) -> None:
        self.start_agent(*agent_options)
        self.create()
        self.start_kdc()

    def stop(self, name: str, how: int = signal.SIGTERM) -> None:
        process = self.processes.pop(name, None)
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(how)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def __enter__(self) -> PlainRealm:
        return self

    def __exit__(self, *exc: object) -> None:
        for name in list(self.processes):
            self.stop(name)

    @staticmethod
    def _wait(condition, what: str, timeout_s: float = 15) -> None:
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited {timeout_s} s for {what}")
            time.sleep(0.02)

    # -- commands ---------------------------------------------------------

    def run(self, *command: object, check: bool = True, stdin: str | None = None,
            preload: bool = True, timeout_s: float = 120, **env: str):
        result = subprocess.run(
            [str(c) for c in command], env=self.env(preload, **env), input=stdin, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout_s)
        if check and result.returncode != 0:
            raise AssertionError(f"{command} ended with {result.returncode}:\n{result.stdout}")
        return result

    def kadmin_local(self, query: str, check: bool = True, **more) -> str:
        return self.run("kadmin.local", "-q", query, check=check, **more).stdout

    def client(self, *command: object, **more):
        """A stock client: no preload, as on any other host."""
        return self.run(*command, preload=False, **more)

    def kinit(self, principal: str, password: str, *options: str, check: bool = True, **env: str):
        return self.client("kinit", *options, principal, stdin=password + "\n", check=check, **env)

    def agent_keys(self) -> int:
        """Keys that the reference agent holds (lines of its file less one)."""
        return len((self.dir / "agent.state").read_text().splitlines()) - 1
