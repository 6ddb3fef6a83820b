# SPDX-License-Identifier: Apache-2.0
"""Packages on a host with systemd: installed, an installation made by the commands that they
print, a realm at work, refused removal, removal all the same, purge. In this order."""

import re

import pytest

from tests.packages.members import REALM, fingerprint_of, initialise, join_all

TOOLS = ("kadmin.local", "kdb5_util", "kproplog")

KRB5_CONF = f"""\
[libdefaults]
    default_realm = {REALM}
    dns_lookup_kdc = false
    dns_canonicalize_hostname = false
[realms]
    {REALM} = {{
        kdc = 127.0.0.1
        admin_server = 127.0.0.1
    }}
"""
KDC_CONF = f"""\
[realms]
    {REALM} = {{
        database_module = tkdc
        acl_file = /etc/krb5kdc/kadm5.acl
        supported_enctypes = aes256-cts-hmac-sha1-96:normal
    }}
[dbmodules]
    tkdc = {{
        db_library = ktkdc
        database_name = /var/lib/krb5kdc/principal
        disable_last_success = true
        tkdc_agent_socket = /run/tkdc/agent-kdc/agent.sock
        tkdc_admin_socket = /run/tkdc/agent-admin/agent.sock
    }}
"""


def stock_tools_are_in_place(host) -> None:
    for tool in TOOLS:
        host.run(f"dpkg -S /usr/sbin/{tool} && test -x /usr/sbin/{tool} && "
                 f"! test -L /usr/sbin/{tool}")
    assert "tkdc" not in host.run("dpkg-divert --list").stdout
    # tkdc-tools has a program there.
    host.run("test ! -e /usr/lib/tkdc/stock && "
             "for file in $(find /usr/lib/tkdc); do dpkg -S $file || exit 1; done")


def not_unpacked(host) -> None:
    """A tkdc-kdc with a file that another package has: dpkg gives up in the middle of unpacking."""
    host.run("rm -rf broken && dpkg-deb -R packages/tkdc-kdc_*.deb broken && "
             "mkdir -p broken/usr/bin && cp /usr/bin/env broken/usr/bin/ && "
             "dpkg-deb -b broken broken.deb")
    done = host.run("dpkg -i broken.deb", check=False)
    assert done.returncode != 0
    assert "trying to overwrite '/usr/bin/env'" in done.stderr, done.stderr


def test_unpacking_that_fails_moves_the_tools_back(host):
    not_unpacked(host)
    stock_tools_are_in_place(host)


def test_install(host):
    stock = {tool: host.run(f"sha256sum </usr/sbin/{tool}").stdout for tool in TOOLS}
    host.run("dpkg -i packages/*.deb")
    for tool in TOOLS:
        moved = host.run(f"sha256sum </usr/lib/tkdc/stock/{tool}").stdout
        assert moved == stock[tool]
        assert host.run(f"sha256sum </usr/sbin/{tool}").stdout != stock[tool]
        assert f"/usr/sbin/{tool}" in host.run("dpkg-divert --list").stdout
    for user in ("tkdc-server", "tkdc-agent"):
        host.run(f"id {user}")
    for group in ("tkdc-agent-kdc", "tkdc-agent-admin"):
        host.run(f"getent group {group}")
    for folder in ("/etc/tkdc", "/var/lib/tkdc", "/run/tkdc"):
        assert host.run(f"stat -c %a {folder}").stdout.strip() == "711"
    for page in ("tkdc", "tkdc-server", "tkdc-agent", "tkdc-import", "tkdc-export",
                 "tkdc-reconcile", "tkdc-exporter"):
        host.run(f"test -e /usr/share/man/man8/{page}.8.gz")
    for unit in ("tkdc-server@server0.service", "tkdc-agent@agent-kdc.service",
                 "tkdc-audit@server0.timer", "tkdc-audit@server0.service",
                 "tkdc-backup@server0.timer", "tkdc-backup@server0.service",
                 "tkdc-backup-copy@server0.service",
                 "tkdc-refresh@server0.timer", "tkdc-refresh@server0.service",
                 "tkdc-exporter@agent-kdc.service", "tkdc-exporter-server@server0.service",
                 "tkdc-doctor.timer", "tkdc-doctor.service",
                 "tkdc-purge.timer", "tkdc-purge.service"):
        host.run(f"systemd-analyze verify --man=no {unit}")


