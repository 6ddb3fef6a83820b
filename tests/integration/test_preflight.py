# SPDX-License-Identifier: Apache-2.0
"""Each playbook refuses an inventory with a missing, misspelt or wrong variable before it asks a
host: no host of these inventories is there, so that one that was asked would be unreachable. What
is shipped as an example is taken. Ansible itself runs, as an administrator runs it.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.clients import ROOT

COLLECTION = ROOT / "ansible"
PLAYBOOKS = ("certificates", "import", "install", "promote", "revert", "rotate", "uninstall",
             "upgrade")
INVENTORIES = sorted(path.name for path in (COLLECTION / "inventories").glob("*.yml"))
TIMEOUT_S = 300
UNREACHABLE = 4  # ansible-playbook's exit status
REFUSED = 2
# Nobody listens there.
NOWHERE = {"ansible_host": "127.0.0.1", "ansible_port": 9, "ansible_ssh_common_args":
           "-o ConnectTimeout=5 -o ControlMaster=no"}
REPOSITORY = {"tkdc_repository": "http://127.0.0.1:9/", "tkdc_repository_key": "tkdc.gpg"}
MEMBERS = ["server0", "server1", "server2", "kdc0-kdc", "kdc0-admin"]
RIGHT = {
    "tkdc_servers": {"tkdc_realm": "A.TEST", "tkdc_party": 0, "tkdc_address": "10.0.0.1",
                     "tkdc_members": MEMBERS, **REPOSITORY},
    "tkdc_kdcs": {"tkdc_realm": "A.TEST", "tkdc_primary": "kdc0", "tkdc_fqdn": "kdc0.a.test",
                  "tkdc_address": "10.0.0.9", "tkdc_members": MEMBERS,
                  "tkdc_agents": {"kdc": "kdc0-kdc", "admin": "kdc0-admin"}, **REPOSITORY},
    "tkdc_storms": REPOSITORY,
}


def variables() -> set[str]:
    """Those that a role's argument spec has, of whatever entry."""
    return {name for path in COLLECTION.glob("roles/*/meta/argument_specs.yml")
            for entry in yaml.safe_load(path.read_text())["argument_specs"].values()
            for name in entry.get("options", {}) if name.startswith("tkdc_")}


def required(group: str) -> set[str]:
    roles = {"tkdc_servers": ["server"], "tkdc_kdcs": ["kdc", "agent"], "tkdc_storms": ["storm"]}
    return {name for role in roles[group] for name, option in yaml.safe_load(
        (COLLECTION / "roles" / role / "meta" / "argument_specs.yml").read_text()
    )["argument_specs"]["main"]["options"].items() if option.get("required")}


def misspelt(name: str) -> str:
    """Two letters change places."""
    return name[:-3] + name[-2] + name[-3] + name[-1]


@pytest.fixture(scope="module")
def ansible(tmp_path_factory):
    """Runs a playbook of the collection, installed where nothing else is."""
    if shutil.which("ansible-playbook") is None:
        pytest.skip("needs ansible-playbook: ./bootstrap --test installs it")
    home = tmp_path_factory.mktemp("ansible")
    (home / "collections" / "ansible_collections" / "tkdc").mkdir(parents=True)
    (home / "collections" / "ansible_collections" / "tkdc" / "appliance").symlink_to(COLLECTION)
    (home / "ansible.cfg").write_text("[defaults]\n")
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_CONFIG": str(home / "ansible.cfg"), "ANSIBLE_LOCALHOST_WARNING": "0",
        "ANSIBLE_COLLECTIONS_PATH": str(home / "collections"), "ANSIBLE_FORKS": "4"}

    def run(playbook: str, inventory: dict | Path, *options: str) -> subprocess.CompletedProcess:
        path = inventory
        if isinstance(inventory, dict):
            path = home / "inventory.json"
            path.write_text(json.dumps({"all": {"vars": NOWHERE, "children": inventory}}))
        return subprocess.run(
            ["ansible-playbook", "-i", str(path), f"tkdc.appliance.{playbook}", *options],
            env=environment, text=True, capture_output=True, timeout=TIMEOUT_S, check=False)

    return run


def refusals(said: str) -> dict[str, str]:
    """What is said of each host that was refused."""
    return {host: " ".join(json.loads(result)["msg"]) for host, result in re.findall(
        r"^fatal: \[(\S+)\]: FAILED! => (\{.*\})$", said, re.M)}


