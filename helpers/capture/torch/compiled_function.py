"""A callable -> the Python function that Dynamo compiles for it, and a copy with an empty cache.

A learner passes a function, a module, a method, a partial, what torch.compile made, or a ledger of
`watch_recompiles`. Each of these is unwrapped down to the Python function inside. A decorator is
not unwrapped, because Dynamo starts with the decorator's wrapper.
"""

import functools
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType

from ...internals import compiled_functions
from ..cpython.frameworks_of_callables import refuse_other_framework
from ..cpython.objects import read_callable_name, read_instance_dict
from ..cpython.unwrapping import DEEPEST, unwrap_call
from ..text.error import suggest_function_of_module
from ..text.value import short_repr
from .cache_entries import read_cache_entries

# The modules in which torch calls what a user gave to it.
TORCHS_CALLERS = ("torch._dynamo", "torch.nn.modules.module")
NEEDED = "a Python function is needed, or a callable with one inside, such as an nn.Module"
IS_DECORATED = "Dynamo starts with the wrapper that a decorator put around"


def find_compiled_function(
    fn: Callable, compiled: bool = False
) -> tuple[FunctionType, tuple[str, ...]]:
    """Return the function that Dynamo starts with, and a sentence for each layer around it.

    The sentences say what was unwrapped, such as a partial or a method.

    Parameters
    ----------
    fn : callable
        What the user passes: a function, a module, a method, a partial, or what torch.compile made.
    compiled : bool
        Whether to prefer a function that Dynamo has compiled. Several Python functions may be
        inside each other. By default the outermost one is returned; with True, the outermost one
        that has cache entries, if there is such a one.

    Raises
    ------
    TypeError
        `fn` contains no Python function, or belongs to another framework.
    """
    refuse_other_framework(fn, (), "this verb", "PyTorch")
    ledger_fields = read_ledger_fields(fn)
    if ledger_fields:  # a ledger of `watch_recompiles` has stored both when it was made
        return ledger_fields["compiled_function"], ledger_fields["unwrapping_sentences"]

    candidates = _list_candidates(fn)
    if not candidates:
        raise TypeError(f"{NEEDED}, not {short_repr(fn)}{suggest_function_of_module(fn)}")
    if compiled:
        for function, sentences in candidates:
            if read_cache_entries(function.__code__):
                return function, sentences
    return candidates[0]


def _list_candidates(fn: Callable) -> list[tuple[FunctionType, tuple[str, ...]]]:
    """Return each Python function inside a callable, the outermost first, as pairs.

    A pair has the function, and a tuple with a sentence for each layer around it. Torch's own
    functions that call a module's `forward` are left out.
    """
    candidates = []
    for layer, sentences in _iterate_layers(fn):
        function = layer.__func__ if type(layer) is MethodType else layer
        if type(function) is not FunctionType:
            continue
        if str(function.__module__).startswith(TORCHS_CALLERS):  # torch's own, and not the user's
            continue
        decorated = vars(function).get("__wrapped__")  # set by functools.wraps
        if decorated is not None:
            sentences = (*sentences, f"{IS_DECORATED} {read_callable_name(decorated)}.")
        candidates.append((function, sentences))
    return candidates


def _iterate_layers(fn: Callable) -> Iterator[tuple[Callable, tuple[str, ...]]]:
    """Yield a callable and each callable inside it, with sentences on what was unwrapped so far.

    For `partial(net, n=2)` these are the partial, the module `net`, and its method `forward`.
    """
    sentences = ()
    for _ in range(DEEPEST):
        layer = _remove_compiler(fn)
        yield layer, sentences

        fn, new_sentences, _ = unwrap_call(layer, 1)  # one layer at a time
        sentences += new_sentences
        if fn is layer:  # nothing is inside
            return


def _remove_compiler(fn: Callable) -> Callable:
    """Return what was passed to torch.compile to make `fn`; `fn` itself if it is not compiled."""
    inner = compiled_functions.find_original(fn)
    if type(inner) is not MethodType:
        return inner

    # A method of a class whose function is decorated with torch.compile.
    function = compiled_functions.find_original(inner.__func__)
    if function is inner.__func__:
        return inner
    return MethodType(function, inner.__self__)


def read_ledger_fields(fn: object) -> dict:
    """Return the attributes of a ledger of `watch_recompiles` by name; {} for anything else.

    `fn` may be the `WatchedFunction` that keeps the ledger, or the exhibit that shows it and has
    the `WatchedFunction` as its `_source`. A `WatchedFunction` is recognised by its attribute
    `compiled_from`, because an import of the class would be circular.
    """
    if type(fn) is FunctionType:
        return {}
    fields = read_instance_dict(fn) or {}
    if "compiled_from" in fields:
        return fields
    return read_instance_dict(fields.get("_source")) or {}


def add_bound_arguments(
    fn: Callable, args: tuple, kwargs: dict, start: FunctionType | None = None
) -> tuple[tuple, dict]:
    """Return the arguments that the Python function inside `fn` gets in a call of `fn`.

    A method adds its object, and a partial adds what it supplies.

    Parameters
    ----------
    fn : callable
        What is called.
    args, kwargs : tuple, dict
        The arguments of the call.
    start : function, optional
        The function that Dynamo starts with. If it is torch's own wrapper, no `self` is added,
        because the wrapper gets none.
    """
    starts_with_wrapper = start is not None and compiled_functions.is_inline_wrapper(start.__code__)
    users_callable = read_ledger_fields(fn).get("compiled_from", fn)
    for layer, _ in _iterate_layers(users_callable):  # from the outside in
        if type(layer) is MethodType:
            if starts_with_wrapper:
                return args, kwargs
            return (layer.__self__, *args), kwargs
        if type(layer) is FunctionType:
            return args, kwargs
        if type(layer) is functools.partial:
            args = (*layer.args, *args)
            kwargs = {**layer.keywords, **kwargs}
    return args, kwargs


def copy_function(fn: FunctionType | MethodType):
    """Return a copy of a function or a method with a code object of its own.

    Dynamo keeps cache entries on the code object, so the copy has an empty cache.
    """
    if type(fn) is MethodType:
        return MethodType(copy_function(fn.__func__), fn.__self__)

    code = fn.__code__.replace()
    copy = FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    functools.update_wrapper(copy, fn, updated=())
    # update_wrapper sets `__wrapped__` on the copy, also where `fn` itself has none. All else in
    # the dict is left out, such as torch's mark that a function is compiled already.
    copy.__dict__ = {}
    if "__wrapped__" in vars(fn):
        copy.__wrapped__ = vars(fn)["__wrapped__"]
    copy.__kwdefaults__ = fn.__kwdefaults__
    return copy


def compile_copy(copy: Callable, **options) -> tuple[Callable, FunctionType]:
    """Return what `torch.compile` makes of a copy, and the function that Dynamo starts with.

    Dynamo cannot start with some callables, such as the modules of torch itself. Torch puts one
    wrapper around each of them. All these wrappers share a code object, and so a cache. The wrapper
    is therefore copied as well, so that nothing is left in torch's cache.
    """
    import torch

    compiled = torch.compile(copy, **options)
    wrapper = compiled_functions.find_inline_wrapper(compiled)
    if wrapper is None:
        function, _ = find_compiled_function(copy)
        return compiled, function

    wrapper_copy = copy_function(wrapper)
    return torch.compile(wrapper_copy, **options), wrapper_copy
