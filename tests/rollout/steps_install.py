# SPDX-License-Identifier: Apache-2.0
"""Steps of the rollout: what is refused, the installation, and a client's first commands."""

from difflib import unified_diff

from tests.rollout.lab import Machine
from tests.rollout.site import CLIENT_KRB5, KDCS, SERVERS, TWO, Site, StepError, until

ADMIN, ADMIN_PASSWORD = "admin/admin", "secret of the administrator"
# What tells an untouched host from one that a playbook was at.
LISTING = ("find /etc /var/lib /usr /srv -xdev ! -type s -newer /root/.before ! -name '.pwd.lock' "
           "! -path '/var/lib/systemd/*' ! -path '/etc/ssh/*' | sort")


def need(condition: bool, what: str, seen: str = "") -> None:
    if not condition:
        raise StepError(f"{what}\n{seen[-4000:]}")


def refused(site: Site, word: str, **wrong) -> None:
    """This inventory is refused by name, and no host was changed."""
    kept = dict(site.variables)
    site.variables.update(wrong)
    try:
        play = site.play("install", site.joint(), expect=None)
    finally:
        site.variables = kept
    need(play.status == 2, f"an inventory with {wrong}: exit status {play.status}", play.said)
    need(word in play.said, f"nothing said {word!r}", play.said)
    need(play.changed == 0, f"{play.changed} changes", play.said)


def wrong_inventories(site: Site) -> None:
    for host in (*SERVERS, *KDCS):
        site.host(host).run("touch /root/.before; sleep 0.05")
    refused(site, "must name server0, server1 and server2", tkdc_members=["server0", "server1"])
    if TWO:
        refused(site, "two servers: they have no audits", tkdc_refreshes=True)
    refused(site, "tkdc_primary: kdc9 is no host of the group tkdc_kdcs", tkdc_primary="kdc9")
    refused(site, "missing required arguments: tkdc_realm", tkdc_realm=None)
    for host in (*SERVERS, *KDCS):
        changed = site.host(host).run(LISTING).stdout
        need(not changed, f"{host} was touched", changed)


def check_mode(site: Site) -> None:
    play = site.play("install", site.joint(), "--check")
    need(play.changed > 0, "a check of bare hosts says that it would change nothing", play.said)
    for host in (*SERVERS, *KDCS):
        changed = site.host(host).run(LISTING).stdout
        need(not changed, f"--check touched {host}", changed)


def install(site: Site) -> None:
    """The first run is killed while it makes the servers; the next one takes up what is there."""
    def made(host: str, member: str) -> bool:
        return site.host(host).run(f"test -e /etc/tkdc/{member}", check=False).returncode == 0

    site.killed_play("install", site.joint(), lambda: made("server1", "server1"))
    need(not made("kdc0", "agent-kdc/agent.toml"), "the run came to its end before it was killed")
    site.play("install", site.joint())
    site.client.write("/etc/krb5.conf", CLIENT_KRB5)


def second_run(site: Site) -> None:
    play = site.play("install", site.joint())
    need(play.changed == 0, f"a second run changed {play.changed}", play.said)
    play = site.play("install", site.joint(), "--check")
    need(play.changed == 0, f"a check after it would change {play.changed}", play.said)


# CURVE keys as they are, the rest in base64; a credential also as its unit reads it.
SECRETS = r"""
opened() { systemd-creds decrypt --name=$(basename $1 .cred) $1 - 2>/dev/null; }
cat /etc/tkdc/*/curve.key 2>/dev/null
for file in $(find /etc/tkdc -name '*.key' -o -name '*.key.pem' -o -name '*.cred'); do
  base64 -w0 $file; echo
  case $file in
    */curve.key.cred) opened $file; echo ;;
    *.cred) opened $file | base64 -w0; echo ;;
  esac
done
"""


def secrets_of(site: Site) -> dict[str, list[str]]:
    found = {host: [line for line in site.host(host).run(SECRETS).stdout.split()
                    if len(line) >= 40] for host in (*SERVERS, *KDCS)}
    seen = sum(len(lines) for lines in found.values())
    need(seen >= len(SERVERS) * 3, f"only {seen} secrets were looked for")
    return found


def at_the_controller(site: Site, secrets: dict[str, list[str]]) -> set[str]:
    """Hosts of which a secret is in what the controller keeps, or in what any run has told it."""
    kept = "".join(path.read_text(errors="replace") for path in site.folder.rglob("*")
                   if path.is_file() and "collections" not in path.parts
                   and "www" not in path.parts)
    return {host for host, lines in secrets.items() if any(line in kept for line in lines)}