def test_drop_ins_are_the_packages(host):
    for unit in ("krb5-kdc", "krb5-admin-server"):
        shown = host.run(f"systemctl show -p Environment,SupplementaryGroups {unit}").stdout
        assert "tkdc/libtkdc-k5.so" in shown
        assert "tkdc-agent-kdc" in shown


def test_members_start_by_the_commands_that_are_printed(host):
    join_all(host, initialise(host))
    done = host.run("for i in $(seq 50); do tkdc status --config /etc/tkdc/agent-kdc/agent.toml "
                    "&& exit 0; sleep 0.2; done; exit 1")
    assert "127.0.0.3" in done.stdout


def test_a_server_at_work_takes_another_agent(host):
    """By the command of docs/operations.md: every file is the service's afterwards."""
    said = host.run("tkdc init --agent replica1 --role kdc --out /root/replica1 --host 127.0.0.8 "
                    "--installation post/server0.introduction").stdout
    host.run("cp replica1/replica1.introduction /var/tmp/")
    host.run("runuser -u tkdc-server -- tkdc join --folder /etc/tkdc/server0 "
             f"--out /etc/tkdc/server0/tkdc.toml.new --confirm {fingerprint_of(said)} "
             "/var/tmp/replica1.introduction")
    assert host.run("find /etc/tkdc/server0 ! -user tkdc-server").stdout == ""
    assert "replica1" in host.run("cat /etc/tkdc/server0/tkdc.toml.new").stdout
    host.run("runuser -u tkdc-server -- tkdc-server --config /etc/tkdc/server0/tkdc.toml.new "
             "--check-config")


def test_a_realm_with_nothing_in_front(host):
    host.write("/etc/krb5.conf", KRB5_CONF)
    host.write("/etc/krb5kdc/kdc.conf", KDC_CONF)
    host.write("/etc/krb5kdc/kadm5.acl", f"admin/admin@{REALM} *\n")
    host.run("kdb5_util create -s -P 'of the database'")
    host.run("kadmin.local -q 'addprinc -pw secret +requires_preauth alice'")
    host.run("kadmin.local -q 'addprinc -pw secret admin/admin'")
    host.run("systemctl restart krb5-kdc krb5-admin-server")
    host.run("echo secret | kinit alice && klist")
    host.run("kadmin -p admin/admin -w secret -q 'addprinc -randkey host/x.test'")
    assert "host/x.test" in host.run("kadmin.local -q listprincs").stdout
    assert "kdb5_util" in host.run("kdb5_util nonsense 2>&1", check=False).stdout
    host.run("kproplog -h || true")
    assert "ulog" in host.run("kproplog 2>&1 || true").stdout


@pytest.mark.parametrize("package, word", [
    ("tkdc-kdc", "handles in the place of the keys of"),
    ("tkdc-server", "holds shares of"),
])
def test_removal_is_refused(host, package, word):
    before = host.run("systemctl list-units --no-legend --state=running 'tkdc-*' 'krb5-*'").stdout
    for how in ("dpkg -r", "dpkg --purge", "apt-get remove -y"):
        done = host.run(f"{how} {package}", check=False)
        assert done.returncode != 0
        said = done.stdout + done.stderr
        assert word in said, said
        assert "To remove it all the same" in said
        assert "touch /etc/tkdc/remove-" in said
    after = host.run("systemctl list-units --no-legend --state=running 'tkdc-*' 'krb5-*'").stdout
    assert before == after
    host.run("echo secret | kinit alice")


