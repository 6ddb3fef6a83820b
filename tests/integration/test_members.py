# SPDX-License-Identifier: Apache-2.0
"""Three administrators of servers and one of a KDC's host make an installation: nothing secret is
exchanged, what was tampered with or mixed up is refused, and a realm runs on the result."""

import base64
import hashlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from tests.integration.conftest import NAME, remove
from tests.support.kerberos import free_base_port
from tests.support.members import AGENTS, SERVERS, Administrators, MembersRealm
from tests.support.realm import default_bin

pytestmark = pytest.mark.behind

SECRETS = ("curve.key", "identity.key", "store.key", "tls.key.pem")


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def administrators(tmp_path):
    made = Administrators(default_bin() / "tkdc", tmp_path, NAME)
    made.init_all()
    return made


@pytest.fixture(scope="module")
def members_realm():
    directory = Path(tempfile.mkdtemp(prefix="tkdc-"))
    with MembersRealm(directory, NAME, free_base_port()) as running:
        yield running
    remove(running)


def refused(administrators, name, done, *words, unchanged=None) -> None:
    """With these words, and nothing in the member's folder has changed."""
    assert done.returncode == 1, done.stdout
    for word in words:
        assert word in done.stderr, done.stderr
    if unchanged is not None:
        assert tree(administrators.root / name) == unchanged


def test_realm_runs_on_it(members_realm):
    members_realm.kadmin_local('addprinc -pw "a password" alice')
    assert members_realm.client("alice").kinit("alice", "a password").ok
    status = members_realm.tool("tkdc", "status", "--config", str(
        members_realm.installation / "agent-kdc" / "agent.toml"))
    for party in range(3):
        assert f"tcp://127.0.0.{party + 1}:" in status
    digest = hashlib.sha256((members_realm.bin / "tkdc-server").read_bytes()).hexdigest()
    assert f"program of all three servers: {digest}, version " in status


def forms(secret: bytes) -> list[bytes]:
    """How its octets could stand in a file: as they are, in hexadecimal, in base64."""
    middle = secret[:24]
    return [middle, middle.hex().encode(), middle.hex().upper().encode(),
            base64.b64encode(middle)]


def secrets_of(root: Path) -> dict[str, bytes]:
    found = {}
    for member in (*SERVERS, *AGENTS):
        for name in SECRETS:
            path = root / member / name
            if not path.exists():
                continue
            text = path.read_bytes()
            if name == "tls.key.pem":  # its first octets only say that it is such a key
                der = base64.b64decode(b"".join(text.splitlines()[1:-1]))
                found[f"{member}/{name}"] = der[-32:]
            else:
                found[f"{member}/{name}"] = text.strip() if name == "curve.key" else text
    return found


def exposed(secrets: dict[str, bytes], files: dict[str, bytes]) -> list[str]:
    return [f"{secret} in {name}" for secret, octets in secrets.items()
            for name, text in files.items() if any(form in text for form in forms(octets))]


def test_nothing_secret_is_exchanged(administrators):
    administrators.join_all()
    secrets = secrets_of(administrators.root)
    assert len(secrets) == 3 * 4 + 2 * 2
    posted = tree(administrators.post)
    assert len(posted) == 5
    assert exposed(secrets, posted) == []
    for member in (*SERVERS, *AGENTS):  # nor does it stand with anybody but its owner
        foreign = {name: octets for name, octets in secrets.items()
                   if not name.startswith(member)}
        assert exposed(foreign, tree(administrators.root / member)) == []
    for name, octets in secrets.items():  # the control: it would have been seen
        for form in forms(octets):
            assert exposed({name: octets}, {"x": b"prefix" + form + b"suffix"})


