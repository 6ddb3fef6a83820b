# SPDX-License-Identifier: Apache-2.0
"""Where MIT's scripts ask what tkdc refuses, or does otherwise, on purpose; and why.

A departure is a whole script, a part of it that is left out, or commands of it. A part is the
outermost statements between two lines, or from a line to the next call of mark(). A command is
refused as documented (it must then fail, with these words) or is replaced by one that tkdc has.
The report lists every departure that a run made use of.
"""

import re
from dataclasses import dataclass

LEFT_OUT = " (left out: "


@dataclass(frozen=True)
class Departure:
    reason: str
    # The part that begins with the line of these words: `mark('...')` for a section.
    leave_out: str = ""
    # The line that is run again; else the next mark().
    until: str = ""
    # A command: its program and arguments, joined by blanks, match this.
    command: str = ""
    # Words of tkdc's refusal, which the command must print when it fails.
    refusal: str | None = None
    # (pattern, replacement) on each argument and on the words that the script expects of the
    # command; an argument that becomes empty is dropped.
    rewrite: tuple[str, str] | None = None
    # (words, what the script reads instead) in the output of any command.
    back: tuple[str, str] | None = None
    # kadmin.local's queries before the command.
    before: tuple[str, ...] = ()
    # A principal of one component that the script gets tickets for: it runs as svc/NAME instead.
    service: str = ""
    # Services' keys that the script would draw at random come from passwords of the runner's: so
    # their keytabs are made without new keys. krbtgt's and kadmin's stay drawn.
    known_keys: bool = False
    # (name, value) in the command's environment: what CHANGES in source.py made a program read.
    env: tuple[str, str] | None = None
    # krbtgt's key of each realm of the script comes from a password from the beginning.
    known_krbtgt: bool = False

    def matches(self, line: str) -> bool:
        return bool(self.command) and re.search(self.command, line) is not None

    def described(self) -> str:
        if self.leave_out:
            return f"{self.reason}{LEFT_OUT}`{self.leave_out}` …)"
        return self.reason

    def whole_script(self) -> bool:
        return not (self.leave_out or self.command or self.service or self.known_keys
                    or self.known_krbtgt)


# Passes of k5test.multipass_realms with legacy enctypes.
LEGACY_PASSES = ("des3", "arcfour", "camellia256", "aes256.destgt")
LEGACY = "legacy enctypes do not exist as shares ([operations.md](operations/plan.md#enctypes))"
OTHER_ENCTYPES = f"run with RFC 8009's enctypes in place of legacy ones: {LEGACY}"
USERS = ("users are no services ([security.md](security.md)): the script gets its tickets for "
         "a name of two components instead")
RENAME = ("a principal with keys on shares is not renamed "
          "([operations-table.md](operations-table.md))")
NO_RAND_KEY = "no key leaves the servers twice ([security.md](security.md)): `ktadd -norandkey`"
SET_KVNO = "the kvno of a key on shares is part of its record: `modprinc -kvno`"
KNOWN_KEYS = ("keys of services that the script extracts come from passwords, which makes their "
              "keytabs without new keys")
KNOWN_KRBTGT = ("krbtgt's key is one of a password, since the script wants its keytab, and a drawn "
                "one is never given out ([security.md](security.md))")
KEYTAB_OF_DB = ("a keytab made of the database (`KDB:`) would need the keys "
                "([security.md](security.md))")
RENAME_REFUSAL = "Principal keys are locked down"


def left_out(reason: str, start: str, until: str = "") -> Departure:
    return Departure(reason, leave_out=start, until=until)


def refused(reason: str, command: str, words: str) -> Departure:
    return Departure(reason, command=command, refusal=words)


def rewritten(reason: str, command: str, pattern: str, replacement: str) -> Departure:
    return Departure(reason, command=command, rewrite=(pattern, replacement))


def user_as_service(command: str) -> Departure:
    return Departure(USERS, command=command, rewrite=(r"^user(?=@|$)", "svc/user"),
                     back=("svc/user", "user"), before=("addprinc -randkey svc/user",))


def as_service(name: str) -> Departure:
    return Departure(USERS, service=name, back=(f"svc/{name}", name))


