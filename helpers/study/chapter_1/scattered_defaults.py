"""Two objects -> functions of every form that hold them as defaults, and where exactly."""

import functools

from helpers.study.chapter_1.stand_ins import Equal, Sour


class Scattered:
    """Functions with defaults; `places(obj)` are the pairs that a search for `obj` should find.

    `eldest`: a function eldest(value, call=None) that was made before, and gets a default.
    """

    def __init__(self, wanted, other, eldest):
        eldest.__defaults__ = (wanted,)
        self._equal = Equal()
        self.functions = [eldest, *_positional(wanted, other, self._equal)]
        self.functions += _keyword_only(wanted, other)
        self._held = (
            (wanted, "eldest", "call"),
            *((wanted, "first", "call"), (wanted, "twice", "call"), (wanted, "twice", "again")),
            *((wanted, "with_locals", "call"), (wanted, "Kept.method", "call")),
            *((wanted, "<lambda>", "call"), (other, "generator", "call")),
            *((wanted, "mixed", "call"), (other, "mixed", "keyword_other")),
            *((wanted, "mixed", "keyword"), (wanted, "keyword_only", "keyword")),
            *((wanted, "_renamed", "call"), (other, "twice", "factor")),
            *((wanted, "_hidden", "call"), (other, "by_place", "again")),
            *((wanted, "by_place", "call"), (wanted, "by_place", "last")),
        )

    def places(self, obj) -> set[tuple[str, str]]:
        """Return the pairs of a function's `__qualname__` and a parameter that holds `obj`."""
        ends = {(name, parameter) for held, name, parameter in self._held if held is obj}
        return {
            (fn.__qualname__, parameter)
            for fn in self.functions
            for name, parameter in ends
            if fn.__qualname__.rpartition(">.")[2] == name
        }

    def named(self, qualname: str):
        """Return the function with this `__qualname__`, or None."""
        return next((fn for fn in self.functions if fn.__qualname__ == qualname), None)

    def plainly_named(self, name: str) -> bool:
        """Tell whether a function has this `__name__`."""
        return any(fn.__name__ == name for fn in self.functions)

    def compared(self, wanted) -> bool:
        """Tell whether somebody compared by `==`, and forget it."""
        asked = self._equal.asked or (type(wanted) is Sour and wanted.asked)
        self._equal.asked = False
        if type(wanted) is Sour:
            wanted.asked = False
        return asked


def _positional(wanted, other, equal):
    def first(value, call=wanted):
        return call

    def twice(value, call=wanted, factor=other, again=wanted):
        return call

    def with_locals(value, call=wanted):
        later = again = value
        return later, again

    def decoy(value, call=equal):
        return call

    def holding(value, call=[wanted], again=(wanted,)):  # noqa: B006
        return call, again

    def empty(value, call=[]):  # noqa: B006 - equal to another empty list, and not the same
        return call

    def _hidden(value, call=wanted):
        return call

    def by_place(call=wanted, again=other, /, last=wanted):
        return call, again, last

    def generator(value, call=other):
        yield call

    class Kept:
        def method(self, call=wanted):
            return call

    @functools.wraps(first)
    def _renamed(value, call=wanted):
        return call

    _renamed.__qualname__ = "_renamed"
    odd = [decoy, holding, empty, _hidden, by_place, _renamed, _unnamed(wanted)]
    return [first, twice, with_locals, generator, Kept.method, *odd]


def _unnamed(wanted):
    return lambda call=wanted: call


def _keyword_only(wanted, other):
    def keyword_only(value, *, keyword=wanted):
        return keyword

    def mixed(one, two, /, three, call=wanted, *rest, must, keyword_other=other, keyword=wanted):
        return rest, must

    return [keyword_only, mixed]
