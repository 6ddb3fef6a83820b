# SPDX-License-Identifier: Apache-2.0
"""Steps of the rollout: a host that is not as it should be, what its administrator reads, word for
word as docs/operations.md has it, with which exit status, and that the remedy there mends it."""

import re

from tests.rollout import steps_certificates
from tests.rollout.site import ROOT, Site, until
from tests.rollout.steps_faults import journal, no_login, says
from tests.rollout.steps_install import need

OFF_S = 300
STOPS = r"; no ticket is sealed or opened until it is set \(run NTP on all three\)"
# $1 the mounted folder, $2 room beside what is in it, in MiB
SMALL_DISK = r"""
set -e
systemctl stop {unit}
mkdir /root/disk
cp -a --sparse=always {folder}/. /root/disk
mount -t tmpfs -o size=$(( $(du -sm /root/disk | cut -f1) + {room_mib} ))m,mode=0700 tmpfs {folder}
chown --reference=/root/disk {folder}
cp -a --sparse=always /root/disk/. {folder}
systemctl start {unit}
"""
LARGE_DISK = r"""
set -e
systemctl stop {unit}
rm -rf /root/disk {folder}/ballast* && mkdir /root/disk
cp -a --sparse=always {folder}/. /root/disk
umount {folder}
rm -rf {folder}/*
cp -a --sparse=always /root/disk/. {folder}
rm -rf /root/disk
systemctl start {unit}
"""
OWN_DISK_AWAY = r"""
systemctl stop tkdc-server@{name}
cd /var/lib/tkdc/{name}
mv audit/audit.jsonl* . && umount audit && rmdir audit
sed -i '/tkdc-audit/d; /{name}.audit/d' /etc/fstab
rm /etc/systemd/system/tkdc-server@{name}.service.d/audit.conf
sed -i 's|audit/audit.jsonl"|audit.jsonl"|' /etc/tkdc/{name}/tkdc.toml
systemctl daemon-reload
systemctl start tkdc-server@{name}
"""


def ended_certificate(site: Site) -> None:
    """It goes on working, and is spoken of. The rotation has left it."""
    name = steps_certificates.ENDED
    says(site, 0, r"^tkdc is healthy",
         rf"^  server {name[-1]}: this server's certificate ended on \S+ \S+ UTC; it goes on "
         r"working; make another in its time \(docs/operations.md, Changing keys\)$")
    need("certificate ended on" in journal(site.host(name), f"tkdc-server@{name}"),
         "the journal says nothing")
    need(site.kinit(), "alice cannot log in")


def clock_off(site: Site) -> None:
    """Five minutes ahead on one server."""
    machine, unit = site.host("server1"), "tkdc-server@server1.service"
    library = machine.run("ls /usr/lib/*/faketime/libfaketime.so.1").stdout.strip()
    drop_in = f"/run/systemd/system/{unit}.d"
    machine.run(f"mkdir -p {drop_in}")
    machine.run(f"cat >{drop_in}/clock.conf", stdin=(
        f"[Service]\nEnvironment=LD_PRELOAD={library} FAKETIME=+{OFF_S}s DONT_FAKE_MONOTONIC=1\n"))
    machine.run(f"systemctl daemon-reload && systemctl restart {unit}")
    try:
        says(site, 2, r"^tkdc is DEGRADED",
             rf"^  server 0: server 1's clock is (299|300|301) s ahead of this server's{STOPS}$",
             rf"^  server 1: this server's clock is (299|300|301) s ahead of both others'{STOPS}$")
        no_login(site, "server 1's clock is five minutes ahead")
        need("clock is" in journal(site.host("server0"), "tkdc-server@server0"),
             "server 0's journal says nothing")
    finally:
        machine.run(f"rm -r {drop_in} && systemctl daemon-reload && systemctl restart {unit}")
    site.wait_healthy("the clock was set")
    site.wait_login("the clock was set")


