# SPDX-License-Identifier: Apache-2.0
"""Steps of the rollout: a realm whose database lies in OpenLDAP, on both KDC hosts."""

from tests.rollout import steps_change
from tests.rollout.site import CLIENT_KRB5, KDCS, REALM, Site, until
from tests.rollout.steps_faults import Logins, more
from tests.rollout.steps_give_back import joint_revert, name_approvers
from tests.rollout.steps_install import client_commands, followed, need, nothing_installed

SEARCH = ("ldapsearch -LLL -Q -Y EXTERNAL -H ldapi://%2Frun%2Fkrb5-ldap%2Fldapi "
          "-b o=kerberos krbPrincipalName")
LEFT = ("ls -d /etc/ldap/krb5 /var/lib/ldap/krb5 /etc/systemd/system/*ldap* "
        "/etc/systemd/system/*/*ldap*; pgrep -a slapd")
SEARCHED = "krbPrincipalName: frank@"
# As whoever can reach the port: without a certificate, and with one that no KDC host has.
STRANGER = """
export LDAPTLS_CACERT=/etc/ldap/krb5/peers.pem
cd /tmp
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=kdc1.rollout.test \
  -keyout key -out certificate 2>/dev/null
ldapsearch -x -H ldaps://kdc0.rollout.test -b o=kerberos krbPrincipalName
LDAPTLS_CERT=/tmp/certificate LDAPTLS_KEY=/tmp/key \
  ldapsearch -Y EXTERNAL -H ldaps://kdc0.rollout.test -b o=kerberos krbPrincipalName
LDAPTLS_CERT=/etc/ldap/krb5/certificate.pem LDAPTLS_KEY=/etc/ldap/krb5/key.pem \
  ldapwhoami -Q -Y EXTERNAL -H ldaps://kdc0.rollout.test
"""


def serve(site: Site) -> None:
    nothing_installed(site)
    site.variables["tkdc_ldap"] = True
    site.primary = "kdc0"
    site.client.write("/etc/krb5.conf", CLIENT_KRB5)
    play = site.play("install", site.joint(), expect=None)
    need(play.status == 0, "no realm on OpenLDAP", play.said)
    play = site.play("install", site.joint())
    need(play.changed == 0, f"a second run changed {play.changed}", play.said)
    client_commands(site)
    stock = site.host("kdc0").run("kdb5_util dump | awk '$1 == \"princ\"' | grep -v a000 | "
                                  "grep -v K/M", check=False).stdout
    need(not stock, "keys that no server has", stock)
    strangers_see_nothing(site)
    for kdc in KDCS:
        a_directory_dies(site, kdc)
    a_host_is_away(site)
    a_directory_is_lost(site)


def strangers_see_nothing(site: Site) -> None:
    done = site.host("kdc1").run(STRANGER, check=False)
    need("krbPrincipalName" not in done.stdout, "a stranger reads the directory", done.stdout)
    need("dn:cn=kdc1.rollout.test" in done.stdout, "the other host is not known", done.stderr)
    done = site.host("kdc0").run(f"setpriv --reuid nobody --clear-groups {SEARCH}", check=False)
    need("krbPrincipalName" not in done.stdout, "nobody reads the directory", done.stdout)
    need("krbPrincipalName" in site.host("kdc0").run(SEARCH).stdout, "root does not")


def a_directory_dies(site: Site, kdc: str) -> None:
    """Clients go to the other KDC; the one without a directory says that it has none."""
    machine = site.host(kdc)
    with Logins(site) as logins:
        more(logins, "logins")
        machine.run("systemctl stop krb5-ldap")
        more(logins, f"logins without the directory of {kdc}")
        site.client.run("kinit -k -t /root/client.keytab host/client.rollout.test && "
                        f"kvno krbtgt/{REALM} && kvno host/client.rollout.test")
        machine.run("systemctl start krb5-ldap")
        more(logins, "logins with it again")
    logins.need_none_lost()
    pid = machine.run("systemctl show -p MainPID --value krb5-ldap").stdout.strip()
    machine.run(f"kill -9 {pid}")
    until(f"the directory of {kdc} is started again",
          lambda: machine.run(SEARCH, check=False).returncode == 0, 60)


def a_host_is_away(site: Site) -> None:
    """What changes at the primary meanwhile is at the spare when it is back."""
    spare = site.host("kdc1")
    spare.cut_power()
    site.host("kdc0").run("kadmin.local addprinc -pw 'secret of frank' +requires_preauth frank")
    need(site.kinit("frank", "secret of frank"), "frank cannot log in")
    spare.power_on()
    spare.wait_up()
    followed(site, "frank")
    site.host("kdc0").cut_off()
    try:
        site.wait_login("the primary was cut off", 60)
        need(site.kinit("frank", "secret of frank"), "frank cannot log in at the spare")
    finally:
        site.host("kdc0").reconnect()
    site.wait_healthy("the primary was cut off")  # its agents' connections were lost


def a_directory_is_lost(site: Site) -> None:
    """As on a host that is installed anew under its number: it takes all from the other one."""
    spare = site.host("kdc1")
    spare.run("systemctl stop krb5-ldap && rm -r /var/lib/ldap/krb5/* && systemctl start krb5-ldap")
    followed(site, "frank")
    need(SEARCHED in site.host("kdc0").run(SEARCH).stdout, "the other one has lost it, too")


def promote(site: Site) -> None:
    steps_change.promote(site)
    site.primary = "kdc0"
    site.play("promote", site.joint())
    site.client.run("sed -i 's/admin_server = kdc1/admin_server = kdc0/' /etc/krb5.conf")
    need(site.kinit("carol", "secret of carol"), "carol cannot log in")


def revert(site: Site) -> None:
    """Both hosts serve it without tkdc; the passwords are what they were."""
    name_approvers(site)
    site.play("install", site.joint())
    joint_revert(site)
    for away in KDCS:
        site.host(away).cut_off()
        try:
            for user in ("alice", "frank"):
                need(site.kinit(user, f"secret of {user}"), f"{user} cannot log in without {away}")
        finally:
            site.host(away).reconnect()
    site.play("uninstall", site.joint(), "-e", "tkdc_uninstall=true")
    site.host("kdc0").run("systemctl restart krb5-kdc krb5-admin-server")
    need(site.kinit(), "alice cannot log in when tkdc is gone")
    site.host("kdc0").run("kadmin.local cpw -pw 'another secret' alice")
    followed(site, "alice")
    need(site.kinit("alice", "another secret"), "a changed password does not log in")
    site.play("uninstall", site.joint(), "-e", "tkdc_uninstall=true", "-e",
              "tkdc_destroy_keys=true")
    for kdc in KDCS:
        left = site.host(kdc).run(LEFT, check=False).stdout
        need(not left, f"the directory is left on {kdc}", left)
    del site.variables["tkdc_ldap"]
