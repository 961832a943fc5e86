"""Chapter 2, exercises 3 to 5: a cache of traces whose parts the learner writes. A *trace* is what
one run of a function's Python body made. A *key* of arguments is (form, leaves): the nested form of
the arguments, and their leaves, where a tensor is (dtype, shape). The parts are `key` (makes a
key), `find` (finds a known key that fits), `widen` (makes a key that fits more) and `trace` (runs
the body). The cache is compared with that of tf.function, call by call.
"""

import functools
from collections.abc import Callable
from functools import partial

from helpers.capture.text.value import short_repr
from helpers.model.tables import Entry, Ledger, Verdict
from helpers.model.trace_records import MARKS
from helpers.study.answers import InvalidAnswer, require_no_stub
from helpers.study.chapter_2.call_sequences import (
    WIDER,
    Sequence,
    make_key_sequences,
    make_lookup_sequences,
    make_mutation_sequences,
)
from helpers.study.check import exercise
from helpers.study.engine import JudgedCase, advise_on_first_part, find_difference
from helpers.study.frameworks import tf

#: The sequences of calls that are drawn after a pass.
DRAWN_SEQUENCES = "an equal key is a hit", "the first that fits is used"


class _TensorFlowCache:
    """The reference for the learner's cache, in which a tf.function decides when to trace.

    A call returns what `fn` returned in the trace that the call uses, which need not be a tensor. A
    graph can return only tensors. So the results are kept in a list, `cache`, and each graph
    returns the position of its result in the list.
    """

    #: Whether the body of a call may change the caller's own lists and dicts.
    may_change_arguments = True

    def __init__(self, fn, reduce_retracing=False):
        """Make a tf.function of `fn`, whose cache is empty."""
        #: What `fn` returned in each trace, in order.
        self.cache = []

        @functools.wraps(fn)  # tf.function reads the signature of `fn` through this
        def append_result(*args):
            # This body runs only while tf.function traces. A hit runs the graph, which is a
            # constant.
            self.cache.append(fn(*args))
            return tf.constant(len(self.cache) - 1)

        self._find_position = tf.function(
            append_result, autograph=False, reduce_retracing=reduce_retracing
        )

    def __call__(self, *args):
        """Return what `fn` returned in the trace that fits these arguments."""
        earlier_count = len(self.cache)
        try:
            # If no trace fits, this call appends one to the cache before it is read.
            position = int(self._find_position(*args))
            return self.cache[position]
        except Exception:
            # TensorFlow raises an error for a body that has changed its arguments. By then the body
            # has already put a result into the cache.
            del self.cache[earlier_count:]
            raise


class _LearnerCache:
    """A cache of traces of which the learner has written one or two parts."""

    #: As in `_TensorFlowCache`. The learner's `trace` must run the body on a copy.
    may_change_arguments = False

    def __init__(self, fn, reduce_retracing=False, **parts):
        """Make an empty cache for `fn`. `parts` has the learner's key, find, widen or trace."""
        self.fn = fn
        self.reduces_retracing = reduce_retracing
        #: (key, what the body returned) of each trace, in order.
        self.cache = []
        # `widen` has no finished version, because only the exercise on `widen` needs it.
        finished_parts = {"key": _make_key, "find": _find_equal, "trace": _run_body}
        self.parts = {**finished_parts, **parts}

    def __call__(self, *args):
        """Return the result of the trace whose key fits the arguments, or make a new trace."""
        known_keys = [key for key, _ in self.cache]
        key = require_no_stub(self.parts["key"](args))

        position = self._find(known_keys, key)
        if position is not None:
            return self.cache[position][1]

        if self.reduces_retracing:
            key = self._widen(known_keys, key)
        trace = require_no_stub(self.parts["trace"](self.fn, args))
        self.cache.append((key, trace))
        return trace

    def _find(self, known_keys: list, key) -> int | None:
        """Call the part `find`; return the position of a known key that fits, or None.

        InvalidAnswer if the part returns anything else.
        """
        position = require_no_stub(self.parts["find"](list(known_keys), key), "find")
        if position is None:
            return None
        if type(position) is not int or not 0 <= position < len(known_keys):
            allowed = "None or a position in keys"
            raise InvalidAnswer(f"find must return {allowed}, not {short_repr(position)}")
        return position

    def _widen(self, known_keys: list, key) -> tuple:
        """Call the part `widen`; return its key, (form, leaves). InvalidAnswer if it is no pair."""
        wider = require_no_stub(self.parts["widen"](known_keys, key), "widen")
        if not isinstance(wider, tuple | list) or len(wider) != 2:
            raise InvalidAnswer(f"widen must return (form, leaves), not {short_repr(wider)}")
        form, leaves = wider
        return form, list(leaves)


def _make_key(args) -> tuple:
    """Return the key of arguments, (form, leaves). The form has 0 in the place of each leaf."""
    form = tf.nest.map_structure(lambda leaf: 0, args)
    leaves = []
    for leaf in tf.nest.flatten(args):
        if isinstance(leaf, tf.Tensor):
            leaves.append((leaf.dtype, tuple(leaf.shape)))
        else:
            leaves.append(leaf)
    return form, leaves


