# SPDX-License-Identifier: Apache-2.0
"""Puts tkdc before the databases of MIT's k5test, by changing that module in memory.

- Each kdc.conf's db2 and klmdb stanzas become ktkdc around that module, with the two agents'
  sockets; SPAKE is disabled, as the operator's guide says (docs/operations.md).
- Programs that open the database get the preload library.
- Keys on shares cannot be read out again (`ktadd -norandkey`): a keytab of a principal whose
  password the script has set is made from the password, by the suite's ktutil; a principal with
  drawn keys gets new ones, by ktadd. That is why its kvno is one higher than in a stock realm.
- Departures (departures.py) are applied to commands, and each that was used is recorded.
"""

import json
import re
import subprocess
from pathlib import Path
from types import ModuleType

from tests.mit_suite import departures
from tests.mit_suite.departures import Departure

TIMEOUT_MS = 60000  # many programs share the processor
DATABASE_PROGRAMS = frozenset((
    "krb5kdc", "kadmind", "kadmin.local", "kdb5_util", "kpropd", "kdbtest", "hist", "unlockiter",
    "t_kadm5srv",
))
SET_PASSWORD = frozenset(("addprinc", "ank", "add_principal", "cpw", "change_password"))
DRAWN_ALWAYS = re.compile(r"(krbtgt|kadmin|K)/")
OWN_DATABASE = ("where a realm of the script has the suite's own database module, which makes its "
                "keys itself, only the preload library is at work")
KEY_LINE = re.compile(r"^Key: vno (\d+), ([^\s:,]+)(\S*)$", re.MULTILINE)