@pytest.mark.parametrize("how", ["mv /root/store/* .", "ln -s /root/store ."])
def test_a_store_is_found_wherever_it_lies(host, how):
    """And looked at as whom it belongs to: no file of root's comes to lie beside it."""
    done = host.run(f"""unshare -m sh -c '
        cp -a /var/lib/tkdc/server0/store /root/ && rm /root/store/lock.mdb && chmod 711 /root
        mount -t tmpfs tkdc /var/lib/tkdc
        mkdir -p /var/lib/tkdc/x/deep && cd /var/lib/tkdc/x/deep
        chown tkdc-server: . && {how} && /usr/lib/tkdc/may-remove-server 2>&1
        echo "status $?"; find -L . /root/store -user root'; rm -r /root/store; chmod 700 /root""")
    assert "not removed: the store in /var/lib/tkdc/x/deep" in done.stdout, done.stdout
    assert "holds shares of" in done.stdout
    assert done.stdout.splitlines()[-1] == "status 1", done.stdout


@pytest.mark.parametrize("name", ["principal.ok", "principal.kadm5"])
def test_removal_is_refused_where_a_database_cannot_be_read(host, name):
    """It lost a file beside it, and db2 says of it what it says of one that is not there."""
    host.run(f"mv /var/lib/krb5kdc/{name} /root/kept")
    try:
        done = host.run("dpkg -r tkdc-kdc", check=False)
    finally:
        host.run(f"mv /root/kept /var/lib/krb5kdc/{name}")
    assert done.returncode != 0
    assert f"the database of {REALM} cannot be looked at" in done.stderr, done.stderr
    host.run("kadmin.local -q 'getprinc alice'")


@pytest.mark.parametrize("hidden, word", [
    ("/etc/krb5kdc/kdc.conf", "the database of the default realm has handles in the place of"),
    ("/etc/krb5kdc/kdc.conf /etc/krb5.conf", "no realm's database was found, but there is"),
    (f"/etc/krb5kdc/kdc.conf /etc/krb5kdc/.k5.{REALM} /etc/krb5kdc/stash",
     "the database of the default realm has handles in the place of"),
])
def test_removal_is_refused_whatever_the_configuration_says(host, hidden, word):
    host.run(f"tar -Pcf kept.tar --ignore-failed-read {hidden} && rm -f {hidden}")
    try:
        done = host.run("dpkg -r tkdc-kdc", check=False)
    finally:
        host.run("tar -Pxf kept.tar")
    assert done.returncode != 0
    assert word in done.stderr, done.stderr
    host.run("kadmin.local -q 'getprinc alice'")


@pytest.mark.parametrize("unpacked", [True, False])
def test_upgrade_keeps_what_was_wired(host, unpacked):
    if unpacked:
        host.run("dpkg -i packages/*.deb")
    else:
        not_unpacked(host)
    host.run("echo secret | kinit alice")
    host.run("kadmin.local -q 'getprinc alice'")
    assert host.run("dpkg-divert --list 'tkdc*' | wc -l; dpkg-divert --list | grep -c tkdc-kdc") \
        .stdout.split()[-1] == "3"


def test_a_krb5_that_does_not_fit_is_noticed(host):
    """As when an upgrade had taken the library of some entry points away."""
    library = "/usr/lib/x86_64-linux-gnu/libkadm5srv_mit.so.12"
    upgraded = ("dpkg-trigger --by-package=krb5-kdc --no-await "
                "/usr/lib/x86_64-linux-gnu/libk5crypto.so.3; dpkg --configure --pending 2>&1")
    assert "does not fit" not in host.run(upgraded).stdout
    host.run("/usr/lib/tkdc/check-krb5")
    host.run(f"mv {library} /root/kept")
    said = host.run(upgraded).stdout
    assert "kadm5_randkey_principal_3 is in none of krb5's libraries any more" in said
    assert "tkdc does not fit the krb5 that is now installed" in said
    assert host.run("/usr/lib/tkdc/check-krb5", check=False).returncode == 1
    host.run(f"mv /root/kept {library}")
    host.run("/usr/lib/tkdc/check-krb5")


