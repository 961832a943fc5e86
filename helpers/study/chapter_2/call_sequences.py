"""Sequences of calls with which chapter 2 compares a learner's cache of traces with tf.function's.
A tf.function *traces* its body once for each new *key* of the arguments. A call whose key is in the
cache is a *hit*, and does not run the body. `reduce_retracing` lets it *widen* a key, such as shape
(2,) to (None,), so that the key fits further calls.
"""

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from helpers.capture.text.value import short_repr
from helpers.study.answers import require_no_stub
from helpers.study.frameworks import np, tf
from helpers.study.observations import Raised, observe

WIDER = "with reduce_retracing, "
# The types of errors between which a verdict distinguishes.
ERRORS = KeyError, ValueError, TypeError, Exception
CHANGES_ARGUMENTS = "changes the caller's own list or dict. You must trace on a nested copy"


@dataclass(eq=False)
class Plain:
    """An object that is equal only to itself."""

    value: int


@dataclass(eq=False)
class Holder:
    """An object with a list, which a body can change."""

    items: list


@dataclass(frozen=True)
class Equal:
    """An object that is equal to those with the same value."""

    value: int


@dataclass(frozen=True)
class Sequence:
    """Calls of one function, for which two caches are compared."""

    #: The rule that the calls show, for the verdict.
    shows: str
    #: The function that is traced.
    body: Callable
    #: For each call a tuple of arguments, or a function that returns it.
    calls: tuple[tuple | Callable[[], tuple], ...]
    #: Whether the cache may widen its keys.
    reduces_retracing: bool = False

    def run(self, make_cache: Callable) -> dict[str, str]:
        """Make a cache for the body, and make the calls; return call -> effect.

        An effect is a text such as "traces, returns …, keeps 1 traces". `make_cache(body)` returns
        a callable object, the learner's cache or TensorFlow's, with the attributes `cache` and
        `may_change_arguments`.
        """
        body_runs = []  # one item for each run of the body
        effects = {}

        @functools.wraps(self.body)
        def body(*args):
            body_runs.append(None)
            # The result says which call ran the body. So the result of a hit says which trace it
            # used.
            return self.body(*args) or f"what the body returned in call {len(effects) + 1}"

        # The option is passed only for a cache that may widen keys, so that others need not have
        # it.
        options = {"reduce_retracing": True} if self.reduces_retracing else {}
        cache = require_no_stub(make_cache(body, **options))
        for number, call in enumerate(self.calls, 1):
            args = _copy_containers(call() if callable(call) else call)
            name = f"call {number} with ({', '.join(map(short_repr, args))})"
            earlier_runs = len(body_runs)
            effect = _describe_call(cache, args)
            effects[name] = f"{_describe_runs(len(body_runs) - earlier_runs)}, {effect}"
            del args  # so that an object can be freed before the next call
        return effects


def _describe_runs(count: int) -> str:
    """Return the verb for a call that ran the body `count` times: a hit, a trace, or more."""
    if count == 0:
        return "hits"
    if count == 1:
        return "traces"
    return f"runs the body {count} times"


def _describe_call(cache, args) -> str:
    """Call a cache; return a text with its result or error, and the number of its traces.

    The text is CHANGES_ARGUMENTS if the call changed the lists and dicts of its arguments, and the
    cache must not allow that.
    """
    before = _copy_containers(args)
    result = observe(lambda cache: cache(*args), cache)

    effect = f"returns {short_repr(result)}"
    if isinstance(result, Raised):
        # The first that fits; the last of ERRORS always does.
        kind = next(kind for kind in ERRORS if issubclass(result.kind, kind))
        effect = f"raises a {kind.__name__}"

    lists = [leaf.items for leaf in tf.nest.flatten(args) if isinstance(leaf, Holder)]
    if lists:
        effect = f"{effect}, leaves {lists[0]} in the caller's object"

    if not cache.may_change_arguments and not _has_same_leaves(args, before):
        return CHANGES_ARGUMENTS
    return f"{effect}, keeps {len(cache.cache)} traces"


def _copy_containers(args):
    """Return arguments with new lists and dicts, and the same leaves in them.

    A body may change a list or dict, and other calls use the same one.
    """
    return tf.nest.map_structure(lambda leaf: leaf, args)


def _has_same_leaves(args, before) -> bool:
    """Return whether nested arguments have the same structure and the identical leaves."""
    return tf.nest.map_structure(id, args) == tf.nest.map_structure(id, before)


# Bodies: functions for a cache to trace. The name says what a body does with its argument.


def _take_one(x): ...


def _take_two(x, n): ...


def _append(x, n=1):
    if isinstance(x, list) and n:
        x.append(1)


def _replace(x):
    x[0] = x[0] + 1


def _replace_by_equal(x):
    x[0] = tf.identity(x[0])


def _change_inside_object(x):
    x.items.append(1)


def _assign_again(x):
    first, second = x
    x[0] = first
    x[1] = second


def _write_inside(x):
    x["a"]["new"] = 1


def _raise_for_lists(x):
    if isinstance(x, list):
        raise KeyError("the body's own error")


def _make_sequence(shows: str, *arguments, body: Callable = _take_one) -> Sequence:
    """Return a Sequence of calls: one call for each of `arguments`."""
    return Sequence(shows, body, tuple((argument,) for argument in arguments))


def _make_widening_sequence(shows: str, *arguments) -> Sequence:
    """Return a Sequence with one call for each of `arguments`, for a cache that may widen keys."""
    calls = tuple((argument,) for argument in arguments)
    return Sequence(f"{WIDER}{shows}", _take_one, calls, reduces_retracing=True)


