# SPDX-License-Identifier: Apache-2.0
"""Steps of the rollout: what an installation goes through in its life."""

from pathlib import Path

from tests.rollout import packages
from tests.rollout.site import KDCS, SERVERS, Site, until
from tests.rollout.steps_faults import Logins
from tests.rollout.steps_install import need


def versions(site: Site) -> set[str]:
    """Of the packages on all hosts, and of what the servers say that they run."""
    return {site.host(name).run("dpkg-query -W -f '${Version}' tkdc-tools").stdout
            for name in (*SERVERS, *KDCS)}


def upgrade_to(site: Site, repository: Path) -> None:
    before = versions(site)
    need(len(before) == 1, f"hosts have versions {before}")
    site.serve(repository)
    with Logins(site) as logins:
        until("logins go on", lambda: logins.done > 2, 60)
        play = site.play("upgrade", site.joint())
    need(play.changed > 0, "nothing was upgraded", play.said)
    after = versions(site)
    need(len(after) == 1 and after != before, f"versions {before}, then {after}")
    need(logins.lost == 0, f"{logins.lost} logins lost, {logins.done} done, {logins.retried} again")
    site.wait_healthy("the upgrade")
    play = site.play("upgrade", site.joint())
    need(play.changed == 0, f"a second upgrade changed {play.changed}", play.said)


def upgrade(site: Site) -> None:
    upgrade_to(site, packages.repository())


def rotate_krbtgt(site: Site) -> None:
    """Tickets of before stay good; new ones come under the new version."""
    need(site.kinit(), "alice cannot log in")
    site.client.run("cp /tmp/krb5cc_0 /root/before.cc")
    before = site.client.run("klist -e -C /root/before.cc; kvno krbtgt/ROLLOUT.TEST").stdout
    site.play("rotate", site.joint(tkdc_rotate=["krbtgt"]))
    site.client.run("kvno -c /root/before.cc host/client.rollout.test")
    site.wait_login("krbtgt's rotation")
    after = site.client.run("kvno krbtgt/ROLLOUT.TEST").stdout
    need(before.splitlines()[-1] != after.splitlines()[-1], "krbtgt has the version of before",
         before + after)


def promote(site: Site) -> None:
    """kdc1 becomes the primary, kdc0 follows; kadmin finds kadmind there."""
    site.primary = "kdc1"
    site.play("promote", site.joint())
    site.host("kdc1").run("kadmin.local addprinc -pw 'secret of carol' +requires_preauth carol")
    until("carol at the former primary", lambda: site.host("kdc0").run(
        "kadmin.local getprinc carol", check=False).returncode == 0, 180)
    site.client.run("sed -i 's/admin_server = kdc0/admin_server = kdc1/' /etc/krb5.conf")
    site.client.run("kadmin -p admin/admin -w 'secret of the administrator' -q 'getprinc carol'")
    need(site.kinit("carol", "secret of carol"), "carol cannot log in")
    play = site.play("promote", site.joint())
    need(play.changed == 0, f"promoted again, {play.changed} changes", play.said)
