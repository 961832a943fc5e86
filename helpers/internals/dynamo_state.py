"""A block in which Dynamo is as in a new process, and after which it is as before the block.

`torch._dynamo.reset` (torch/_dynamo/__init__.py) lists what Dynamo keeps. `torch._dynamo.explain`
calls it before and after its run, so all compiled code is lost. Here each thing is set aside, and
put back: what is stored on code objects, what Dynamo counts, and the names that it puts into the
globals of a function.
"""

import functools
import linecache
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from types import CodeType

from ..safety import restoring
from ..safety.missing_parts import MissingPart
from ..safety.restoring import patched
from . import code_extras, compiled_calls_under_way, dynamo_codes, dynamo_settings, torch_private
from .kept_collections import kept

# module -> names of what a compile adds to; a torch that lacks one of them does without it
COLLECTED = {
    "torch._dynamo.utils": "counters optimus_scuba_log compilation_time_metrics guard_failures "
    "cumulative_time_spent_ns _compilation_metrics graph_break_reasons warn_once_cache "
    "orig_code_map seen_code_map graph_break_dup_warning_checker",
    "torch._dynamo.convert_frame": "FRAME_COMPILE_COUNTER",
    "torch._dynamo.eval_frame": "cached_backends always_optimize_code_objects",
    "torch._dynamo.resume_execution": "ContinueExecutionCache",
    "torch._dynamo.graph_bytecode_inputs": "index_to_bytecode_constructor keep_alive "
    "index_to_external_object_weakref",
    "torch._dynamo.mutation_guard": "GenerationTracker",
    "torch._dynamo.pgo": "_CODE_STATE _KNOWN_DYNAMIC_SOURCES",
    "torch._dynamo.funcname_cache": "cache",
    "torch.fx.graph_module": "_loader",
}
COUNTED = {
    "torch._dynamo.convert_frame": "FRAME_COUNTER initial_global_state",
    "torch._dynamo.utils": "curr_frame",
    "torch._dynamo.graph_bytecode_inputs": "CURRENT_STREAM_INDEX",
    "torch._dynamo.pgo": "_LOGGED_DYNAMIC_ALLOWLIST",
}
WITHIN = {  # attributes of the objects among them that are no collections themselves
    "ContinueExecutionCache": ("cache",),  # code -> its resume functions
    "GenerationTracker": ("dynamic_classes",),
    "graph_break_dup_warning_checker": ("set",),
    "_loader": ("eval_cache",),
}
MARKING, MARK = "mark_static_address", "_dynamo_static_input_type"
OF_DYNAMO = ("__import_", "__compiled_fn", "__resume_at", "__builtins_dict__")


class Fresh:
    """What happened in a block of `as_if_new`.

    `barred`: the code objects that were compiled in it, and that Dynamo does not compile outside
    of it because of what came before the block, each with SKIP or RUN_ONLY. `skipped`: those that
    Dynamo would have skipped from the block on.
    """

    def __init__(self):
        self.barred: list[tuple[CodeType, str]] = []
        self.skipped: list[CodeType] = []
        self.thread = threading.get_ident()  # in which the block runs
        self.is_reset = False  # whether somebody called `torch._dynamo.reset` in the block
        self.aside: list[tuple[CodeType, int]] = []
        self.met: dict[int, CodeType] = {}  # codes that had nothing stored on them before
        self.lent: set[int] = set()  # codes that another thread met, too
        self.beyond: set[int] = set()  # codes of `aside` that a reset in the block does not reach
        self.removed: list[CodeType] = []  # Dynamo's new codes whose entries are freed
        self.globals: dict[int, tuple[dict, set[str]]] = {}

    def meet(self, code: CodeType, space: dict) -> None:
        """Note a frame that Dynamo is asked about."""
        if self.thread != threading.get_ident():
            self.lent.add(id(code))
            return
        if id(code) not in self.met and not dynamo_codes.read_cache_entries(code):
            self.met[id(code)] = code
        if id(space) not in self.globals:
            self.globals[id(space)] = space, _names_of_dynamo(space)

    def is_of_block(self, code: CodeType) -> bool:
        """Return whether what Dynamo compiles of this code, in this thread, is for the block only.

        Of another thread's, it is so for code that Dynamo had met before the block.
        """
        if threading.get_ident() == self.thread:
            return True
        code = dynamo_codes.find_original_code(code)
        return any(code is known for known, _ in self.aside)

    def skip(self, code: CodeType) -> None:
        """Note a code object that Dynamo is about to skip for good."""
        if not code_extras.state_of(code):
            self.met.setdefault(id(code), code)


