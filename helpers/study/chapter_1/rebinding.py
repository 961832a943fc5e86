"""Chapter 1, exercise 3: a rebinding of one's own, judged on an op of another library."""

import sys
from types import ModuleType

from helpers.capture.references.search import scan_modules
from helpers.capture.text.error import said
from helpers.study.chapter_1.default_finder import Equal
from helpers.study.check import Exercise, tried


class _Scene:
    """The places that hold the op, two stand-ins, and a module with things to trip over."""

    def __init__(self, op):
        def first(*args, **kwargs):
            return "first stand-in"

        def second(*args, **kwargs):
            return "second stand-in"

        self.op, self.first, self.second = op, first, second
        self.module = ModuleType("scenery")
        self.module.op, self.module.bystander, self.module.equal = op, first, Equal()

    def __enter__(self):
        sys.modules["scenery"] = self.module
        self.places = scan_modules(self.op)
        return self

    def __exit__(self, *error):
        for place in self.places:
            place.put(self.op)
        del sys.modules["scenery"]

    def without(self, function) -> str:
        """Return the name of a place that does not hold `function`, empty if all hold it."""
        names = [place.binding.path for place in self.places if place.get() is not function]
        return min(names, default="")


def _judge_patch(rebind, op):
    with _Scene(op) as scene:
        try:
            return (
                _inside_and_after(rebind, scene)
                or _on_error(rebind, scene)
                or _nested(rebind, scene)
            )
        except (RuntimeError, TypeError, ValueError) as error:
            return (
                f"your code raised {said(error)}; if that came from ==, compare with `is` instead"
            )


def _inside_and_after(rebind, scene):
    manager = tried(rebind(scene.op, scene.first))
    if not hasattr(type(manager), "__enter__"):
        return "it must return a context manager; decorate a generator with contextmanager"
    with manager:
        missed = scene.without(scene.first)
        equal = scene.module.equal is scene.first
    if equal:
        return "it replaced an object that is only equal to the old one; compare with `is`"
    if missed:
        return f"inside the block {missed} still holds the old function"
    if missed := scene.without(scene.op):
        return f"after the block {missed} does not hold the old function again"
    if scene.module.bystander is not scene.first:
        return (
            "it also changed a name that held the replacement before the block; remember what you "
            "changed instead of searching for it again"
        )
    return None


def _on_error(rebind, scene):
    try:
        with rebind(scene.op, scene.first):
            raise KeyError("raised inside the block")
    except KeyError:
        missed = scene.without(scene.op)
        return missed and (
            f"after an error inside the block {missed} still holds the replacement; "
            "restore in a finally"
        )
    return "it swallowed the KeyError raised inside the block; an error must come through"


def _nested(rebind, scene):
    with rebind(scene.op, scene.first):
        with rebind(scene.first, scene.second):
            inner = scene.without(scene.second)
        outer = scene.without(scene.first)
    if inner:
        return f"nested inside another rebinding it does not reach {inner}"
    if outer:
        return (
            f"leaving the inner of two nested blocks does not bring back the outer one at {outer}"
        )
    if missed := scene.without(scene.op):
        return f"after two nested blocks {missed} does not hold the old function again"
    return None


PATCH = Exercise(
    "rebinding",
    _judge_patch,
    "Every module name was swapped, nested, survived an error, and came back.",
    (
        "Start from the small module scan of section 3: it already finds the names to write to.",
        "Remember each (namespace, name) that you change; write new, yield, write old back.",
        "try: write new everywhere, then yield; finally: write old back to the remembered places. "
        "Decorate it with @contextlib.contextmanager.",
    ),
)
