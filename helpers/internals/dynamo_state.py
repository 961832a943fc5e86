"""A `with` block in which torch's Dynamo has compiled nothing yet; what it had is restored after.

`torch._dynamo.explain` calls `torch._dynamo.reset` before and after its run, so all compiled code
is lost. The block here takes off everything that Dynamo has, and restores it: the ExtraState that
torch stores on a code object (code_extras.py), Dynamo's tables (dynamo_tables.py), and what Dynamo
adds to other objects (dynamo_leftovers.py).
"""

import functools
import linecache
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from types import CodeType

from ..safety.missing_parts import MissingPart
from ..safety.restoring import patched
from . import code_extras, dynamo_codes, dynamo_leftovers, torch_private
from .compiled_calls_under_way import has_another_thread_compiled_call
from .dynamo_settings import start_no_bar_monitor
from .dynamo_tables import SavedTables


class FreshBlock:
    """What happened in a block of `as_if_new`."""

    def __init__(self):
        """Begin with nothing noted, in the thread that runs now."""
        #: (code object, SKIP or RUN_ONLY) for each code object that was compiled in the block,
        #: though Dynamo does not compile it outside of the block.
        self.barred: list[tuple[CodeType, str]] = []
        #: The code objects that Dynamo decided in the block to skip from then on.
        self.skipped: list[CodeType] = []
        #: The number of the thread in which the block runs.
        self.thread = threading.get_ident()
        #: Whether somebody called `torch._dynamo.reset` in the block.
        self.is_reset = False
        #: (code object, address of its ExtraState or 0) for each code object whose ExtraState was
        #: taken off at the start of the block.
        self.set_aside: list[tuple[CodeType, int]] = []
        #: id -> code object, for those that had no ExtraState before the block.
        self.new_codes: dict[int, CodeType] = {}
        #: The ids of code objects that Dynamo was asked about in another thread.
        self.ids_of_other_threads: set[int] = set()
        #: The ids of code objects in `set_aside` that a reset in the block does not empty.
        self.ids_beyond_reset: set[int] = set()
        #: The code objects that Dynamo made, and whose cache entries have been freed.
        self.freed_codes: list[CodeType] = []
        #: id of a dict of globals -> (the dict, the names that Dynamo had added before the block).
        self.namespaces: dict[int, tuple[dict, set[str]]] = {}

    def meet(self, code: CodeType, namespace: dict) -> None:
        """Note a frame that Dynamo is about to look at, by its code object and its globals."""
        if self.thread != threading.get_ident():
            self.ids_of_other_threads.add(id(code))
            return
        # A code object without cache entries is either new or of `set_aside`.
        if id(code) not in self.new_codes and not dynamo_codes.read_cache_entries(code):
            self.new_codes[id(code)] = code
        if id(namespace) not in self.namespaces:
            names = dynamo_leftovers.list_dynamo_globals(namespace)
            self.namespaces[id(namespace)] = namespace, names

    def is_of_block(self, code: CodeType) -> bool:
        """Return whether the calling thread compiles this code for the block only.

        All that the block's own thread compiles is for the block. Another thread compiles for the
        block where Dynamo had met the code before, because the block has taken off what Dynamo had
        compiled for the code.
        """
        if threading.get_ident() == self.thread:
            return True
        original = dynamo_codes.find_original_code(code)  # of a resume function: what it continues
        return any(original is known_code for known_code, _ in self.set_aside)

    def skip(self, code: CodeType) -> None:
        """Note a code object that Dynamo is about to skip for good."""
        if not code_extras.find_state(code):
            self.new_codes.setdefault(id(code), code)


@contextmanager
def as_if_new(*codes: CodeType) -> Iterator[FreshBlock]:
    """Have Dynamo compile all functions anew in the block; after it, all is as before.

    Dynamo's cache belongs to a code object. So the block takes the ExtraState off each code object
    that Dynamo has met, and off `codes`, and restores it at the end. MissingPart where that cannot
    be done.

    If another thread calls a compiled function during the block, two things differ. What that
    thread compiles for a code object that Dynamo had met is not kept, so Dynamo compiles it again
    later. Dynamo's tables and counters are not restored.
    """
    code_extras.require_readable()
    block = FreshBlock()
    codes_by_id = {id(code): code for code in (*dynamo_codes.list_met_codes(), *codes)}
    # Dynamo's two lists of code objects. It only appends to them, so a count says what is new.
    trackers = [torch_private.input_codes, torch_private.output_codes]
    earlier_counts = [len(tracker.seen) for tracker in trackers]
    earlier_finalizers = dynamo_leftovers.list_finalizers()
    # What Dynamo noted on changing sizes of tensors. The function makes the dict if there is none,
    # so it is called before the tables are saved.
    size_notes = torch_private.get_code_state()
    tables = SavedTables()
    earlier_files = set(linecache.cache)
    size_notes.clear()  # `tables` has saved a copy
    try:
        block.ids_beyond_reset.update(map(id, dynamo_codes.list_codes_beyond_reset()))
        for code in codes_by_id.values():
            block.set_aside.append((code, code_extras.take_off_state(code)))
        with (
            _report_to(block),
            dynamo_leftovers.call_no_compile_hooks(),
            dynamo_leftovers.unmark_tensors(),
            start_no_bar_monitor(),
        ):
            yield block
    finally:
        with torch_private.compile_lock:  # no other thread compiles meanwhile
            _restore_states(block)
            _remove_globals(block)
            # What another thread has compiled stays in use, with its finalizers and tables.
            if not block.ids_of_other_threads:
                dynamo_leftovers.detach_guard_finalizers(earlier_finalizers)
            # After a reset, the tables have to stay empty.
            if not block.is_reset and not block.ids_of_other_threads:
                tables.restore()
                for tracker, count in zip(trackers, earlier_counts, strict=True):
                    _forget_new_codes(tracker, count)
        _forget_generated_files(earlier_files)