def no_secret_left_its_host(site: Site) -> None:
    """A secret that an earlier run has told would be found: one of each host is, when it has."""
    secrets = secrets_of(site)
    found = at_the_controller(site, secrets)
    need(not found, f"secrets of {sorted(found)} are at the controller")
    control = site.new_log("control")
    having = {host for host, lines in secrets.items() if lines}
    control.write_text("\n".join(f'changed: [{host}] => {{"stdout": "{secrets[host][-1]}"}}'
                                 for host in sorted(having)))
    site.play("install", site.joint(), "--list-hosts")  # does not write over it
    found = at_the_controller(site, secrets)
    control.unlink()
    need(found == having, f"the control: of {sorted(having)} {sorted(found)} are found")


def followed(site: Site, principal: str) -> None:
    """Until the spare has it as the primary has: a client that waits for a second asks both."""
    def keys(kdc: str) -> list[str]:
        said = site.host(kdc).run(f"kadmin.local getprinc {principal}", check=False).stdout
        return [line for line in said.splitlines() if line.startswith(("Key: ", "Principal: "))]

    until(f"{principal} at all KDC hosts", lambda: bool(keys("kdc0")) and
          keys("kdc0") == keys("kdc1"), 180)


def client_commands(site: Site) -> None:
    primary, client = site.host(site.primary), site.client
    for name, password in (("alice", "secret of alice"), (ADMIN, ADMIN_PASSWORD)):
        primary.run(f"kadmin.local addprinc -pw '{password}' +requires_preauth {name}")
        followed(site, name)
    need(site.kinit(), "alice cannot log in")
    need(not site.kinit(password="something else"), "a wrong password logs in")
    kadmin = f"kadmin -p {ADMIN} -w '{ADMIN_PASSWORD}' -q"
    said = client.run(f"{kadmin} 'addprinc -randkey host/client.rollout.test'").stdout
    need("created" in said, "kadmin makes no principal", said)
    # Of a former realm's keys with the same number kinit would take the first.
    client.run(f"rm -f /root/client.keytab && {kadmin} "
               "'ktadd -k /root/client.keytab host/client.rollout.test'")
    followed(site, "host/client.rollout.test")
    need(site.kinit(), "alice cannot log in")
    client.run("kvno host/client.rollout.test && klist")
    client.run("kinit -k -t /root/client.keytab host/client.rollout.test && "
               "kvno host/client.rollout.test")


def status_tells_spares(site: Site) -> None:
    for host in KDCS:
        done = site.host(host).run("tkdc status --config /etc/tkdc/agent-kdc/agent.toml")
        spare = "tkdc is healthy; this is a spare KDC" in done.stdout
        need(spare == (host != site.primary), host, done.stdout)


def spare_serves(site: Site) -> None:
    """The spare has what the primary has, and a client finds it when the primary is away."""
    followed(site, "alice")
    status_tells_spares(site)
    site.host("kdc0").cut_off()
    try:
        site.wait_login("the primary was cut off", 60)
    finally:
        site.host("kdc0").reconnect()


def keeps_its_rules(site: Site) -> None:
    """Debian's own rules begin with `flush ruleset`: the ports are closed again behind it."""
    machine = site.host("server0")
    for words in ("start nftables", "reload nftables", "restart nftables", "reload nftables",
                  "stop nftables && systemctl start nftables"):
        machine.run(f"systemctl {words}")
        need("drop" in machine.run("nft list table inet tkdc; true").stdout,
             f"the firewall's table is gone after systemctl {words}")
    site.wait_login("nftables was loaded anew", 60)


def metrics(machine: Machine, port: int) -> str:
    return machine.run(f"python3 -c \"import urllib.request as u; "
                       f"print(u.urlopen('http://127.0.0.1:{port}/metrics').read().decode())\""
                       ).stdout


def watched(site: Site) -> None:
    """What administrators look at, as the inventory asked for it; and what is kept at night."""
    for name in SERVERS:
        said = metrics(site.host(name), 9748)
        need("\ntkdc_server_up 1\n" in said, f"no metrics of {name}", said)
    backed_up(site)
    said = metrics(site.host(site.primary), 9747)
    need("\ntkdc_healthy 1\n" in said, "no metrics of the realm", said)
    need('\ntkdc_other_agent_up{agent="agent-admin"} 1\n' in said, "no agent beside kadmind", said)
    for name in (*SERVERS, site.primary):
        done = site.host(name).run("tkdc doctor", check=False)
        need(done.returncode == 0, f"the doctor on {name}", done.stdout + done.stderr)


