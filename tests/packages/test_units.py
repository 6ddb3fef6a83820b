# SPDX-License-Identifier: Apache-2.0
"""Units on a host with systemd: secrets as credentials of the host, whom a unit may talk to, a
store's keys changed and taken to another host, reload, journal. In this order."""

import json
import re
from pathlib import Path

import pytest

from tests.packages.conftest import put_packages
from tests.packages.members import AGENTS, SERVERS, initialise, join_all
from tests.support.nspawn import Host

SECRETS = {"server": ("curve.key", "store.key", "tls.key.pem"), "agent": ("curve.key",)}
STATUS = "tkdc status --config /etc/tkdc/agent-kdc/agent.toml"
SWTPM = """\
[Unit]
DefaultDependencies=no
[Service]
StateDirectory=swtpm
ExecStart=/usr/bin/swtpm socket --tpm2 --tpmstate dir=/var/lib/swtpm \
--server type=tcp,port=2321 --ctrl type=tcp,port=2322 --flags not-need-init,startup-clear
"""
TPM = "swtpm:host=127.0.0.1,port=2321"


@pytest.fixture(scope="module")
def host(image):
    """Its systemd finds a TPM on loopback, once a test starts one there."""
    with Host(image, "tkdc-units", {"SYSTEMD_TPM2_DEVICE": TPM}) as running:
        put_packages(running)
        running.run("dpkg -i packages/*.deb")
        yield running


def becomes(host, command: str, seconds: int = 30) -> str:
    """What it prints once it succeeds."""
    return host.run(f"for i in $(seq {seconds * 5}); do {command} && exit 0; sleep 0.2; done; "
                    f"{command}", timeout_s=seconds + 90).stdout


def kind_of(name: str) -> str:
    return "server" if name in SERVERS else "agent"


def unit_of(name: str) -> str:
    return f"tkdc-{kind_of(name)}@{name}"


def test_an_installation_has_credentials_and_no_secret_files(host):
    join_all(host, initialise(host))
    for name in (*SERVERS, *AGENTS):
        for secret in SECRETS[kind_of(name)]:
            assert host.run(f"test -e /etc/tkdc/{name}/{secret}", check=False).returncode == 1
            text = host.run(f"cat /etc/tkdc/{name}/{secret}.cred").stdout
            assert re.fullmatch(r"[A-Za-z0-9+/=\s]+", text), "what systemd-creds writes"
            opened = host.run(f"systemd-creds decrypt --name={secret} "
                              f"/etc/tkdc/{name}/{secret}.cred - | wc -c").stdout
            assert int(opened) >= 32
    becomes(host, STATUS)


def test_a_credential_reaches_its_unit_alone(host):
    shown = host.run("systemctl cat tkdc-server@server0").stdout
    assert shown.count("LoadCredentialEncrypted=") == 3
    pid = host.run("systemctl show -p MainPID --value tkdc-server@server0").stdout.strip()
    folder = host.run(f"tr '\\0' '\\n' </proc/{pid}/environ | sed -n s/^CREDENTIALS_DIRECTORY=//p"
                      ).stdout.strip()
    assert folder
    for user in ("tkdc-agent", "nobody"):
        assert host.run(f"runuser -u {user} -- ls {folder}", check=False).returncode != 0
    assert host.run(f"nsenter -t {pid} -m runuser -u tkdc-server -- stat -c %s {folder}/store.key"
                    ).stdout.strip() == "32"


def test_a_changed_credential_starts_nothing(host):
    file = "/etc/tkdc/server2/store.key.cred"
    host.run(f"systemctl stop tkdc-server@server2 && cp -p {file} kept && "
             f"sed -i '1s/^\\(.\\{{60\\}}\\)./\\1-/; 2s/^./Z/' {file}")
    try:
        assert host.run("systemctl start tkdc-server@server2", check=False).returncode != 0
        said = host.run("journalctl -u tkdc-server@server2 -n 20 --no-pager").stdout
        assert "CREDENTIALS" in said
    finally:
        host.run(f"systemctl stop tkdc-server@server2; cp -p kept {file}; "
                 "systemctl reset-failed tkdc-server@server2; systemctl start tkdc-server@server2")
    becomes(host, STATUS)


