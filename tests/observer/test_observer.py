"""A verb changes nothing that the process can feel: programs times verbs, watched and plain.

The everyday suite draws pairs in which each program and each verb is at least once.
`COURSE_SAMPLES=whole` judges all pairs, each also with ten uses. `python -m tests.observer torch`
judges all pairs of a framework, and prints what differs.
"""

import importlib.util
import sys

import pytest

from tests.observer import harmful, judging, verbs
from tests.observer.known import KNOWN
from tests.samples import WHOLE

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="forks, and reads /proc"),
    pytest.mark.own_process,
]
NEEDS = {"plain": (), "torch": ("torch",), "tensorflow": ("tensorflow", "keras")}
SEED = 39
# Not verbs on a program: they show the course's own systems, or compare start-ups of Python.
OF_NO_PROGRAM = {"show_job", "show_registry", "startup_switches"}


def needed(framework: str) -> None:
    """Skip where the framework is missing; it is not imported here, but in the server."""
    for name in NEEDS[framework]:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is missing")


@pytest.fixture(scope="module", params=judging.FRAMEWORKS)
def server(request):
    """One server for all tests of a framework: an import of one costs seconds."""
    needed(request.param)
    with judging.Server(request.param, small_heap=not WHOLE) as running:
        yield running


def found_in(server, pairs) -> dict[tuple[str, str], list[str]]:
    """Return (program, verb) -> what differs, of the pairs in which something does."""
    judged = judging.judge_pairs(server, pairs)
    return {(program, verb.name): found for program, verb, _, found, _ in judged if found}


def split_known(found: dict) -> tuple[dict, set]:
    """Return what differs and is not known, and the known pairs that were found."""
    known = {pair for pair in found if pair in KNOWN}
    return {pair: words for pair, words in found.items() if pair not in known}, known


def test_verb_changes_nothing_in_a_program(server):
    programs = judging.table(server.framework)
    pairs = judging.drawn_pairs(programs, SEED)
    # Ten uses need ten plain calls, too: one pair in sixteen is used ten times.
    drawn = [(name, verb, 10 if at % 16 == 2 else 1) for at, (name, verb) in enumerate(pairs)]
    found = found_in(server, drawn)
    unknown, known = split_known(found)
    assert not unknown
    expected = {pair for pair in KNOWN if pair in {(name, verb.name) for name, verb, _ in drawn}}
    assert known == expected, "these are mended: take them out of KNOWN"


if WHOLE:  # an hour; every day, drawn pairs stand for them

    @pytest.mark.long
    @pytest.mark.parametrize("times", [1, 10])
    def test_all_verbs_change_nothing_in_all_programs(server, times):
        pairs = judging.every_pair(judging.table(server.framework))
        found = found_in(server, [(name, verb, times) for name, verb in pairs])
        assert not split_known(found)[0]


@pytest.mark.long
def test_ten_uses_leave_no_objects(server):
    pairs = judging.drawn_pairs(judging.table(server.framework), SEED + 1)
    judged = judging.judge_growth(server, pairs)
    assert not {(program, verb): more for program, verb, more in judged if more}


@pytest.mark.parametrize("server", ["plain"], indirect=True)
def test_what_ten_uses_leave_is_caught(server):
    pair = "plain:global_names", harmful.VERBS["harm: leaks"]
    ((_, _, more),) = judging.judge_growth(server, [pair])
    assert more == {"tests.observer.harmful.Leak": 10}


def test_harmful_verbs_are_caught(server):
    framework = server.framework
    name = {
        "plain": "plain:global_names",
        "torch": "torch:global_forward_hook",
        "tensorflow": "tensorflow:plain_function",
    }[framework]
    of_all = [one for one in harmful.VERBS.values() if framework in one.frameworks]
    # The senses of CPython are tried in one process, those of a framework in its own.
    of_all = [one for one in of_all if harmful.OF_SENSE[one.name] != ("growth",)]
    own = [one for one in of_all if framework == "plain" or one.frameworks != verbs.EVERY]
    judged = judging.judge_pairs(server, [(name, verb, 1) for verb in own])
    missed = [
        verb.name
        for _, verb, _, found, _ in judged
        if not any(sense in words for words in found for sense in harmful.OF_SENSE[verb.name])
    ]
    assert not missed


def test_each_sense_has_a_harmful_verb():
    from tests.observer import feel

    tried = {sense for senses in harmful.OF_SENSE.values() for sense in senses}
    assert set(feel.SENSES) - tried <= {"weak"}


def test_there_are_enough_programs():
    assert sum(len(judging.table(framework)) for framework in judging.FRAMEWORKS) >= 60
