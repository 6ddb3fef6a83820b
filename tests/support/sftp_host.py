# SPDX-License-Identifier: Apache-2.0
"""Another host of an administrator's that takes files by SSH: OpenSSH's own sshd on loopback, of
Debian's package, which is only unpacked. It serves sftp alone, to one key, as one user who has no
shell. What is in its folder is that host's disk."""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.support.process import Daemon, port_answers, wait_until
from tests.support.realm import ROOT

SSHD = ROOT / "build/debian/openssh-server/usr/sbin/sshd"
ACCOUNT = "games"


def made_key(path: Path) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True,
                   timeout=60)
    return path


class SftpHost:
    def __init__(self, port: int):
        # Where that user comes to, wherever a test's own folder and this checkout are.
        self.directory = directory = Path(tempfile.mkdtemp(prefix="tkdc-sftp-"))
        directory.chmod(0o755)
        self.port = port
        self.disk = directory / "disk"
        self.disk.mkdir()
        program = shutil.copy(SSHD, directory / "sshd")
        self.user = pwd.getpwnam(ACCOUNT) if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
        self.client_key = made_key(directory / "client")
        host_key = made_key(directory / "host")
        shutil.copy(directory / "client.pub", directory / "authorized")
        self.known = directory / "known"
        self.known.write_text(f"[127.0.0.1]:{port} {(directory / 'host.pub').read_text()}")
        config = directory / "sshd_config"
        config.write_text(
            f"Port {port}\nListenAddress 127.0.0.1\nHostKey {host_key}\nPidFile none\n"
            f"AuthorizedKeysFile {directory / 'authorized'}\nStrictModes no\nUsePAM no\n"
            "PasswordAuthentication no\nKbdInteractiveAuthentication no\n"
            "Subsystem sftp internal-sftp\nForceCommand internal-sftp\n")
        for path in (self.disk, host_key, config, directory / "authorized"):
            os.chown(path, self.user.pw_uid, self.user.pw_gid)
        as_user = ["setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}",
                   "--clear-groups"] if os.geteuid() == 0 else []
        self.daemon = Daemon("sshd", [*as_user, program, "-D", "-e", "-f", str(config)],
                             dict(os.environ), directory)

    def ssh_config(self) -> str:
        """For a client's side."""
        return (f"Host = vault\n  HostName 127.0.0.1\n  Port {self.port}\n"
                f"  User {self.user.pw_name}\n  IdentityFile {self.client_key}\n"
                f"  IdentitiesOnly yes\n  UserKnownHostsFile {self.known}\n"
                "  StrictHostKeyChecking yes\n")

    def start(self) -> None:
        self.daemon.start()
        wait_until(lambda: port_answers(self.port), 20, f"sshd (log: {self.daemon.log})")

    def stop(self) -> None:
        self.daemon.stop()

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.directory)