def test_units_are_hardened(host):
    units = [unit_of(name) for name in (*SERVERS, *AGENTS)]
    # A backup opens the host's credentials, also of a TPM, which only root can.
    for unit in (*units, "tkdc-audit@server0", "tkdc-refresh@server0", "tkdc-backup@server0",
                 "tkdc-backup-copy@server0"):
        said = host.run(f"systemd-analyze security --no-pager {unit} | tail -1").stdout
        level = float(re.search(r"(\d+\.\d+)", said).group(1))
        assert level <= (1.4 if "backup" in unit else 1.2), said


def test_units_start_when_the_clock_is_right(host):
    """After a boot with a wrong clock no ticket is sealed; each unit waits for who sets it."""
    for unit in (unit_of("server0"), unit_of("agent-kdc")):
        shown = dict(line.split("=", 1) for line in host.run(
            f"systemctl show -p After -p Wants {unit}").stdout.splitlines() if "=" in line)
        assert "time-sync.target" in shown["After"].split(), shown
        assert "time-sync.target" in shown["Wants"].split(), shown


def test_who_is_not_named_does_not_come_in(host):
    """The kernel drops what comes from elsewhere; with the addresses taken away it does come."""
    knock = "timeout 3 bash -c 'exec 3<>/dev/tcp/127.0.0.1/7700' 2>/dev/null; echo $?"
    route = "ip route replace local 127.0.0.1/32 dev lo src {} table local"
    unit = "tkdc unit --config /etc/tkdc/server0/tkdc.toml"
    again = "systemctl daemon-reload && systemctl restart tkdc-server@server0"
    assert host.run(knock).stdout.strip() == "0", "from its own address"
    host.run("ip addr add 127.7.7.7/8 dev lo && " + route.format("127.7.7.7"))
    try:
        assert host.run(knock).stdout.strip() == "124", "nobody answered"
        host.run(f"{unit} --any-address && {again}")
        assert host.run(knock).stdout.strip() == "0"
    finally:
        host.run(f"{route.format('127.0.0.1')}; ip addr del 127.7.7.7/8 dev lo; {unit} && {again}")
    becomes(host, STATUS)


def test_what_an_administrator_adds_stays(host):
    folder = "/etc/systemd/system/tkdc-server@server0.service.d"
    host.run(f"printf '[Service]\\nIPAddressAllow=192.0.2.9\\n' >{folder}/mine.conf && "
             "tkdc unit --config /etc/tkdc/server0/tkdc.toml && systemctl daemon-reload")
    shown = host.run("systemctl show -p IPAddressAllow tkdc-server@server0").stdout
    assert "192.0.2.9" in shown and "127.0.0.2" in shown and "127.0.0.9" in shown
    host.run(f"rm {folder}/mine.conf; printf '[Service]\\n' >{folder}/tkdc.conf")
    done = host.run("tkdc unit --config /etc/tkdc/server0/tkdc.toml", check=False)
    assert done.returncode == 1 and "not of `tkdc unit`" in done.stderr
    host.run(f"rm {folder}/tkdc.conf && tkdc unit --config /etc/tkdc/server0/tkdc.toml && "
             "systemctl daemon-reload")


def test_status_says_whether_the_session_stands_and_why_not(host):
    shown = "systemctl show -p StatusText --value tkdc-server@server0"
    assert "session " in becomes(host, f"{shown} | grep 'session .* up'")
    host.run("systemctl stop tkdc-server@server1")
    assert "no session: " in becomes(host, f"{shown} | grep 'no session'")
    host.run("systemctl start tkdc-server@server1")
    becomes(host, f"{shown} | grep 'session .* up'")


def test_sockets_are_for_their_groups(host):
    mode = host.run("stat -c '%a %U %G' /run/tkdc/agent-kdc/agent.sock").stdout.split()
    assert mode == ["660", "tkdc-agent", "tkdc-agent-kdc"]
    assert host.run("stat -c %a /run/tkdc/agent-kdc").stdout.strip() == "750"
    socket = host.run("find /var/lib/tkdc/server0 -type s -printf '%m %u %p\\n'").stdout.split()
    assert socket[:2] == ["600", "tkdc-server"], socket


