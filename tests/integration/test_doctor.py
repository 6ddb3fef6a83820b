# SPDX-License-Identifier: Apache-2.0
"""`tkdc doctor` on a host with all members of a realm: nothing is wrong until a fault is made, each
fault is named with what mends it, and that mends it. krb5's wiring is that of a folder that stands
for the host's root."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integration.conftest import STOCK, new_realm, remove
from tests.support.process import wait_until

pytestmark = [pytest.mark.behind, pytest.mark.skipif(STOCK, reason="looks behind the scenes")]
FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
UNITS = ("krb5-kdc.service", "krb5-admin-server.service")
LIFE_DAYS = 3650  # of a certificate
PROFILE = """[realms]
    EXAMPLE = {
        database_module = tkdc
    }
[dbmodules]
    tkdc = {
        db_library = ktkdc
    }
"""


class Host:
    """A root with the realm's members below etc/tkdc, and krb5 as the package wires it."""

    def __init__(self, realm, root: Path, members: str = "*"):
        self.realm, self.root = realm, root
        self.members = root / "etc/tkdc"
        self.members.mkdir(parents=True)
        for folder in realm.installation.glob(members):
            if folder.is_dir() and list(folder.glob("*.toml")):
                (self.members / folder.name).symlink_to(folder)
        self.units = root / "usr/lib/systemd/system"
        for unit in UNITS:
            (self.units / f"{unit}.d").mkdir(parents=True)
            (self.units / unit).touch()
            (self.units / f"{unit}.d/tkdc.conf").write_text(
                "[Service]\nEnvironment=LD_PRELOAD=/usr/lib/any/tkdc/libtkdc-k5.so\n")
        self.library = root / "usr/lib/any/tkdc/libtkdc-k5.so"
        self.module = root / "usr/lib/any/krb5/plugins/kdb/ktkdc.so"
        self.profile = root / "etc/krb5kdc/kdc.conf"
        for file in (self.library, self.module, self.profile):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        self.profile.write_text(PROFILE)
        # No program of a folder that stands for / is run: doctor_test.cc runs one.
        self.check = root / "usr/lib/tkdc/check-krb5"
        self.check.parent.mkdir(parents=True)
        self.check.write_text(f"#!/bin/sh\ntouch {root}/ran\nexit 1\n")
        self.check.chmod(0o755)

    def config(self, member: str) -> tuple[str, str]:
        file = "agent.toml" if member.startswith("agent") else "tkdc.toml"
        return "--config", str(self.members / member / file)

    def run(self, *more: str, env: dict | None = None) -> subprocess.CompletedProcess:
        clean = {name: value for name, value in os.environ.items() if "KRB5" not in name}
        return subprocess.run([str(self.realm.bin / "tkdc"), "doctor", "--root", str(self.root),
                               *more], capture_output=True, text=True, timeout=120, check=False,
                              env={**clean, **(env or {})})

    def wrong(self, *more: str, env: dict | None = None) -> dict[tuple[str, str], dict]:
        """Warnings too."""
        done = self.run("--json", *more, env=env)
        document = json.loads(done.stdout)
        found = {(one["of"], one["check"]): one for one in document["findings"]
                 if one["state"] in ("wrong", "warning")}
        assert done.returncode == (1 if found else 0) and document["well"] == (not found)
        assert all(one["remedy"] for one in found.values())
        return found


def back_up(realm, folder: Path) -> None:
    realm.tool("tkdc", "backup", "key", "--out", str(folder / "backup.key"), "--public",
               str(folder / "backup.pub"))
    for party in range(3):
        server = realm.server_directory(party)
        shutil.copy(folder / "backup.pub", server)
        realm.tool("tkdc", "backup", "make", "--config", str(server / "tkdc.toml"))


@pytest.fixture(scope="module", name="host")
def fixture_host(tmp_path_factory):
    realm = new_realm("DOCTOR")
    with realm:
        host = Host(realm, tmp_path_factory.mktemp("root"))
        back_up(realm, tmp_path_factory.mktemp("backup"))
        wait_until(lambda: not host.wrong(), 30, "all is well")
        yield host
    remove(realm)


@pytest.fixture(scope="module", name="kdc_host")
def fixture_kdc_host(host, tmp_path_factory):
    """The same realm's, without a server: it is looked at in no time."""
    return Host(host.realm, tmp_path_factory.mktemp("kdc"), "agent-*")


