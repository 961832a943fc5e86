"""Keep this package's frames out of the Python stack that TensorFlow stores with each graph op.
TensorFlow shows that stack when an op of a graph fails, so that users find the line of their
program that created the op. A stack filter leaves files out of it
(tensorflow/python/util/tf_stack.py). AutoGraph leaves out its own files in the same way.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from .users_frames import HOUSE


@contextmanager
def frames_left_out_of_graphs() -> Iterator[None]:
    """Leave this package's frames out of the stacks of ops that this thread creates in the block.

    Nothing is done if TensorFlow has not been imported.
    """
    stacks = sys.modules.get("tensorflow.python.util.tf_stack")
    if not hasattr(stacks, "StackTraceFilter"):  # no TensorFlow, or a version without filters
        yield
        return
    own_filter = _build_filter_class(stacks)()
    own_filter.__enter__()
    try:
        yield
    finally:
        # TensorFlow keeps the open filters of each thread in a list. The filter's own `__exit__`
        # raises if blocks end in another order than they began, as they may in a notebook, where a
        # block can begin in one cell and end in another. So the filter is removed from the list.
        open_filters = own_filter._stack_dict[own_filter._thread_key]
        open_filters[:] = [entry for entry in open_filters if entry is not own_filter]


@cache
def _build_filter_class(stacks) -> type:
    """Return a subclass of TensorFlow's stack filter that leaves out this package's files, too.

    `stacks` is TensorFlow's module `tf_stack`. TensorFlow asks only the innermost filter which
    files to leave out. So that filter adds the files of its `parent`, the filter around it.
    """

    class OwnFrames(stacks.StackTraceFilter):
        def get_filtered_filenames(self) -> frozenset[str]:
            return own_files() | self.parent.get_filtered_filenames()

    return OwnFrames


@cache
def own_files() -> frozenset[str]:
    """Return the paths of this package's Python files, without those in `mini`.

    The programs in `mini` are run by learners as examples, so their frames stay in the stacks.
    """
    package = Path(HOUSE)
    files = []
    for file in package.rglob("*.py"):
        room = file.relative_to(package).parts[0]
        if room != "mini":
            files.append(str(file))
    return frozenset(files)
