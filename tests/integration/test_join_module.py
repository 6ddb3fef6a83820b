# SPDX-License-Identifier: Apache-2.0
"""The collection's module `join` is root in a folder that is a service's: what the service may have
put there, links above all, leads it nowhere else. The module itself, without Ansible."""

import importlib.util
import os
import pwd
import sys
import types
from pathlib import Path

import pytest

from tests.support.realm import ROOT

SERVICE = "nobody"
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: files are given away")


@pytest.fixture(scope="module")
def join():
    basic = types.ModuleType("ansible.module_utils.basic")
    basic.AnsibleModule = object
    names = ("ansible", "ansible.module_utils", "ansible.module_utils.basic")
    before = {name: sys.modules.get(name) for name in names}
    sys.modules.update({name: types.ModuleType(name) for name in names[:2]} | {names[2]: basic})
    try:
        path = ROOT / "ansible" / "plugins" / "modules" / "join.py"
        spec = importlib.util.spec_from_file_location("tkdc_join_module", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    finally:
        for name, was in before.items():
            sys.modules.pop(name)
            if was is not None:
                sys.modules[name] = was


class Module:
    """What of Ansible's a member asks for."""

    def __init__(self, folder: Path, **given):
        self.params = {"name": "kdc0-kdc", "folder": str(folder), "daemon": SERVICE,
                       "members": ["kdc0-kdc", "server0"], "introductions": {}, "fingerprints": {},
                       "forget_former": False,
                       **given}
        self.commands: list[list[str]] = []

    def run_command(self, command, **_):
        self.commands.append(command)
        return 0, "", ""


@pytest.fixture
def place(tmp_path):
    """A service's folder, and a file of root's beside it."""
    folder = tmp_path / "member"
    (folder / "introductions").mkdir(parents=True)
    (folder / "curve.key").write_text("put here by a person")
    secret = tmp_path / "shadow"
    secret.write_text("root's alone")
    secret.chmod(0o600)
    return folder, secret


def is_roots(path: Path) -> bool:
    at = path.stat()
    return at.st_uid == 0 and at.st_gid == 0 and path.read_text() == "root's alone"


def test_what_a_person_put_there_becomes_the_services(join, place):
    folder, _ = place
    join.Member(Module(folder)).own_all()
    service = pwd.getpwnam(SERVICE)
    for path in (folder, folder / "introductions", folder / "curve.key"):
        at = path.stat()
        assert (at.st_uid, at.st_gid) == (service.pw_uid, service.pw_gid), path


@pytest.mark.parametrize("where", ["agent.key", "introductions/server0.introduction"])
@pytest.mark.parametrize("make", [os.symlink, os.link], ids=["symlink", "hard link"])
def test_a_link_is_refused_and_what_it_leads_to_stays_roots(join, place, where, make):
    folder, secret = place
    make(secret, folder / where)
    with pytest.raises(join.NotOursError):
        join.Member(Module(folder)).own_all()
    assert is_roots(secret)


def test_a_folder_that_is_a_link_is_not_walked(join, place):
    folder, secret = place
    (folder / "introductions").rmdir()
    (folder / "introductions").symlink_to(secret.parent)
    with pytest.raises(join.NotOursError):
        join.Member(Module(folder)).own_all()
    assert is_roots(secret) and secret.parent.stat().st_uid == 0


def test_the_folder_itself_is_no_link(join, place, tmp_path):
    folder, _ = place
    elsewhere = tmp_path / "elsewhere"
    elsewhere.symlink_to(folder)
    with pytest.raises(OSError):
        join.Member(Module(elsewhere)).own_all()
    assert folder.stat().st_uid == 0


def test_a_configuration_is_not_written_through_a_link(join, place):
    folder, secret = place
    (folder / "agent.toml.new").symlink_to(secret)
    module = Module(folder)
    join.Member(module).replace("[agent]\n")
    assert is_roots(secret)
    config = folder / "agent.toml"
    assert not config.is_symlink() and config.read_text() == "[agent]\n"
    assert config.stat().st_uid == pwd.getpwnam(SERVICE).pw_uid
    assert config.stat().st_mode & 0o777 == 0o600
    assert not (folder / "agent.toml.new").exists()
    assert [command[:2] for command in module.commands][1:] == [["tkdc", "unit"],
                                                               ["systemctl", "daemon-reload"]]


def test_nothing_is_read_through_a_link(join, place):
    """What is read comes back to the controller, as the difference to what was there."""
    folder, secret = place
    (folder / "agent.toml").symlink_to(secret)
    (folder / "introductions" / "server0.introduction").symlink_to(secret)
    member = join.Member(Module(folder, introductions={"server0": "root's alone"}))
    with pytest.raises(join.NotOursError):
        member.read("agent.toml")
    with pytest.raises(join.NotOursError):
        member.is_confirmed("server0")
    os.mkfifo(folder / "pipe")
    with pytest.raises(join.NotOursError):
        member.read("pipe")
    assert member.read("none") is None


def test_what_join_wrote_is_not_read_through_a_link(join, place):
    """Its scratch folder is the service's while `tkdc join` runs."""
    folder, secret = place
    module = Module(folder, introductions={"server0": "text"}, fingerprints={"server0": "f"})

    def run_command(command, **_):
        out = Path(command[command.index("--out") + 1])
        assert (out.parent / "server0.introduction").read_text() == "text"
        assert out.parent.stat().st_uid == pwd.getpwnam(SERVICE).pw_uid
        out.symlink_to(secret)
        return 0, "", ""

    module.run_command = run_command
    with pytest.raises(join.NotOursError):
        join.Member(module).joined()
