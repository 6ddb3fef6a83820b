# SPDX-License-Identifier: Apache-2.0
"""tkdc-server-cuda on a host without a GPU: its program serves by the CPU, its unit may use
NVIDIA's devices and no others, and without it the unit starts tkdc-server's own program. In order.
Only where `make packages CUDA=1` has built it."""

import re

import pytest

from tests.packages.conftest import PACKAGES, put_packages
from tests.packages.members import initialise, join_all
from tests.support.nspawn import Host

STATUS = "tkdc status --config /etc/tkdc/agent-kdc/agent.toml"
UNIT = "tkdc-server@server0"
BUILT = sorted(PACKAGES.glob("tkdc-server-cuda_*.deb"))

pytestmark = pytest.mark.skipif(not BUILT, reason="make packages CUDA=1 builds tkdc-server-cuda")


@pytest.fixture(scope="module")
def host(image):
    with Host(image, "tkdc-cuda") as running:
        put_packages(running)
        running.run("dpkg -i packages/*.deb")
        join_all(running, initialise(running))
        wait_for_session(running)
        running.copy(BUILT[0], "/root/cuda")
        yield running


def wait_for_session(host) -> None:
    host.run(f"for i in $(seq 150); do {STATUS} && exit 0; sleep 0.2; done; {STATUS}",
             timeout_s=180)


def program(host) -> str:
    return host.run(f"readlink /proc/$(systemctl show -p MainPID --value {UNIT})/exe"
                    ).stdout.strip()


def exposure(host) -> float:
    said = host.run(f"systemd-analyze security --no-pager {UNIT} | tail -1").stdout
    return float(re.search(r"(\d+\.\d+)", said).group(1))


def test_its_program_serves_without_a_gpu(host):
    assert program(host) == "/usr/sbin/tkdc-server" and exposure(host) <= 1.2
    said = host.run("dpkg -i cuda/*.deb").stdout
    assert "systemctl restart 'tkdc-server@*'" in said
    host.run(f"systemctl restart {UNIT}")
    wait_for_session(host)
    assert program(host) == "/usr/lib/tkdc/cuda/tkdc-server"
    said = host.run(f"journalctl -u {UNIT} -o cat | grep 'backend '").stdout.splitlines()
    assert "kernels are not in this build" not in said[-1], said
    assert said[-1] != said[0], "what says why there is no GPU"


def devices(host) -> set[str]:
    shown = host.run(f"systemctl show -p DeviceAllow {UNIT}").stdout
    return set(re.findall(r"^DeviceAllow=(.*)$", shown, re.M))


def test_its_unit_may_use_a_gpu_and_little_else(host):
    """What systemd adds by itself for ProtectClock= and credentials is there without it, too."""
    assert "DevicePolicy=closed" in host.run(f"systemctl show -p DevicePolicy {UNIT}").stdout
    dropped = "/usr/lib/systemd/system/tkdc-server@.service.d/cuda.conf"
    with_it = devices(host)
    host.run(f"mv {dropped} kept.conf && systemctl daemon-reload")
    try:
        assert with_it - devices(host) == {"char-nvidia rw", "char-nvidia-uvm rw"}
    finally:
        host.run(f"mv kept.conf {dropped} && systemctl daemon-reload")
    assert exposure(host) == 1.3, host.run(f"systemd-analyze security --no-pager {UNIT}").stdout


def test_its_bench_says_what_is_missing(host):
    done = host.run("/usr/lib/tkdc/cuda/tkdc-workbench bench ctr --backend cuda --exchange none "
                    "--security semi-honest", check=False)
    assert done.returncode != 0
    assert re.search("driver|GPU", done.stdout + done.stderr), done.stderr


def test_without_it_the_unit_starts_the_servers_own_program(host):
    host.run(f"dpkg -r tkdc-server-cuda && systemctl restart {UNIT}")
    wait_for_session(host)
    assert program(host) == "/usr/sbin/tkdc-server" and exposure(host) <= 1.2
    host.run("test ! -e /usr/lib/tkdc/cuda && "
             "test ! -e '/usr/lib/systemd/system/tkdc-server@.service.d'")
