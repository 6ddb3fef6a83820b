# SPDX-License-Identifier: Apache-2.0
"""Steps of the rollout: four administrators install, each with hosts of his own, and give the keys
back to a realm that has a spare KDC."""

import re

from tests.rollout.site import CLIENT_KRB5, KDCS, SERVERS, Site
from tests.rollout.steps_install import followed, need, nothing_installed

APPROVERS = (0, 2)
OWNERS = {**{name: (name,) for name in SERVERS}, "kdc": KDCS}
WORDS = "secret of erin"


def name_approvers(site: Site) -> None:
    """Each on his own machine, here his server's host; all three know the three public keys."""
    tables = []
    for party, name in enumerate(SERVERS):
        said = site.host(name).run("rm -f /root/approver.key && "
                                   "tkdc approver --out /root/approver.key",
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


def joint_revert(site: Site) -> None:
    """By one who has all hosts, with two approvals. The realm needs no server any more."""
    site.play("revert", site.joint())
    for party in APPROVERS:
        approve(site, party)
    site.play("revert", site.joint())
    for name in SERVERS:
        site.host(name).run(f"systemctl stop tkdc-server@{name}")


def separate_administrators(site: Site) -> None:
    """Each with hosts, inventory and folder of his own; introductions go by mail."""
    nothing_installed(site)
    fingerprints: dict[str, str] = {}
    mail: dict[str, str] = {}

    def run(owner: str) -> str:
        inventory = site.inventory(owner, OWNERS[owner], {"tkdc_fingerprints": fingerprints})
        for name, text in mail.items():
            (inventory.parent / "introductions" / name).write_text(text)
        return site.play("install", inventory).said

    said = run("server1")
    need(re.search(r"server1 waits for \S+/server0.introduction", said) is not None,
         "server 1 does not say for whom it waits", said)
    for owner in OWNERS:
        said = run(owner)
        if owner == "kdc":
            # No server knows its agents yet: to ask again would be in vain, for minutes.
            need("The realm waits for the servers" in said, "the KDC waits for nobody", said)
            need("RETRYING" not in said, "the KDC's first run asked again", said)
        for name, value in re.findall(
                r"introductions/(\S+)\.introduction to the other administrators\.\",\s+"
                r"\"Read its fingerprint to them: ([0-9a-f-]+)\"", said):
            fingerprints[name] = value
        folder = site.folder / owner / "introductions"
        mail.update({path.name: path.read_text() for path in folder.iterdir()})
    need(len(mail) == 7 and len(fingerprints) == 7, f"{sorted(mail)} {sorted(fingerprints)}")
    name_approvers(site)
    for owner in OWNERS:
        run(owner)
    site.wait_healthy("separate administrators' installation")
    site.client.write("/etc/krb5.conf", CLIENT_KRB5)


def separate_revert(site: Site) -> None:
    """Each runs it with his own inventory; requests, approvals and shares go by mail."""
    mail: dict[str, bytes] = {}

    def run(owner: str, expected: str = "") -> None:
        inventory = site.inventory(owner, OWNERS[owner])
        folder = inventory.parent / "introductions" / "revert-1"
        folder.mkdir(exist_ok=True)
        for name, octets in mail.items():
            (folder / name).write_bytes(octets)
        said = site.play("revert", inventory).said
        need(expected in said, f"the run of {owner} does not say {expected!r}", said)
        mail.update({path.name: path.read_bytes() for path in folder.iterdir()})

    run("server1", "revert-1/request from the KDC's administrator")
    run("kdc", "0 of 3 servers' shares")
    for server in SERVERS:
        run(server, "0 of 2 approvals are there")
    for party in APPROVERS:
        approve(site, party)
        run(SERVERS[party])
    need("shares-2" in mail and "shares-0" not in mail, f"handed over too early: {sorted(mail)}")
    for server in ("server0", "server1"):
        run(server)
    run("kdc")


def revert_with_a_spare(site: Site) -> None:
    """Both hosts go on as stock KDCs, the spare with what the primary has."""
    primary, client = site.host(site.primary), site.client
    primary.run(f"kadmin.local addprinc -pw '{WORDS}' +requires_preauth erin")
    primary.run("kadmin.local addprinc -randkey host/client.rollout.test && "
                "kadmin.local ktadd -k /root/erin.keytab host/client.rollout.test")
    client.run("base64 -d >/root/erin.keytab",
               stdin=primary.run("base64 -w0 /root/erin.keytab").stdout)
    followed(site, "host/client.rollout.test")
    separate_revert(site)
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
