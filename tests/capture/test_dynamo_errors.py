"""What torch says of an error or a break is in the exhibit: the cause, your line, and the hint."""

import re

import pytest

torch = pytest.importorskip("torch")

from helpers.capture.torch import dynamo_messages as words  # noqa: E402
from helpers.capture.torch import dynamo_run  # noqa: E402
from helpers.internals import dynamo_settings  # noqa: E402
from helpers.mini.frame_hook import put_back  # noqa: E402
from tests.capture.dynamo_errors import PROGRAMS  # noqa: E402

pytestmark = pytest.mark.own_process(sharing="torch")

# Of a break: it is about Dynamo's own code, or is in another column.
NOT_SHOWN = re.compile(r" *(Developer debug context|from user code|Set TORCHDYNAMO_VERBOSE)")
HEADING = re.compile(r"^ *(Explanation|Hint): ?")


@pytest.fixture(autouse=True)
def undisturbed():
    yield
    put_back()


def together(text):
    """Return a text with one space between two words."""
    return " ".join(text.split())


def lines_of(message, of_break):
    """Return the lines of a message that an exhibit must have, without what changes."""
    for line in words.remove_varying_parts(message).split("\n"):
        if of_break and (NOT_SHOWN.match(line) or words.LINK in line):
            return
        if line.strip(" ^~") and line.strip() != words.EMPTY_HEADING:
            yield together(HEADING.sub("", line) if of_break else line).rstrip(".")


def all_of(listing):
    """Return all that a listing of breaks says."""
    rows = ((r.cause, r.explanation, r.hint, r.page) for r in listing.rows)
    return together(" ".join([listing.note, *(one for row in rows for one in row)]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_words_of_torch_are_whole(name):
    fn, args = PROGRAMS[name]()
    with dynamo_settings.collect_torch_logs():
        run, kept = dynamo_run.run_compiled(fn, args, steps=0)
        fn, args = PROGRAMS[name]()
        told = all_of(dynamo_run.list_graph_breaks(fn, *args))
    messages = [] if kept.error is None else [(str(kept.error), False)]
    breaks = [event.cause for event in kept.events if event.kind in ("break", "given up")]
    messages += [(cause, True) for cause in breaks]
    for message, of_break in messages:
        wanted = [*lines_of(message, of_break)]
        if len(wanted) > words.MOST_LINES:
            wanted = [*wanted[:10], *wanted[-10:]]
        assert [line for line in wanted if line not in told] == []
    if kept.error is not None:
        assert all(line in together(run.note) for line in lines_of(str(kept.error), False)) or (
            "more lines" in run.note
        )


def test_there_are_errors_of_twenty_kinds():
    assert len(PROGRAMS) >= 30


def test_user_line_is_behind_a_link_to_a_page():
    """A ConstraintViolationError and a TorchRuntimeError name the line after much else."""
    for name, line in {"marked_and_branched": "x.shape[0] == 4", "wrong_shapes": "x @ x"}.items():
        fn, args = PROGRAMS[name]()
        assert line in dynamo_run.list_graph_breaks(fn, *args).note
