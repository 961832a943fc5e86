"""The calls that a hand-made eager call is tried with: right, odd, and wrong in one place each."""

from collections.abc import Iterator
from dataclasses import replace

from helpers.mini.eager.checks import completed, definition_of
from helpers.study.chapter_6.op_cases import Case, cases, wrong_cases

SEED = 6  # other values than the notebook shows
KINDS = ("bool", "int", "float", "string", "type", "list(int)")
ENOUGH = 2  # ops with a wrong attribute of each kind
STRANGE = {
    "bool": (1, "yes"),
    "int": (7.0, "7", None),
    "float": (1, "x"),
    "string": (5, None),
    "type": ("float32", 1.5),
    "list(int)": ([1.0], ["a"], [0, None], 5),
}
TEXTS = ("", "ü →", b"\xff", "a\0b")  # of one length in characters, of another in bytes


def right_calls() -> Iterator[Case]:
    """Yield calls that work, of ops with attributes of the kinds asked for."""
    yield from _completed(cases(SEED))
    yield from _completed(_rare())


def wrong_calls() -> Iterator[Case]:
    """Yield calls with one wrong input, one wrong attribute, a wrong name."""
    import tensorflow as tf

    yield from _completed(wrong_cases(SEED))
    yield from _wrong_attributes()
    good = cases(SEED)[1]
    yield Case("Negg", good.inputs, (), "an op that does not exist")
    for value in (1, "x"):
        attrs = ("nonsense", value)
        yield Case("Neg", good.inputs, attrs, f"an attribute that does not exist, {value!r}")
    square = tf.eye(2)
    for attrs in (("transpose_b", 1, "transpose_a", "x"), ("transpose_a", 1, "transpose_a", True)):
        yield Case("MatMul", (square, square), attrs, "two attributes, the first of which is wrong")
    # Behind the inputs it is ignored, before them it is an error.
    yield Case("Neg", good.inputs, ("T", tf.float64), "a dtype that is not the input's")


def other_numbers() -> Iterator[tuple[Case, tuple]]:
    """Yield calls, and the numbers of outputs that they ask for: none is the default, one."""
    good = cases(SEED)[1]
    yield Case("Neg", good.inputs, (), "no outputs asked for"), (0,)
    yield Case("Neg", good.inputs, (), "more outputs asked for than there are"), (3,)
    two = next(_completed(case for case in cases(SEED) if case.op == "Unique"))
    yield replace(two, wrong="without num_outputs"), ()


def _rare() -> Iterator[Case]:
    """Yield values of attributes, and inputs, at the edges."""
    import tensorflow as tf

    words, first = tf.constant(["b", "c"]), tf.constant([0])
    for text in TEXTS:
        yield Case("ReduceJoin", (words, first), ("separator", text))
    for number in (1, 2**40, True):
        yield Case("StringToHashBucketFast", (words,), ("num_buckets", number))
    edges = tf.constant([float("nan"), float("-inf"), -0.0, -2.0])
    for alpha in (-0.5, 0.1, float("inf")):
        yield Case("LeakyRelu", (edges,), ("alpha", alpha))
    for dims in ([], (0,), [0, 2], [-1]):
        yield Case("Squeeze", (tf.ones([1, 2, 1]),), ("squeeze_dims", dims))
    for dtype in (tf.bool, tf.float64, 3):
        yield Case("Cast", (tf.constant([0.0, 1.5]),), ("DstT", dtype))
    for shape in ([], [0], [2, 0, 3]):
        yield Case("AddV2", (tf.zeros(shape), tf.ones(shape)))


def _wrong_attributes() -> Iterator[Case]:
    """Yield calls with a value of another Python type than the attribute's kind has."""
    tried = dict.fromkeys(STRANGE, 0)
    for case in _completed(cases(SEED)):
        named = {attr.name: attr.type for attr in definition_of(case.op).attr}
        for place in range(0, len(case.attrs), 2):
            name = case.attrs[place]
            kind = named[name]
            tried[kind] += 1
            for value in STRANGE[kind] if tried[kind] <= ENOUGH else ():
                attrs = (*case.attrs[: place + 1], value, *case.attrs[place + 2 :])
                yield Case(case.op, case.inputs, attrs, f"where {name} is {value!r}")


def _completed(found) -> Iterator[Case]:
    """Yield the cases with all their attributes, where these are of the kinds asked for."""
    for case in found:
        definition = definition_of(case.op)
        kinds = {attr.name: attr.type for attr in definition.attr}
        attrs = completed(definition, list(case.inputs), case.attrs)
        lists = any(isinstance(given, list) for given in case.inputs)
        if not lists and all(kinds[name] in KINDS for name in attrs[::2]):
            yield Case(case.op, case.inputs, attrs, case.wrong)
