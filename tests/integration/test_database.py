# SPDX-License-Identifier: Apache-2.0
"""What is done to the database as a whole while the KDC serves: the master key's rollover, dump and
load, and an attack by whoever may write to it. On realms of their own, with tkdc and without."""

import re
from pathlib import Path

import pytest

from tests.integration.conftest import NAME, SERVICE, STOCK, new_realm, remove
from tests.support.kerberos import run_program
from tests.support.process import RealmError
from tests.support.realm import Realm

PASSWORD = "the password of dora"
MKEY_PASSWORD = "another master password"
PRINCIPALS = ("dora", "evil", SERVICE, f"krbtgt/{NAME}", f"krbtgt/AWAY.REALM@{NAME}")


@pytest.fixture(scope="module", params=["tkdc", "stock"])
def site(request):
    with new_realm(NAME, stock=STOCK or request.param == "stock") as running:
        for name in ("dora", "evil"):
            running.kadmin_local(f'addprinc -pw "{PASSWORD}" {name}')
        running.kadmin_local(f"addprinc -randkey {SERVICE}")
        running.kadmin_local(f"ktadd -k {running.keytab('service')} {SERVICE}")
        running.kadmin_local(f'addprinc -pw "{PASSWORD}" krbtgt/AWAY.REALM@{NAME}')
        running.kadmin_local('addprinc -pw "the admin password" admin/admin')
        yield running
    remove(running)


def serves(site: Realm, with_kadmind: bool = False) -> None:
    """krb5kdc, and on demand kadmind, which read the database as it is now."""
    dora = site.client("dora")
    done = dora.kinit("dora", PASSWORD, "-r", "1d")
    assert done.ok, done.errors
    dora.kvno_opened(site.keytab("service"), SERVICE)
    done = dora.run("kinit", "-R")
    assert done.ok, done.errors
    done = dora.kvno("krbtgt/AWAY.REALM")
    assert done.ok, done.errors
    if not with_kadmind:
        return
    done = dora.run("kadmin", "-p", "admin/admin", "-w", "the admin password", "-q",
                    "getprinc dora")
    assert "Key: vno" in done.output, done.errors


def mkvnos(site: Realm) -> set[str]:
    """Master keys under which the principals' keys stand."""
    return {number for name in PRINCIPALS
            for number in re.findall(r"^MKey: vno (\d+)$", site.kadmin_local(f"getprinc {name}"),
                                     re.M)}


def handles(site: Realm) -> list[dict]:
    return [o for o in site.operations("admin")
            if o["op"] in ("stage", "bind", "destroy", "export")]


def test_master_key_rollover(site):
    """Step by step with the daemons running: the servers make and destroy nothing."""
    serves(site)
    before = handles(site)
    old = site.client("old")
    assert old.kinit("dora", PASSWORD).ok
    site.admin_tool("kdb5_util", "add_mkey", "-s", stdin=f"{MKEY_PASSWORD}\n{MKEY_PASSWORD}\n")
    serves(site)
    assert mkvnos(site) == {"1"}
    site.admin_tool("kdb5_util", "use_mkey", "2")
    site.kadmin_local('addprinc -pw "made between" between')
    assert site.client("between").kinit("between", "made between").ok
    site.kadmin_local("delprinc -force between")
    made = [o["op"] for o in handles(site)[len(before):]]
    assert site.stock or (made.count("bind"), made.count("destroy")) == (2, 2), made
    before = handles(site)
    done = site.admin_tool("kdb5_util", "update_princ_encryption", "-f", "-v")
    assert "principals processed" in done.output + done.errors
    assert mkvnos(site) == {"2"}
    serves(site, with_kadmind=True)
    site.admin_tool("kdb5_util", "purge_mkeys", "-f")
    assert "KVNO: 1" not in site.admin_tool("kdb5_util", "list_mkeys").output
    serves(site)
    assert handles(site) == before
    assert old.kvno(SERVICE).ok
    for name, start in (("krb5kdc", site.start_kdc), ("kadmind", site.start_kadmind)):
        site.daemons[name].stop()
        start()
    serves(site, with_kadmind=True)