def full_disk(site: Site) -> None:
    """Of one server's store and audit log. No ticket goes out that no line speaks of."""
    machine, unit = site.host("server2"), "tkdc-server@server2"
    folder = "/var/lib/tkdc/server2"
    machine.run(SMALL_DISK.format(unit=unit, folder=folder, room_mib=40))
    site.wait_healthy("the move to a small disk")
    try:
        machine.run(f"head -c 39M /dev/zero >{folder}/ballast")
        says(site, 0, r"^  server 2: .*the disk of its audit log \(\S+\) has \d+ of \d+ MiB "
                      r"left: when it is full no ticket is issued")
        machine.run(f"cat /dev/zero >{folder}/ballast2; true")
        until("a login that the full disk stops", lambda: not site.kinit(), 60)
        says(site, 2, r"^tkdc is DEGRADED",
             rf"^  server 2: audit: {folder}/audit.jsonl.*No space left on device")
        no_login(site, "server 2's disk is full")
        need("No space left on device" in journal(machine, unit), "the journal says nothing")
        machine.run(f"rm {folder}/ballast*")
        site.wait_login("room was made", 60)
        site.wait_healthy("room was made")
        done = machine.run(f"tkdc audit verify {folder}/audit.jsonl", check=False)
        need(done.returncode == 2 and "GAPS" in done.stdout, "verify names no gap",
             f"{done.returncode} {done.stdout}")
    finally:
        machine.run(LARGE_DISK.format(unit=unit, folder=folder))
    site.wait_healthy("the move to a large disk")
    site.wait_login("the move to a large disk")


def own_disk_for_the_audit_log(site: Site) -> None:
    """By the page's commands, but that hosts have no device: a tmpfs is in its place."""
    machine, name = site.host("server1"), "server1"
    page = (ROOT / "docs/operations/plan.md").read_text()
    chapter = page.partition("## Room for the audit log\n")[2].partition("\n## ")[0]
    typed = [line.strip().replace("NAME", name) for line in chapter.splitlines()
             if line.startswith("    ")]
    need(typed[0].startswith("mkfs.ext4 ") and "LABEL=tkdc-audit" in chapter, "other commands")
    typed = [re.sub(r"LABEL=tkdc-audit (\S+) ext4 ", r"tmpfs \1 tmpfs size=64m,", line)
             for line in typed[1:]]
    machine.run("set -e\n" + "\n".join(typed))
    try:
        site.wait_healthy("the move of the audit log")
        site.wait_login("the move of the audit log")
        log = f"/var/lib/tkdc/{name}/audit/audit.jsonl"
        said = machine.run(f"findmnt -n -o FSTYPE -T {log}; tkdc audit verify {log}; "
                           f"systemctl show -p RequiresMountsFor tkdc-server@{name}").stdout
        need(said.startswith("tmpfs\n") and ", whole; " in said, "the log", said)
        need(f"/var/lib/tkdc/{name}/audit" in said.splitlines()[-1], "it waits for no mount", said)
        need(machine.run(f"ls /var/lib/tkdc/{name}/audit.jsonl", check=False).returncode != 0,
             "it is where it was")
    finally:
        machine.run(OWN_DISK_AWAY.format(name=name))
    site.wait_healthy("the way back")


def misspelt_setting(site: Site) -> None:
    """File, line, key; the configuration in use and the server stay as they are."""
    machine, config = site.host("server0"), "/etc/tkdc/server0/tkdc.toml"
    asked = f"sha256sum {config}; systemctl show -p MainPID tkdc-server@server0"
    before = machine.run(asked).stdout
    kept = site.variables["tkdc_server_settings"]
    site.variables["tkdc_server_settings"] = {"limits": {"opened_cheks_per_day": 1000}}
    try:
        play = site.play("install", site.joint(), "--limit", "server0", expect=None)
    finally:
        site.variables["tkdc_server_settings"] = kept
    need(play.status == 2, f"exit status {play.status}", play.said)
    need(re.search(r"tkdc.toml.new.*unknown key 'limits.opened_cheks_per_day'.*line \d+",
                   play.said) is not None, "it does not say where", play.said)
    need(machine.run(asked).stdout == before, "something was changed")