def _find_equal(known_keys, key) -> int | None:
    """Return the position of the first equal key, or None."""
    for position, known_key in enumerate(known_keys):
        if known_key == key:
            return position
    return None


def _find_no_key(known_keys, key) -> None:
    """Find no known key, so that each call makes a trace."""
    return None


def _run_body(fn, args):
    """Run the body on the caller's own arguments. This is the part `trace` without a check."""
    return fn(*args)


def _draw_lookups(find: Callable, widen: Callable) -> Ledger:
    """Return a ledger with both verdicts on each call: of the answer's cache and TensorFlow's."""
    make_cache = partial(_LearnerCache, find=find, widen=widen)
    entries = []
    for sequence in make_lookup_sequences():
        if sequence.shows.removeprefix(WIDER) not in DRAWN_SEQUENCES:
            continue
        own_effects = sequence.run(make_cache)
        real_effects = sequence.run(_TensorFlowCache)
        for name in real_effects:
            _, _, arguments = name.partition(" with ")  # the name is such as "call 1 with (…)"
            verdicts = (_as_verdict(own_effects[name]), _as_verdict(real_effects[name]))
            entries.append(Entry(arguments, verdicts, sequence.shows))
    title = "Your cache and TensorFlow's, call by call"
    return Ledger(title, "call", ("yours", "TensorFlow's"), tuple(entries), marks=MARKS)


def _as_verdict(effect: str) -> Verdict:
    """Return the verdict for an effect: "traces, returns …" -> "trace", "hits, …" -> "hit"."""
    word = effect.partition("s,")[0]
    return Verdict(word, "changed" if word == "trace" else "plain")


def _find_part_difference(make_cache: Callable, sequences: list[Sequence]) -> str | None:
    """Return a sentence on the first call that the answer's cache treats differently, or None.

    It differs if its effect (a hit or a trace, the result, an error) is not that in TensorFlow's
    cache.
    """
    advice = advise_on_first_part("TensorFlow")
    cases = [JudgedCase(sequence.shows, sequence.run, advice) for sequence in sequences]
    return find_difference(make_cache, _TensorFlowCache, cases, "TensorFlow")


CACHE_KEY_HINTS = (
    "tf.nest.map_structure(f, args) calls f for each leaf and keeps the lists, tuples and dicts. "
    "Which f gives equal results for calls that share a trace?",
    "The key of a tensor is (dtype, shape). NumPy arrays and numbers count as tensors. The key of "
    "any other leaf is the leaf itself, because == compares leaves as TensorFlow does.",
    "For an instance of tf.Tensor, np.ndarray or np.generic, f returns (tf.as_dtype(leaf.dtype), "
    "tuple(leaf.shape)). For all else, it returns the leaf.",
)


@exercise(*CACHE_KEY_HINTS)
def cache_key(key: Callable):
    """In every sequence of calls, your key makes the same hits and traces as tf.function."""
    # Return None if the answer is right, else a sentence on what is wrong. The docstring is what
    # the learner reads after a pass.
    make_cache = partial(_LearnerCache, key=key)
    return _find_part_difference(make_cache, make_key_sequences())


CACHE_LOOKUP_HINTS = (
    "First write a function common(a, b) that returns the leaf that covers two leaves, or nothing. "
    "A known leaf k fits a new leaf n if common(k, n) equals k.",
    "Equal leaves are their own common leaf. Two tensors of one dtype have one, too. Replace sizes "
    "that differ by None. If ranks differ, replace the whole shape by None. Others have none.",
    "find returns the first known key of the same form whose leaves all fit. widen goes through "
    "the known keys of the same form, and replaces the leaves by the common ones if all have one.",
)


@exercise(*CACHE_LOOKUP_HINTS, picture=_draw_lookups)
def cache_lookup(find: Callable, widen: Callable):
    """In every sequence of calls, your lookup hits and widens where tf.function does."""
    # Return None if the answer is right, else a sentence on what is wrong. The docstring is what
    # the learner reads after a pass.
    make_cache = partial(_LearnerCache, find=find, widen=widen)
    return _find_part_difference(make_cache, make_lookup_sequences())


CACHE_MUTATION_HINTS = (
    "Run the body on a nested copy, tf.nest.map_structure(lambda leaf: leaf, args).",
    "Then compare the copy with the arguments. tf.nest.map_structure(lambda leaf: 0, args) returns "
    "a form that you can compare with ==.",
    "If the forms are equal, flatten both with tf.nest.flatten and go through the pairs. Each pair "
    "must be the same object (is). Otherwise raise ValueError.",
)


@exercise(*CACHE_MUTATION_HINTS)
def cache_mutation(trace: Callable):
    """Your trace refuses a body that modifies its arguments where tf.function does."""
    # Return None if the answer is right, else a sentence on what is wrong. The docstring is what
    # the learner reads after a pass.
    # The cache never finds a known key, so the learner's `trace` runs at each call.
    make_cache = partial(_LearnerCache, find=_find_no_key, trace=trace)
    return _find_part_difference(make_cache, make_mutation_sequences())
