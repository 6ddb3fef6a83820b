# SPDX-License-Identifier: Apache-2.0
"""Steps of the rollout: what an installation goes through in its life."""

import re
from pathlib import Path

from tests.rollout.site import KDCS, REALM, SERVERS, Site, until
from tests.rollout.steps_faults import Logins
from tests.rollout.steps_install import ADMIN, ADMIN_PASSWORD, followed, need


def versions(site: Site) -> set[str]:
    return {site.host(name).run("dpkg-query -W -f '${Version}' tkdc-tools").stdout
            for name in (*SERVERS, *KDCS)}


def old_programs(site: Site) -> list[str]:
    """Processes that run a file which is not installed any more."""
    return [f"{name}: {line}" for name in (*SERVERS, *KDCS)
            for line in site.host(name).run(
                "ls -l /proc/[0-9]*/exe 2>/dev/null | grep 'tkdc.*(deleted)'; "
                "grep -l 'tkdc.*(deleted)' /proc/[0-9]*/maps 2>/dev/null; true"
            ).stdout.splitlines()]


def upgrade_to(site: Site, repository: Path) -> None:
    before = versions(site)
    need(len(before) == 1, f"hosts have versions {before}")
    site.serve(repository)
    play = site.play("upgrade", site.joint(), "--check")
    need(play.changed >= len((*SERVERS, *KDCS)) and
         re.search(r"Install packages\] \*+\nchanged", play.said) is not None,
         "a check does not say that packages would be upgraded", play.said)
    need(versions(site) == before, "a check upgraded")
    with Logins(site) as logins:
        until("logins go on", lambda: logins.done > 2, 60)
        play = site.play("upgrade", site.joint())
    need(play.changed > 0, "nothing was upgraded", play.said)
    after = versions(site)
    need(len(after) == 1 and after != before, f"versions {before}, then {after}")
    need(not old_programs(site), "programs of before run", "\n".join(old_programs(site)))
    logins.need_none_lost()
    site.wait_healthy("the upgrade")
    play = site.play("upgrade", site.joint())
    need(play.changed == 0, f"a second upgrade changed {play.changed}", play.said)


def upgrade(site: Site) -> None:
    need(len(site.repositories) == 2, "TKDC_ROLLOUT_REPOSITORY=FOLDER:NEWER, to upgrade to NEWER")
    upgrade_to(site, site.repositories[1])


def krbtgt_version(site: Site) -> str:
    need(site.kinit(), "alice cannot log in")
    return site.client.run(f"kvno krbtgt/{REALM}").stdout.split()[-1]


def rotate_krbtgt(site: Site) -> None:
    """Tickets of before stay good; new ones come under the new version."""
    before = krbtgt_version(site)
    site.client.run("cp /tmp/krb5cc_0 /root/before.cc")
    site.play("rotate", site.joint(), "--check")
    need(krbtgt_version(site) == before, "a check drew a key")
    site.play("rotate", site.joint())
    site.client.run("kvno -c /root/before.cc host/client.rollout.test")
    until("the new version", lambda: krbtgt_version(site) == str(int(before) + 1), 60)


def promote(site: Site) -> None:
    """kdc1 becomes the primary, kdc0 follows; kadmin finds kadmind there. Then all the way back,
    while the primary is away."""
    site.host("kdc0").run("kadmin.local addprinc -pw 'secret of bob' +requires_preauth bob")
    site.primary = "kdc1"
    play = site.play("promote", site.joint(), "--check")
    need(play.changed > 0, "a check says that nothing would change", play.said)
    site.play("promote", site.joint())
    need(site.host("kdc1").run("kadmin.local getprinc bob", check=False).returncode == 0,
         "what was changed before the promotion is lost")
    site.host("kdc1").run("kadmin.local addprinc -pw 'secret of carol' +requires_preauth carol")
    followed(site, "carol")
    site.client.run("sed -i 's/admin_server = kdc0/admin_server = kdc1/' /etc/krb5.conf")
    said = site.client.run(f"kadmin -p {ADMIN} -w '{ADMIN_PASSWORD}' -q 'getprinc carol'").stdout
    need("Key: vno 1" in said, "kadmin does not see carol", said)
    for user in ("alice", "bob", "carol"):
        need(site.kinit(user, f"secret of {user}"), f"{user} cannot log in")
    play = site.play("promote", site.joint())
    need(play.changed == 0, f"promoted again, {play.changed} changes", play.said)


def promote_without_the_former(site: Site) -> None:
    """The primary has no power: its spare takes over, and it follows when it is back."""
    former = site.host("kdc1")
    former.cut_power()
    try:
        site.primary = "kdc0"
        play = site.play("promote", site.joint())
        need("kdc1 does not answer" in play.said, "it does not say who is away", play.said)
        site.host("kdc0").run("kadmin.local addprinc -pw 'secret of dave' +requires_preauth dave")
        site.wait_login("promotion without the former primary")
        need(site.kinit("dave", "secret of dave"), "dave cannot log in")
    finally:
        former.power_on()
        former.wait_up()
    former.run("systemctl stop krb5-admin-server")
    site.play("install", site.joint())
    followed(site, "dave")
    site.client.run("sed -i 's/admin_server = kdc1/admin_server = kdc0/' /etc/krb5.conf")
    said = site.client.run(f"kadmin -p {ADMIN} -w '{ADMIN_PASSWORD}' -q 'getprinc dave'").stdout
    need("Key: vno 1" in said, "kadmin does not see dave", said)
