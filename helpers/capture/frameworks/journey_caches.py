"""Read the caches that may answer a call instead of the learner's code: the caches of functools,
such as that of `@functools.cache`, and the compiled code objects of Dynamo, the compiler of torch.

`functools._lru_cache_wrapper` is the type of what `functools.lru_cache` and `functools.cache`
return. Its `cache_info()` says how often the cache had an answer, and how often it had none.
"""

import functools
import gc
import weakref
from types import CodeType, FunctionType

from ...internals import torch_private
from ...safety import restoring
from ..cpython.hooked_frames import find_codes_with_same_globals

_CACHE_TYPE = functools._lru_cache_wrapper


def is_cache(value: object) -> bool:
    """Return whether a value is a function behind a cache of functools."""
    return type(value) is _CACHE_TYPE


def read_cache_counts(value: object) -> tuple[int, int]:
    """Return (how often a cache had an answer, how often it had none); (0, 0) for no cache."""
    if not is_cache(value):
        return 0, 0
    counts = value.cache_info()
    return counts.hits, counts.misses


def read_inner_cache_counts(fn, space: dict | None) -> dict[weakref.ref, tuple[int, int]]:
    """Return a weak reference to each cache of the learner's module, except `fn` -> its two counts.

    `space` is the dict of the learner's globals, None if there is none. A cache belongs to the
    module if a global name refers to the cache, or if the cached function is of the module. Such a
    cache may be stored anywhere, for example in a class.
    """
    if space is None:
        return {}

    ids_of_named_caches = {id(value) for value in list(dict.values(space)) if is_cache(value)}
    # The type is compared here without a call, because there may be a million objects.
    caches = [value for value in gc.get_objects() if type(value) is _CACHE_TYPE and value is not fn]
    counts = {}
    for cache in caches:
        if id(cache) in ids_of_named_caches or _caches_function_of(cache, space):
            counts[weakref.ref(cache)] = read_cache_counts(cache)
    return counts


def _caches_function_of(cache, space: dict) -> bool:
    """Return whether a cache stores the answers of a function that has these globals."""
    wrapped_function = vars(cache).get("__wrapped__")
    return type(wrapped_function) is FunctionType and wrapped_function.__globals__ is space


def count_new_answers(
    counts_before: dict[weakref.ref, tuple[int, int]],
    counts_after: dict[weakref.ref, tuple[int, int]],
) -> tuple[int, int]:
    """Return (hits, misses) of all caches together between two readings of their counts."""
    new_hits = 0
    new_misses = 0
    for cache, (hits, misses) in counts_after.items():
        hits_before, misses_before = counts_before.get(cache, (0, 0))  # a new cache began with 0
        # A program may clear a cache, which sets its counts to zero: no negative difference.
        new_hits += max(hits - hits_before, 0)
        new_misses += max(misses - misses_before, 0)
    return new_hits, new_misses


def list_dynamo_codes(function: FunctionType | None) -> dict[int, CodeType]:
    """Return id -> code object, for what Dynamo has made of the code in the files of a function.

    A code object of Dynamo's has the file name of the learner's file. It is told from the learner's
    own code objects by its id. The code of a resume function, with which a frame goes on after a
    graph break, is among them.
    """
    if function is None or not restoring.find_loaded_module("torch._dynamo"):
        return {}
    files = {code.co_filename for code in find_codes_with_same_globals(function)}
    # Weak references: a code object that Dynamo no longer uses is None here.
    dynamo_codes = [reference() for reference in torch_private.output_codes.seen]
    codes_by_id = {}
    for code in dynamo_codes:
        if code is not None and code.co_filename in files:
            codes_by_id[id(code)] = code
    return codes_by_id