def test_of_a_sound_host_each_check_is_well(host):
    document = json.loads(host.run("--json").stdout)
    assert document["well"]
    not_looked_at = {one["check"] for one in document["findings"] if one["state"] != "ok"}
    assert not_looked_at == {"entry-points", "database", "services"}
    assert not (host.root / "ran").exists()
    by_member = {}
    for one in document["findings"]:
        by_member.setdefault(one["of"], []).append(one["check"])
    assert set(by_member) == {"server0", "server1", "server2", "agent-kdc", "agent-admin", "krb5"}
    assert len(by_member["server0"]) == 18 and len(by_member["agent-kdc"]) == 9
    assert by_member["krb5"] == ["services", "room", "preload", "module", "entry-points",
                                 "database"]
    table = host.run()
    assert table.returncode == 0 and table.stdout.endswith("All is well.\n")
    assert host.run("--failures-only").stdout == "All is well.\n"
    for party in range(3):  # whose data address the others' doctors called
        assert "unknown caller" not in host.realm.daemons[f"server{party}"].log.read_text()


def test_it_prints_no_secret(host):
    said = host.run("--json").stdout + host.run().stdout
    keys = [path.read_text().strip() for path in host.realm.installation.glob("*/curve.key")]
    assert [len(key) for key in keys] == [40] * 5 and not any(key in said for key in keys)


def test_a_wrong_mode_is_mended_as_it_says(host):
    key = host.realm.server_directory(0) / "curve.key"
    key.chmod(0o644)
    found = host.wrong(*host.config("server0"))
    assert set(found) == {("server0", "files"), ("server0", "configuration")}
    remedy = found["server0", "files"]["remedy"]
    assert remedy == f"chmod 0600 {host.members / 'server0/curve.key'}"
    subprocess.run(shlex.split(remedy), check=True)
    assert not host.wrong(*host.config("server0"))


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files away")
def test_a_file_of_another_account_in_a_store_is_named(host):
    """As a copy of the store that root has put back: the service cannot open it."""
    server = host.realm.server_directory(0)
    for name in ("store/data.mdb", "audit.jsonl"):
        file = server / name
        os.chown(file, 65534, -1)
        found = host.wrong(*host.config("server0"))
        os.chown(file, 0, -1)
        assert set(found) == {("server0", "files")}
        assert f"server0/{name} belongs to nobody, and the store to root" in found["server0",
                                                                                  "files"]["text"]
    # The other way about: systemd mends it only where the folder is not the service's.
    os.chown(server / "store", 65534, -1)
    found = host.wrong(*host.config("server0"))
    os.chown(server / "store", 0, -1)
    assert "belongs to root, and the store to nobody" in found["server0", "files"]["text"]
    assert not host.wrong(*host.config("server0"))


def test_credentials_that_the_unit_does_not_name_are_spoken_of(kdc_host):
    """Or names, and they are not there, as after a restore into a new folder."""
    drop_in = kdc_host.root / "etc/systemd/system/tkdc-agent@agent-kdc.service.d/tkdc.conf"
    drop_in.parent.mkdir(parents=True)
    drop_in.write_text("[Service]\nLoadCredentialEncrypted=curve.key:"
                       "/etc/tkdc/agent-kdc/curve.key.cred\n")
    credential = kdc_host.members / "agent-kdc/curve.key.cred"
    found = kdc_host.wrong()
    assert set(found) == {("agent-kdc", "files")}
    assert ("names the credential /etc/tkdc/agent-kdc/curve.key.cred, which is not there"
            in found["agent-kdc", "files"]["text"])
    assert found["agent-kdc", "files"]["remedy"].startswith("tkdc unit --config ")
    credential.touch()
    assert not kdc_host.wrong()
    shutil.rmtree(drop_in.parent)
    found = kdc_host.wrong()
    credential.unlink()
    assert "no drop-in of tkdc-agent@agent-kdc names the credential" in found["agent-kdc",
                                                                              "files"]["text"]
    assert not kdc_host.wrong()


def test_a_misspelt_key_is_named(host):
    config = host.realm.server_directory(1) / "tkdc.toml"
    right = config.read_text()
    config.write_text(right.replace("[data]\n", "[data]\nlanse = 2\n"))
    try:
        found = host.wrong(*host.config("server1"))
        assert "unknown key 'data.lanse'" in found["server1", "configuration"]["text"]
    finally:
        config.write_text(right)
    assert not host.wrong(*host.config("server1"))


