"""Calls with which chapter 2 compares a learner's cache of traces with tf.function's."""

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from helpers.capture.text.value import short_repr
from helpers.study.answers import require_attempt
from helpers.study.frameworks import np, tf
from helpers.study.observations import Raised, observe

WIDER = "with reduce_retracing, "
ERRORS = KeyError, ValueError, TypeError, Exception  # the kinds that a verdict tells apart
CHANGES_ARGUMENTS = "changes the caller's own list or dict. You must trace on a nested copy"


@dataclass(eq=False)
class Plain:
    """An object that equals only itself."""

    value: int


@dataclass(eq=False)
class Holder:
    """An object whose list a body can change."""

    items: list


@dataclass(frozen=True)
class Equal:
    """An object that equals those with the same value."""

    value: int


@dataclass(frozen=True)
class Sequence:
    """Calls of one function, run through the learner's cache and through TensorFlow's."""

    #: What the calls show, in words.
    shows: str
    #: The function that is traced.
    body: Callable
    #: The arguments of each call, or a function that makes them.
    calls: tuple[tuple | Callable[[], tuple], ...]
    #: Whether the cache may widen its keys.
    reduces_retracing: bool = False

    def run(self, make_cache: Callable) -> dict[str, str]:
        """Make a cache for the body and make the calls; return each call -> what the cache does.

        `make_cache(body)` returns an object to call, with the attributes `cache` and
        `may_change_arguments`. An effect is a text such as "traces, returns …, keeps 1 traces".
        """
        body_runs = []  # one item for each run of the body
        effects = {}

        @functools.wraps(self.body)
        def body(*args):
            body_runs.append(None)
            # The result names the call that traced it, so a hit shows which trace it found.
            return self.body(*args) or f"what the body returned in call {len(effects) + 1}"

        # Passed only where needed: a cache without widening need not know the option.
        options = {"reduce_retracing": True} if self.reduces_retracing else {}
        cache = require_attempt(make_cache(body, **options))
        for number, call in enumerate(self.calls, 1):
            args = _copy_containers(call() if callable(call) else call)
            name = f"call {number} with ({', '.join(map(short_repr, args))})"
            earlier_runs = len(body_runs)
            effect = _describe_call(cache, args)
            effects[name] = f"{_describe_runs(len(body_runs) - earlier_runs)}, {effect}"
            del args  # so that an object can be freed before the next call
        return effects


def _describe_runs(count: int) -> str:
    """Return what a call did that ran the body so many times."""
    if count == 0:
        return "hits"
    if count == 1:
        return "traces"
    return f"runs the body {count} times"


def _describe_call(cache, args) -> str:
    """Call a cache; return its result, and what it did to the arguments and to its traces."""
    before = _copy_containers(args)
    result = observe(lambda cache: cache(*args), cache)

    effect = f"returns {short_repr(result)}"
    if isinstance(result, Raised):
        kind = next(kind for kind in ERRORS if issubclass(result.kind, kind))
        effect = f"raises a {kind.__name__}"

    lists = [leaf.items for leaf in tf.nest.flatten(args) if isinstance(leaf, Holder)]
    if lists:
        effect = f"{effect}, leaves {lists[0]} in the caller's object"

    if not cache.may_change_arguments and not _has_same_leaves(args, before):
        return CHANGES_ARGUMENTS
    return f"{effect}, keeps {len(cache.cache)} traces"


def _copy_containers(args):
    """Return the same leaves in new lists and dicts: no call may change a shared one."""
    return tf.nest.map_structure(lambda leaf: leaf, args)


def _has_same_leaves(args, before) -> bool:
    """Return whether two nested arguments have the same containers, and identical leaves."""
    return tf.nest.map_structure(id, args) == tf.nest.map_structure(id, before)


# Bodies: what they do with their arguments is what a sequence is about.


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


def _with_one(shows: str, *arguments, body: Callable = _take_one) -> Sequence:
    """Return a sequence of calls with one argument each."""
    return Sequence(shows, body, tuple((argument,) for argument in arguments))


def _widening(shows: str, *arguments) -> Sequence:
    """Return a sequence of calls with one argument each, of a cache that may widen its keys."""
    calls = tuple((argument,) for argument in arguments)
    return Sequence(f"{WIDER}{shows}", _take_one, calls, reduces_retracing=True)