@contextmanager
def as_if_new(*codes: CodeType) -> Iterator[Fresh]:
    """Have Dynamo compile all functions anew in the block; after it, all is as before.

    Its cache is of a code object, so what it has stored on those that it met, and on `codes`, is
    taken off meanwhile. MissingPart where that cannot be done. If Dynamo is asked in another thread
    during the block, what it compiles for a code object that it had met is compiled again later,
    and counts stay as they are then.
    """
    code_extras.require()
    fresh = Fresh()
    trackers = [torch_private.input_codes, torch_private.output_codes]
    seen = [len(tracker.seen) for tracker in trackers]
    found = {id(code): code for code in (*dynamo_codes.list_met_codes(), *codes)}
    finalizers = set(weakref.finalize._registry)
    sizes = torch_private.get_code_state()
    collected, counted = _copy_collections(), [*_named(COUNTED)]
    lines = set(linecache.cache)
    sizes.clear()
    try:
        fresh.beyond |= set(map(id, dynamo_codes.list_codes_beyond_reset()))
        fresh.aside += [(code, code_extras.take_off(code)) for code in found.values()]
        with (
            _hearing(fresh),
            _silent(),
            _tensors_unmarked(),
            dynamo_settings.start_no_bar_monitor(),
        ):
            yield fresh
    finally:
        with torch_private.compile_lock:
            _put_back(fresh)
            _remove_names(fresh)
            if not fresh.lent:
                _detach(finalizers)
            if not fresh.is_reset and not fresh.lent:
                for collection in collected:
                    collection.put_back()
                for module, name, value in counted:
                    setattr(module, name, value)
                for tracker, before in zip(trackers, seen, strict=True):
                    _forget_new(tracker, before)
        for name in [name for name in linecache.cache if name not in lines]:
            if name.startswith("<eval_with_key>"):
                del linecache.cache[name]


def apart():
    """Return a block of `as_if_new`, or one that does nothing where that cannot be done."""
    with suppress(MissingPart):
        code_extras.require()
        return as_if_new()
    return nullcontext()


# ------------------------------------------------------------------ what is stored on code objects


def _put_back(fresh: Fresh) -> None:
    """Put what was stored on code objects back; after a `torch._dynamo.reset`, nothing."""
    codes = {id(code): code for code, _ in fresh.aside} | fresh.met
    states = {key: code_extras.state_of(code) for key, code in codes.items()}
    fresh.skipped += [codes[k] for k, now in states.items() if code_extras.action(now) == "SKIP"]
    for code, pointer in fresh.aside:
        before = code_extras.action(pointer)
        if before != "DEFAULT" and dynamo_codes.read_cache_entries(code):
            fresh.barred.append((code, before))
        in_use = (
            id(code) in fresh.lent and compiled_calls_under_way.has_another_thread_compiled_call()
        )
        if not in_use:
            _note_removed(fresh, code)
        code_extras.put_back(code, pointer, in_use)
        if fresh.is_reset and id(code) not in fresh.lent | fresh.beyond:
            _note_removed(fresh, code)
            torch_private.reset_code(code)
    ours = {id(code) for code, _ in fresh.aside} | fresh.lent
    for key, code in fresh.met.items():
        if key not in ours:
            _note_removed(fresh, code)
            torch_private.reset_code(code)


def _note_removed(fresh: Fresh, code: CodeType) -> None:
    """Note the new codes of the entries that are about to be taken off a code object."""
    fresh.removed += [entry.code for entry in dynamo_codes.read_cache_entries(code)]


@contextmanager
def _hearing(fresh: Fresh) -> Iterator[None]:
    """Tell `fresh` of each frame that Dynamo is asked about, of what it skips, and of a reset."""
    entrance, place = torch_private.convert_frame.CatchErrorsWrapper, torch_private.eval_frame
    real, real_skip = entrance.__call__, place.skip_code

    @functools.wraps(real)
    def asked(wrapper, frame, *rest, **more):
        with suppress(Exception):  # it is the user's call
            fresh.meet(frame.f_code, frame.f_globals)
        return real(wrapper, frame, *rest, **more)

    @functools.wraps(real_skip)
    def skipping(code):
        with suppress(Exception):
            fresh.skip(code)
        return real_skip(code)

    tracker = type(torch_private.input_codes)
    real_clear = tracker.clear

    def clearing(itself):
        fresh.is_reset = True
        return real_clear(itself)

    clears, skips = patched(tracker, clear=clearing), patched(place, skip_code=skipping)
    with patched(entrance, __call__=asked), skips, clears:
        yield


