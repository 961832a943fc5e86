"""helpers/study/chapter_4: stubs are untried, and invalid answers are refused in words."""

import pytest

pytestmark = [pytest.mark.own_process(sharing="torch"), pytest.mark.filterwarnings("ignore")]

torch = pytest.importorskip("torch")

from helpers import check  # noqa: E402
from helpers.mini import frame_hook  # noqa: E402

NAMES = [f"dynamo_{step}" for step in ("binary_op", "recorder", "guards", "lookup", "receives")]
hooked = pytest.mark.skipif(bool(frame_hook.why_not()), reason="no hook here")


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_that_returns_an_ellipsis_is_untried(name):
    class Stub:
        def __init__(self, *args):
            self.graph, self.inputs = torch.fx.Graph(), {}

        input = call = lambda self, *args: ...

    stub = Stub if name == "dynamo_recorder" else lambda *args: ...
    assert getattr(check, name)(stub).model.state == "untried"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", [3, print])
def test_an_invalid_answer_is_refused_in_words(name, wrong):
    outcome = getattr(check, name)(wrong).model
    assert outcome.state == "failed" and outcome.because


def _one():
    return 1


@hooked
def test_a_hook_that_an_answer_left_on_is_off_after_the_check():
    def left_on(machine, fn, program):
        frame_hook.watching(lambda code, values: lambda *_: "left", only=_one).__enter__()
        return program()

    before = frame_hook.installed()[0].name  # Dynamo's, where an earlier test compiled
    beside = check.behind_the_hook(left_on).model.beside
    assert "'hook afterwards': 'on'" in beside.yours and "'off'" in beside.real
    with frame_hook.watching(lambda code, values: None):  # a hook below it would be called too
        assert _one() == 1
    assert frame_hook.installed()[0].name == before
