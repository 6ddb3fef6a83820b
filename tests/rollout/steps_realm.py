# SPDX-License-Identifier: Apache-2.0
"""Steps of the rollout: a stock realm comes to tkdc with its passwords and keytabs, and leaves."""

from tests.rollout.lab import Machine
from tests.rollout.site import CLIENT_KRB5, KDCS, REALM, SERVERS, Site, until
from tests.rollout.steps_faults import Logins
from tests.rollout.steps_give_back import APPROVERS, approve, joint_revert, name_approvers
from tests.rollout.steps_install import (
    check_changes_nothing,
    followed,
    need,
    nothing_installed,
    nothing_left,
    status_tells_spares,
)

USERS = 1000
KEYTABS = ("host/www.rollout.test", "host/client.rollout.test")
KDC_CONF = f"""\
# An administrator's own.
[realms]
    {REALM} = {{
        acl_file = /etc/krb5kdc/kadm5.acl
        max_renewable_life = 7d
    }}
"""


def password(number: int) -> str:
    return f"password {number * 7919} of user {number}"


def logged_in(machine: Machine, numbers: range) -> None:
    """Each of these users with his password, and each service with its keytab."""
    wrong = machine.run("while IFS=: read -r user password; do "
                        'echo "$password" | kinit -c /root/all.cc "$user" >/dev/null 2>&1 || '
                        'echo "$user"; done; '
                        f"for service in {' '.join(KEYTABS)}; do "
                        'kinit -c /root/all.cc -k -t /root/stock.keytab "$service" || '
                        'echo "$service"; done',
                        stdin="".join(f"user{n}:{password(n)}\n" for n in numbers),
                        timeout_s=900).stdout
    need(not wrong, f"cannot log in: {wrong.split()[:10]}")
    need(machine.run("echo something else | kinit user1", check=False).returncode != 0,
         "a wrong password logs in")


def stock_realm(site: Site, users: int = USERS) -> None:
    """As Debian's packages have it, with nothing of tkdc's on any host."""
    kdc = site.host("kdc0")
    # A realm that was uninstalled has left them; --only begins without one.
    kdc.run("printf '#!/bin/sh\\nexit 101\\n' >/usr/sbin/policy-rc.d && "
            "chmod 755 /usr/sbin/policy-rc.d && apt-get -q update && "
            "DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "
            "krb5-kdc krb5-admin-server && rm /usr/sbin/policy-rc.d")
    kdc.write("/etc/krb5.conf", CLIENT_KRB5)
    kdc.write("/etc/krb5kdc/kdc.conf", KDC_CONF)
    kdc.write("/etc/krb5kdc/kadm5.acl", f"admin/admin@{REALM} *\n")
    # A keytab of an earlier realm has other keys of the same version.
    kdc.run("rm -f /root/stock.keytab && kdb5_util create -s -P 'of the master key'")
    kdc.run("kadmin.local", stdin="".join(
        [f'addprinc -pw "{password(n)}" +requires_preauth user{n}\n' for n in range(users)]
        + ['addprinc -pw "secret of alice" +requires_preauth alice\n']
        + [f"addprinc -randkey {name}\nktadd -k /root/stock.keytab {name}\n" for name in KEYTABS]))
    kdc.run("systemctl enable --now krb5-kdc krb5-admin-server")
    site.client.write("/etc/krb5.conf", CLIENT_KRB5)
    octets = kdc.run("base64 -w0 /root/stock.keytab").stdout
    site.client.run("base64 -d >/root/stock.keytab", stdin=octets)
    logged_in(site.client, range(0, users, 50))


def inventory(site: Site, **more):
    site.primary = "kdc0"
    return site.inventory("joint", (*SERVERS, "kdc0"), {
        "tkdc_joint": True, "tkdc_import": True,
        "tkdc_members": [*SERVERS, "kdc0-kdc", "kdc0-admin"], **more})


