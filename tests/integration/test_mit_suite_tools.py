# SPDX-License-Identifier: Apache-2.0
"""The runner of MIT's suite (`make mit-suite`): what it changes, and what it reports.

A stand-in takes the place of MIT's k5test, so nothing is fetched, built or started.
"""

import ast
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.mit_suite import departures, launch, report
from tests.mit_suite.departures import Departure
from tests.mit_suite.inject import Injection
from tests.mit_suite.run import Runner
from tests.mit_suite.source import Source, SourceError

SCRIPT = """\
mark('one')
first()
if condition:
    second()
mark('two')
third(1,
      2)
# from here
fourth()
success('done')
"""


def left(*parts):
    tree = launch.without_parts(SCRIPT, "script", list(parts))
    return [ast.unparse(s).split("(")[0].split("\n")[0] for s in tree.body]


def test_a_part_ends_at_the_next_mark_or_where_it_is_told():
    assert left() == ["mark", "first", "if condition:", "mark", "third", "fourth", "success"]
    assert left(("mark('one')", "")) == ["mark", "third", "fourth", "success"]
    assert left(("third(1", "# from here")) == [
        "mark", "first", "if condition:", "mark", "fourth", "success"]
    assert left(("mark('two')", "")) == ["mark", "first", "if condition:", "success"]


def test_what_does_not_fit_the_script_ends_it():
    with pytest.raises(SystemExit, match="does not have: mark"):
        left(("mark('three')", ""))


class Suite:
    """What Injection needs of k5test; programs answer `output`."""

    def __init__(self, output=""):
        self.output, self.ran = output, []
        self.kadminl, self.ktutil = "/bin/false", "/bin/false"
        self._start_daemon = None

    def _run_cmd(self, args, env, **keywords):
        self.ran.append((args, env, keywords))
        return self.output


def injection(tmp_path, *mine, output=""):
    suite = Suite(output)
    tkdc = {"bin": "/b", "kdc_socket": "/k", "admin_socket": "/a"}
    return Injection(suite, tkdc, mine, tmp_path / "record"), suite


def test_stanzas_of_stock_modules_are_wrapped(tmp_path):
    here, _ = injection(tmp_path)
    own = {"db_library": "test"}
    profile = here.with_tkdc({
        "realms": {"$realm": {"supported_enctypes": "aes256-cts:normal rc4-hmac:normal"}},
        "dbmodules": {"db_module_dir": "x", "db": {"db_library": "klmdb"}, "own": own},
        "plugins": {"kdcpreauth": {"module": "test"}}})
    assert profile["dbmodules"]["own"] == own
    assert profile["dbmodules"]["db"]["db_library"] == "ktkdc"
    assert profile["dbmodules"]["db"]["tkdc_wrapped"] == "klmdb"
    assert profile["plugins"]["kdcpreauth"] == {"module": "test", "disable": "spake"}
    assert profile["realms"]["$realm"]["supported_enctypes"] == "aes256-cts:normal"
    assert departures.LEGACY in json.loads((tmp_path / "record").read_text())
    assert here.with_tkdc({"libdefaults": {}}) == {"libdefaults": {}}


def test_programs_that_open_the_database_are_preloaded(tmp_path):
    here, suite = injection(tmp_path)
    here.run(["/x/krb5kdc", "-n"], {})
    here.run(["/x/kinit", "krb5kdc@REALM"], {})
    assert [env.get("LD_PRELOAD") for _, env, _ in suite.ran] == ["/b/libtkdc-k5.so", None]


def test_a_refusal_is_expected_and_recorded(tmp_path):
    here, suite = injection(tmp_path, departures.refused("why", r"^kvno alice", "no service"))
    here.run(["/x/kvno", "alice"], {}, expected_trace=("a",))
    here.run(["/x/kvno", "host/a"], {})
    assert [k for _, _, k in suite.ran] == [
        {"expected_code": 1, "expected_msg": "no service"}, {}]
    assert (tmp_path / "record").read_text() == '"why"\n'


def test_a_program_is_told_what_to_expect(tmp_path):
    mine = Departure("why", command="^t_kadm5clnt ", env=("USERS_ARE_NO_SERVICES", "1"))
    here, suite = injection(tmp_path, mine)
    here.run(["./t_kadm5clnt", "clnt"], {"A": "b"})
    here.run(["./t_x", "t_kadm5clnt clnt"], {"A": "b"})
    assert [env for _, env, _ in suite.ran] == [
        {"A": "b", "USERS_ARE_NO_SERVICES": "1"}, {"A": "b"}]
    assert (tmp_path / "record").read_text() == '"why"\n'