def test_units_are_hardened(host):
    for unit in ("tkdc-server@server0", "tkdc-agent@agent-kdc"):
        said = host.run(f"systemd-analyze security --no-pager {unit} | tail -1").stdout
        level = float(re.search(r"(\d+\.\d+)", said).group(1))
        assert level <= 1.5, said


def test_removed_all_the_same(host):
    host.run("touch /etc/tkdc/remove-kdc /etc/tkdc/remove-server")
    host.run("systemctl stop krb5-kdc krb5-admin-server")
    host.run("dpkg -r tkdc-kdc tkdc-server")
    assert host.run("ps -C tkdc-server,tkdc-agent", check=False).returncode == 1
    stock_tools_are_in_place(host)
    host.run("test ! -e /etc/tkdc/remove-kdc && test ! -e /etc/tkdc/remove-server")
    host.run("test -e /etc/tkdc/server0/store.key.cred && "
             "test -e /var/lib/tkdc/server0/store/data.mdb")
    shown = host.run("systemctl show -p Environment krb5-kdc").stdout
    assert "tkdc" not in shown


def exists(host, path: str) -> bool:
    return host.run(f"test -e {path}", check=False).returncode == 0


def test_purge_keeps_what_nobody_looked_at(host):
    """A store that changed since the removal, and folders in which the other package has files."""
    host.run("touch -d yesterday /var/lib/tkdc/server1/store/data.mdb")
    host.run("mkdir -p /etc/tkdc/late /var/lib/tkdc/late/deep/down && "
             "touch /etc/tkdc/late/store.key && "
             "cp /var/lib/tkdc/server0/store/data.mdb /var/lib/tkdc/late/deep/down")
    host.run("touch /etc/tkdc/server2/agent.toml /etc/tkdc/agent-admin/store.key")
    said = host.run("dpkg --purge tkdc-server").stdout
    assert "destroying /etc/tkdc/server0," in said
    assert "and /var/lib/tkdc/server0," in said
    for kept in ("server1", "server2", "late", "agent-admin"):
        assert f"keeping /etc/tkdc/{kept} and /var/lib/tkdc/{kept}:" in said, said
    assert said.count("destroying") == 1
    assert not exists(host, "/etc/tkdc/server0") and not exists(host, "/var/lib/tkdc/server0")
    for kept in ("server1/store", "server2/store", "late/deep/down"):
        assert exists(host, f"/var/lib/tkdc/{kept}/data.mdb")
    for kept in ("server1/store.key.cred", "server2/store.key.cred", "late/store.key",
                 "agent-kdc/curve.key.cred"):
        assert exists(host, f"/etc/tkdc/{kept}")
    for name in ("server1", "late"):
        command = re.search(rf"(rm -r /etc/tkdc/{name} /var/lib/tkdc/{name})$", said, re.M).group(1)
        host.run(command)


def test_purge_says_what_it_destroys(host):
    said = host.run("dpkg --purge tkdc-kdc").stdout
    assert "destroying /etc/tkdc/agent-kdc," in said
    assert said.count("destroying") == 1
    for kept in ("server2", "agent-admin"):
        assert f"keeping /etc/tkdc/{kept} and /var/lib/tkdc/{kept}:" in said, said
        host.run(f"test -e /etc/tkdc/{kept}/curve.key.cred && "
                 f"rm -r /etc/tkdc/{kept} /var/lib/tkdc/{kept}")
    assert host.run("find /etc/tkdc /var/lib/tkdc -mindepth 1 2>/dev/null || true").stdout == ""
    for gone in ("tkdc-server@server0", "tkdc-agent@agent-kdc"):
        assert not exists(host, f"/etc/systemd/system/{gone}.service.d")
    assert exists(host, "/etc/systemd/system/tkdc-server@server2.service.d/tkdc.conf")
    enabled = host.run("ls /etc/systemd/system/*.wants").stdout
    assert "tkdc-server@server0" not in enabled and "tkdc-agent@agent-kdc" not in enabled