def test_master_key_stays_a_key(site):
    """Its entry and the list of old ones hold keys, not handles: they open without the servers."""
    dump = site.directory / "dump"
    site.admin_tool("kdb5_util", "dump", str(dump))
    master = next(line for line in dump.read_text().splitlines() if "\tK/M@" in line)
    assert "\ta000" not in master
    dora = next(line for line in dump.read_text().splitlines() if "\tdora@" in line)
    assert site.stock or dora.count("\ta000") == 2


def test_dump_and_load(site):
    dump = site.directory / "dump"
    site.admin_tool("kdb5_util", "dump", str(dump))
    before = handles(site)
    site.kadmin_local("modprinc -maxlife 1h dora")
    site.admin_tool("kdb5_util", "load", str(dump))
    assert "Maximum ticket life: 0 days 10:00:00" in site.kadmin_local("getprinc dora")
    serves(site)
    assert handles(site) == before
    done = site.admin_tool("kdb5_util", "load", "-update", str(dump))
    assert not done.errors, "no key is left behind: none has changed"
    assert handles(site) == before


def test_load_of_a_dump_from_before_a_password_change(site):
    """A handle that was destroyed stays destroyed: the old password does not come back."""
    if site.stock:
        pytest.skip("a stock KDC takes the old password again")
    site.kadmin_local('addprinc -pw "the old one" changing')
    dump = site.directory / "dump"
    site.admin_tool("kdb5_util", "dump", str(dump))
    site.kadmin_local('cpw -pw "the new one" changing')
    site.admin_tool("kdb5_util", "-x", "load_anyway", "load", str(dump))
    assert not site.client("changing").kinit("changing", "the old one").ok
    site.kadmin_local('cpw -pw "the newest" changing')
    assert site.client("changing").kinit("changing", "the newest").ok
    site.kadmin_local("delprinc -force changing")
    serves(site)


def keytab_for_dora_of_evil(site: Realm) -> Path:
    """A keytab that says dora and holds the key of evil."""
    keytab = site.keytab("evil")
    site.kadmin_local(f"ktadd -k {keytab} evil")
    octets = keytab.read_bytes()
    assert octets.count(b"\x00\x04evil") == 2
    forged = site.keytab("forged")
    forged.write_bytes(octets.replace(b"\x00\x04evil", b"\x00\x04dora"))
    return forged


def load_without_module(site: Realm, dump: Path) -> None:
    """With the thief's own tool: the stock database module on the same files."""
    config = site.directory / "thief.conf"
    text = (site.directory / "kdc.conf").read_text()
    config.write_text(text.replace("db_library = ktkdc", "db_library = db2"))
    env = {**site.env(), "KRB5_KDC_PROFILE": str(config)}
    done = run_program(["kdb5_util", "load", str(dump)], env)
    assert done.ok, done.errors


def test_key_data_copied_to_another_principal(site):
    """Whoever may write to the database gives dora's entry the keys of evil, which he knows. A
    stock KDC lets him in (the control); the servers compare each handle's principal."""
    forged = keytab_for_dora_of_evil(site)
    thief = site.client("thief")
    assert not thief.kinit_keytab("dora", forged).ok
    dump, changed = site.directory / "dump", site.directory / "changed"
    site.admin_tool("kdb5_util", "dump", str(dump))
    lines = dump.read_text().splitlines(keepends=True)
    evil = next(line for line in lines if f"\tevil@{NAME}\t" in line)
    swapped = [evil.replace(f"\tevil@{NAME}\t", f"\tdora@{NAME}\t")
               if f"\tdora@{NAME}\t" in line else line for line in lines]
    assert swapped != lines
    changed.write_text("".join(swapped))
    if not site.stock:
        with pytest.raises(RealmError, match="its key data belongs to another principal"):
            site.admin_tool("kdb5_util", "load", str(changed))
    load_without_module(site, changed)
    before = len(site.operations("kdc"))
    done = thief.kinit_keytab("dora", forged)
    assert done.ok == site.stock, done.errors
    if not site.stock:
        refused = [o["status"] for o in site.operations("kdc")[before:]]
        assert set(refused) == {"unknown_key"}, refused
    site.admin_tool("kdb5_util", "load", str(dump))
    serves(site)