def backed_up(site: Site) -> None:
    key = (site.folder / "backup.key").read_text()
    for name in SERVERS:
        machine = site.host(name)
        machine.run(f"systemctl is-active tkdc-backup@{name}.timer")
        machine.run(f"systemctl start tkdc-backup@{name}.service")
        machine.write("/root/backup.key", key)
        said = machine.run("chmod 600 /root/backup.key; tkdc backup verify --key /root/backup.key "
                           f"/var/lib/tkdc/{name}/backups/*.tkdc-backup").stdout
        machine.run("rm /root/backup.key")
        need("whole" in said, f"the backup of {name}", said)


# One line for each thing of tkdc's: files, processes, users, groups, rules, packages, units.
LEFT = r"""
find / /run /dev/shm -xdev -iname '*tkdc*' ! -path '/proc/*' ! -path '/sys/*' \
  ! -path '/var/log/*' ! -path '/var/cache/*' ! -path '/tmp/*' ! -path '/var/tmp/*'
ps -e -o comm= | grep tkdc
getent passwd | grep tkdc
getent group | grep tkdc
nft list tables | grep tkdc
dpkg -l | grep tkdc
systemctl list-units --all --plain --no-legend '*tkdc*'
true
"""
# What a host has of all that, before; nobody may be logged in at the KDC meanwhile.
STATE = r"""
listed() { find "$@" -type f -exec sha256sum {} + 2>/dev/null | sort -k 2; }
listed /etc/krb5kdc /etc/krb5.conf /etc/krb5.keytab /etc/tkdc /etc/systemd/system /etc/apt
find /var/lib/tkdc /var/lib/krb5kdc /etc/tkdc /etc/krb5kdc /run/tkdc -printf '%M %u %g %p\n' \
  2>/dev/null | sort
if [ -e /var/lib/krb5kdc/principal ]; then kdb5_util dump | sha256sum; fi
for unit in krb5-kdc krb5-admin-server krb5-kpropd tkdc-firewall nftables \
  $(systemctl list-units --all --plain --no-legend '*tkdc*@*.service' | cut -d' ' -f1); do
  echo $unit $(systemctl show -p UnitFileState,ActiveState,MainPID $unit)
done
dpkg-query -W -f '${Package} ${Version} ${Status}\n' '*tkdc*' 'krb5*' 2>/dev/null
getent passwd
getent group
nft list ruleset
true
"""


def nothing_left(site: Site, hosts: tuple[str, ...]) -> None:
    for host in hosts:
        left = site.host(host).run(LEFT).stdout
        need(not left, f"something is left on {host}", left)


def states(site: Site, hosts: tuple[str, ...]) -> dict[str, list[str]]:
    return {host: site.host(host).run(STATE).stdout.splitlines() for host in hosts}


def check_changes_nothing(site: Site, hosts: tuple[str, ...], *command,
                          would_change: bool = True) -> None:
    """`command`: of site.play, with --check. What it says it would do is not done."""
    before = states(site, hosts)
    play = site.play(*command, "--check")
    need(play.changed > 0 or not would_change, "a check says that nothing would change", play.said)
    after = states(site, hosts)
    for host in hosts:
        need(len(before[host]) > 20, f"the state of {host} is not seen", "\n".join(before[host]))
        need(after[host] == before[host], f"a check of {command[0]} changed {host}",
             "\n".join(unified_diff(before[host], after[host], lineterm="", n=0)))


def leaves_nothing(site: Site) -> None:
    hosts, sure = (*SERVERS, *KDCS), ("-e", "tkdc_uninstall=true")
    # Of what was installed, upgraded, rotated and promoted meanwhile.
    no_secret_left_its_host(site)
    for host in hosts:
        need("tkdc-monitor" in site.host(host).run(LEFT).stdout, f"the control on {host}")
    play = site.play("uninstall", site.joint(), expect=None)
    need(play.status == 2 and play.changed == 0, "uninstalled without a word", play.said)
    need("say -e tkdc_uninstall=true" in play.said, "it does not say how", play.said)
    play = site.play("uninstall", site.joint(), *sure, expect=None)
    need(play.status == 2, "keys went without a word", play.said)
    need("To remove it all the same" in play.said, "nobody refused", play.said)
    destroyed = (*sure, "-e", "tkdc_destroy_keys=true")
    check_changes_nothing(site, hosts, "uninstall", site.joint(), *destroyed)
    site.play("uninstall", site.joint(), *destroyed)
    nothing_left(site, hosts)
    play = site.play("uninstall", site.joint(), *destroyed)
    need(play.changed == 0, f"uninstalled again, {play.changed} changes", play.said)


def nothing_installed(site: Site) -> None:
    """Where another step has left an installation."""
    if site.host("server0").run("dpkg -s tkdc-server", check=False).returncode == 0:
        site.play("uninstall", site.joint(), "-e", "tkdc_uninstall=true", "-e",
                  "tkdc_destroy_keys=true")