def test_shares_are_audited_by_a_timer(host):
    for name in SERVERS:
        host.run(f"sed -i 's/^\\[store\\]$/&\\nshare_macs = true/' /etc/tkdc/{name}/tkdc.toml && "
                 f"systemctl restart {unit_of(name)}")
        becomes(host, STATUS)
    host.run("systemctl enable --now tkdc-audit@server0.timer")
    assert "tkdc-audit@server0.timer" in host.run("systemctl list-timers --no-pager").stdout
    host.run("systemctl start tkdc-audit@server0")
    said = host.run("journalctl -u tkdc-audit@server0 -o cat --no-pager").stdout
    assert re.search(r"^last audit +\d{4}-", said, re.MULTILINE), said
    host.run("systemctl start tkdc-refresh@server1")
    becomes(host, STATUS)
    shown = host.run("tkdc shares --config /etc/tkdc/server2/tkdc.toml status").stdout
    assert "refresh epoch 1" in shown and not re.search("^last audit +never", shown, re.MULTILINE)
    host.run("systemctl disable --now tkdc-audit@server0.timer")


def test_backups_are_made_by_a_timer(host):
    host.run("tkdc backup key --out /root/backup.key --public /etc/tkdc/server0/backup.pub")
    host.run("systemctl enable --now tkdc-backup@server0.timer")
    assert "tkdc-backup@server0.timer" in host.run("systemctl list-timers --no-pager").stdout
    host.run("systemctl start tkdc-backup@server0")
    made = host.run("ls /var/lib/tkdc/server0/backups/*.tkdc-backup").stdout.split()
    assert len(made) == 1
    said = host.run(f"tkdc backup verify {made[0]} --key /root/backup.key").stdout
    assert re.search(r"^files .* curve.key .* tls.key.pem", said, re.MULTILINE), said
    assert host.run(f"stat -c '%a %U' {made[0]}").stdout.split() == ["600", "tkdc-server"]
    host.run("systemctl disable --now tkdc-backup@server0.timer; rm /root/backup.key")


def findings(said: str) -> set[str]:
    """Of whom each is, and of what."""
    return {" ".join(line.split()[1:3]) for line in said.splitlines()
            if line.split() and line.split()[0] in ("warning", "WRONG")}


def doctor_comes(host) -> set[str]:
    """By its timer, with a second in the place of the morning; what its journal says then."""
    before = host.run("journalctl -n 0 --show-cursor --no-pager").stdout
    cursor = before.partition("cursor: ")[2].strip()
    host.run("systemctl reset-failed tkdc-doctor; systemctl start tkdc-doctor.timer")
    said = f"journalctl -u tkdc-doctor --after-cursor '{cursor}' -o cat --no-pager"
    becomes(host, f"{said} | grep -E '^(All is well|[0-9]+ wrong)'", seconds=60)
    host.run("systemctl stop tkdc-doctor.timer")
    return findings(host.run(said).stdout)


def test_a_doctor_comes_by_its_timer(host):
    """It sees in its sandbox what root sees, and systemd names it where something is wrong."""
    host.write("/etc/systemd/system/tkdc-doctor.timer.d/soon.conf",
               "[Timer]\nOnCalendar=\nRandomizedDelaySec=0\nOnActiveSec=1s\nAccuracySec=100ms\n")
    host.run("systemctl daemon-reload && systemctl enable tkdc-doctor.timer")
    by_hand = "tkdc doctor --failures-only || true"
    assert "agent-admin running" not in findings(host.run(by_hand).stdout)
    host.run("systemctl stop tkdc-agent@agent-admin")
    try:
        ill = findings(host.run(by_hand).stdout)
        assert "agent-admin running" in ill and doctor_comes(host) == ill
        assert "tkdc-doctor.service" in host.run("systemctl --failed --no-pager --plain").stdout
        assert "systemctl start tkdc-agent@agent-admin" in host.run(
            "journalctl -u tkdc-doctor -o cat --no-pager").stdout
    finally:
        host.run("systemctl start tkdc-agent@agent-admin; systemctl disable --now "
                 "tkdc-doctor.timer; rm -r /etc/systemd/system/tkdc-doctor.timer.d; "
                 "systemctl daemon-reload; systemctl reset-failed tkdc-doctor")
    becomes(host, STATUS)


