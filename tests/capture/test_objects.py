"""helpers/capture/cpython/objects.py: names, dicts and code are read, and no code of the object."""

import functools
import types

import pytest

from helpers.capture.cpython.objects import (
    LONGEST_NAME,
    find_inherited,
    list_global_names,
    read_callable_name,
    read_compiled_original,
    read_function_name,
    read_instance_dict,
    read_spoken_name,
    read_title_name,
    require_code,
    require_python_function,
)


def plain():
    return 1


class Scaler:
    def __call__(self):
        return 1

    def method(self):
        return 1


class WithSlots:
    __slots__ = ("a",)


class AsksBack:
    """Its `__dict__` is a property, which would run."""

    @property
    def __dict__(self):
        raise AssertionError("it was asked")


class Guarded:
    def __getattribute__(self, name):
        raise AssertionError("it was asked")


def test_the_dict_of_an_instance_is_read_and_no_code_of_its_class_runs():
    guarded = Guarded()
    object.__getattribute__(guarded, "__dict__")["a"] = 1
    assert read_instance_dict(guarded) == {"a": 1}
    assert read_instance_dict(WithSlots()) is None
    assert read_instance_dict(AsksBack()) is None
    assert isinstance(find_inherited(AsksBack, "__dict__"), property)
    assert find_inherited(Scaler, "nothing") is None


NAMES = {
    "a function": (plain, "plain"),
    "a method": (Scaler().method, "method"),
    "a partial": (functools.partial(functools.partial(plain)), "plain"),
    "a class": (Scaler, "Scaler"),
    "a function in C": (len, "len"),
    "an object": (Scaler(), "Scaler"),
    "a long name": (types.FunctionType(plain.__code__, {}, "n" * 200), "n" * 79 + "…"),
}


@pytest.mark.parametrize("case", NAMES)
def test_a_callable_has_its_own_name_or_that_of_its_class(case):
    thing, name = NAMES[case]
    assert read_callable_name(thing) == name and len(name) <= LONGEST_NAME


def test_a_call_method_has_its_class_in_a_title_and_in_the_name_of_its_function():
    assert read_function_name(Scaler.__call__) == "Scaler.__call__"
    assert read_function_name(Scaler.method) == "method"
    assert read_title_name(Scaler().__call__) == "Scaler.__call__"
    assert read_title_name(Scaler()) == "Scaler"


def test_a_function_of_numpy_has_the_name_that_users_write():
    numpy = pytest.importorskip("numpy")
    assert read_spoken_name(numpy.mean) == "np.mean"
    assert read_spoken_name(numpy.linalg.norm) == "np.linalg.norm"
    assert read_spoken_name(numpy.add) == "np.add"
    assert read_spoken_name(plain) == "plain"


def test_what_torch_compile_compiled_is_found_by_its_mark():
    compiled = functools.wraps(plain)(lambda: 2)
    assert read_compiled_original(compiled) is None
    compiled.get_compiler_config = None
    assert read_compiled_original(compiled) is plain
    assert read_callable_name(types.SimpleNamespace(**vars(compiled))) == "plain"


def test_a_method_comes_apart_and_what_is_no_function_is_refused_by_name(refused):
    scaler = Scaler()
    assert require_python_function(plain, "verb") == (plain, ())
    assert require_python_function(scaler.method, "verb") == (Scaler.method, (scaler,))
    assert require_code(plain.__code__, "verb") is plain.__code__
    assert require_code((value for value in ()), "verb").co_name == "<genexpr>"
    for thing, name in ((len, r"len\(\)"), (Scaler, "Scaler"), (3, "3")):
        refused(TypeError, rf"^verb .*{name}", require_code, thing, "verb")


def test_globals_of_inner_code_count_and_attributes_do_not():
    def outer():
        def inner():
            return plain.attribute

        return inner, len

    assert list_global_names(outer.__code__) == {"plain", "len"}
