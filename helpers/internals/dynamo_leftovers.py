"""What a compilation leaves outside of Dynamo's own modules: removed, or kept from happening.

Dynamo adds names to the globals of the functions that it compiles, finalizers to objects that its
guards look at, and a mark to parameters. It calls hooks, and gives some warnings only once.
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
    """Return the names in these globals that Dynamo has added."""
    # A list, because another thread may add a global meanwhile.
    return {name for name in list(namespace) if type(name) is str and name.startswith(PREFIXES)}


def remove_globals_of_codes(codes: Iterable[CodeType]) -> None:
    """Remove from globals what Dynamo added for these code objects, which are about to be freed.

    A call of a code object that still runs needs its names. They go when CPython frees the code.
    """
    cleanup_manager = torch_private.dynamo_utils.CleanupManager.instance
    running = _list_running_codes()
    for code in codes:
        if id(code) not in running:
            with suppress(KeyError):  # the user has deleted such a name
                cleanup_manager._remove_id(id(code))


def list_needed_globals() -> set[str]:
    """Return the names in any globals that the remaining cache entries of Dynamo use."""
    cleanup_manager = torch_private.dynamo_utils.CleanupManager.instance
    names = set()
    for hooks in list(cleanup_manager.values.values()):
        names.update(hook.name for hook in hooks)
    for reference in list(cleanup_manager.refs.values()):
        code = reference()  # None once it is freed
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
    """Drop the finalizers that guards have added since, on objects which live longer."""
    for finalizer in list_finalizers() - earlier_finalizers:
        details = finalizer.peek()  # None if it has run meanwhile
        if details is None:
            continue
        _, function, _, _ = details
        # Dynamo passes a partial of a bound method of its guard manager.
        owner = getattr(getattr(function, "func", None), "__self__", None)
        if type(owner) is torch_private.CheckFunctionManager:
            finalizer.detach()


@contextmanager
def call_no_compile_hooks() -> Iterator[None]:
    """Call no hook on compiles in the block, and use up no warning that torch gives only once."""
    with ExitStack() as stack:
        handler = getattr(restoring.module("torch._dynamo.callback"), "callback_handler", None)
        if handler is not None:
            stack.enter_context(patched(handler, start_callbacks=[], end_callbacks=[]))

        warning_once = getattr(restoring.module("torch._logging"), "warning_once", None)
        if warning_once:
            # Many modules have imported the function by its name. It is a cache around another
            # function, which warns each time.
            for name, module in list(sys.modules.items()):
                is_torchs = name.startswith("torch.")
                if is_torchs and vars(module).get("warning_once") is warning_once:
                    plain_warning = warning_once.__wrapped__
                    stack.enter_context(patched(module, warning_once=plain_warning))
        yield


@contextmanager
def unmark_tensors() -> Iterator[None]:
    """Remove the mark at the end that Dynamo gives parameters and an optimizer's state.

    Only what this thread has marked in the block loses its mark.
    """
    decorators = restoring.module("torch._dynamo.decorators")
    real = getattr(decorators, "mark_static_address", None)
    this_thread = threading.get_ident()
    marked_attributes: list[dict] = []

    def mark_static_address(tensor, *args, **kwargs):
        """Mark a tensor, as torch's function does, and note it if it had no mark."""
        if threading.get_ident() == this_thread:
            attributes = vars(tensor)
            if _MARK not in attributes:
                marked_attributes.append(attributes)
        return real(tensor, *args, **kwargs)

    replacements = {"mark_static_address": mark_static_address} if real else {}
    try:
        with patched(decorators, **replacements):
            yield
    finally:
        for attributes in marked_attributes:
            attributes.pop(_MARK, None)
