"""A code object -> the names in it, by which the search for mutable state goes on."""

import email.charset
import json

from helpers.capture.tensorflow import reach_of_code


def inner_sets():
    def inner(x):
        x.size = 1
        del x.name

    return inner


def sets_by_a_string(x):
    setattr(x, "label", x.size)  # noqa: B010


def runs_a_string():
    exec("rows.append(limit)")


def reads_modules_of_torch(x):
    return x.modules()


def reads_modules_of_python():
    import sys

    return sys.modules


def imports():
    import email.charset  # noqa: F401
    from json import dumps  # noqa: F401

    import no_such_module  # noqa: F401


def test_attributes_that_inner_code_sets_are_found_and_those_that_it_reads_are_not():
    assert reach_of_code.find_set_attributes(inner_sets.__code__) == {"size", "name"}


def test_with_setattr_each_name_may_be_set():
    names = reach_of_code.find_set_attributes(sets_by_a_string.__code__)
    assert names >= {"label", "size"}


def test_names_in_a_string_of_code_are_found_and_other_strings_do_no_harm():
    assert reach_of_code.find_names_in_strings(runs_a_string.__code__) == {
        "rows",
        "append",
        "limit",
    }
    assert not reach_of_code.find_names_in_strings((lambda: "it is no code").__code__)


def test_ways_around_names_are_those_that_reach_any_object():
    assert reach_of_code.find_ways_around_names(runs_a_string.__code__) == {"exec"}
    assert not reach_of_code.find_ways_around_names(reads_modules_of_torch.__code__)
    found = reach_of_code.find_ways_around_names(reads_modules_of_python.__code__)
    assert found == {"sys.modules"}


def test_modules_that_a_body_imports_are_found_if_they_are_loaded():
    assert reach_of_code.find_imported_modules(imports) == {
        "email": email,
        "email.charset": email.charset,
        "json": json,
    }
