"""What ends watched code for good is raised again after its exhibit, whatever the verb."""

import contextlib

import pytest

import helpers

torch = pytest.importorskip("torch")
pytest.importorskip("torch._dynamo")  # before TensorFlow
pytest.importorskip("tensorflow")
pytestmark = pytest.mark.own_process(sharing="tensorflow")

ONE, X = {"i": contextlib.nullcontext}, torch.ones(2)


def fine(*args):
    return "x"


def add(n):
    return n + 1


def routed(fn):
    return helpers.watch_routes(fine, add, {"r": fine}, {"r": fn}, ONE)


class Timer(BaseException):
    """What a timer raises."""


# Verb -> how it is called, and what its exhibit has; "" if it draws none.
VERBS = {
    "watch_names": (helpers.watch_names, "ends"),
    "watch_frames": (helpers.watch_frames, "ends"),
    "watch_stack": (helpers.watch_stack, "ends"),
    "watch_hooked": (helpers.watch_hooked, "raised"),
    "watch_callers": (lambda f: helpers.watch_callers({"r": f}, lambda r: r(), ONE), "each route"),
    "watch_routes": (routed, "Not reached"),
    "watch_ops": (helpers.watch_ops, "raised"),
    "watch_call": (helpers.watch_call, "0 calls"),
    "watch_calls": (lambda fn: helpers.watch_calls({"a": fn, "b": fine}), "b"),
    "watch_mutations": (lambda fn: helpers.watch_mutations({"a": fn, "b": fine}), "b"),
    "show_journey": (helpers.show_journey, "raised"),
    "watch_fixes": (lambda fn: helpers.watch_fixes({"a": (fn, fine)}), "cures"),
    "watch_breaks": (helpers.watch_breaks, "raised"),
    "watch_compile": (helpers.watch_compile, "Dynamo translates"),
    "watch_rewriting": (helpers.watch_rewriting, ""),
    "watch_guard_sets": (
        lambda fn: helpers.watch_guard_sets(add, X, guard_sets={"mine": fn}),
        "raises",
    ),
    "watch_guard_sets of it": (lambda fn: helpers.watch_guard_sets(fn), ""),
    "watch_specialising": (lambda fn: helpers.watch_specialising(fn, {"a": ()}), ""),
    "watch_tracers": (helpers.watch_tracers, ""),
    "watch_costs": (lambda fn: helpers.watch_costs(fine, {"a": fn}), ""),
    "watch_recompiles": (lambda fn: helpers.watch_recompiles(fn)(), ""),
    "watch_traces": (lambda fn: helpers.watch_traces(fn)(), ""),
    "watch_variables": (lambda fn: helpers.watch_variables({"a": fn}, runs=2), ""),
    "watch_race": (lambda fn: helpers.watch_race(fn, runs=2), ""),
    "watch_optimisation": (helpers.watch_optimisation, ""),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", [SystemExit, pytest.fail.Exception, Timer])
def test_what_ends_watched_code_is_raised_after_the_exhibit(capsys, verb, kind, refused):
    def ends(*args, **kwargs):
        raise kind("over")

    call, words = VERBS[verb]
    refused(kind, "over", call, ends)
    assert words in " ".join(capsys.readouterr().out.split())


def test_code_that_drives_a_generator_ends_as_well(capsys):
    def yields():
        yield 1
        pytest.skip("over")

    with pytest.raises(pytest.skip.Exception):
        helpers.watch_stack(yields)
    assert "yields" in capsys.readouterr().out


def test_who_catches_the_end_within_watched_code_has_caught_it():
    def leaves():
        raise SystemExit

    def outer():
        asked = helpers.predict("q", ["SystemExit", "None"], run=leaves)
        with contextlib.suppress(SystemExit):
            helpers.watch_ops(leaves)
        return asked.model.answer

    assert "returned 'SystemExit'" in repr(helpers.watch_frames(outer))


@pytest.mark.parametrize("verb", VERBS)
def test_an_own_keyboard_interrupt_comes_out_as_it_is(verb, capsys):
    error = KeyboardInterrupt("stop")

    def interrupts_itself(*args, **kwargs):
        raise error

    with pytest.raises(KeyboardInterrupt) as caught:
        VERBS[verb][0](interrupts_itself)
    assert caught.value is error and error.args == ("stop",)
    names = [entry.name for entry in caught.traceback]  # that of AutoGraph's copy has a prefix
    assert any("interrupts_itself" in name for name in names)
