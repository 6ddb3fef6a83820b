# SPDX-License-Identifier: Apache-2.0
"""Steps of the rollout: four administrators install, each with hosts of his own, and give the keys
back to a realm that has a spare KDC."""

import re

from tests.rollout.site import CLIENT_KRB5, KDCS, SERVERS, Site
from tests.rollout.steps_install import followed, need, nothing_installed

APPROVERS = (0, 2)
WORDS = "secret of erin"


def name_approvers(site: Site) -> None:
    """Each on his own machine, here his server's host; all three know the three public keys."""
    tables = []
    for party, name in enumerate(SERVERS):
        said = site.host(name).run("tkdc approver --out /root/approver.key",
                                   stdin=f"the passphrase of administrator {party}\n").stdout
        tables.append({"name": f"admin{party}", "party": party,
                       "public_key": said.split('public_key = "')[1][:64]})
    site.variables["tkdc_server_settings"] = {
        **site.variables["tkdc_server_settings"], "approvers": tables}


def approve(site: Site, party: int) -> None:
    folder, key = "/var/lib/tkdc/revert-1", "/root/approver.key"
    site.host(SERVERS[party]).run(
        f"tkdc approve --config /etc/tkdc/server{party}/tkdc.toml --key {key} "
        f"--out {folder}/approval {folder}/request",
        stdin=f"the passphrase of administrator {party}\n")


def separate_administrators(site: Site) -> None:
    """Each with hosts, inventory and folder of his own; introductions go by mail."""
    nothing_installed(site)
    owners = {**{name: (name,) for name in SERVERS}, "kdc": KDCS}
    fingerprints: dict[str, str] = {}
    mail: dict[str, str] = {}

    def run(owner: str) -> str:
        inventory = site.inventory(owner, owners[owner], {"tkdc_fingerprints": fingerprints})
        for name, text in mail.items():
            (inventory.parent / "introductions" / name).write_text(text)
        return site.play("install", inventory).said

    need("waits for" in run("server1"), "server 1 waits for nobody")
    for owner in owners:
        said = run(owner)
        for name, value in re.findall(
                r"introductions/(\S+)\.introduction to the other administrators\.\",\s+"
                r"\"Read its fingerprint to them: ([0-9a-f-]+)\"", said):
            fingerprints[name] = value
        folder = site.folder / owner / "introductions"
        mail.update({path.name: path.read_text() for path in folder.iterdir()})
    need(len(mail) == 7 and len(fingerprints) == 7, f"{sorted(mail)} {sorted(fingerprints)}")
    name_approvers(site)
    for owner in owners:
        run(owner)
    site.wait_healthy("separate administrators' installation")
    site.client.write("/etc/krb5.conf", CLIENT_KRB5)


def revert_with_a_spare(site: Site) -> None:
    """Both hosts go on as stock KDCs, the spare with what the primary has."""
    primary, client = site.host(site.primary), site.client
    primary.run(f"kadmin.local addprinc -pw '{WORDS}' +requires_preauth erin")
    primary.run("kadmin.local addprinc -randkey host/client.rollout.test && "
                "kadmin.local ktadd -k /root/erin.keytab host/client.rollout.test")
    client.run("base64 -d >/root/erin.keytab",
               stdin=primary.run("base64 -w0 /root/erin.keytab").stdout)
    followed(site, "host/client.rollout.test")
    inventory = site.inventory("late", (*SERVERS, *KDCS), {"tkdc_joint": True})
    play = site.play("revert", inventory)
    need("0 of 2 approvals are there" in play.said, "it waits for nobody", play.said)
    for party in APPROVERS:
        approve(site, party)
    site.play("revert", inventory)
    for server in SERVERS:
        site.host(server).run("systemctl stop 'tkdc-server@*'")
    followed(site, "erin")
    for away in KDCS:
        site.host(away).cut_off()
        try:
            need(site.kinit("erin", WORDS), f"erin cannot log in without {away}")
            client.run("kinit -c /root/erin.cc -k -t /root/erin.keytab host/client.rollout.test")
        finally:
            site.host(away).reconnect()
    primary.run("kadmin.local cpw -pw 'another secret' erin")
    followed(site, "erin")
    need(site.kinit("erin", "another secret"), "a changed password does not log in")