class Injection:
    def __init__(self, mit: ModuleType, tkdc: dict, mine: tuple[Departure, ...], record: Path):
        self.mit, self.tkdc, self.mine, self.record_path = mit, tkdc, mine, record
        self.preload = str(Path(tkdc["bin"]) / "libtkdc-k5.so")
        # The realm that a kdc.conf is for.
        self.realms: dict[str, str] = {}
        # By kdc.conf and principal: kvno to password.
        self.passwords: dict[tuple[str, str], dict[int, str]] = {}
        self.generated = 0
        self.recorded: set[str] = set()
        self.run_cmd, self.start_daemon = mit._run_cmd, mit._start_daemon

    def record(self, departure: str) -> None:
        if departure not in self.recorded:
            self.recorded.add(departure)
            with open(self.record_path, "a") as out:
                out.write(json.dumps(departure) + "\n")

    # -- configuration ---------------------------------------------------------------------

    def with_tkdc(self, profile: dict) -> dict:
        changed = dict(profile)
        if "realms" in profile:
            changed["realms"] = {name: self.with_served_enctypes(value)
                                 for name, value in profile["realms"].items()}
        if "dbmodules" not in profile:
            return changed
        modules = {name: self.wrapped(value) for name, value in profile["dbmodules"].items()}
        changed["dbmodules"] = {**modules, "db_module_dir": [self.tkdc["bin"], "$plugins/kdb"]}
        plugins = dict(changed.get("plugins") or {})
        preauth = dict(plugins.get("kdcpreauth") or {})
        preauth.setdefault("disable", "spake")
        return {**changed, "plugins": {**plugins, "kdcpreauth": preauth}}

    def with_served_enctypes(self, realm: object) -> object:
        if not isinstance(realm, dict) or "supported_enctypes" not in realm:
            return realm
        wanted = realm["supported_enctypes"].split()
        served = [enctype for enctype in wanted if enctype.startswith("aes")]
        if served != wanted:
            self.record(f"supported_enctypes without legacy ones: {departures.LEGACY}")
        return {**realm, "supported_enctypes": " ".join(served)}

    def wrapped(self, stanza: object) -> object:
        if not isinstance(stanza, dict) or stanza.get("db_library", "db2") not in ("db2", "klmdb"):
            return stanza
        return {**stanza, "db_library": "ktkdc", "tkdc_wrapped": stanza.get("db_library", "db2"),
                "tkdc_agent_socket": self.tkdc["kdc_socket"],
                "tkdc_admin_socket": self.tkdc["admin_socket"],
                "tkdc_timeout_ms": str(TIMEOUT_MS)}

    # -- programs --------------------------------------------------------------------------

    def environment(self, args: list[str], env: dict[str, str]) -> dict[str, str]:
        # t_inetd's and kpropd's children open the database, too.
        if any(Path(arg).name in DATABASE_PROGRAMS for arg in args[:3]):
            return {**env, "LD_PRELOAD": self.preload}
        return env

    def run(self, args, env, *rest, **keywords):
        args = self.with_known_keys([self.renamed(arg) for arg in args])
        line = " ".join([Path(args[0]).name, *args[1:]])
        for departure in self.mine:
            if departure.matches(line):
                args = self.depart(departure, args, env, keywords)
                env = {**env, **dict([departure.env] if departure.env else [])}
        if keywords.get("expected_msg"):
            keywords["expected_msg"] = self.renamed_in(keywords["expected_msg"])
        out = self.run_cmd(args, self.environment(args, env), *rest, **keywords)
        if not keywords.get("expected_code"):
            self.learn_password(args, env)
        if isinstance(out, tuple):
            return tuple(self.named_back(text) for text in out)
        return self.named_back(out)

    def services(self) -> list[str]:
        return [d.service for d in self.mine if d.service]

    def renamed(self, principal: str) -> str:
        name = principal.partition("@")[0]
        return f"svc/{principal}" if name in self.services() else principal

    def renamed_in(self, text: str) -> str:
        for name in self.services():
            text = re.sub(rf"(?<![\w/]){name}(?=@)", f"svc/{name}", text)
        return text

    def named_back(self, text: str) -> str:
        for d in self.mine:
            if d.back and d.back[0] in text:
                self.record(d.reason)
                text = text.replace(*d.back)
        return text

    def depart(self, departure: Departure, args: list[str], env: dict[str, str],
               keywords: dict) -> list[str]:
        """What to run instead; `keywords` is changed to what to expect instead."""
        for query in departure.before:  # fails where an earlier command did it
            line = [self.mit.kadminl, *query.split()]
            subprocess.run(line, env=self.environment(line, env), capture_output=True, check=False)
        self.record(departure.reason)
        if departure.refusal is not None:
            keywords.update(expected_code=1, expected_msg=departure.refusal)
            keywords.pop("expected_trace", None)
        if departure.rewrite is None:
            return args
        pattern, replacement = departure.rewrite
        if keywords.get("expected_msg"):
            keywords["expected_msg"] = re.sub(pattern, replacement, keywords["expected_msg"])
        changed = [re.sub(pattern, replacement, arg) for arg in args]
        return [new for new, old in zip(changed, args, strict=True) if new or not old]

    def start(self, args, env, sentinel):
        return self.start_daemon(args, self.environment(args, env), sentinel)

    # -- keytabs ---------------------------------------------------------------------------

    def full_name(self, principal: str, env: dict[str, str]) -> tuple[str, str]:
        """The principal with its realm, and whose database it is in."""
        profile = env.get("KRB5_KDC_PROFILE", "")
        realm = self.realms.get(profile, "")
        return profile, principal if "@" in principal else f"{principal}@{realm}"

    def with_known_keys(self, args: list[str]) -> list[str]:
        known = [d for d in self.mine if d.known_keys]
        if (not known or Path(args[0]).name != "kadmin.local" or "-randkey" not in args
                or not SET_PASSWORD.intersection(args) or DRAWN_ALWAYS.match(args[-1])):
            return args
        self.record(known[0].reason)
        self.generated += 1
        at = args.index("-randkey")
        return [*args[:at], "-pw", f"generated {self.generated}", *args[at + 1:]]

    def versions(self, principal: str, env: dict[str, str]) -> list[tuple[int, str, str]]:
        """kvno, enctype and salt of each key."""
        line = [self.mit.kadminl, "getprinc", principal]
        done = subprocess.run(line, env=self.environment(line, env), text=True,
                              capture_output=True, check=False)
        return [(int(kvno), enctype, salt) for kvno, enctype, salt in
                KEY_LINE.findall(done.stdout)]

    def learn_password(self, args: list[str], env: dict[str, str]) -> None:
        if (Path(args[0]).name not in ("kadmin", "kadmin.local")
                or not SET_PASSWORD.intersection(args)):
            return
        known = self.passwords.setdefault(self.full_name(args[-1], env), {})
        newest = max((kvno for kvno, _, _ in self.versions(args[-1], env)), default=0)
        known.pop(newest, None)
        if "-pw" in args:
            known[newest] = args[args.index("-pw") + 1]

    def extract_keytab(self, realm, principal: str, keytab: str) -> None:
        principal = self.renamed(principal)
        if principal.startswith("krbtgt/"):
            self.know_krbtgt(realm, principal)
        known = self.passwords.get(self.full_name(principal, realm.env), {})
        keys = self.versions(principal, realm.env)
        if not keys or any(kvno not in known for kvno, _, _ in keys):
            self.record("a keytab of drawn keys is made by `ktadd` with new keys, not by `ktadd "
                        "-norandkey` (no key leaves the servers twice, "
                        "[security.md](security.md))")
            realm.run([self.mit.kadminl, "ktadd", "-k", keytab, principal])
            return
        lines = []
        for kvno, enctype, salt in keys:
            if salt:
                self.mit.fail(f"the suite's runner makes no keytab with the salt {salt}")
            lines += [f"addent -password -p {principal} -k {kvno} -e {enctype}", known[kvno]]
        realm.run([self.mit.ktutil], input="\n".join([*lines, f"wkt {keytab}", ""]))

    def know_krbtgt(self, realm, principal: str) -> None:
        """A drawn krbtgt is never given out: the realm gets one of a password."""
        if self.passwords.get(self.full_name(principal, realm.env)):
            return
        self.record(departures.KNOWN_KRBTGT)
        self.generated += 1
        realm.run([self.mit.kadminl, "cpw", "-pw", f"generated {self.generated}", principal])


