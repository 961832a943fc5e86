"""A cache entry of another backend is named before its guards; no torch is needed here."""

from helpers.capture.torch import backend_failures as backends
from helpers.model.guard_failures import Failure

GUARD = Failure(1, "x", "EQUALS_MATCH", "it equals 1")


class SaysItself:
    def __eq__(self, other):
        raise AssertionError("asked")

    __hash__ = None


def one(graph, inputs):
    return graph


def other(graph, inputs):
    return graph


def test_a_backend_is_compared_without_code_of_the_user():
    assert backends.is_same_backend(one, one) is True
    assert backends.is_same_backend(one, other) is False
    assert backends.is_same_backend(SaysItself(), SaysItself()) is None


def test_another_backend_comes_before_the_guards_that_fail():
    failures = [(GUARD,), (GUARD,), (), (GUARD,)]
    found = backends.add_backend_failures(failures, [one, other, other, SaysItself()], one)
    assert found[0] == (GUARD,)
    assert [failure.kind for failure in found[1]] == ["BACKEND_MATCH", "EQUALS_MATCH"]
    checks = [entry[0].checks for entry in found[1:]]
    assert checks == [backends.OTHER_BACKEND, backends.ONLY_BACKEND, backends.UNKNOWN_BACKEND]
    assert [entry[0].entry for entry in found[1:]] == [2, 3, 4]