def test_daemons_take_the_configuration(administrators):
    administrators.join_all()
    for member in (*SERVERS, *AGENTS):
        server = member in SERVERS
        path = administrators.root / member / ("tkdc.toml" if server else "agent.toml")
        program = default_bin() / ("tkdc-server" if server else "tkdc-agent")
        done = subprocess.run([program, "--config", path, "--check-config"], text=True,
                              capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        for secret in SECRETS:
            if (path.parent / secret).exists():
                assert stat.S_IMODE((path.parent / secret).stat().st_mode) == 0o600


def test_fingerprints_are_typed(administrators):
    names = administrators.others("server0")
    typed = "".join(administrators.fingerprints[one].upper().replace("-", " ") + "\n"
                    for one in names)
    before = tree(administrators.root / "server0")
    done = administrators.join("server0", fingerprints=[], stdin=typed[:-10])
    refused(administrators, "server0", done, "is not confirmed", unchanged=before)
    for one in names:
        assert administrators.fingerprints[one] not in done.stdout + done.stderr, "it was shown"
    done = administrators.join("server0", fingerprints=[], stdin="")
    refused(administrators, "server0", done, "none was typed", unchanged=before)
    done = administrators.join("server0", fingerprints=[], stdin=typed)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Confirmed.") == 4


def test_fingerprints_as_options_are_compared(administrators):
    names = administrators.others("server0")
    given = [administrators.fingerprints[one] for one in names]
    before = tree(administrators.root / "server0")
    done = administrators.join("server0", fingerprints=given[1:])
    refused(administrators, "server0", done, "server1.introduction is not confirmed",
            unchanged=before)
    wrong = given[0][:-1] + ("0" if given[0][-1] != "0" else "1")
    done = administrators.join("server0", fingerprints=[wrong, *given[1:]])
    refused(administrators, "server0", done, "server1.introduction is not confirmed",
            unchanged=before)
    done = administrators.join("server0", fingerprints=[*given, wrong])
    refused(administrators, "server0", done, "none of the introductions", unchanged=before)
    assert administrators.join("server0", fingerprints=given).returncode == 0


def test_a_changed_octet_is_refused(administrators):
    path = administrators.post / "server2.introduction"
    good = path.read_bytes()
    before = tree(administrators.root / "server0")
    for at in range(0, len(good), 7):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
        done = administrators.join("server0")
        refused(administrators, "server0", done, "server2.introduction", unchanged=before)
    path.write_bytes(good)
    assert administrators.join("server0").returncode == 0, "the control"


def test_files_of_the_wrong_members(administrators):
    post = administrators.post
    before = tree(administrators.root / "server0")
    join = administrators.join
    done = join("server0", post / "server1.introduction", post / "agent-kdc.introduction")
    refused(administrators, "server0", done, "introduction of server 2 is missing")
    copied = post / "copy.introduction"
    shutil.copy(post / "server1.introduction", copied)
    done = join("server0", post / "server1.introduction", copied,
                post / "agent-kdc.introduction")
    refused(administrators, "server0", done, "both introduce server1", "copy.introduction")
    done = join("server0", post / "server1.introduction", post / "server2.introduction")
    refused(administrators, "server0", done, "no agent's introduction")
    done = join("server0", post / "nowhere.introduction")
    refused(administrators, "server0", done, "nowhere.introduction", unchanged=before)
    # Its own among the others', as a pattern of the shell gives it, is its own.
    everything = [*sorted(post.glob("server*")), post / "agent-kdc.introduction"]
    done = join("server0", *everything)
    refused(administrators, "server0", done, "none of the introductions", unchanged=before)
    given = [administrators.fingerprints[one] for one in ("server1", "server2", "agent-kdc")]
    assert join("server0", *everything, fingerprints=given).returncode == 0


def test_two_installations_are_not_mixed(administrators, tmp_path):
    other = Administrators(administrators.tkdc, tmp_path / "other", NAME)
    other.init_all()
    before = tree(administrators.root / "server0")
    shutil.copy(other.post / "server2.introduction", administrators.post)
    administrators.fingerprints["server2"] = other.fingerprints["server2"]
    done = administrators.join("server0")
    refused(administrators, "server0", done, "different installations", "server2",
            unchanged=before)


def test_an_older_file_after_a_new_start(administrators):
    """server1's administrator begins anew; some of the others still have the first file."""
    join = administrators.join
    old = administrators.post / "old.introduction"
    shutil.move(administrators.post / "server1.introduction", old)
    old_print = administrators.fingerprints["server1"]
    shutil.rmtree(administrators.root / "server1")
    time.sleep(1.1)  # it says in which second it was made
    administrators.init_server(1)
    others = [administrators.post / f"{one}.introduction" for one in ("server2", "agent-kdc")]
    new = administrators.post / "server1.introduction"
    rest = [administrators.fingerprints[one] for one in ("server2", "agent-kdc")]
    # Both are there: which is the older one is said.
    before = tree(administrators.root / "server0")
    done = join("server0", old, new, *others)
    refused(administrators, "server0", done, "old.introduction, made", "is the older one",
            unchanged=before)
    # Only the old one: what server1's administrator reads is not its fingerprint.
    done = join("server0", old, *others)
    refused(administrators, "server0", done, "old.introduction is not confirmed",
            unchanged=before)
    # At server1 itself.
    done = join("server1", old, administrators.post / "server0.introduction", *others)
    refused(administrators, "server1", done, "of before the keys were made anew")
    # Confirmed once, it gives way to the newer one, and not the other way round.
    assert join("server0", old, *others, fingerprints=[old_print, *rest]).returncode == 0
    again = ("--out", str(administrators.root / "server0" / "tkdc.toml.new"))
    new_print = administrators.fingerprints["server1"]
    done = join("server0", new, options=again, fingerprints=[new_print])
    assert done.returncode == 0, done.stderr
    assert "ANOTHER identity" in done.stdout
    before = tree(administrators.root / "server0")
    third = ("--out", str(administrators.root / "server0" / "third"))
    done = join("server0", old, options=third, fingerprints=[old_print])
    refused(administrators, "server0", done, "is older than what was confirmed",
            unchanged=before)


def test_an_agent_is_added_later(administrators):
    administrators.join_all()
    administrators.init_agent("second-host", "kdc")
    folder = administrators.root / "server0"
    before = tree(folder)
    new = administrators.post / "second-host.introduction"
    given = [administrators.fingerprints["second-host"]]
    done = administrators.join("server0", new, fingerprints=given)
    refused(administrators, "server0", done, "tkdc.toml: exists", "--out", unchanged=before)
    done = administrators.join("server0", new, fingerprints=given,
                               options=("--out", str(folder / "tkdc.toml.new")))
    assert done.returncode == 0, done.stderr
    # The commands that follow are those of a server that runs.
    typed = [line.split("    #")[0].strip() for line in done.stdout.split("Next:")[1].splitlines()
             if line.strip()]
    assert typed[:2] == [f"diff {folder}/tkdc.toml {folder}/tkdc.toml.new",
                         f"mv {folder}/tkdc.toml.new {folder}/tkdc.toml"]
    assert typed[-1] == "systemctl restart tkdc-server@server0"
    assert not any("enable --now" in line for line in typed)
    text = (folder / "tkdc.toml.new").read_text()
    for name in ("agent-kdc", "agent-admin", "second-host"):
        assert f'name = "{name}"' in text


def test_secrets_are_never_overwritten(administrators):
    before = tree(administrators.root)
    for name, arguments in (("server0", ["--party", "0", "--realm", NAME]),
                            ("agent-kdc", ["--agent", "agent-kdc", "--role", "kdc",
                                           "--installation",
                                           str(administrators.post / "server0.introduction")])):
        done = administrators.run("init", "--out", str(administrators.root / name),
                                  "--host", "127.0.0.1", *arguments)
        assert done.returncode == 1
        assert "never overwritten" in done.stderr
    assert tree(administrators.root) == before


@pytest.mark.parametrize("host", ["10.0.0.300", "10.0.1", "fe80::1", "a_b", "host:7700", "::"])
def test_hosts_that_are_none(tmp_path, host):
    made = Administrators(default_bin() / "tkdc", tmp_path, NAME)
    done = made.run("init", "--party", "0", "--out", str(tmp_path / "x"), "--realm", NAME,
                    "--host", host)
    assert done.returncode == 1
    assert "--host: '" in done.stderr
    assert not (tmp_path / "x").exists()


def test_one_host_for_two_servers(tmp_path):
    made = Administrators(default_bin() / "tkdc", tmp_path, NAME)
    for party in range(3):
        made.init_server(party, host="127.0.0.1" if party else "127.0.0.2")
    made.init_agent("agent-kdc", "kdc")
    given = [made.post / f"{name}.introduction" for name in ("server1", "server2", "agent-kdc")]
    done = made.join("server0", *given, fingerprints=[])
    assert done.returncode == 1
    assert "server2" in done.stderr
    assert "both on 127.0.0.1" in done.stderr
    done = made.run("init", "--out", str(tmp_path / "all"), "--realm", NAME, "--host0", "10.0.0.1",
                    "--host1", "10.0.0.2", "--host2", "10.0.0.1")
    assert done.returncode == 1
    assert "both 10.0.0.1" in done.stderr


def test_ipv6_and_names(tmp_path):
    made = Administrators(default_bin() / "tkdc", tmp_path, NAME)
    for party, host in enumerate(("[2001:DB8:0::5]", "Kdc-B.Example.test", "10.0.3.5")):
        made.init_server(party, host=host)
    for name, role in AGENTS.items():
        made.init_agent(name, role)
    made.join_all()
    first = (tmp_path / "server0" / "tkdc.toml").read_text()
    assert 'listen = "tcp://[2001:db8::5]:7700"' in first
    assert 'address = "kdc-b.example.test:7711"' in first
    second = (tmp_path / "server1" / "tkdc.toml").read_text()
    assert 'listen = "tcp://0.0.0.0:7701"' in second
    assert 'address = "[2001:db8::5]:7710"' in second
    assert 'address = "tcp://[2001:db8::5]:7700"' in (
        tmp_path / "agent-kdc" / "agent.toml").read_text()
    if os.geteuid() != 0:
        return  # a hosts file of its own needs a mount
    (tmp_path / "nsswitch").write_text("hosts: files\n")
    for known in ("10.0.2.5 kdc-b.example.test\n", ""):
        (tmp_path / "hosts").write_text("127.0.0.1 localhost\n" + known)
        for party in range(3):
            path = tmp_path / f"server{party}" / "tkdc.toml"
            names = "kdc-b.example.test:" in path.read_text()
            done = subprocess.run(
                ["unshare", "--mount", "sh", "-ec", 'mount --bind "$1" /etc/hosts; mount --bind '
                 '"$2" /etc/nsswitch.conf; exec "$3" --config "$4" --check-config', "sh",
                 tmp_path / "hosts", tmp_path / "nsswitch", default_bin() / "tkdc-server", path],
                capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
            assert ("there is no host" in done.stdout) == (names and not known), done.stdout
            if names and not known:
                line = 1 + path.read_text()[:path.read_text().index("kdc-b.example")].count("\n")
                assert f"{path}: 'peers[" in done.stdout and f"(line {line})" in done.stdout
                assert "there is no host kdc-b.example.test" in done.stdout, done.stdout


def fingerprint_in(said: str) -> str:
    return re.search(r"^  ([0-9a-f]{4}(?:-[0-9a-f]{4}){7})$", said, re.MULTILINE)[1]


def test_keys_are_made_anew_one_member_at_a_time(administrators):
    """Both are known until the former ones are forgotten; only who has joined knows them."""
    administrators.join_all()
    folder = administrators.root / "server0"
    of_peer = administrators.root / "server1" / "tkdc.toml"
    before = secrets_of(administrators.root), of_peer.read_text()
    said = administrators.run("renew", "--folder", str(folder))
    assert said.returncode == 0, said.stderr
    fingerprint = fingerprint_in(said.stdout)
    again = administrators.run("renew", "--folder", str(folder))
    assert "are there already" in again.stdout and fingerprint_in(again.stdout) == fingerprint
    assert secrets_of(administrators.root) == before[0], "those of now stay"
    new = folder / "next" / "server0.introduction"
    shutil.copy(new, administrators.post)
    config = of_peer.with_name("new.toml")
    options = ("--out", str(config))
    refused(administrators, "server1", administrators.join("server1", new, options=options),
            "no --confirm has its fingerprint")
    joined = administrators.join("server1", new, fingerprints=[fingerprint], options=options)
    assert joined.returncode == 0, joined.stderr
    was = next(line for line in before[1].splitlines() if line.startswith("certificate_sha256"))
    assert f"former_{was}" in config.read_text()
    taken = administrators.run("renew", "--folder", str(folder), "--take")
    assert taken.returncode == 0, taken.stderr
    assert not new.exists() and not new.parent.exists()
    now = secrets_of(administrators.root)
    changed = {name for name in now if now[name] != before[0][name]}
    assert changed == {"server0/curve.key", "server0/tls.key.pem"}, changed
    config.unlink()
    done = administrators.run("join", "--folder", str(of_peer.parent), "--forget-former", *options)
    assert done.returncode == 0, done.stderr
    assert "former_" not in config.read_text() and was not in config.read_text()


def test_a_renewal_that_was_cut_off_says_how_it_goes_on(administrators):
    """Each step's end is in the unit test; here what an administrator reads."""
    folder = administrators.root / "server0"
    renew = ("renew", "--folder", str(folder))
    assert administrators.run(*renew).returncode == 0
    (folder / "next" / "curve.key").replace(folder / "curve.key")
    half = administrators.run(*renew)
    assert half.returncode == 1 and f"tkdc renew --folder {folder} --take" in half.stderr
    assert administrators.run(*renew, "--take").returncode == 0
    (folder / "next").mkdir()
    empty = administrators.run(*renew, "--take")
    assert empty.returncode == 0 and "had taken them all" in empty.stdout
    assert not (folder / "next").exists()
    draft = folder / ".next.abcdef"
    draft.mkdir()
    (draft / "curve.key").write_text("of a run that was killed")
    again = administrators.run(*renew)
    assert again.returncode == 0 and f"Removed {draft}" in again.stdout and not draft.exists()
