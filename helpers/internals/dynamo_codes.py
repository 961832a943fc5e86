"""The code objects that torch's Dynamo has met: their cache entries, size notes and global names.

Dynamo stores cache entries on code objects. It has two lists of weak references to code objects:
`input_codes` has those that Dynamo was asked to compile, and `output_codes` those that it made
(torch/_dynamo/convert_frame.py). `torch._dynamo.reset` frees the cache entries of all code objects
in these lists. Torch's class of such a list is a tracker: `tracker.seen` has the references.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import CodeType

from ..safety import restoring
from ..safety.restoring import patched
from . import torch_private

# The names that Dynamo adds to a module's globals (torch/_dynamo/output_graph.py: `install_global`,
# symbolic_convert.py: `import_source`). Some of them have no hook that removes them later.
_NAMES_OF_DYNAMO = re.compile(
    r"__(compiled_fn|resume_at|builtins_dict|gen_rand_values|warnings_warn_wrapper|comprehension"
    r"|stack|subgraph)_.*|__import_\w+|__compile_source__|_+\w*_c\d+"
)

# For each open block of `use_own_code_lists`, the outermost first, the `input_codes` that the block
# has replaced. It is a global, because Dynamo has one `input_codes` for the whole process.
_replaced_trackers: list = []


def read_cache_entries(code: CodeType) -> list:
    """Return Dynamo's cache entries for a code object, in the order in which Dynamo tries them."""
    entries = torch_private.debug_get_cache_entry_list(code)
    # An entry that Dynamo has made invalid has no code object.
    return [entry for entry in entries if type(entry.code) is CodeType]


def find_original_code(code: CodeType) -> CodeType:
    """Return the code object of the function that a resume function continues.

    Dynamo makes a resume function for what follows a graph break. A code object that is not of a
    resume function is returned itself.
    """
    metadata = torch_private.ContinueExecutionCache.generated_code_metadata.get(code)
    return code if metadata is None else metadata.code


def list_met_codes() -> list[CodeType]:
    """Return the code objects that Dynamo has met and that are still in memory."""
    codes_by_id = {}  # so that each code object is listed once
    for tracker in (*_replaced_trackers, torch_private.input_codes):
        for code in _list_living_codes(tracker):
            codes_by_id[id(code)] = code
    return list(codes_by_id.values())


def list_codes_beyond_reset() -> list[CodeType]:
    """Return the code objects that Dynamo has met and that `torch._dynamo.reset` would not empty.

    They were met before a block of `use_own_code_lists` that is open now. Without such a block, the
    list is empty.
    """
    ids_within_reset = {id(code) for code in _list_living_codes(torch_private.input_codes)}
    return [code for code in list_met_codes() if id(code) not in ids_within_reset]


def _list_living_codes(tracker) -> list[CodeType]:
    """Return the code objects in one of Dynamo's lists that are still in memory."""
    codes = [reference() for reference in tracker.seen]
    return [code for code in codes if code]


@contextmanager
def use_own_code_lists() -> Iterator[None]:
    """Replace `input_codes` and `output_codes` by empty lists in the block.

    A code object that Dynamo met before the block is not added to the new lists. So a
    `torch._dynamo.reset` in the block does not empty the code object.
    """
    module = torch_private.convert_frame
    earlier_inputs = module.input_codes
    own_inputs = type(earlier_inputs)()
    own_outputs = type(module.output_codes)()
    add_input = own_inputs.add

    def add_new_code(code: CodeType) -> None:
        """Add a code object to the block's list, unless Dynamo met it before the block."""
        if not any(code in tracker for tracker in _replaced_trackers):
            add_input(code)

    own_inputs.add = add_new_code
    _replaced_trackers.append(earlier_inputs)
    try:
        with patched(module, input_codes=own_inputs, output_codes=own_outputs):
            yield
    finally:
        _replaced_trackers.remove(earlier_inputs)
        for tracker in (own_inputs, own_outputs):
            # Otherwise a weak reference would call its tracker while the tracker is being freed.
            tracker.clear()


@contextmanager
def use_own_sizes(code: CodeType, sizes: dict) -> Iterator[None]:
    """Replace in the block what Dynamo has noted on the tensor sizes of one function.

    Dynamo notes which sizes of a function's tensors changed between calls (torch/_dynamo/pgo.py).
    The key of such a note is the function's file, line and name. A copy of a function has the same
    key, so without this block Dynamo would use the notes of the original for the copy.

    Parameters
    ----------
    code
        The code object of the function.
    sizes
        The notes with which the block begins, key -> note. After the block, the dict has the notes
        that Dynamo had at its end, and Dynamo has the notes that it had before the block.
    """
    state = torch_private.get_code_state()  # key -> note, for all functions
    earlier_sizes = {key: state.pop(key) for key in _list_size_keys(state, code)}
    state.update(sizes)
    try:
        yield
    finally:
        sizes.clear()
        sizes.update({key: state.pop(key) for key in _list_size_keys(state, code)})
        state.update(earlier_sizes)


def _list_size_keys(state: dict, code: CodeType) -> list:
    """Return the keys of Dynamo's size notes that belong to a function or its resume functions.

    `state` has all size notes, key -> note. A key has the attributes `filename`, `firstlineno` and
    `name`. A resume function continues the function after a graph break.
    """
    resume_prefix = f"torch_dynamo_resume_in_{code.co_name}_at_"
    keys = []
    for key in state:
        is_of_code = (key.firstlineno, key.name) == (code.co_firstlineno, code.co_name)
        is_of_resume = key.name.startswith(resume_prefix)
        if key.filename == code.co_filename and (is_of_code or is_of_resume):
            keys.append(key)
    return keys


def find_names_of_dynamo(namespace: dict, names: Iterable[str]) -> set[str]:
    """Return those of `names` that Dynamo has added to a module's globals.

    `namespace` is the dict of the globals. The set is empty where Dynamo is not loaded.
    """
    utils = restoring.find_loaded_module("torch._dynamo.utils")
    if utils is None:
        return set()

    dynamo_names = {
        name for name in names if type(name) is str and _NAMES_OF_DYNAMO.fullmatch(name)
    }
    # Dynamo's CleanupManager has for each code object the hooks that remove its names again. A hook
    # has the name to remove, and as `scope` the globals from which it removes the name.
    manager = getattr(getattr(utils, "CleanupManager", None), "instance", None)
    hooks_by_code = getattr(manager, "values", {})
    # A copy, because the hooks of a code object are removed when another thread frees it.
    for hooks in list(hooks_by_code.values()):
        dynamo_names |= {hook.name for hook in hooks if hook.scope is namespace}
    return dynamo_names & set(names)
