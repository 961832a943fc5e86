"""helpers/mini/vm: the machine does what CPython does; CPython is the specification."""

import sys

import pytest

from helpers.mini import vm


def test_every_handler_says_its_stack_effect():
    told = {name: getattr(vm.Machine, name).__doc__ or "" for name in vm.opcodes(vm.Machine)}
    assert [name for name, words in told.items() if "→" not in words] == []


def test_methods_run_too():
    class A:
        def m(self, x):
            return self, x

    a = A()
    assert vm.run(a.m, 1) == (a, 1)


def test_the_machine_runs_what_is_called_and_not_cpython():
    """A function that asks for its frame finds the machine's, at every depth."""

    def inner():
        return type(sys._getframe()).__module__

    def outer():
        class A:
            def __init__(self):
                self.seen = [inner()]

            def __call__(self):
                return inner()

        return [inner(), *A().seen, A()(), next(inner() for _ in "x")]

    assert set(vm.run(outer)) == {"helpers.mini.vm.loop"}


def test_frames_below_are_those_of_cpython():
    def look():
        return sys._getframe().f_back.f_code.co_name

    assert vm.run(look) == "test_frames_below_are_those_of_cpython"


def test_an_exception_brings_no_entries_of_the_machine_into_the_program():
    import traceback

    def program():
        try:
            raise KeyError
        except KeyError as error:
            return traceback.extract_tb(error.__traceback__)

    [entry] = vm.run(program)
    assert (entry.name, entry.line) == ("program", "raise KeyError")


def test_the_context_of_the_caller_is_seen():
    def program():
        raise

    try:
        raise KeyError("outside")
    except KeyError as outside:
        with pytest.raises(KeyError) as caught:
            vm.run(program)
        assert caught.value is outside


@pytest.mark.parametrize("wrong", [len, int, 5, "f", None, [].append], ids=range(6))
def test_what_is_no_python_function_is_refused_in_one_sentence(wrong, refused):
    refused(TypeError, rf"\b{type(wrong).__name__}\b", vm.run, wrong)


def test_async_code_is_refused_in_one_sentence(refused):
    async def coroutine():
        return 1

    async def generator():
        yield 1

    for fn in (coroutine, generator, lambda: coroutine()):
        refused(vm.Unsupported, "async.*(coroutine|generator)", vm.run, fn)


def test_a_program_cannot_swallow_the_refusal(refused):
    async def coroutine():
        return 1

    def program():
        try:
            coroutine()
        except BaseException:
            return "swallowed"

    refused(vm.Unsupported, "coroutine", vm.run, program)


def test_another_python_is_refused_in_one_sentence(monkeypatch, refused):
    monkeypatch.setattr(vm, "VERSIONS", ((3, 8),))
    refused(vm.Unsupported, r"3\.8", vm.run, lambda: 1)


def test_recursion_is_bounded_by_the_limit_of_python(refused):
    def down(n):
        return down(n + 1)

    refused(RecursionError, "maximum recursion depth exceeded", vm.run, down, 0)


def test_code_that_was_decoded_is_told_apart_by_identity():
    """Two equal code objects may differ in their constants' types: 1 and True, 0.0 and -0.0."""

    def made(constant):
        space = {}
        exec(f"def f(): return {constant}", space)
        return space["f"]

    constants = ["1", "True", "1.0", "0.0", "-0.0"]
    assert [repr(vm.run(made(constant))) for constant in constants] == constants