def test_a_stopped_server_is_found_from_everywhere(host, kdc_host):
    host.realm.daemons["server1"].stop()

    def seen():
        found = kdc_host.wrong()
        return all("server 1: " in found.get((agent, "session"), {}).get("text", "")
                   for agent in ("agent-kdc", "agent-admin"))

    wait_until(seen, 30, "the agents know")
    found = host.wrong()
    assert "systemctl start tkdc-server@server1" in found["server1", "running"]["remedy"]
    for other in ("server0", "server2"):
        assert "server 1 at " in found[other, "ports"]["text"]
        assert (other, "session") in found and (other, "running") not in found
    assert (("agent-kdc", "ports")) in found
    host.realm.start_server(1)
    wait_until(lambda: not kdc_host.wrong(), 30, "all is well again")


def test_a_peer_with_another_certificate_is_none(host, tmp_path):
    """Whoever answers at the port has to be the one that is pinned."""
    other = tmp_path / "server0"
    shutil.copytree(host.realm.server_directory(0), other,
                    ignore=shutil.ignore_patterns("*.sock", "store"))
    config = other / "tkdc.toml"
    config.write_text(re.sub(r'(party = 2\n(?:.*\n)*?certificate_sha256 = ")..', r"\g<1>00",
                             config.read_text(), count=1))
    done = host.run("--json", "--config", str(config))
    ports = next(one for one in json.loads(done.stdout)["findings"] if one["check"] == "ports")
    assert ports["state"] == "wrong" and "server 2 at" in ports["text"], ports
    assert "certificate" in ports["text"], ports
    assert "compare certificate_sha256" in ports["remedy"] and "nft" not in ports["remedy"], ports


def test_a_misspelt_host_is_no_packet_filter(host, tmp_path):
    for member, file, entry, pattern in (
            ("server0", "tkdc.toml", "server 1 at ", r'(address = ")[^":]+(:\d+")'),
            ("agent-kdc", "agent.toml", "server at ", r'(address = "tcp://)[^":]+(:\d+")')):
        other = tmp_path / member
        shutil.copytree(host.members / member, other,
                        ignore=shutil.ignore_patterns("*.sock", "store"))
        config = other / file
        text = config.read_text()
        config.write_text(re.sub(pattern, r"\g<1>misspelt.invalid\g<2>", text, count=1))
        assert config.read_text() != text
        done = host.run("--json", "--config", str(config))
        ports = next(one for one in json.loads(done.stdout)["findings"] if one["check"] == "ports")
        assert ports["state"] == "wrong" and ports["text"].startswith(entry), ports
        assert "there is no such host" in ports["text"], ports
        assert f"correct the address in {config}" in ports["remedy"], ports
        assert "nft" not in ports["remedy"], ports


def test_a_server_without_backups_is_warned_of(host):
    public = host.realm.server_directory(0) / "backup.pub"
    shelf = next(public.parent.rglob("backups"))
    away = [path.rename(path.with_name(path.name + ".away")) for path in (public, shelf)]
    try:
        found = host.wrong(*host.config("server0"))
    finally:
        for path in away:
            path.rename(path.with_suffix(""))
    assert set(found) == {("server0", "backups")}
    assert found["server0", "backups"]["state"] == "warning"
    assert "tkdc backup key --out backup.key" in found["server0", "backups"]["remedy"]


