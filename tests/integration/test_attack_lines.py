# SPDX-License-Identifier: Apache-2.0
"""What `make attack` says of an attack that did not hold, without a realm: no line that cannot
fail."""

from tests.attack import served
from tests.attack.lies import LIES, Lie
from tests.attack.line import Line, Play
from tests.attack.servers import judge_packets
from tests.attack.tap import Tap, read_tap

COMPARED = Lie("tried", "verdicts")
CHECKED = Lie("tried", "layer", last="verdict")


def tap(tmp_path, *lines: str) -> Tap:
    (tmp_path / "tap").write_text("".join(line + "\n" for line in lines))
    return read_tap(tmp_path / "tap")


def judged(lie: Lie, seen: Tap) -> Play:
    play = Play()
    judge_packets(lie, seen, play)
    return play


def test_silence_after_the_comparing_tick_holds(tmp_path):
    seen = tap(tmp_path, "got prev 9 40 32", "lie 10", "got next 11 60 0", "got prev 12 104 96",
               "got next 12 72 0", "end")
    play = judged(COMPARED, seen)
    assert not play.learned and not play.wrong
    assert Line("tried", [play]).reasons() == []
    assert "nothing" in Line("tried", [play]).text()


def test_a_packet_after_the_comparing_tick_is_a_leak(tmp_path):
    seen = tap(tmp_path, "lie 10", "got prev 12 104 96", "got next 13 60 0", "end")
    line = Line("tried", [judged(COMPARED, seen)])
    assert line.reasons() == ["tried: the attacker learned packets that must not leave"]
    assert "nothing" not in line.text()


def test_what_is_opened_in_the_lies_own_tick_compares_nothing_of_it(tmp_path):
    lines = ["got prev 10 48 32", "lie 10", "got prev 11 72 64", "got next 11 72 0"]
    assert not judged(COMPARED, tap(tmp_path, *lines)).learned
    assert judged(COMPARED, tap(tmp_path, *lines, "got next 12 60 0")).learned


def test_an_opening_in_the_comparing_tick_is_no_seed(tmp_path):
    play = judged(COMPARED, tap(tmp_path, "lie 10", "got prev 12 9000 800", "end"))
    assert play.wrong == ["800 octets are opened in the comparing tick"]


def test_a_broken_session_goes_on_for_two_ticks(tmp_path):
    lines = ["lie 10", "got next 11 60 0", "got next 12 60 0"]
    assert not judged(COMPARED, tap(tmp_path, *lines)).learned
    assert judged(COMPARED, tap(tmp_path, *lines, "got next 13 60 0")).learned


def test_after_the_checks_verdict_nothing_leaves(tmp_path):
    lines = ["lie 10", "got prev 20 104 96", "got prev 25 41 33"]
    assert not judged(CHECKED, tap(tmp_path, *lines)).learned
    assert judged(CHECKED, tap(tmp_path, *lines, "got next 26 60 0")).learned
    without = judged(CHECKED, tap(tmp_path, *lines[:-1]))
    assert without.wrong == ["no server told whether the check held"]


def test_a_verdict_is_known_beside_other_openings(tmp_path):
    lines = ["lie 10", "got prev 20 104 96", "got prev 25 105 97"]
    assert not judged(CHECKED, tap(tmp_path, *lines)).wrong
    assert judged(CHECKED, tap(tmp_path, *lines, "got next 26 60 0")).learned


def test_after_what_was_heard_of_masked_values_is_compared_nothing_leaves(tmp_path):
    masked = Lie("tried", "masked-one", last="heard")
    lines = ["lie 10", *(f"got prev {tick} 72 64" for tick in range(10, 14))]
    assert judged(masked, tap(tmp_path, *lines)).wrong
    lines += ["got prev 14 40 32"]
    assert not judged(masked, tap(tmp_path, *lines)).learned
    assert judged(masked, tap(tmp_path, *lines, "got next 15 60 0")).learned


def test_a_lane_beside_is_not_the_one_of_the_lie(tmp_path):
    seen = tap(tmp_path, "beside prev 700 40 32", "lie 10", "got prev 12 104 96",
               "beside next 710 60 0", "end")
    assert not judged(COMPARED, seen).learned
    assert [packet.tick for packet in seen.beside] == [710]


def test_another_packet_of_the_same_tick_is_a_leak(tmp_path):
    seen = tap(tmp_path, "got prev 12 3 1", "got prev 12 3 1")
    play = Play()
    served.judge_sent_again(seen, b"abcabc", play)
    assert not play.learned and play.measured["of them sent again"] == 1
    served.judge_sent_again(seen, b"abcabd", play)
    assert play.learned == ["another packet of tick 12"]


def test_a_control_that_shows_no_leak_fails():
    assert Line("tried", [Play()], leaks=True).reasons()
    assert not Line("tried", [Play(learned=["packets"])], leaks=True).reasons()


def test_what_was_not_played_fails():
    assert Line("tried").reasons() == ["tried: not played"]
    assert Line("tried", [Play(wrong=["why"])]).reasons() == ["tried: why"]


def test_what_is_tried_has_one_name_each():
    """A line is known by it, and `the same` by the one above."""
    for lie, before in zip(LIES[1:], LIES, strict=False):
        assert lie != before and lie.liars and set(lie.short) <= set(lie.liars)
