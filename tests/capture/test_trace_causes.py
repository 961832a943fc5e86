"""Whatever is called: changing the named leaves, and only those, turns the trace into a hit."""

import re

import pytest

from helpers import would_trace
from helpers.capture.tensorflow.trace_causes import find_nearest_key
from helpers.capture.tensorflow.trace_ledger import watch_function
from helpers.internals import tensorflow_cache
from tests.call_sequences import draw_program, split_call
from tests.samples import sample

tf = pytest.importorskip("tensorflow")
WRONG = TypeError, ValueError, IndexError, AttributeError  # the last two: where TensorFlow widens
STEP = re.compile(r"\.__tf_flatten__\(\)\[0\]|\.__tf_flatten__\(\)\[1\]\[\d+\]|\[[^\]]*\]|\.\w+")


def places_of(causes) -> dict[str, set[str]]:
    """Return the places that causes name, and of what kinds the causes are there."""
    places = {}
    for cause in causes:
        places.setdefault(cause.where, set()).add(cause.kind)
    return places


def exchanged(value, witness, path: list[str], kinds: set[str]):
    """Return a value with the part at a path replaced by that of the witness."""
    if not path:
        if "dict key" not in kinds:
            return witness
        return {name: value.get(name, inner) for name, inner in witness.items()}
    step, *rest = path
    if step.endswith(")[0]"):
        return type(value)(witness.mask, value.value)
    if step.startswith(".__tf"):
        return type(value)(value.mask, exchanged(value.value, witness.value, rest, kinds))
    if step[0] == ".":
        name, fields = (
            step[1:],
            ("left", "right") if isinstance(value, tuple) else ("rate", "extra"),
        )
        parts = {field: getattr(value, field) for field in fields}
        parts[name] = exchanged(parts[name], getattr(witness, name), rest, kinds)
        return type(value)(*parts.values())
    key = eval(step[1:-1])
    inner = exchanged(value[key], witness[key], rest, kinds)
    if isinstance(value, dict):
        return {**value, key: inner}
    return type(value)(inner if at == key else item for at, item in enumerate(value))


def with_places(call: dict, witness: dict, places: dict) -> dict:
    """Return a call with the values of the witness at these places."""
    changed = dict(call)
    if "call" in places:  # names that only one of them has
        changed = {name: changed.get(name, value) for name, value in witness.items()}
    for where, kinds in places.items():
        if where != "call":
            root = re.match(r"\w+", where)[0]
            path = STEP.findall(where[len(root) :])
            changed[root] = exchanged(changed[root], witness[root], path, kinds)
    return changed


def passes(fn, call: dict) -> bool:
    args, kwargs = split_call(call)
    try:
        fn(*args, **kwargs)
    except WRONG:
        return False
    return True


def hits(program, history: list, call: dict) -> bool:
    """Return whether TensorFlow's own function, after these calls, serves one without a trace."""
    fn = replayed(program, history)
    before = fn.experimental_get_tracing_count()
    return passes(fn, call) and fn.experimental_get_tracing_count() == before


def replayed(program, history: list):
    fn = tf.function(program.build(), autograph=False, **program.options)
    for asked in program.first:
        args, kwargs = split_call(asked)
        fn.get_concrete_function(*args, **kwargs)
    for call in history:
        passes(fn, call)
    return fn


def start(program):
    """Return the watched function, and its keys: {key: a call that fits it}."""
    kept = watch_function(program.build(), autograph=False, **program.options)
    witnesses = {}
    for asked in program.first:
        args, kwargs = split_call(asked)
        kept.get_concrete_function(*args, **kwargs)
        witnesses = dict.fromkeys(
            tensorflow_cache.read_cached_keys(kept.function), program.calls[0]
        )
    return kept, witnesses


def check_causes(program, history, call, entry, witness) -> None:
    """Assert that the leaves named are enough for a hit, and that each of them is needed."""
    places = places_of(entry.causes)
    told = program.signature, program.options, history, call, entry
    assert places and hits(program, history, with_places(call, witness, places)), told
    for left in places:
        fewer = {where: kinds for where, kinds in places.items() if where != left}
        assert not hits(program, history, with_places(call, witness, fewer)), (left, *told)


def watch_calls(program) -> int:
    """Call a watched function, check each row of the ledger, and return how often it retraced."""
    kept, witnesses = start(program)
    retraces = 0
    for at, call in enumerate(program.calls):
        args, kwargs = split_call(call)
        history, known = program.calls[:at], [*tensorflow_cache.read_cached_keys(kept.function)]
        assert len(known) == replayed(program, history).experimental_get_tracing_count()
        foretold = would_trace(kept, *args, **kwargs)
        done, entry = passes(kept, call), kept.last
        new = [*tensorflow_cache.read_cached_keys(kept.function)][len(known) :]
        really = "error" if not done else "trace" if new else "hit"
        assert entry.verdict == foretold.verdict == really, (entry, foretold)
        assert (entry.causes, entry.compared) == (foretold.causes, foretold.compared)
        assert bool(entry.causes) == bool(new and known), entry
        if entry.causes:
            wanted = tensorflow_cache.find_call_key(kept.function, args, kwargs)
            key, _ = find_nearest_key(known, wanted, kept._names)
            assert entry.compared == kept._names.format_arguments(key[1])
            check_causes(program, history, call, entry, witnesses[key])
            retraces += 1
        witnesses |= dict.fromkeys(new, call)
    return retraces


@pytest.mark.parametrize("part", range(4))
def test_changing_the_named_leaves_and_only_those_makes_the_call_a_hit(part, quiet_tensorflow):
    seeds = range(part, sample(80, 2_000), 4)
    assert sum(watch_calls(draw_program(seed)) for seed in seeds) > 15


@pytest.fixture
def quiet_tensorflow():
    """TensorFlow warns of the very retraces that these tests make."""
    logger, level = tf.get_logger(), tf.get_logger().level
    logger.setLevel("ERROR")
    yield
    logger.setLevel(level)


def test_nan_is_a_float():
    watched = watch_function(tf.function(lambda x: 1.0))
    for value in (1, float("nan"), 2.0):
        watched(value)
    notes = [entry.note for entry in watched.model.entries]
    assert "object" not in str(notes) and "int → float" in notes[1], notes
