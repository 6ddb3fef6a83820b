# SPDX-License-Identifier: Apache-2.0
"""Debian's krb5 source package, fetched (tests/support/fetch-krb5) and built outside the tree.

Each step leaves a mark, and is not done twice. What is built is Debian's configuration without
LDAP, Tcl and line editing.
"""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

FETCH = Path(__file__).resolve().parents[1] / "support" / "fetch-krb5"
CONFIGURE = (
    "--with-system-et", "--with-system-ss", "--with-system-verto", "--disable-rpath",
    "--enable-shared", "--without-ldap", "--without-libedit", "--without-readline",
    "CFLAGS=-O1 -g0 -w",
)
# A call in t_kadm5.c: kadm5_init() with this user as the service, and what is to come of it.
SESSION_WITH = ('"admin", "{}", NULL,\n' + 30 * " " + "KADM5_STRUCT_VERSION, api, NULL, &handle),\n"
                + 19 * " " + "{});")
# Test code that asks what tkdc refuses, and cannot be left out by the script. Both variants run it.
CHANGES = (
    # The preauthentication plugin's message under the user's key: its key usage, 1024, is no
    # Kerberos exchange's, so the servers refuse it (docs/protocols/10-admission.md).
    ("plugins/preauth/test/kdctest.c", ", k, 1024, NULL", ", k, 3, NULL"),
    ("plugins/preauth/test/cltest.c", ", k, 1024, NULL", ", k, 3, NULL"),
    # A kvno given to a key that exists.
    ("lib/kadm5/t_kadm5.c", "ent.kvno = 7;", "ent.kvno = 1;"),
    # Sessions with a user as their service. The runner says when the KDC is to refuse the ticket.
    *(("lib/kadm5/t_kadm5.c", SESSION_WITH.format(user, "KADM5_RPC_ERROR"),
       SESSION_WITH.format(user, 'getenv("USERS_ARE_NO_SERVICES") ? '
                           "KRB5KDC_ERR_MUST_USE_USER2USER : KADM5_RPC_ERROR"))
      for user in ("user", "admin")),
)
# Makefiles whose target check-pytests builds the programs that its scripts run.
MORE_TEST_PROGRAMS = (("lib/krb5/krb", "t_in_ccache"), ("lib/krb5/krb", "t_cc_config"),
                      ("lib/krb5/os", "t_locate_kdc"))
WITH_TEST_PROGRAMS = (
    "tests", "tests/gssapi", "kdc", "lib/krb5/krb", "lib/krb5/ccache", "lib/kadm5", "lib/kdb",
    "lib/rpc/unit-test", "appl/gss-sample", "appl/sample", "appl/simple", "appl/user_user",
    "clients/kvno", "kadmin/dbutil",
)


class SourceError(Exception):
    pass


class Source:
    def __init__(self, directory: Path, say: Callable[[str], None]):
        self.directory, self.say = directory, say
        self.source = directory / "krb5" / "src"
        self.build = directory / "build"

    def prepare(self) -> None:
        self._step("fetched", self._fetch)
        self._change()
        self._step("configured", self._configure)
        self._step("built", self._make)

    def version(self) -> str:
        names = sorted(path.name for path in self.directory.glob("krb5_*.dsc"))
        return names[0].removeprefix("krb5_").removesuffix(".dsc") if names else "?"

    def _step(self, name: str, work: Callable[[], None]) -> None:
        mark = self.directory / f"{name}.done"
        if not mark.exists():
            work()
            mark.touch()

    def _fetch(self) -> None:
        self.say("apt-get source krb5")
        self._run([str(FETCH), str(self.directory)], self.directory)

    def _change(self) -> None:
        for name, words, replacement in CHANGES:
            path = self.source / name
            text = path.read_text()
            if words in text:
                (self.directory / "built.done").unlink(missing_ok=True)
                path.write_text(text.replace(words, replacement))
            elif replacement not in text:
                raise SourceError(f"{path} is not as expected: see CHANGES in source.py")

    def _configure(self) -> None:
        self.say("configure")
        self.build.mkdir(exist_ok=True)
        self._run([str(self.source / "configure"), *CONFIGURE], self.build)

    def _make(self) -> None:
        self.say("make: some minutes")
        self._run(["make", "-s"], self.build)
        self._run(["make", "-s", "runenv.py"], self.build)
        for folder in WITH_TEST_PROGRAMS:
            # The scripts' interpreter is told to do nothing, so only their programs are made.
            self._run(["make", "-s", "-C", folder, "check-pytests", "RUNPYTEST=:"], self.build)
        for folder, program in MORE_TEST_PROGRAMS:
            self._run(["make", "-s", "-C", folder, program], self.build)

    def _run(self, argv: list[str], directory: Path) -> None:
        log = self.directory / "source.log"
        with open(log, "ab") as out:
            done = subprocess.run(["nice", "-n", "5", *argv], cwd=directory, stdout=out,
                                  stderr=out, stdin=subprocess.DEVNULL, check=False,
                                  env={**os.environ, "LC_ALL": "C"})
        if done.returncode != 0:
            raise SourceError(f"{' '.join(argv[:3])} failed ({done.returncode}): see {log}")