def test_the_exporter_sees_the_agent_beside_kadmind(host):
    """In its sandbox, where it reads no agent.toml: by the units that start with the host."""
    host.write("/root/scrape", "exec 3<>/dev/tcp/127.0.0.1/9747\n"
               "printf 'GET /metrics HTTP/1.0\\r\\n\\r\\n' >&3\ncat <&3\n")

    def seen(value: int, healthy: int) -> None:
        other = f'tkdc_other_agent_up{{agent="agent-admin"}} {value}'
        becomes(host, f"bash scrape >seen; grep -qxF '{other}' seen && "
                      f"grep -qx 'tkdc_healthy {healthy}' seen")

    def has_status_socket(name: str) -> None:
        host.run(f"sed -i 's|^\\[agent\\]$|&\\nstatus_socket = \"/run/tkdc/status/{name}.sock\"\\n"
                 f"status_group = \"tkdc-monitor\"|' /etc/tkdc/{name}/agent.toml && "
                 f"systemctl restart tkdc-agent@{name}")
        becomes(host, STATUS)

    has_status_socket("agent-kdc")
    host.run("systemctl start tkdc-exporter@agent-kdc")
    try:
        seen(1, 1)  # its unit runs
        has_status_socket("agent-admin")
        seen(1, 1)  # it answers
        host.run("systemctl kill -s STOP tkdc-agent@agent-admin")
        seen(0, 0)
        host.run("systemctl kill -s CONT tkdc-agent@agent-admin")
        seen(1, 1)
        host.run("systemctl stop tkdc-agent@agent-admin")
        seen(0, 0)
    finally:
        host.run("systemctl stop tkdc-exporter@agent-kdc; systemctl restart "
                 "tkdc-agent@agent-admin")
    becomes(host, STATUS)


def store_key(host, name: str = "server0") -> str:
    return host.run(f"systemd-creds decrypt --name=store.key /etc/tkdc/{name}/store.key.cred - | "
                    "sha256sum").stdout


def test_a_stores_keys_are_changed(host):
    """As root, with the server stopped; no file of root's comes to lie in the store."""
    config = "--config /etc/tkdc/server0/tkdc.toml"
    running = host.run(f"tkdc store rekey {config}", check=False)
    assert running.returncode == 1 and "in use by another process" in running.stderr
    before = store_key(host)
    others = "find /var/lib/tkdc/server0 /etc/tkdc/server0 ! -user tkdc-server"
    roots = host.run(others).stdout  # what an administrator put there, as backup.pub
    host.run("cp -a /var/lib/tkdc/server0/store old-store && "
             "cp -a /etc/tkdc/server0/store.key.cred old.cred && "
             "systemctl stop tkdc-server@server0")
    said = host.run(f"tkdc store rekey {config}").stdout
    assert "The realm has no tickets until this server runs again" in said
    assert re.search(r"\d+ values are under new keys", said)
    assert store_key(host) != before
    assert host.run(others).stdout == roots
    host.run("systemctl start tkdc-server@server0")
    becomes(host, STATUS)
    host.run("systemctl stop tkdc-server@server0 && cp old.cred /etc/tkdc/server0/tried.cred && "
             "cp -a /etc/tkdc/server0/store.key.cred new.cred && "
             "cp old.cred /etc/tkdc/server0/store.key.cred")
    try:
        done = host.run(f"tkdc epochs {config}", check=False)
        assert done.returncode == 1 and "does not open" in done.stderr, done.stderr
    finally:
        host.run("cp -a new.cred /etc/tkdc/server0/store.key.cred && "
                 "rm /etc/tkdc/server0/tried.cred")
    host.run(f"tkdc epochs {config} && systemctl start tkdc-server@server0")
    becomes(host, STATUS)