def right_and_wrong() -> tuple[dict, dict[str, list[str]]]:
    """An inventory whose hosts have a fault each, and what is to be said of each; of right ones
    nothing. A host of each group has no variable; one has each misspelt, beside what it needs."""
    children: dict = {group: {"hosts": {f"right-{group}": dict(right), f"bare-{group}": {}}}
                      for group, right in RIGHT.items()}
    expected = {f"bare-{group}": ["missing required arguments: ", *required(group)]
                for group in RIGHT}
    servers, kdcs = children["tkdc_servers"]["hosts"], children["tkdc_kdcs"]["hosts"]
    wrong = {misspelt(name): "x" for name in variables()}
    servers["all-misspelt"] = RIGHT["tkdc_servers"] | wrong | {"tkdc_color": "red"}
    expected["all-misspelt"] = [
        *(f"{misspelt(name)}: no such variable; did you mean {name}?" for name in variables()),
        "tkdc_color: no such variable; ansible/README.md lists those there are"]
    servers["party-7"] = RIGHT["tkdc_servers"] | {"tkdc_party": 7, "tkdc_base_port": "many"}
    expected["party-7"] = ["value of tkdc_party must be one of: 0, 1, 2, got: 7",
                           "argument 'tkdc_base_port' is of type"]
    kdcs["no-admin-agent"] = RIGHT["tkdc_kdcs"] | {"tkdc_agents": {"kdc": "a", "admn": "b"}}
    expected["no-admin-agent"] = ["missing required arguments: admin found in tkdc_agents"]
    return children, expected


def one_missing_each() -> tuple[dict, dict[str, list[str]]]:
    children: dict = {group: {"hosts": {}} for group in RIGHT}
    expected = {}
    for group, right in RIGHT.items():
        for name in required(group):
            host = f"{group}-without-{name}"
            children[group]["hosts"][host] = {k: v for k, v in right.items() if k != name}
            expected[host] = [f"missing required arguments: {name}"]
    return children, expected


@pytest.mark.parametrize(("playbook", "faults"), [
    *((name, right_and_wrong) for name in PLAYBOOKS), ("preflight", one_missing_each)])
def test_each_fault_is_refused_before_a_host_is_asked(ansible, playbook, faults):
    """Of servers, KDC hosts and load generators, of each variable that one of them needs."""
    inventory, expected = faults()
    done = ansible(playbook, inventory)
    assert done.returncode == REFUSED, done.stdout + done.stderr
    assert "UNREACHABLE" not in done.stdout
    said = refusals(done.stdout)
    assert set(said) == set(expected)
    for host, words in expected.items():
        missing = [one for one in [*words, "Nothing was changed on any host"]
                   if one not in said[host]]
        assert not missing, f"{host}: {missing} not in {said[host]}"


def test_each_playbook_is_in_this_table():
    found = {path.stem for path in (COLLECTION / "playbooks").glob("*.yml")}
    assert found == {*PLAYBOOKS, "preflight"}


def test_what_the_playbooks_read_is_what_may_be_said():
    """So that no right name is refused, and nothing is taken that nobody reads."""
    text = "\n".join(path.read_text() for path in COLLECTION.rglob("*")
                     if path.suffix in (".yml", ".j2") and path.parent.name != "meta")
    written = {line.split("=")[0].strip() for line in text.splitlines()
               if re.match(r"\s*tkdc_\w+ = ", line)}  # keys of krb5's own files
    read = set(re.findall(r"\btkdc_[a-z_]+", text)) - {name.strip() for name in written}
    groups = {name for name in read if re.match(r"tkdc_(servers|kdcs|storms)", name)}
    assert read - groups == variables()
    for name in variables():
        assert misspelt(name) not in variables() and misspelt(name) != name


def test_a_right_inventory_is_taken(ansible):
    """The control: the same hosts are asked when nothing is wrong with them. It asks all hosts
    before it changes one."""
    servers = {f"server{party}": RIGHT["tkdc_servers"] | {
        "tkdc_party": party, "tkdc_address": f"10.0.0.{party}"} for party in range(3)}
    done = ansible("uninstall", {
        "tkdc_servers": {"hosts": servers}, "tkdc_kdcs": {"hosts": {"kdc0": RIGHT["tkdc_kdcs"]}},
        "tkdc_storms": {"hosts": {"storm": RIGHT["tkdc_storms"]}},
        "others": {"hosts": {"printer": {"tkdc_color": "red"}}}}, "-e", "tkdc_uninstall=true")
    assert done.returncode == UNREACHABLE, done.stdout + done.stderr
    assert not refusals(done.stdout)


@pytest.mark.parametrize(("groups", "said"), [
    ({"tkdc_server": {"hosts": {"a": RIGHT["tkdc_servers"]}}},
     "tkdc_server: no such group; did you mean tkdc_servers?"),
    ({"kdcs": {"hosts": {"a": RIGHT["tkdc_kdcs"]}}},
     "no host is in one of the groups tkdc_servers, tkdc_kdcs, tkdc_storms")])