def test_a_renamed_principal_is_another_one(tmp_path):
    here, suite = injection(tmp_path, *departures.of("tests/t_iprop.py"))
    here.run(["/x/kadmin.local", "renprinc", "wakawaka@R", "quacked@R"], {})
    assert suite.ran[0][0] == ["/x/kadmin.local", "modprinc", "+allow_tix", "quacked@R"]


def test_changes_of_the_source_are_made_once(tmp_path, monkeypatch):
    """A source of before gets those that are new, and is built again."""
    source = Source(tmp_path, print)
    source.source.mkdir(parents=True)
    program, built = source.source / "a.c", tmp_path / "built.done"
    program.write_text("old 1; new 2;")
    built.touch()
    monkeypatch.setattr("tests.mit_suite.source.CHANGES",
                        (("a.c", "old 1", "new 1"), ("a.c", "old 2", "new 2")))
    source._change()
    assert program.read_text() == "new 1; new 2;" and not built.exists()
    built.touch()
    source._change()
    assert built.exists()
    program.write_text("new 1;")
    with pytest.raises(SourceError, match="not as expected"):
        source._change()


def test_a_user_that_is_a_service_goes_by_another_name(tmp_path):
    here, suite = injection(tmp_path, departures.as_service("web"),
                            output="svc/web@REALM: kvno = 1")
    out = here.run(["/x/kvno", "web@REALM", "webb"], {}, expected_msg="web@REALM: kvno = 1")
    assert suite.ran[0][0] == ["/x/kvno", "svc/web@REALM", "webb"]
    assert suite.ran[0][2] == {"expected_msg": "svc/web@REALM: kvno = 1"}
    assert out == "web@REALM: kvno = 1"


def test_keys_that_a_script_extracts_are_known_but_for_krbtgts(tmp_path):
    here, _ = injection(tmp_path, Departure("why", known_keys=True))
    add = ["/x/kadmin.local", "addprinc", "-randkey", "host/a"]
    assert here.with_known_keys(add) == [
        "/x/kadmin.local", "addprinc", "-pw", "generated 1", "host/a"]
    krbtgt = ["/x/kadmin.local", "cpw", "-randkey", "krbtgt/R"]
    assert here.with_known_keys(krbtgt) == krbtgt


def judged(tmp_path, code, log):
    source = Source(tmp_path, print)
    return Runner(source, "tkdc", {}, 5.0)._judge(code, log)


def test_outcomes(tmp_path):
    assert judged(tmp_path, 0, "*** Success: x\n").outcome == "passed"
    skipped = judged(tmp_path, 0, "*** Skipping: all: no such module\n")
    assert (skipped.outcome, skipped.skipped) == ("skipped", ["all: no such module"])
    failed = judged(tmp_path, 1, "====== part ======\n*** Failure: kvno failed\n")
    assert (failed.outcome, failed.failure, failed.last_mark) == ("failed", "kvno failed", "part")
    assert "not done after 5 s" in judged(tmp_path, None, "").failure
    assert judged(tmp_path, 1, "ValueError: x\n").failure == "ValueError: x"


def test_the_page_gets_its_tables(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    passed = {"outcome": "passed", "seconds": 2.0, "skipped": [], "failure": "", "last_mark": "",
              "departures": ["a|b (left out: `x` …)"], "operations": 7}
    failed = {**passed, "outcome": "failed", "failure": "why", "last_mark": "where"}
    report.write(page, {"tests/t_x.py": {"stock": passed, "tkdc": failed}}, "1.2")
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    row = "| `tests/t_x.py` | passed, 2 s | failed at “where”: why | 7 | 1, left out from `x` … |"
    assert row in text
    assert "\n1. a|b\n" in text
    assert "0 passed, 0 skipped, 1 failed" in text


def test_departures_say_one_thing_each():
    for script, mine in departures.DEPARTURES.items():
        assert script.endswith(".py")
        for d in mine:
            kinds = [d.leave_out, d.command, d.service, d.known_keys, d.known_krbtgt]
            assert d.reason and sum(bool(kind) for kind in kinds) <= 1
            assert not d.whole_script() or len(mine) == 1
            assert not d.command or d.refusal is not None or d.rewrite or d.env


def test_a_script_left_out_as_a_whole_is_not_run(tmp_path):
    runner = Runner(SimpleNamespace(directory=tmp_path, source=Path("/none")), "tkdc", {"a": 1}, 5)
    result = runner.run("tests/t_spake.py")
    assert result.outcome == "skipped" and "SPAKE" in result.departures[0]
