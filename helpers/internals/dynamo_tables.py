"""Save and restore the global tables and counters of torch's Dynamo that a compilation changes.

`torch._dynamo.reset` (torch/_dynamo/__init__.py) lists most of them. A name that this torch lacks
is left out.
"""

from collections.abc import Iterator
from types import ModuleType

from ..safety import restoring
from .saved_collections import save_collection

# Module -> the names of collections to which a compilation adds.
COLLECTIONS = {
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
# A name of COLLECTIONS whose object is no collection -> the attributes of it that are.
INNER_COLLECTIONS = {
    "ContinueExecutionCache": ("cache",),  # code -> its resume functions
    "GenerationTracker": ("dynamic_classes",),
    "graph_break_dup_warning_checker": ("set",),
    "_loader": ("eval_cache",),
}
# Module -> the names to which a compilation assigns another value.
VALUES = {
    "torch._dynamo.convert_frame": "FRAME_COUNTER initial_global_state",
    "torch._dynamo.utils": "curr_frame",
    "torch._dynamo.graph_bytecode_inputs": "CURRENT_STREAM_INDEX",
    "torch._dynamo.pgo": "_LOGGED_DYNAMIC_ALLOWLIST",
}


class SavedTables:
    """The tables and values of Dynamo's modules as they are now."""

    def __init__(self):
        """Note the items of each collection, and each value, that this torch has."""
        self._collections = []
        for _, name, named_object in _find_names(COLLECTIONS):
            for collection in _list_collections(name, named_object):
                saved = save_collection(collection)
                if saved is not None:  # None: in this torch, the name is that of no collection
                    self._collections.append(saved)
        # (module, name, value) of each name to which a compilation assigns
        self._values = list(_find_names(VALUES))

    def restore(self) -> None:
        """Give each table its earlier items, and each name its earlier value."""
        for saved in self._collections:
            saved.restore()
        for module, name, value in self._values:
            setattr(module, name, value)


def _list_collections(name: str, named_object: object) -> list:
    """Return the collections that belong to a name of COLLECTIONS.

    For most names, that is the object of the name itself. For a name of INNER_COLLECTIONS, it is
    what the object has as the attributes that are listed there. A missing attribute is None.
    """
    attributes = INNER_COLLECTIONS.get(name, ())
    inner_collections = [getattr(named_object, attribute, None) for attribute in attributes]
    return inner_collections or [named_object]


def _find_names(table: dict[str, str]) -> Iterator[tuple[ModuleType, str, object]]:
    """Yield (module, name, value) for each name of `table` that a loaded module has.

    `table` maps the name of a module to names in it, with spaces between them.
    """
    for module_name, names in table.items():
        module = restoring.find_loaded_module(module_name)
        if module is None:
            continue
        for name in names.split():
            if name in vars(module):
                yield module, name, vars(module)[name]
