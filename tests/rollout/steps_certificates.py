# SPDX-License-Identifier: Apache-2.0
"""Steps of the rollout: members' keys are made anew while users log in."""

from tests.rollout.lab import Machine
from tests.rollout.site import SERVERS, Site, until
from tests.rollout.steps_faults import Logins
from tests.rollout.steps_install import need

# Its next certificate is of a past time: it has ended when it is taken.
ENDED, ENDED_DAYS = "server2", 3660
# $1 folder with a server's keys, $2 the address of the server that it calls. A certificate that is
# not known is refused by an alert; else the other one waits for what its peer says.
CALL = r"""
import socket, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
context.load_cert_chain(sys.argv[1] + "/tls.cert.pem", sys.argv[1] + "/opened.pem")
host, port = sys.argv[2].split(":")
with socket.create_connection((host, int(port)), timeout=5) as raw:
    try:
        with context.wrap_socket(raw) as tls:
            tls.settimeout(3)
            print("closed" if tls.recv(1) == b"" else "answered")
    except TimeoutError:
        print("taken")
    except ssl.SSLError as error:
        print("refused", error.reason)
"""


def keep(machine: Machine, member: str, copy: str) -> None:
    """Its keys of now, with what only the host opens."""
    machine.run(f"rm -rf {copy} && cp -a /etc/tkdc/{member} {copy} && cd {copy} && "
                "for name in tls.key.pem; do [ ! -e $name.cred ] || systemd-creds decrypt "
                "--name=$name $name.cred opened.pem; done")


def call(machine: Machine, keys: str, address: str) -> str:
    machine.write("/root/call.py", CALL)
    return machine.run(f"python3 /root/call.py {keys} {address}").stdout.strip()


def rotate_certificates(site: Site) -> None:
    """Each server's certificate and CURVE key, and an agent's; what they were opens nothing."""
    play = site.play("certificates", site.joint(), expect=None)
    need(play.status == 2 and "-e tkdc_renew=NAME" in play.said, "nobody's keys?", play.said)
    names = ",".join((*SERVERS, f"{site.primary}-kdc"))
    play = site.play("certificates", site.joint(), "-e", f"tkdc_renew={names}", "--check")
    need(play.changed > 0, "a check says that nothing would change", play.said)
    for name in SERVERS:
        keep(site.host(name), name, "/root/former")
    keep(site.host(site.primary), "agent-kdc", "/root/former")
    # What was drawn beforehand is what the playbook takes.
    site.host(ENDED).run(f"faketime -f -{ENDED_DAYS}d tkdc renew --folder /etc/tkdc/{ENDED}")
    with Logins(site) as logins:
        until("logins go on", lambda: logins.done > 2, 60)
        site.play("certificates", site.joint(), "-e", f"tkdc_renew={names}")
    logins.need_none_lost()
    site.wait_healthy("the certificates' rotation")
    for number, name in enumerate(SERVERS):
        machine, following = site.host(name), (number + 1) % 3
        address = f"{site.host(SERVERS[following]).address}:{7710 + following}"
        keep(machine, name, "/root/now")
        said = call(machine, "/root/former", address)
        need(said.startswith("refused"), f"{name}'s former certificate: {said}")
        said = call(machine, "/root/now", address)
        need(said == "taken", f"the control, {name}'s certificate of now: {said}")
        machine.run("rm -r /root/former /root/now /root/call.py")
    former_key_of_an_agent(site)
    play = site.play("install", site.joint(), "--check", "--limit", "server0")
    need(play.changed == 0, f"install changes {play.changed} afterwards", play.said)


def former_key_of_an_agent(site: Site) -> None:
    """Put back, it gets no connection; server and agent say why."""
    machine = site.host(site.primary)
    mine, unit = "/etc/tkdc/agent-kdc/curve.key.cred", "tkdc-agent@agent-kdc"
    machine.run(f"cp -a {mine} /root/now.cred && cp -a /root/former/curve.key.cred {mine} && "
                f"systemctl restart {unit}")
    try:
        until("the agent says that it is refused", lambda: "handshake failed" in machine.run(
            "tkdc status --config /etc/tkdc/agent-kdc/agent.toml", check=False).stdout, 60)
        said = site.host("server1").run("journalctl -u tkdc-server@server1 -n 50").stdout
        need("refused a client with CURVE public key" in said, "server 1 does not say so", said)
    finally:
        machine.run(f"cp -a /root/now.cred {mine} && systemctl restart {unit} && "
                    "rm -r /root/now.cred /root/former")
    site.wait_healthy("an agent's former key was put back")
