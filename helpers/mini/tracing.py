"""A small tf.function: a cache of traces, keyed by what the arguments are.

It records no graph: what the body returned while it was traced stands for one. Which calls trace,
which hit and which raise is the same as in TensorFlow's polymorphic_function.py and
core/function/polymorphism; the tests compare it call by call.
"""

import inspect
from typing import NamedTuple

NOTHING = object()  # what two keys have in common that have nothing
NAN = object()  # a nan is a key too, though it does not equal itself


class Spec(NamedTuple):
    """What is kept of a tensor: the type of its numbers, and its shape (None: of any size)."""

    dtype: object
    shape: tuple | None


class Traced:
    """`fn` with a cache. `spec_of(value)`: a (dtype, shape) for a tensor, None for all else."""

    def __init__(self, fn, spec_of, reduce_retracing=False):
        self.fn, self.spec_of, self.reduce_retracing = fn, spec_of, reduce_retracing
        self.cache = []  # (key, what the trace gave), oldest first
        self.signature = inspect.signature(fn)

    def __call__(self, *args, **kwargs):
        """Look the call up by its key; trace if no trace covers it. Return what the trace gave."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        wanted = key_of(bound.arguments, self.spec_of)
        for key, result in self.cache:
            if covers(key, wanted):
                return result
        if self.reduce_retracing:
            for key, _ in self.cache:
                shared = common(wanted, key)
                wanted = wanted if shared is NOTHING else shared
        self.cache.append((wanted, self.trace(bound)))
        return self.cache[-1][1]

    def trace(self, bound):
        """Run the body once, on copies. ValueError if it changes a list or a dict among them."""
        bound.arguments = copied(bound.arguments)
        before = copied(bound.arguments)
        result = self.fn(*bound.args, **bound.kwargs)
        changed = [name for name in before if not same(before[name], bound.arguments[name])]
        if changed:
            raise ValueError(f"{self.fn.__name__}() modified {', '.join(changed)}; modify a copy")
        return result


def key_of(value, spec_of):
    """Return the key of an argument: containers keep their make, tensors only their Spec."""
    spec = spec_of(value)
    if spec is not None:
        return Spec(*spec)
    if isinstance(value, dict):
        return {name: key_of(item, spec_of) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(key_of(item, spec_of) for item in value)
    return NAN if value != value else value


def covers(key, wanted) -> bool:
    """Return whether a trace made for `key` serves a call of `wanted`."""
    return key == wanted or common(key, wanted) == key


def common(a, b):
    """Return the key that covers both and as little else as may be, or NOTHING."""
    if type(a) is Spec and type(b) is Spec:
        return Spec(a.dtype, _shape(a.shape, b.shape)) if a.dtype == b.dtype else NOTHING
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return _all({name: common(a[name], b[name]) for name in a})
    if type(a) is type(b) in (list, tuple) and len(a) == len(b):
        return _all(type(a)(map(common, a, b)))
    return a if a == b else NOTHING


def copied(value):
    """Return lists, tuples and dicts anew, to any depth, around the very same leaves."""
    if isinstance(value, dict):
        return {name: copied(item) for name, item in value.items()}
    return type(value)(map(copied, value)) if type(value) in (list, tuple) else value


def same(a, b) -> bool:
    """Return whether two structures are alike and hold the very same leaves."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if type(a) is type(b) in (list, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a is b


def _shape(a, b):
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(m if m == n else None for m, n in zip(a, b, strict=True))


def _all(parts):
    items = parts.values() if isinstance(parts, dict) else parts
    return NOTHING if any(item is NOTHING for item in items) else parts