def test_an_ended_certificate_is_spoken_of(host):
    if FAKETIME is None:
        pytest.fail("libfaketime is not installed: ./bootstrap --test")
    later = {"LD_PRELOAD": str(FAKETIME), "FAKETIME": f"+{LIFE_DAYS + 10}d",
             "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    found = host.wrong(*host.config("server2"), env=later)
    ended = found["server2", "certificate"]
    assert "certificate ended on" in ended["text"] and ended["state"] == "warning"
    said = host.run("--failures-only", *host.config("server2"), env=later).stdout
    assert re.search(r"^warning +server2 certificate ", said, re.M), said
    assert set(found) == {("server2", "certificate"), ("server2", "backups")}, "old by then, too"
    assert said.endswith("0 wrong, to be warned of 2.\n"), said
    assert ended["remedy"] == f"tkdc renew --folder {host.members / 'server2'}"


def test_krb5_without_its_wiring_is_found(kdc_host):
    drop_in = kdc_host.units / f"{UNITS[0]}.d/tkdc.conf"
    for file, check, word in ((drop_in, "preload", "no drop-in"),
                              (kdc_host.library, "preload", "is not there"),
                              (kdc_host.module, "module", "ktkdc.so is in no folder"),
                              (kdc_host.profile, "module", "names no module ktkdc")):
        away = file.with_name(file.name + ".away")
        file.rename(away)
        found = kdc_host.wrong()
        away.rename(file)
        assert set(found) == {("krb5", check)} and word in found["krb5", check]["text"], found
    assert not kdc_host.wrong()


def test_a_realm_that_another_module_serves_is_wrong(kdc_host):
    """krb5kdc starts on db2, and every password is wrong."""
    right = kdc_host.profile.read_text()
    own, krb5_conf = "database_module = tkdc", kdc_host.root / "etc/krb5.conf"
    stock = "    stock = {\n        db_library = klmdb\n    }\n"
    elsewhere = "    OTHER = {\n        database_module = stock\n    }\n"
    cases = (
        (right.replace(own, "database_module = tkcd"), "", "database module db2: its "
         "database_module = tkcd, which is no stanza"),
        (right.replace(own, ""), "", "database module db2: it has no database_module"),
        (right.replace(own, "database_module = stock") + stock, "", "database module klmdb: "),
        # The one that krb5kdc serves is not in kdc.conf by this name.
        (right, "[libdefaults]\n    default_realm = EXAMPEL\n", "realm EXAMPEL is served by"),
        (right.replace("[realms]\n", f"[realms]\n{elsewhere}") + stock, "", ""),
        (right.replace("= tkdc\n", '= "tkdc"\n').replace("EXAMPLE = {", "EXAMPLE={"),
         "[libdefaults]\n    default_realm = EXAMPLE\n", ""),
    )
    for profile, more, text in cases:
        kdc_host.profile.write_text(profile)
        krb5_conf.write_text(more)
        found = kdc_host.wrong()
        kdc_host.profile.write_text(right)
        krb5_conf.unlink()
        assert set(found) == ({("krb5", "module")} if text else set()), (profile, found)
        if text:
            assert text in found["krb5", "module"]["text"], found
            assert f": {own}; systemctl restart krb5-kdc" in found["krb5", "module"]["remedy"]


def test_a_misspelt_key_of_kdc_conf_is_named(kdc_host):
    """With the one that was meant, where one is near."""
    right = kdc_host.profile.read_text()
    library = "db_library = ktkdc\n"
    keys = "    tkdc_timeout = 5\n    tkdc_wrapped = db2\n"
    kdc_host.profile.write_text(right.replace(library, library + keys))
    found = kdc_host.wrong()
    assert set(found) == {("krb5", "module")}
    said = found["krb5", "module"]["text"]
    assert "there is no key tkdc_timeout" in said and "did you mean" not in said
    for key, other in (("tkdc_timeout_sm", "tkdc_timeout_ms"), ("db_libary", "db_library"),
                       ("database_nmae", "database_name")):
        kdc_host.profile.write_text(right.replace(library, library + f"    {key} = 5\n"))
        assert f"there is no key {key}" in (said := kdc_host.wrong()["krb5", "module"]["text"])
        assert said.endswith(f"; did you mean {other}?"), said
    # krb5 alone would open the realm with db2.
    for name, other in (("db_libary", "db_library"), ("database_modul", "database_module")):
        kdc_host.profile.write_text(re.sub(f"{other} = (k?tkdc)", rf"{name} = \1", right))
        said = kdc_host.wrong()["krb5", "module"]["text"]
        assert f"there is no key {name}" in said and f"did you mean {other}?" in said, said
    # Those that operations/two-servers.md asks for.
    keys = "    tkdc_timeout_ms = 15000\n    tkdc_admin_timeout_ms = 60000\n"
    kdc_host.profile.write_text(right.replace(library, library + keys))
    found = kdc_host.wrong()
    kdc_host.profile.write_text(right)
    assert not found


def test_a_module_that_an_included_file_names_is_named(kdc_host):
    """As the collection has it."""
    whole = kdc_host.profile.read_text()
    part = kdc_host.root / "etc/krb5kdc/tkdc.conf"
    part.write_text(whole)
    kdc_host.profile.write_text("include /etc/krb5kdc/kdc.conf\ninclude /etc/krb5kdc/tkdc.conf\n")
    assert not kdc_host.wrong()
    part.unlink()
    assert set(kdc_host.wrong()) == {("krb5", "module")}
    kdc_host.profile.write_text(whole)


def test_the_agent_of_a_spare_may_be_away(kdc_host):
    wants = kdc_host.root / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True)
    (wants / "krb5-kdc.service").symlink_to(kdc_host.units / UNITS[0])
    kdc_host.realm.daemons["agent-admin"].stop()
    assert not kdc_host.wrong()
    (wants / "tkdc-agent@agent-admin.service").touch()
    assert set(kdc_host.wrong()) == {("agent-admin", "running")}
    shutil.rmtree(wants)
    assert set(kdc_host.wrong()) == {("agent-admin", "running")}
    kdc_host.realm.start_agent("admin")