def import_realm(site: Site) -> None:
    nothing_installed(site)
    stock_realm(site)
    site.play("install", inventory(site))
    name_approvers(site)
    site.play("install", inventory(site))
    logged_in(site.client, range(0, USERS, 100))
    check_changes_nothing(site, (*SERVERS, "kdc0"), "import", inventory(site))
    # One KDC, which restarts: nobody else answers for that second.
    with Logins(site, again_after_s=2) as logins:
        until("logins go on", lambda: logins.done > 2, 60)
        site.play("import", inventory(site))
    logins.need_none_lost()
    refused = site.host("kdc0").run("/usr/lib/tkdc/may-remove-kdc", check=False)
    need("handles in the place of the keys" in refused.stderr, "the database has keys",
         refused.stderr)
    play = site.play("import", inventory(site))
    need(play.changed == 0, f"imported again, {play.changed} changes", play.said)
    play = site.play("install", inventory(site))
    need(play.changed == 0, f"installed again, {play.changed} changes", play.said)
    logged_in(site.client, range(0, USERS, 25))


def revert(site: Site) -> None:
    kdc = site.host("kdc0")
    kdc.run("kadmin.local cpw -pw 'another secret of alice' alice")
    hosts = (*SERVERS, "kdc0")
    check_changes_nothing(site, hosts, "revert", inventory(site))
    play = site.play("revert", inventory(site))
    need("0 of 2 approvals are there" in play.said, "it waits for nobody", play.said)
    for party in APPROVERS:
        approve(site, party)
    # It fetches no approval, so it cannot tell what they would lead to.
    check_changes_nothing(site, hosts, "revert", inventory(site), would_change=False)
    site.play("revert", inventory(site))
    kept = kdc.run("cat /etc/krb5kdc/kdc.conf").stdout
    need(kept == KDC_CONF, "kdc.conf is not the administrator's", kept)
    logged_in(site.client, range(USERS))
    need(site.kinit(password="another secret of alice"), "what was changed meanwhile is lost")
    play = site.play("revert", inventory(site))
    need(play.changed == 0, f"reverted again, {play.changed} changes", play.said)
    # Nothing is destroyed by this: no store holds a key, no database a handle.
    site.play("uninstall", inventory(site), "-e", "tkdc_uninstall=true")
    kdc.run("rm /var/lib/krb5kdc/before-import.dump")
    nothing_left(site, hosts)
    kdc.run("systemctl restart krb5-kdc krb5-admin-server")
    logged_in(site.client, range(0, USERS, 50))
    end_stock_realm(site)


def end_stock_realm(site: Site, kdcs: tuple[str, ...] = ("kdc0",)) -> None:
    for kdc in kdcs:
        site.host(kdc).run("systemctl disable --now krb5-kdc krb5-admin-server krb5-kpropd; "
                           "kdb5_util destroy -f; "
                           "rm -rf /etc/krb5kdc/* /etc/krb5.conf /etc/krb5.keytab")
    for name in SERVERS:
        site.host(name).run("rm /root/approver.key")
    del site.variables["tkdc_server_settings"]["approvers"]


def take_a_spare(site: Site) -> None:
    """As the end of the page on import has it: the appliance's own configuration, and spares."""
    nothing_installed(site)
    stock_realm(site, users=20)
    site.play("install", inventory(site))
    name_approvers(site)
    site.play("install", inventory(site))
    site.play("import", inventory(site))
    site.play("install", site.joint())
    followed(site, "user19")
    status_tells_spares(site)
    play = site.play("install", site.joint())
    need(play.changed == 0, f"installed again, {play.changed} changes", play.said)
    kdc0_is_off(site, range(20))
    site.host("kdc0").run("kadmin.local cpw -pw 'another secret of alice' alice")
    followed(site, "alice")
    joint_revert(site)
    followed(site, "alice")
    kdc0_is_off(site, range(20))
    need(site.kinit(password="another secret of alice"), "what was changed meanwhile is lost")
    site.play("uninstall", site.joint(), "-e", "tkdc_uninstall=true")
    site.host("kdc0").run("rm /var/lib/krb5kdc/before-import.dump")
    nothing_left(site, (*SERVERS, *KDCS))
    end_stock_realm(site, KDCS)


def kdc0_is_off(site: Site, users: range) -> None:
    """Without power: what logs users in and serves keytabs meanwhile is the spare."""
    machine = site.host("kdc0")
    machine.cut_power()
    try:
        logged_in(site.client, users)
    finally:
        machine.power_on()
        machine.wait_up()
    logged_in(site.client, range(0, users.stop, 10))