def _forget_new(tracker, count: int) -> None:
    """Take off a `Tracker` what it has seen after its first `count` code objects."""
    alive = [code for reference in tracker.seen[count:] if (code := reference()) is not None]
    del tracker.seen[count:]
    tracker.seen_ids.difference_update(map(id, alive))


# ------------------------------------------------------------------ what Dynamo puts elsewhere


def _cleanups():
    """Return code -> hooks that take the names of Dynamo out of globals when the code is freed."""
    return torch_private.dynamo_utils.CleanupManager.instance


def _names_of_dynamo(space: dict) -> set[str]:
    return {name for name in [*space] if type(name) is str and name.startswith(OF_DYNAMO)}


def _remove_names(fresh: Fresh) -> None:
    """Take out of globals what only the entries use that the block has made, and that are freed.

    An entry that stays, such as one of a code object that another thread met, needs its names. So
    does a call that still runs: its names go when CPython frees the code.
    """
    cleanups, running = _cleanups(), _running_codes()
    for code in fresh.removed:
        if id(code) not in running:
            with suppress(KeyError):  # the user has deleted such a name
                cleanups._remove_id(id(code))
    if fresh.lent:
        return
    needed = {hook.name for hooks in [*cleanups.values.values()] for hook in hooks}
    for reference in [*cleanups.refs.values()]:  # to the code of each entry that stays
        needed.update(getattr(reference(), "co_names", ()))
    for space, before in fresh.globals.values():
        for name in _names_of_dynamo(space) - before - needed:
            space.pop(name, None)


def _running_codes() -> set[int]:
    """Return the id of the code of each frame on the stack of each thread."""
    found = set()
    for frame in sys._current_frames().values():
        while frame is not None:
            found.add(id(frame.f_code))
            frame = frame.f_back
    return found


def _detach(before: set) -> None:
    """Drop the finalizers that guards of the block have put on objects which live longer."""
    guards = torch_private.CheckFunctionManager
    for finalizer in set(weakref.finalize._registry) - before:
        told = finalizer.peek()
        owner = getattr(getattr(told and told[1], "func", None), "__self__", None)
        if type(owner) is guards:
            finalizer.detach()


@contextmanager
def _silent() -> Iterator[None]:
    """Call no hook on compiles in the block, and use up no warning that torch gives only once."""
    with ExitStack() as stack:
        handler = getattr(restoring.module("torch._dynamo.callback"), "callback_handler", None)
        if handler is not None:
            stack.enter_context(patched(handler, start_callbacks=[], end_callbacks=[]))
        once = getattr(restoring.module("torch._logging"), "warning_once", None)
        for name, module in [*sys.modules.items()]:
            if once and name.startswith("torch.") and vars(module).get("warning_once") is once:
                stack.enter_context(patched(module, warning_once=once.__wrapped__))
        yield


@contextmanager
def _tensors_unmarked() -> Iterator[None]:
    """Take off the mark at the end that Dynamo puts on parameters and on an optimizer's state."""
    place, thread = restoring.module("torch._dynamo.decorators"), threading.get_ident()
    real, before = getattr(place, MARKING, None), []

    def marking(tensor, *rest, **more):
        if threading.get_ident() == thread and MARK not in (found := vars(tensor)):
            before.append(found)
        return real(tensor, *rest, **more)

    try:
        with patched(place, **({MARKING: marking} if real else {})):
            yield
    finally:
        for attributes in before:
            attributes.pop(MARK, None)


# ------------------------------------------------------------------ collections and counts


def _copy_collections() -> list:
    found = []
    for _, name, owner in _named(COLLECTED):
        within = [getattr(owner, one, None) for one in WITHIN.get(name, ())] or [owner]
        found += [keeper for one in within if (keeper := kept(one)) is not None]
    return found


def _named(places: dict[str, str]) -> Iterator[tuple[object, str, object]]:
    """Yield (module, name, value) of each name that there is."""
    for home, names in places.items():
        module = restoring.module(home)
        for name in names.split():
            if module is not None and name in vars(module):
                yield module, name, vars(module)[name]
