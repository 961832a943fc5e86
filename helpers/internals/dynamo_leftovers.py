"""Remove or prevent what torch's Dynamo leaves outside of its own modules when it compiles.

Dynamo adds names to the globals of the functions that it compiles. It adds finalizers to objects
that its guards look at, and an attribute to parameters. It calls hooks on compilation, and gives
some warnings only once.
"""

import sys
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import CodeType

from ..safety import restoring
from ..safety.restoring import patched
from . import torch_private

# How the names begin that Dynamo adds to globals and that only its cache entries use.
PREFIXES = ("__import_", "__compiled_fn", "__resume_at", "__builtins_dict__")
_MARK = "_dynamo_static_input_type"  # attribute that `mark_static_address` gives a tensor


def list_dynamo_globals(namespace: dict) -> set[str]:
    """Return the names that Dynamo has added to a module's globals, which are `namespace`."""
    # A list, because another thread may add a global meanwhile.
    return {name for name in list(namespace) if type(name) is str and name.startswith(PREFIXES)}


def remove_globals_of_codes(codes: Iterable[CodeType]) -> None:
    """Remove the names that Dynamo added to globals for these code objects of its own.

    The code objects are about to be freed. A code object that runs now still needs its names. They
    stay, and Dynamo removes them when CPython frees the code object.
    """
    cleanup_manager = torch_private.dynamo_utils.CleanupManager.instance
    running_ids = _list_running_codes()
    for code in codes:
        if id(code) not in running_ids:
            with suppress(KeyError):  # the user has deleted such a name
                cleanup_manager._remove_id(id(code))


def list_needed_globals() -> set[str]:
    """Return the names of globals that Dynamo's remaining cache entries use.

    Dynamo's CleanupManager has for each code object that Dynamo made a weak reference, and the
    hooks that remove names from globals when the code object is freed.
    """
    cleanup_manager = torch_private.dynamo_utils.CleanupManager.instance
    names = set()
    for hooks in list(cleanup_manager.values.values()):
        names.update(hook.name for hook in hooks)
    for reference in list(cleanup_manager.refs.values()):
        code = reference()  # None if the code object has been freed
        names.update(getattr(code, "co_names", ()))
    return names


def _list_running_codes() -> set[int]:
    """Return the id of the code of each frame on the stack of each thread."""
    code_ids = set()
    for innermost_frame in sys._current_frames().values():
        frame = innermost_frame
        while frame is not None:
            code_ids.add(id(frame.f_code))
            frame = frame.f_back
    return code_ids


def list_finalizers() -> set[weakref.finalize]:
    """Return the finalizers of the whole process."""
    return set(weakref.finalize._registry)


def detach_guard_finalizers(earlier_finalizers: set[weakref.finalize]) -> None:
    """Detach the finalizers of Dynamo's guards that are not among `earlier_finalizers`.

    Dynamo puts such a finalizer on an object that a guard looks at, to make the guard invalid when
    the object dies. The guards are gone here, and the objects may live on.
    """
    for finalizer in list_finalizers() - earlier_finalizers:
        details = finalizer.peek()  # (object, function, args, kwargs)
        if details is None:  # the finalizer has run meanwhile
            continue
        _, function, _, _ = details
        # The function of a guard's finalizer is a partial of a method of a CheckFunctionManager.
        bound_method = getattr(function, "func", None)
        owner = getattr(bound_method, "__self__", None)
        if type(owner) is torch_private.CheckFunctionManager:
            finalizer.detach()


@contextmanager
def call_no_compile_hooks() -> Iterator[None]:
    """Call no hook on compilation in the block, and use up no warning that torch gives only once.

    A user may have set hooks that Dynamo calls at the start and at the end of a compilation. They
    are restored after the block.
    """
    with ExitStack() as stack:
        handler = getattr(
            restoring.find_loaded_module("torch._dynamo.callback"), "callback_handler", None
        )
        if handler is not None:
            stack.enter_context(patched(handler, start_callbacks=[], end_callbacks=[]))

        warning_once = getattr(restoring.find_loaded_module("torch._logging"), "warning_once", None)
        if warning_once:
            # `warning_once` is a cache around a function that warns each time. In the block, each
            # module of torch that has imported `warning_once` gets the uncached function, so that
            # the cache does not suppress a later warning of the user's own program.
            uncached_warning = warning_once.__wrapped__
            for name, module in list(sys.modules.items()):
                is_torchs = name.startswith("torch.")
                if is_torchs and vars(module).get("warning_once") is warning_once:
                    stack.enter_context(patched(module, warning_once=uncached_warning))
        yield


@contextmanager
def unmark_tensors() -> Iterator[None]:
    """Remove after the block the attribute that Dynamo has set on tensors in the block.

    Dynamo sets it on parameters and on an optimizer's state, by `mark_static_address`. A tensor
    that had the attribute before the block, or got it in another thread, keeps it.
    """
    decorators = restoring.find_loaded_module("torch._dynamo.decorators")
    real_mark = getattr(decorators, "mark_static_address", None)
    this_thread = threading.get_ident()
    marked_attributes: list[dict] = []  # the `__dict__` of each tensor to unmark

    def mark_static_address(tensor, *args, **kwargs):
        """Mark a tensor as torch's function does, and note it if it had no mark."""
        if threading.get_ident() == this_thread:
            attributes = vars(tensor)
            if _MARK not in attributes:
                marked_attributes.append(attributes)
        return real_mark(tensor, *args, **kwargs)

    # This torch may have no such function.
    replacements = {"mark_static_address": mark_static_address} if real_mark else {}
    try:
        with patched(decorators, **replacements):
            yield
    finally:
        for attributes in marked_attributes:
            attributes.pop(_MARK, None)