def has_own_database(realm) -> bool:
    return realm._kdc_conf["realms"]["$realm"]["database_module"] not in ("db", "tkdc")


def inject(tkdc: dict, mine: tuple[Departure, ...], record: Path) -> None:
    """Changes k5test, which this imports: the working folder must lie in the build tree."""
    import k5test as mit

    here = Injection(mit, tkdc, mine, record)
    create_conf, extract_keytab = mit.K5Realm._create_conf, mit.K5Realm.extract_keytab
    create_kdb = mit.K5Realm.create_kdb

    def create(self, profile, filename):
        here.realms[filename] = self.realm
        create_conf(self, here.with_tkdc(profile), filename)

    def extract(self, principal, keytab):
        if has_own_database(self):
            here.record(OWN_DATABASE)
            extract_keytab(self, principal, keytab)
        else:
            here.extract_keytab(self, principal, keytab)

    def create_database(self):
        create_kdb(self)
        if any(d.known_krbtgt for d in mine):
            here.know_krbtgt(self, self.krbtgt_princ)

    mit.K5Realm._create_conf, mit.K5Realm.extract_keytab = create, extract
    mit.K5Realm.create_kdb = create_database
    mit._run_cmd, mit._start_daemon = here.run, here.start
    all_passes = mit._passes
    mit._passes = [p for p in all_passes if p[0] not in departures.LEGACY_PASSES]
    multipass = mit.multipass_realms

    def passes(**keywords):
        here.record(f"passes {', '.join(departures.LEGACY_PASSES)}: {departures.LEGACY}")
        yield from multipass(**keywords)

    mit.multipass_realms = passes