def _ones(*shapes: Iterable[int]) -> list:
    return [tf.ones(shape) for shape in shapes]


def make_key_sequences() -> list[Sequence]:
    """Return sequences from the plainest to the strangest. Each shows one rule of the key."""
    two, three = _ones([2], [3])
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
    # A function, so that each call gets an object of its own, and nothing else keeps it.
    new_objects = (lambda: (Plain(1),),) * 4
    return [
        _with_one("tensors of the same dtype and shape share a trace", two, two * 5),
        _with_one("another shape is another key", two, three, two),
        _with_one("another dtype is another key", two, whole, two),
        _with_one("a Python value is its own key", 1, 2, 1),
        _with_one("1, 1.0 and True are equal, so they share a key", 1, 1.0, True),
        _with_one(
            "text and bytes are different keys, and None is a value",
            "a",
            b"a",
            None,
            None,
            "a",
        ),
        _with_one("a list is not a tuple", [two], (two,), [two]),
        _with_one("inside a container, too, a tensor's value is not in the key", *containers),
        _with_one(
            "a dict's keys are in the key, but not their order",
            one_order,
            another_order,
            {"a": two},
            {"c": two},
        ),
        _with_one(
            "an object is its own key, whatever it contains",
            one_object,
            another,
            one_object,
            [one_object],
            [another],
            [one_object],
            len,
        ),
        _with_one("objects that compare equal share a key", *equal_objects),
        _with_one("a NumPy array counts as a tensor", np.ones(2), np.zeros(2), doubles, np.ones(3)),
        _with_one(
            "a NumPy number counts as a tensor",
            np.float64(1),
            np.float64(2),
            np.int8(1),
            1.0,
            2.0,
        ),
        _with_one("so do NumPy values in containers", [np.ones(2)], [np.zeros(2)], [np.float64(1)]),
        Sequence("every argument counts", _take_two, pairs),
        Sequence(
            "each new object is a new key, even if the last one is freed", _take_one, new_objects
        ),
    ]


def make_lookup_sequences() -> list[Sequence]:
    """Return sequences that show which known key fits, and how keys are widened."""
    two, three = _ones([2], [3])
    whole = tf.ones([3], tf.int32)
    nested = [{"a": [tensor]} for tensor in _ones([2], [3], [4])]
    mixed = (
        (tf.ones([2]), 1),
        (tf.ones([3]), 2),
        (tf.ones([4]), 1),
        (tf.ones([5]), 2),
        (tf.ones([6]), 2),
    )
    return [
        _with_one(
            "an equal key is a hit",
            two,
            three,
            two,
            1,
            True,
            2,
            tf.ones([4]),
        ),
        _with_one(
            "another form is another key",
            [two],
            (two,),
            {"a": two},
            [two],
            [two, two],
        ),
        _with_one("without reduce_retracing, no key fits other lengths", *_ones([2], [3], [4])),
        _widening("a second shape widens the key to all lengths", *_ones([2], [3], [4])),
        _widening("two ranks widen the key to all ranks", *_ones([2], [2, 2], [3], [2, 2, 2])),
        _widening("a size that agrees is kept", *_ones([300, 1], [300, 2], [301, 3])),
        _widening("the first that fits is used", *_ones([2, 3], [2, 4], [5, 3], [2, 9], [2, 3])),
        _widening("another form widens no key", [two], (three,), (tf.ones([5]),)),
        _widening("another dtype widens no key", two, whole, tf.ones([4], tf.int32)),
        _widening("inside a dict and a list, too", *nested),
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
    new_holder = (lambda: (Holder([]),),)  # a function: each cache gets its own object
    return [
        _with_one("without a change, you get the body's result", two, {"a": [two, 1]}),
        _with_one("appending to a list raises, every time", [two], [two], body=_append),
        _with_one("a write one level down raises", {"a": {}}, body=_write_inside),
        _with_one("another object in the same place raises", [two], body=_replace),
        _with_one("an equal tensor in the same place raises", [two], body=_replace_by_equal),
        _with_one("the same object in its own place does not raise", [two, 1], body=_assign_again),
        Sequence("what an object contains may change", _change_inside_object, new_holder),
        _with_one("the body's own error propagates", [two], (two,), [two], body=_raise_for_lists),
        _with_one("only modified arguments are refused", [two], (two,), [two], body=_append),
    ]
