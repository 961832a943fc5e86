"""Both doors take what torch.compile takes, and follow it when it changes."""

import pytest

pytestmark = pytest.mark.own_process(sharing="torch")

torch = pytest.importorskip("torch")

from helpers.mini import dynamo, frame_hook  # noqa: E402

X = torch.arange(6.0).reshape(2, 3)


def scaled(x, k=2, *, shift=0):
    return x * k + shift


@pytest.mark.skipif(not frame_hook.available(), reason="no frame hook here")
def test_the_hook_traces_one_function_of_many_from_the_same_lines():
    def make(k):
        def times(x):
            return x * k

        return times

    two, three = make(2), make(3)
    before = two.__code__
    with dynamo.hooked(only=[two]) as compiled:
        assert torch.equal(two(X), X * 2)
        assert torch.equal(three(X), X * 3) and torch.equal(make(4)(X), X * 4)
    assert two.__code__ is before and len(compiled[two].entries) == 1
    assert torch.equal(compiled[two](X), X * 2) and not compiled[two].why


@pytest.mark.parametrize("only", [[None], None, 3, "scaled", [scaled, print]])
def test_a_wrong_argument_of_the_hook_is_one_sentence(only):
    words = "each of only must be a Python function, not"
    with pytest.raises(TypeError, match=words), dynamo.hooked(only=only):
        pass
    with pytest.raises(ValueError, match="only is empty"), dynamo.hooked():
        pass


def test_wrong_arguments_of_compile_are_one_sentence():
    with pytest.raises(TypeError, match="backend must be something to call, not int"):
        dynamo.compile(scaled, 3)
