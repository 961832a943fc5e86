"""helpers/internals/code_extras.py: torch's pointer comes off a code object, and back again."""

import pytest

pytestmark = pytest.mark.own_process(sharing="torch")

torch = pytest.importorskip("torch")
from helpers.internals import code_extras, dynamo_codes, torch_private  # noqa: E402


def compile_one():
    """Return a code object for which Dynamo has one cache entry."""

    def fn(x):
        return x + 1

    torch.compile(fn, backend="eager")(torch.ones(2))
    return fn.__code__


def test_new_code_has_no_state_and_is_compiled_by_default():
    code = compile("0", "<new>", "exec")
    assert code_extras.find_state(code) == 0
    assert code_extras.read_action(0) == "DEFAULT"
    assert code_extras.take_off_state(code) == 0


def test_a_state_that_is_taken_off_is_restored():
    code = compile_one()
    state = code_extras.find_state(code)
    assert state and code_extras.take_off_state(code) == state
    assert code_extras.find_state(code) == 0 and not dynamo_codes.read_cache_entries(code)
    code_extras.restore_state(code, state, is_in_use=False)
    assert code_extras.find_state(code) == state
    assert len(dynamo_codes.read_cache_entries(code)) == 1


def test_code_that_torch_skips_is_listed_with_its_action():
    code = compile("0", "<skipped>", "exec")
    torch_private.skip_code(code)
    new = compile("1", "<new>", "exec")
    assert code_extras.list_barred_codes([new, code]) == [(code, "SKIP")]
