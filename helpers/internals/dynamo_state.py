"""A block in which Dynamo is as in a new process, and after which it is as before the block.

`torch._dynamo.explain` calls `torch._dynamo.reset` before and after its run, so all compiled code
is lost. Here all that Dynamo keeps is set aside, and restored: what is stored on code objects, its
tables (dynamo_tables.py), and what it adds to other objects (dynamo_leftovers.py).
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
        #: The code objects that were compiled in the block, and that Dynamo does not compile
        #: outside of it because of what came before, each with SKIP or RUN_ONLY.
        self.barred: list[tuple[CodeType, str]] = []
        #: The code objects that Dynamo would have skipped from the block on.
        self.skipped: list[CodeType] = []
        #: The thread in which the block runs.
        self.thread = threading.get_ident()
        #: Whether somebody called `torch._dynamo.reset` in the block.
        self.is_reset = False
        #: The code objects that Dynamo had met before, each with the address of its state.
        self.set_aside: list[tuple[CodeType, int]] = []
        #: id -> a code object that had nothing stored on it before the block.
        self.new_codes: dict[int, CodeType] = {}
        #: The ids of code objects that Dynamo was asked about in another thread.
        self.ids_of_other_threads: set[int] = set()
        #: The ids of code objects set aside that a reset in the block does not reach.
        self.ids_beyond_reset: set[int] = set()
        #: The code objects that Dynamo made, and whose cache entries have been freed.
        self.freed_codes: list[CodeType] = []
        #: id -> globals of a function, and the names that Dynamo had added to them before.
        self.namespaces: dict[int, tuple[dict, set[str]]] = {}

    def meet(self, code: CodeType, namespace: dict) -> None:
        """Note a frame that Dynamo is asked about, by its code object and its globals."""
        if self.thread != threading.get_ident():
            self.ids_of_other_threads.add(id(code))
            return
        if id(code) not in self.new_codes and not dynamo_codes.read_cache_entries(code):
            self.new_codes[id(code)] = code
        if id(namespace) not in self.namespaces:
            names = dynamo_leftovers.list_dynamo_globals(namespace)
            self.namespaces[id(namespace)] = namespace, names

    def is_of_block(self, code: CodeType) -> bool:
        """Return whether what Dynamo compiles of this code, in this thread, is for the block only.

        In another thread than the block's, that is so for code that Dynamo had met before.
        """
        if threading.get_ident() == self.thread:
            return True
        original = dynamo_codes.find_original_code(code)
        return any(original is known_code for known_code, _ in self.set_aside)

    def skip(self, code: CodeType) -> None:
        """Note a code object that Dynamo is about to skip for good."""
        if not code_extras.find_state(code):
            self.new_codes.setdefault(id(code), code)


@contextmanager
def as_if_new(*codes: CodeType) -> Iterator[FreshBlock]:
    """Have Dynamo compile all functions anew in the block; after it, all is as before.

    Dynamo's cache belongs to a code object. So what it has stored on the code objects that it met,
    and on `codes`, is taken off meanwhile. MissingPart where that cannot be done.

    If Dynamo is asked in another thread during the block, what it compiles there for a code object
    that it had met is compiled again later, and Dynamo's counts stay as they are then.
    """
    code_extras.require_readable()
    block = FreshBlock()
    codes_by_id = {id(code): code for code in (*dynamo_codes.list_met_codes(), *codes)}
    trackers = [torch_private.input_codes, torch_private.output_codes]  # Dynamo only adds to them
    earlier_counts = [len(tracker.seen) for tracker in trackers]
    earlier_finalizers = dynamo_leftovers.list_finalizers()
    sizes = torch_private.get_code_state()
    tables = SavedTables()  # with the sizes that are cleared next
    earlier_files = set(linecache.cache)
    sizes.clear()
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
        with torch_private.compile_lock:
            _restore_states(block)
            _remove_globals(block)
            if not block.ids_of_other_threads:
                dynamo_leftovers.detach_guard_finalizers(earlier_finalizers)
            if not block.is_reset and not block.ids_of_other_threads:
                tables.restore()
                for tracker, count in zip(trackers, earlier_counts, strict=True):
                    _forget_new_codes(tracker, count)
        _forget_generated_files(earlier_files)


def as_if_new_where_possible() -> AbstractContextManager[FreshBlock | None]:
    """Return a block of `as_if_new`, or one that does nothing where that cannot be done."""
    with suppress(MissingPart):
        code_extras.require_readable()
        return as_if_new()
    return nullcontext()


# ------------------------------------------------------------------ what is stored on code objects


def _restore_states(block: FreshBlock) -> None:
    """Restore what was stored on code objects; after a `torch._dynamo.reset`, nothing."""
    _note_skipped(block)
    for code, earlier_state in block.set_aside:
        earlier_action = code_extras.read_action(earlier_state)
        if earlier_action != "DEFAULT" and dynamo_codes.read_cache_entries(code):
            block.barred.append((code, earlier_action))

        # Another thread may be running what Dynamo has compiled for it.
        is_shared = id(code) in block.ids_of_other_threads
        is_in_use = is_shared and has_another_thread_compiled_call()
        if not is_in_use:
            _note_freed(block, code)
        code_extras.restore_state(code, earlier_state, is_in_use)

        # The reset would have emptied this code object, had its state been on it.
        is_beyond_reset = id(code) in block.ids_beyond_reset
        if block.is_reset and not is_shared and not is_beyond_reset:
            _note_freed(block, code)
            torch_private.reset_code(code)

    # What the block alone has compiled is freed.
    kept_ids = {id(code) for code, _ in block.set_aside} | block.ids_of_other_threads
    for code_id, code in block.new_codes.items():
        if code_id not in kept_ids:
            _note_freed(block, code)
            torch_private.reset_code(code)


def _note_skipped(block: FreshBlock) -> None:
    """Add to `block.skipped` the code objects that Dynamo has decided to skip in the block."""
    codes_by_id = {id(code): code for code, _ in block.set_aside} | block.new_codes
    for code in codes_by_id.values():
        if code_extras.read_action(code_extras.find_state(code)) == "SKIP":
            block.skipped.append(code)


def _note_freed(block: FreshBlock, code: CodeType) -> None:
    """Note what Dynamo made of a code object whose cache entries are about to be freed."""
    block.freed_codes += [entry.code for entry in dynamo_codes.read_cache_entries(code)]


@contextmanager
def _report_to(block: FreshBlock) -> Iterator[None]:
    """Tell `block` of each frame that Dynamo is asked about, of what it skips, and of a reset."""
    entrance = torch_private.convert_frame.CatchErrorsWrapper
    eval_frame = torch_private.eval_frame
    tracker = type(torch_private.input_codes)
    real_call = entrance.__call__
    real_skip = eval_frame.skip_code
    real_clear = tracker.clear

    @functools.wraps(real_call)
    def call(wrapper, frame, *args, **kwargs):
        with suppress(Exception):  # it is the user's call
            block.meet(frame.f_code, frame.f_globals)
        return real_call(wrapper, frame, *args, **kwargs)

    @functools.wraps(real_skip)
    def skip_code(code):
        with suppress(Exception):  # as above
            block.skip(code)
        return real_skip(code)

    def clear(self):  # of one of the lists of code objects, which `reset` empties
        block.is_reset = True
        return real_clear(self)

    with (
        patched(entrance, __call__=call),
        patched(eval_frame, skip_code=skip_code),
        patched(tracker, clear=clear),
    ):
        yield


def _forget_new_codes(tracker, count: int) -> None:
    """Remove from one of Dynamo's lists all but its first `count` code objects."""
    codes = [reference() for reference in tracker.seen[count:]]
    del tracker.seen[count:]
    tracker.seen_ids.difference_update(id(code) for code in codes if code is not None)


# ------------------------------------------------------------------ what Dynamo leaves elsewhere


def _remove_globals(block: FreshBlock) -> None:
    """Remove from globals what only the cache entries use that the block has made and freed.

    An entry that stays needs its names, such as one of a code object that another thread met.
    """
    dynamo_leftovers.remove_globals_of_codes(block.freed_codes)
    if block.ids_of_other_threads:
        return
    needed_names = dynamo_leftovers.list_needed_globals()
    for namespace, earlier_names in block.namespaces.values():
        new_names = dynamo_leftovers.list_dynamo_globals(namespace) - earlier_names
        for name in new_names - needed_names:
            namespace.pop(name, None)


def _forget_generated_files(earlier_files: set[str]) -> None:
    """Remove from `linecache` the sources of new graphs, which torch.fx adds as files."""
    for name in list(linecache.cache):
        if name not in earlier_files and name.startswith("<eval_with_key>"):
            del linecache.cache[name]