DEPARTURES: dict[str, tuple[Departure, ...]] = {
    "tests/t_renew.py": (user_as_service(r"^kvno user"),),
    "tests/t_general.py": (
        refused(KEYTAB_OF_DB, r"^kinit -k -t KDB:", "libtkdc-k5.so is not loaded"),
    ),
    "tests/t_policy.py": (
        rewritten(OTHER_ENCTYPES, "rc4-hmac|getpol ak", "rc4-hmac", "aes256-sha2"),
        rewritten(OTHER_ENCTYPES, "getprinc -terse server", "\t23\t", "\t20\t"),
    ),
    "tests/t_keyrollover.py": (
        left_out(LEGACY, "# Test that the KDC only accepts the first enctype", "realm.stop()"),
        left_out(SET_KVNO, "# Test a cross-realm TGT key rollover", "success('keyrollover')"),
    ),
    "tests/t_rdreq.py": (
        Departure(KNOWN_KEYS, known_keys=True),
        left_out(SET_KVNO, "mark('wrong key')"),
        left_out(RENAME, "mark('aliases')"),
    ),
    "tests/t_mkey.py": (
        left_out(NO_RAND_KEY, "out = realm.run([kadminl, 'xst', '-norandkey'", "realm.stop()"),
    ),
    "tests/t_salt.py": (
        rewritten(OTHER_ENCTYPES, "arcfour-hmac-md5", "arcfour-hmac-md5", "aes128-sha2"),
        rewritten(OTHER_ENCTYPES, "rc4-hmac", "rc4-hmac", "aes128-cts-hmac-sha256-128"),
        rewritten(OTHER_ENCTYPES, "arcfour-hmac", "arcfour-hmac", "aes128-sha2"),
        rewritten(OTHER_ENCTYPES, "des3-cbc-sha1", "des3-cbc-sha1", "aes256-sha2"),
    ),
    "tests/t_kadmin_acl.py": (
        left_out(RENAME, "mark('renprinc')"),
        left_out(NO_RAND_KEY, "kadmin_as(all_extract, ['ktadd', '-norandkey', 'extractkeys'])",
                 "mark('lockdown_keys')"),
        left_out(NO_RAND_KEY, "realm.run([kadminl, 'modprinc', '-lockdown_keys', 'extractkeys'])",
                 "# Verify that self-service key changes"),
    ),
    "tests/t_otp.py": (Departure(KNOWN_KRBTGT, known_krbtgt=True),),
    "tests/t_authdata.py": (
        Departure(KNOWN_KRBTGT, known_krbtgt=True),
        as_service("noauth"),
        as_service("restricted"),
        rewritten(OTHER_ENCTYPES, "des3-cbc-sha1", "des3-cbc-sha1", "aes128-sha2"),
    ),
    "tests/t_etype_info.py": (
        left_out(LEGACY, "supported_enctypes = ", "testpreauth = "),
    ),
    "tests/t_audit.py": (as_service("target"),),
    "tests/gssapi/t_gssapi.py": (
        left_out(RENAME, "realm.run([kadminl, 'renprinc'", "# Test with no default realm"),
        refused(RENAME, r"^t_(accname|imp_cred) p:service1/andrew", "not found"),
    ),
    "tests/gssapi/t_enctypes.py": (
        left_out(f"a session key of triple DES needs a service's key of triple DES; {LEGACY}",
                 "test('init des3'", "# Force the ticket session key"),
    ),
    "tests/gssapi/t_credstore.py": (
        left_out(SET_KVNO, "realm.run([kadminl, 'modprinc', '-kvno', '1'", "success("),
    ),
    "tests/t_u2u.py": (
        left_out(USERS, "# Verify that normal lookups ignore", "# Try u2u against the client"),
    ),
    "tests/t_sesskeynego.py": (
        as_service("server"),
        user_as_service(r"^kvno user"),
        left_out(LEGACY, "# 7: default config", "success('sesskeynego')"),
    ),
    "tests/t_keytab.py": (
        Departure(KNOWN_KEYS, known_keys=True),
        left_out(NO_RAND_KEY, "mark('multi-kvno extract')", "realm.prep_kadmin()"),
        left_out(NO_RAND_KEY, "out = realm.run_kadmin(['ktadd', '-norandkey'",
                 "# Test handling of kvno values beyond"),
        left_out(SET_KVNO, "mark('key rotation across boundaries')"),
    ),
    "tests/t_kdcpolicy.py": (
        refused("users are no services ([security.md](security.md)), whatever the policy module "
                "says", r"^kvno fail@", "valid for user2user only"),
    ),
    "tests/t_ccache.py": (Departure(KNOWN_KEYS, known_keys=True),),
    "tests/t_kadm5_hook.py": (
        refused(RENAME, "renprinc test test2", "rename: stage precommit"),
    ),
    "tests/t_kadm5_auth.py": (
        refused(RENAME, "renprinc princ abcde", RENAME_REFUSAL),
    ),
    "tests/t_renprinc.py": (Departure(RENAME),),
    # The same three updates of the log without it: a new principal, one less, a change of the new.
    "tests/t_iprop.py": (
        Departure(RENAME, command="renprinc wakawaka@", rewrite=("^ren(?=princ$)", "mod"),
                  before=("addprinc -pw another quacked@KRBTEST.COM",
                          "delprinc -force wakawaka@KRBTEST.COM")),
        rewritten(RENAME, "renprinc wakawaka@", "^wakawaka@.*", "+allow_tix"),
    ),
    "lib/kadm5/t_kadm5.py": (
        Departure("users are no services ([security.md](security.md)): at a session with a user as "
                  "its service the KDC refuses the ticket already",
                  command=r"^t_kadm5clnt ", env=("USERS_ARE_NO_SERVICES", "1")),
    ),
    "tests/t_spake.py": (
        Departure("SPAKE needs a scalar made from the user's key ([security.md](security.md))"),
    ),
    "clients/kvno/t_kvno.py": (
        user_as_service(r"^kvno (?!.*-U ).*user"),
        Departure(KNOWN_KEYS, known_keys=True),
    ),
}


def of(script: str) -> tuple[Departure, ...]:
    """Those of the script of this path below src."""
    return DEPARTURES.get(script, ())
