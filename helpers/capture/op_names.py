"""A function and its arguments -> the names by which a reader knows the tensors in its run."""

import inspect
from collections.abc import Mapping


def names_of(fn, args: tuple, kwargs: Mapping) -> dict[object, str]:
    """Return identity -> name of every tensor and variable that `fn` names or is given.

    A layer's weights are named by their own path. What cannot be read is left out.
    """
    names: dict[object, str] = {}
    for name, value in _named(fn, args, kwargs):
        for path, tensor in _tensors(name, value):
            for key in _identities(tensor):
                names.setdefault(key, path)
    return names


def _named(fn, args, kwargs):
    yield "layer", fn  # where it is one; of anything else no tensor is found
    try:
        yield from inspect.signature(fn).bind(*args, **kwargs).arguments.items()
    except (TypeError, ValueError):  # a C function, or arguments that the call will refuse
        yield from ((f"argument {at}", value) for at, value in enumerate(args, 1))
    code = getattr(fn, "__code__", None)
    if code is None:
        return
    for name, cell in zip(code.co_freevars, fn.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # bound later
            continue
    for name in code.co_names:
        if name in fn.__globals__:
            yield name, fn.__globals__[name]


def _tensors(name: str, value):
    if isinstance(value, (list, tuple)) and len(value) <= 100:
        for at, item in enumerate(value):
            yield from _tensors(f"{name}[{at}]", item)
    elif _is_module(value):
        for path, weight in value.named_parameters():
            yield f"{name}.{path}", weight
    elif isinstance(weights := getattr(value, "weights", None), list):
        for weight in weights:
            yield str(getattr(weight, "path", name)), getattr(weight, "value", weight)
    elif hasattr(value, "dtype") and hasattr(value, "shape"):
        yield name, value


def _is_module(value) -> bool:
    return type(value).__module__ != "builtins" and callable(
        getattr(type(value), "named_parameters", None)
    )


def _identities(tensor):
    """Yield what stands for a tensor in the log: its number or id, and that of its handle."""
    number = getattr(tensor, "_id", None)
    if isinstance(number, int):
        yield number
    handle = getattr(getattr(tensor, "handle", None), "_id", None)
    if isinstance(handle, int):
        yield handle
    yield id(tensor)