def test_a_store_goes_to_another_host_by_its_recovery_key(host):
    config = "--config /etc/tkdc/server0/tkdc.toml"
    host.run("systemctl stop tkdc-server@server0")
    host.run(f"tkdc store recovery {config} --out /root/recovery.key")
    assert host.run("stat -c '%a %U %s' /root/recovery.key").stdout.split() == ["600", "root", "32"]
    # As a host without this one's key would see it.
    host.run("mv /var/lib/systemd/credential.secret /root/secret-of-the-host")
    try:
        assert host.run(f"tkdc epochs {config}", check=False).returncode == 1
        host.run("sed 's|%d/store.key|/root/recovery.key|' /etc/tkdc/server0/tkdc.toml "
                 ">/etc/tkdc/server0/elsewhere.toml")
        host.run("tkdc epochs --config /etc/tkdc/server0/elsewhere.toml")
    finally:
        host.run("rm -f /var/lib/systemd/credential.secret && "
                 "mv /root/secret-of-the-host /var/lib/systemd/credential.secret; "
                 "rm -f /etc/tkdc/server0/elsewhere.toml; systemctl start tkdc-server@server0")
    becomes(host, STATUS)


def test_a_reload_opens_the_agents_log_anew(host):
    log = "/var/lib/tkdc/agent-kdc/operations.jsonl"
    host.run(f"mv {log} {log}.1 && systemctl reload tkdc-agent@agent-kdc")
    becomes(host, f"test -e {log}")


def test_journal_lines_have_fields(host):
    said = host.run("journalctl -u tkdc-server@server0 -o json --no-pager -n 200").stdout
    lines = [json.loads(line) for line in said.splitlines()]
    own = [line for line in lines if line.get("TKDC_PARTY") == "0"]
    assert own
    ups = [line for line in own if line.get("TKDC_EVENT") == "session-up"]
    assert ups and re.fullmatch(r"[0-9a-f]{16}", ups[-1]["TKDC_SESSION"])
    assert len(ups[-1]["MESSAGE_ID"]) == 32
    by_id = host.run(f"journalctl MESSAGE_ID={ups[-1]['MESSAGE_ID']} -o cat --no-pager").stdout
    assert by_id.count("session ") >= 3, "of each server one at least"


@pytest.fixture(scope="module")
def tpm(host):
    packages = Path(host.image).parent / "swtpm"
    found = sorted(packages.glob("*.deb"))
    if not found:
        pytest.skip("no packages of swtpm: tests/packages/image fetches them")
    for package in found:
        host.copy(package, "/root/swtpm")
    host.run("dpkg -i swtpm/*.deb")
    host.write("/etc/systemd/system/swtpm.service", SWTPM)
    host.run("systemctl daemon-reload && systemctl start swtpm")
    # A TPM is a device, this one is behind loopback: whoever opens a credential has to reach it.
    host.write("/etc/systemd/system/tkdc-server@.service.d/swtpm.conf",
               "[Service]\nIPAddressAllow=localhost\n")
    host.run("systemctl daemon-reload")
    return host


def test_a_tpm_holds_the_stores_key(tpm):
    """swtpm stands for the TPM; without what it holds the server does not start."""
    tpm.run("systemctl stop tkdc-server@server0")
    tpm.run(f"SYSTEMD_TPM2_DEVICE={TPM} tkdc store rekey --config /etc/tkdc/server0/tkdc.toml "
            "--with-key tpm2")
    tpm.run("systemctl start tkdc-server@server0")
    becomes(tpm, STATUS)
    tpm.run("systemctl stop tkdc-server@server0 swtpm && mv /var/lib/swtpm /root/tpm-of-the-host "
            "&& systemctl start swtpm")
    try:
        assert tpm.run("systemctl start tkdc-server@server0", check=False).returncode != 0
    finally:
        tpm.run("systemctl stop tkdc-server@server0 swtpm; rm -rf /var/lib/swtpm && "
                "mv /root/tpm-of-the-host /var/lib/swtpm && systemctl start swtpm && "
                "systemctl reset-failed tkdc-server@server0 && "
                "systemctl start tkdc-server@server0")
    becomes(tpm, STATUS)


def test_a_member_is_made_with_the_tpm(tpm):
    tpm.run(f"SYSTEMD_TPM2_DEVICE={TPM} tkdc init --party 1 --out /etc/tkdc/spare "
            "--host 127.0.0.7 --credentials tpm2 --installation post/server0.introduction")
    tpm.run(f"SYSTEMD_TPM2_DEVICE={TPM} systemd-creds decrypt --name=store.key "
            "/etc/tkdc/spare/store.key.cred - >/dev/null && rm -r /etc/tkdc/spare")
