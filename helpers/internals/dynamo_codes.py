"""The code objects that Dynamo has met, what it keeps for each of them, and the names it gives.

Dynamo stores cache entries on code objects. It notes the code objects that it compiled and those
that it made in two lists, `input_codes` and `output_codes` (torch/_dynamo/convert_frame.py), whose
references are weak. `torch._dynamo.reset` empties the code objects in these lists.
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

# The earlier `input_codes` of each open block of `use_own_code_lists`, the outermost first. It is
# a global because Dynamo's own list is one for the process, and so are these blocks.
_earlier_lists: list = []


def read_cache_entries(code: CodeType) -> list:
    """Return Dynamo's cache entries of a code object, the one that it tries first at the front."""
    entries = torch_private.debug_get_cache_entry_list(code)
    # An entry that Dynamo has made invalid has no code object.
    return [entry for entry in entries if type(entry.code) is CodeType]


def find_original_code(code: CodeType) -> CodeType:
    """Return the code object from which Dynamo made a resume function's; any other unchanged."""
    metadata = torch_private.ContinueExecutionCache.generated_code_metadata.get(code)
    return code if metadata is None else metadata.code


def list_met_codes() -> list[CodeType]:
    """Return the code objects that Dynamo has met and that are still in memory."""
    codes_by_id = {}
    for tracker in (*_earlier_lists, torch_private.input_codes):
        for code in _list_living_codes(tracker):
            codes_by_id[id(code)] = code
    return list(codes_by_id.values())


def list_codes_beyond_reset() -> list[CodeType]:
    """Return those of `list_met_codes` that `torch._dynamo.reset` does not empty now."""
    within_reset = {id(code) for code in _list_living_codes(torch_private.input_codes)}
    return [code for code in list_met_codes() if id(code) not in within_reset]


def _list_living_codes(tracker) -> list[CodeType]:
    """Return the code objects of one of Dynamo's lists that are still in memory."""
    codes = [reference() for reference in tracker.seen]
    return [code for code in codes if code]


@contextmanager
def use_own_code_lists() -> Iterator[None]:
    """Have Dynamo note the code objects that it meets and makes in lists of the block's own.

    A code object that Dynamo met before the block is added to none of them. So a
    `torch._dynamo.reset` in the block does not empty it.
    """
    module = torch_private.convert_frame
    earlier_inputs = module.input_codes
    own_inputs = type(earlier_inputs)()
    own_outputs = type(module.output_codes)()
    add_input = own_inputs.add

    def add_new_code(code: CodeType) -> None:
        """Add a code object to the block's list, unless it was met before the block."""
        if not any(code in tracker for tracker in _earlier_lists):
            add_input(code)

    own_inputs.add = add_new_code
    _earlier_lists.append(earlier_inputs)
    try:
        with patched(module, input_codes=own_inputs, output_codes=own_outputs):
            yield
    finally:
        _earlier_lists.remove(earlier_inputs)
        for tracker in (own_inputs, own_outputs):
            tracker.clear()  # or its weak references call back when nothing else of it is left


@contextmanager
def use_own_sizes(code: CodeType, sizes: dict) -> Iterator[None]:
    """Have Dynamo know only `sizes` of this function in the block; restore what it knew after it.

    Dynamo notes which sizes of a function's tensors have changed (torch/_dynamo/pgo.py), by the
    function's file, line and name. A copy of a function has the same three, so Dynamo would take
    the sizes of the one for those of the other. After the block, `sizes` has what Dynamo noted in
    it.
    """
    state = torch_private.get_code_state()
    earlier_sizes = {key: state.pop(key) for key in _list_size_keys(state, code)}
    state.update(sizes)
    try:
        yield
    finally:
        sizes.clear()
        sizes.update({key: state.pop(key) for key in _list_size_keys(state, code)})
        state.update(earlier_sizes)


def _list_size_keys(state: dict, code: CodeType) -> list:
    """Return the keys in Dynamo's notes of sizes of this code and of its resume functions."""
    resume_prefix = f"torch_dynamo_resume_in_{code.co_name}_at_"
    keys = []
    for key in state:
        is_of_code = (key.firstlineno, key.name) == (code.co_firstlineno, code.co_name)
        is_of_resume = key.name.startswith(resume_prefix)
        if key.filename == code.co_filename and (is_of_code or is_of_resume):
            keys.append(key)
    return keys


def find_names_of_dynamo(namespace: dict, names: Iterable[str]) -> set[str]:
    """Return those of `names` that Dynamo has added to these globals; none without Dynamo."""
    utils = restoring.module("torch._dynamo.utils")
    if utils is None:
        return set()

    found = {name for name in names if type(name) is str and _NAMES_OF_DYNAMO.fullmatch(name)}
    manager = getattr(getattr(utils, "CleanupManager", None), "instance", None)
    # A copy, because the hooks of a code object are removed when another thread frees it.
    for hooks in list(getattr(manager, "values", {}).values()):
        found |= {hook.name for hook in hooks if hook.scope is namespace}
    return found & set(names)