def test_former_keys_are_spoken_of_until_they_are_forgotten(host, kdc_host):
    """In the status, once in each journal, and here."""
    realm = host.realm
    server = realm.server_directory(0) / "tkdc.toml"
    agent = realm.installation / "agent-kdc/agent.toml"
    right = {server: server.read_text(), agent: agent.read_text()}
    # An agent's: any that is no server's of now.
    other = re.findall(r'^curve_public_key = "(.*)"$', right[server], re.M)[0]
    pin = 'certificate_sha256 = "'
    server.write_text(right[server].replace(pin, f'former_{pin}{"ab" * 32}"\n{pin}', 1))
    agent.write_text(right[agent].replace("curve_public_key = ", "former_curve_public_key = "
                                          f'"{other}"\ncurve_public_key = ', 1))
    realm.daemons["server0"].stop()
    realm.daemons["agent-kdc"].stop()
    realm.start_server(0)
    realm.start_agent("kdc")

    wait_until(lambda: set(kdc_host.wrong()) == {("agent-kdc", "former-keys")}, 30,
               "the session stands")
    found = host.wrong()
    assert set(found) == {("server0", "former-keys"), ("agent-kdc", "former-keys")}
    assert "the former keys of server0 are still good here" in found["agent-kdc",
                                                                     "former-keys"]["text"]
    remedy = found["server0", "former-keys"]["remedy"]
    assert (f"in use: runuser -u tkdc-server -- tkdc join --folder {host.members / 'server0'} "
            "--forget-former --out ") in remedy
    status = realm.tool("tkdc", "status", "--socket", str(realm.agent_socket("kdc")))
    assert status.count("are still good here") == 2, status
    for daemon in ("server0", "agent-kdc"):
        assert realm.daemons[daemon].log.read_text().count("are still good here") == 1
    for path, text in right.items():
        path.write_text(text)
    realm.daemons["server0"].stop()
    realm.daemons["agent-kdc"].stop()
    realm.start_server(0)
    realm.start_agent("kdc")
    wait_until(lambda: not kdc_host.wrong(), 30, "all is well again")


def test_little_room_for_the_database_is_spoken_of(kdc_host):
    folder = kdc_host.root / "var/lib/krb5kdc"
    folder.mkdir(parents=True)
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    subprocess.run([*sudo, "mount", "-t", "tmpfs", "-o", f"size=1m,mode=0700,uid={os.geteuid()}",
                    "tkdc-test", str(folder)], check=True)
    try:
        assert not kdc_host.wrong()
        (folder / "ballast").write_bytes(b"x" * 1000 * 1024)
        found = kdc_host.wrong()
        assert set(found) == {("krb5", "room")}
        assert found["krb5", "room"]["remedy"].startswith("df -h /var/lib/krb5kdc")
    finally:
        subprocess.run([*sudo, "umount", str(folder)], check=True)


def test_a_window_that_reaches_up_to_now_is_wrong(host, kdc_host):
    """By a revocation that its administrator has not looked at: nobody can log in."""
    realm = host.realm
    realm.tool("tkdc", "revoke", "--config", str(realm.server_directory(0) / "tkdc.toml"),
               "--sealed-between", "10m", "now", "--yes")
    wait_until(lambda: ("agent-kdc", "revoked") in kdc_host.wrong(), 30, "it is known")
    found = kdc_host.wrong()
    assert "refuses what is sealed now" in found["agent-kdc", "revoked"]["text"]
    for party in range(3):
        realm.tool("tkdc", "revoke", "--config",
                   str(realm.server_directory(party) / "tkdc.toml"), "--lift", "--yes")
    wait_until(lambda: not kdc_host.wrong(), 30, "it is lifted")


def test_a_host_without_members_is_not_well(host, tmp_path):
    done = subprocess.run([str(host.realm.bin / "tkdc"), "doctor", "--root", str(tmp_path)],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "no tkdc.toml or agent.toml" in done.stdout