def as_if_new_where_possible() -> AbstractContextManager[FreshBlock | None]:
    """Return a block in which Dynamo is as new, or one that does nothing where that cannot be done.

    The block gets a FreshBlock, or None in the second case.
    """
    with suppress(MissingPart):
        code_extras.require_readable()
        return as_if_new()
    return nullcontext()


# ------------------------------------------------------------------ what is stored on code objects


def _restore_states(block: FreshBlock) -> None:
    """Restore the ExtraState of each code object, and free what the block compiled.

    If the block called `torch._dynamo.reset`, a restored ExtraState is freed as well, because the
    reset would have freed it. The function also fills `barred`, `skipped` and `freed_codes` of
    `block`.
    """
    _note_skipped(block)
    for code, earlier_state in block.set_aside:
        earlier_action = code_extras.read_action(earlier_state)
        if earlier_action != "DEFAULT" and dynamo_codes.read_cache_entries(code):
            block.barred.append((code, earlier_action))

        # Another thread may be running what Dynamo has compiled for this code object.
        is_shared = id(code) in block.ids_of_other_threads
        is_in_use = is_shared and has_another_thread_compiled_call()
        if not is_in_use:
            _note_freed(block, code)
        code_extras.restore_state(code, earlier_state, is_in_use)

        # The ExtraState was off the code object when the reset came, so the reset missed it.
        is_beyond_reset = id(code) in block.ids_beyond_reset
        if block.is_reset and not is_shared and not is_beyond_reset:
            _note_freed(block, code)
            torch_private.reset_code(code)

    # Free what was compiled for code objects that Dynamo first met in the block.
    handled_ids = {id(code) for code, _ in block.set_aside} | block.ids_of_other_threads
    for code_id, code in block.new_codes.items():
        if code_id not in handled_ids:
            _note_freed(block, code)
            torch_private.reset_code(code)


def _note_skipped(block: FreshBlock) -> None:
    """Add to `block.skipped` the code objects that Dynamo has decided in the block to skip.

    Each code object that Dynamo looked at in the block was set aside before, or is new.
    """
    codes_by_id = {id(code): code for code, _ in block.set_aside} | block.new_codes
    for code in codes_by_id.values():
        if code_extras.read_action(code_extras.find_state(code)) == "SKIP":
            block.skipped.append(code)


def _note_freed(block: FreshBlock, code: CodeType) -> None:
    """Add to `block.freed_codes` what Dynamo made of a code object whose entries will be freed."""
    # `entry.code` is the code object that Dynamo made, which runs in place of `code`.
    block.freed_codes += [entry.code for entry in dynamo_codes.read_cache_entries(code)]


@contextmanager
def _report_to(block: FreshBlock) -> Iterator[None]:
    """Tell `block` of each frame that Dynamo looks at, of what Dynamo skips, and of a reset.

    In this block, three functions of Dynamo's are replaced by wrappers that call them.
    """
    entrance = torch_private.convert_frame.CatchErrorsWrapper  # Dynamo calls it for each frame
    eval_frame = torch_private.eval_frame
    tracker = type(torch_private.input_codes)  # the class of Dynamo's lists of code objects
    real_call = entrance.__call__
    real_skip = eval_frame.skip_code
    real_clear = tracker.clear

    @functools.wraps(real_call)
    def call(wrapper, frame, *args, **kwargs):
        with suppress(Exception):  # an error of ours must not reach the user's call
            block.meet(frame.f_code, frame.f_globals)
        return real_call(wrapper, frame, *args, **kwargs)

    @functools.wraps(real_skip)
    def skip_code(code):
        with suppress(Exception):  # as above
            block.skip(code)
        return real_skip(code)

    def clear(self):  # only `torch._dynamo.reset` calls it
        block.is_reset = True
        return real_clear(self)

    with (
        patched(entrance, __call__=call),
        patched(eval_frame, skip_code=skip_code),
        patched(tracker, clear=clear),
    ):
        yield


def _forget_new_codes(tracker, count: int) -> None:
    """Remove from one of Dynamo's lists all but its first `count` code objects.

    `tracker.seen` has weak references to the code objects, and `tracker.seen_ids` their ids.
    """
    new_codes = [reference() for reference in tracker.seen[count:]]
    del tracker.seen[count:]
    tracker.seen_ids.difference_update(id(code) for code in new_codes if code is not None)


# ------------------------------------------------------------------ what Dynamo leaves elsewhere


def _remove_globals(block: FreshBlock) -> None:
    """Remove from globals the names that only freed cache entries use.

    Dynamo adds such names to the globals of a function that it compiles. A cache entry that was not
    freed still needs its names.
    """
    dynamo_leftovers.remove_globals_of_codes(block.freed_codes)
    if block.ids_of_other_threads:
        return  # entries of another thread may use any of the new names
    needed_names = dynamo_leftovers.list_needed_globals()
    for namespace, earlier_names in block.namespaces.values():
        new_names = dynamo_leftovers.list_dynamo_globals(namespace) - earlier_names
        for name in new_names - needed_names:
            namespace.pop(name, None)


def _forget_generated_files(earlier_files: set[str]) -> None:
    """Remove from `linecache` the sources of graphs that torch.fx added in the block.

    torch.fx adds each as a file of its own, such as `<eval_with_key>.7`. `earlier_files` are the
    names that were in the cache before the block.
    """
    for name in list(linecache.cache):
        if name not in earlier_files and name.startswith("<eval_with_key>"):
            del linecache.cache[name]