def _make_ones(*shapes: Iterable[int]) -> list:
    """Return a tensor of ones for each shape."""
    return [tf.ones(shape) for shape in shapes]


def make_key_sequences() -> list[Sequence]:
    """Return sequences that each show one rule of how a key is made, the simplest rule first."""
    two, three = _make_ones([2], [3])
    whole = tf.ones([2], tf.int32)
    doubles = tf.ones([2], tf.float64)
    scalar = tf.ones([])
    one_object = Plain(1)
    another = Plain(1)
    containers = (
        [scalar],
        [scalar * 2],
        [two],
        [two * 5],
        {"a": two},
        {"a": two * 5},
        [[two]],
        [[two * 5]],
    )
    one_order = {"a": two, "b": three}
    another_order = {"b": three, "a": two}
    equal_objects = [Equal(value) for value in (1, 1, 2, 1)]
    pairs = (two, 1), (two, 2), (three, 1), (two, 1)
    # A function makes a new object for each call, to which nothing else refers.
    new_objects = (lambda: (Plain(1),),) * 4
    return [
        _make_sequence("tensors of the same dtype and shape share a trace", two, two * 5),
        _make_sequence("another shape is another key", two, three, two),
        _make_sequence("another dtype is another key", two, whole, two),
        _make_sequence("a Python value is its own key", 1, 2, 1),
        _make_sequence("1, 1.0 and True are equal, so they share a key", 1, 1.0, True),
        _make_sequence(
            "text and bytes are different keys, and None is a value",
            "a",
            b"a",
            None,
            None,
            "a",
        ),
        _make_sequence("a list is not a tuple", [two], (two,), [two]),
        _make_sequence("inside a container, too, a tensor's value is not in the key", *containers),
        _make_sequence(
            "a dict's keys are in the key, but not their order",
            one_order,
            another_order,
            {"a": two},
            {"c": two},
        ),
        _make_sequence(
            "an object is its own key, whatever it contains",
            one_object,
            another,
            one_object,
            [one_object],
            [another],
            [one_object],
            len,
        ),
        _make_sequence("objects that compare equal share a key", *equal_objects),
        _make_sequence(
            "a NumPy array counts as a tensor", np.ones(2), np.zeros(2), doubles, np.ones(3)
        ),
        _make_sequence(
            "a NumPy number counts as a tensor",
            np.float64(1),
            np.float64(2),
            np.int8(1),
            1.0,
            2.0,
        ),
        _make_sequence(
            "so do NumPy values in containers", [np.ones(2)], [np.zeros(2)], [np.float64(1)]
        ),
        Sequence("every argument counts", _take_two, pairs),
        Sequence(
            "each new object is a new key, even if the last one is freed", _take_one, new_objects
        ),
    ]


def make_lookup_sequences() -> list[Sequence]:
    """Return sequences that each show which key in the cache fits a call, or how one is widened."""
    two, three = _make_ones([2], [3])
    whole = tf.ones([3], tf.int32)
    nested = [{"a": [tensor]} for tensor in _make_ones([2], [3], [4])]
    mixed = (
        (tf.ones([2]), 1),
        (tf.ones([3]), 2),
        (tf.ones([4]), 1),
        (tf.ones([5]), 2),
        (tf.ones([6]), 2),
    )
    return [
        _make_sequence(
            "an equal key is a hit",
            two,
            three,
            two,
            1,
            True,
            2,
            tf.ones([4]),
        ),
        _make_sequence(
            "another form is another key",
            [two],
            (two,),
            {"a": two},
            [two],
            [two, two],
        ),
        _make_sequence(
            "without reduce_retracing, no key fits other lengths", *_make_ones([2], [3], [4])
        ),
        _make_widening_sequence(
            "a second shape widens the key to all lengths", *_make_ones([2], [3], [4])
        ),
        _make_widening_sequence(
            "two ranks widen the key to all ranks", *_make_ones([2], [2, 2], [3], [2, 2, 2])
        ),
        _make_widening_sequence(
            "a size that agrees is kept", *_make_ones([300, 1], [300, 2], [301, 3])
        ),
        _make_widening_sequence(
            "the first that fits is used", *_make_ones([2, 3], [2, 4], [5, 3], [2, 9], [2, 3])
        ),
        _make_widening_sequence("another form widens no key", [two], (three,), (tf.ones([5]),)),
        _make_widening_sequence("another dtype widens no key", two, whole, tf.ones([4], tf.int32)),
        _make_widening_sequence("inside a dict and a list, too", *nested),
        Sequence(
            "only keys that agree in all else are widened",
            _take_two,
            mixed,
            reduces_retracing=True,
        ),
    ]


def make_mutation_sequences() -> list[Sequence]:
    """Return sequences whose bodies change their arguments, and some whose bodies do not."""
    two = tf.ones([2])
    new_holder = (lambda: (Holder([]),),)  # a function makes a new object for each cache
    return [
        _make_sequence("without a change, you get the body's result", two, {"a": [two, 1]}),
        _make_sequence("appending to a list raises, every time", [two], [two], body=_append),
        _make_sequence("a write one level down raises", {"a": {}}, body=_write_inside),
        _make_sequence("another object in the same place raises", [two], body=_replace),
        _make_sequence("an equal tensor in the same place raises", [two], body=_replace_by_equal),
        _make_sequence(
            "the same object in its own place does not raise", [two, 1], body=_assign_again
        ),
        Sequence("what an object contains may change", _change_inside_object, new_holder),
        _make_sequence(
            "the body's own error propagates", [two], (two,), [two], body=_raise_for_lists
        ),
        _make_sequence("only modified arguments are refused", [two], (two,), [two], body=_append),
    ]
