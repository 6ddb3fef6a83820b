# SPDX-License-Identifier: Apache-2.0
"""What a page has somebody type begins with a program that is known here: one of test_page_run's,
whose every line is typed, or one of the host's own, of which a table says who types it. A line that
is neither, nor a table's, is a mistake of the page or a hole in the tests.
"""

import re
import shlex

import pytest

from tests.house_prose import blocks
from tests.integration.test_page_run import PAGES, PROGRAMS, ROOT, TYPED_WHOLE

STEPS = "tests/rollout/steps_hosts.py"
DRILLS = "tests/drills/page.py"
# Who types a page's lines of the host's own programs, and what of his shows that he reads them.
TYPED_BY = {
    "drills.md": (DRILLS, '"drills.md"'),
    **{page: (place, f'"{page}"') for page, place in TYPED_WHOLE.items()},
    "plan.md": (STEPS, "## Room for the audit log"),
}
# Pages whose lines of other programs are one line, done by other means.
DONE_BY = {
    "cp /usr/share/doc/tkdc-server/examples/monitoring/tkdc.rsyslog.conf "
    "/etc/rsyslog.d/tkdc.conf": ("tests/integration/test_syslog.py", "tkdc.rsyslog.conf"),
    "echo '*/admin@EXAMPLE.TEST *' >/etc/krb5kdc/kadm5.acl":
        ("tests/packages/test_packages.py", "/etc/krb5kdc/kadm5.acl"),
}
OF_THE_HOST = ("chmod", "chown", "cp", "echo", "find", "grep", "install", "mkdir", "mkfs.ext4",
               "mount", "mv", "printf", "rm", "sed", "umount")
# In a sentence: kadmin's own words, and programs that only illustrate.
QUERIES = ("addprinc", "cpw", "getprinc", "ktadd", "modpol", "modprinc", "purgekeys")
NAMED = ("kill", "nvidia-smi", "ssh-keygen", "systemd-analyze")
PROSE = ("a server computed wrongly",)
# Lines of code that nobody types: configuration, apt's too, a log's line, a question to Prometheus.
NOT_TYPED = re.compile(r"deb \[|\[\w+\]$|[\w.]+ = |\}$|[A-Z]\w+=|AS_REQ \(|histogram_quantile\(")
PROFILE = re.compile(r"KRB5_KDC_PROFILE=")
PROMPT = re.compile(r"(?:(?:server\d|offline\d|kdc) ?)+# ")
NAME = re.compile(r"[a-z][a-z0-9_.-]*$")


def text_of(page: str) -> str:
    return re.sub(r"\\\n\s*", "", (PAGES / page).read_text())


def code_of(text: str) -> list[str]:
    lines = [line for block in blocks(text) if not block.prose for line in block.lines
             if line.startswith("    ") and line.strip()]
    lines = [PROMPT.sub("", re.split(r"\s{2,}#", line.strip())[0]) for line in lines]
    return [line for line in lines if PROFILE.match(line) or not NOT_TYPED.match(line)]


def programs_of(line: str) -> list[str]:
    """Of each command of the line; settings of the environment stand before it."""
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    found, begins = [], True
    for word in words:
        if word in ("&&", "||", "|", ";"):
            begins = True
        elif begins and not re.match(r"[A-Z_]\w*=", word):
            found.append(word)
            begins = False
    return found


def quoted_in(text: str) -> list[str]:
    """What stands in a sentence and could be a command: several words, of which the first could be
    a program."""
    return [one for one in re.findall(r"`([^`]+)`", text)
            if len(one.split()) > 1 and " = " not in one and one not in PROSE
            and NAME.match(one.split()[0])]


def unknown_in(text: str) -> dict[str, str]:
    """Programs of no list, each with its line."""
    typed = {program: line for line in code_of(text) for program in programs_of(line)
             if program not in (*PROGRAMS, *OF_THE_HOST)}
    named = {one.split()[0]: one for one in quoted_in(text)
             if one.split()[0] not in (*PROGRAMS, *OF_THE_HOST, *QUERIES, *NAMED)}
    return typed | named


def of_the_host(page: str) -> list[str]:
    return [line for line in code_of(text_of(page)) if set(programs_of(line)) & {*OF_THE_HOST}]


@pytest.mark.parametrize("page", sorted(one.name for one in PAGES.glob("*.md")))
def test_each_program_of_a_page_is_known(page):
    unknown = unknown_in(text_of(page))
    assert not unknown, (f"{page} has programs that no list has: {unknown}. Accepted are PROGRAMS "
                         f"of test_page_run, whose lines are typed: {PROGRAMS}; of the host's own "
                         f"{OF_THE_HOST}; in a sentence {QUERIES + NAMED} besides")


@pytest.mark.parametrize("page", sorted(one.name for one in PAGES.glob("*.md")))
def test_somebody_types_each_line_of_the_hosts_programs(page):
    lines = [line for line in of_the_host(page) if line not in DONE_BY]
    if lines:
        assert page in TYPED_BY, f"nobody types these of {page}: {lines}"
        place, reads = TYPED_BY[page]
        assert reads in (ROOT / place).read_text(), place


def test_what_is_done_by_other_means_is_done():
    there = {line for page in PAGES.glob("*.md") for line in of_the_host(page.name)}
    for line, (place, words) in DONE_BY.items():
        assert line in there, f"no page has: {line}"
        assert words in (ROOT / place).read_text(), place


def test_no_list_has_a_program_that_no_page_names():
    texts = [text_of(page.name) for page in PAGES.glob("*.md")]
    typed = {program for text in texts for line in code_of(text) for program in programs_of(line)}
    named = {one.split()[0] for text in texts for one in quoted_in(text)}
    assert {*OF_THE_HOST} <= typed
    assert {*QUERIES, *NAMED} <= named


def test_an_unknown_program_is_seen():
    page = ("So:\n\n    A=b tkdc-frobnicate --now && systemctl stop tkdc-server@NAME\n"
            "    server0# cp a b | tee c\n    KRB5_KDC_PROFILE=x frob\n    [Service]\n"
            "\n1. text\n   goes on, and\n       under it\n\nOr `frobnicate -x`, with `lanes = 2` "
            "and `--out FILE`.\n")
    assert set(unknown_in(page)) == {"tkdc-frobnicate", "tee", "frob", "frobnicate"}
    assert unknown_in("    KRB5_KDC_PROFILE=x kdb5_util load y\n") == {}