def test_a_misspelt_group_is_refused(ansible, groups, said):
    """A playbook without hosts would end well."""
    done = ansible("install", groups)
    assert done.returncode == REFUSED
    assert said in refusals(done.stdout)["a"]


@pytest.mark.parametrize(("wrong", "said"), [
    ({"tkdc_primary": "kdc9"}, "tkdc_primary: kdc9 is no host of the group tkdc_kdcs"),
    ({"tkdc_members": ["server0", "server1"]}, "tkdc_members must name server0, "
     "server1 and server2 and at least one agent, each once"),
    ({"tkdc_members": MEMBERS[:-1]},
     "tkdc_members lacks kdc0-kdc or kdc0-admin, the agents of kdc0"),
    ({"tkdc_ldap": True}, "tkdc_ldap: each KDC host needs a tkdc_ldap_id of its own"),
    ({"tkdc_party": 1}, "tkdc_party: 1 is given to two hosts"),
    ({"tkdc_address": "10.0.0.1"}, "tkdc_address: 10.0.0.1 is given to two hosts")])
def test_what_hosts_say_together_is_looked_at(ansible, wrong, said):
    servers = {f"server{party}": RIGHT["tkdc_servers"] | {
        "tkdc_party": party, "tkdc_address": f"10.0.0.{party}"} | wrong for party in range(2)}
    hosts = {"tkdc_servers": {"hosts": servers},
             "tkdc_kdcs": {"hosts": {"kdc0": RIGHT["tkdc_kdcs"] | wrong}}}
    done = ansible("upgrade", hosts)
    assert done.returncode == REFUSED
    assert said in " ".join(done.stdout.split())
    assert "UNREACHABLE" not in done.stdout


@pytest.mark.parametrize("inventory", INVENTORIES)
def test_a_shipped_inventory_is_taken(ansible, inventory):
    done = ansible("preflight", COLLECTION / "inventories" / inventory)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r" : ok=[2-9] .* failed=0 ", done.stdout) is not None, done.stdout


# ---- what a playbook itself asks for before a host is asked

@pytest.mark.parametrize(("playbook", "said"), [
    ("certificates", "is no member; say whose keys are to be made anew"),
    ("uninstall", "nothing was changed: say -e tkdc_uninstall=true if you mean it")])
def test_a_playbook_wants_a_word(ansible, playbook, said):
    done = ansible(playbook, {"tkdc_kdcs": {"hosts": {"kdc0": RIGHT["tkdc_kdcs"]}}})
    assert done.returncode == REFUSED
    assert said in " ".join(done.stdout.split())
    assert "UNREACHABLE" not in done.stdout


# ---- promote: a host that answers and fails, beside one that does not answer

def kdcs(former: dict) -> dict:
    members = ["server0", "server1", "server2", *(f"kdc{n}-{role}" for n in (0, 1)
                                                  for role in ("kdc", "admin"))]
    of_both = RIGHT["tkdc_kdcs"] | {"tkdc_primary": "kdc1", "tkdc_members": members}
    return {"tkdc_kdcs": {"hosts": {
        name: of_both | {"tkdc_fqdn": f"{name}.a.test", "tkdc_agents": {
            role: f"{name}-{role}" for role in ("kdc", "admin")}} | more
        for name, more in (("kdc0", former), ("kdc1", {"ansible_connection": "local"}))}}}


@pytest.mark.parametrize("python", ["/bin/false", "{{ nobody_sets_this }}"])
def test_a_promotion_ends_where_the_former_primary_answers_and_fails(ansible, python):
    """Its kadmind may go on. In check mode: where the run went on this machine would be asked."""
    former = {"ansible_connection": "local", "ansible_python_interpreter": python}
    done = ansible("promote", kdcs(former), "--check")
    assert done.returncode == REFUSED, done.stdout + done.stderr
    assert "kdc0 answers and fails, so its kadmind may go on: nothing was changed" in done.stdout
    assert "Step down" not in done.stdout
    assert "take over" not in done.stdout.partition("PLAY [Look whether the new primary can")[2] \
        .partition("\n")[2]


def test_a_promotion_goes_on_where_the_former_primary_does_not_answer(ansible):
    """The control: it goes on to the next question, which this machine cannot answer."""
    done = ansible("promote", kdcs({}), "--check")
    assert "UNREACHABLE" in done.stdout
    assert "answers and fails, so" not in done.stdout
    assert "PLAY [Have the former primary step down]" in done.stdout, done.stdout + done.stderr


def test_a_promotion_of_a_host_that_does_not_answer_is_refused(ansible):
    hosts = kdcs({})
    del hosts["tkdc_kdcs"]["hosts"]["kdc1"]["ansible_connection"]
    done = ansible("promote", hosts, "--check")
    assert done.returncode == REFUSED
    assert "kdc1 does not answer: nothing was changed" in done.stdout
