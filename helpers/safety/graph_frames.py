"""The stack that TensorFlow notes with each op of a graph -> the same, without frames of verbs.

It is in the errors of a graph that runs. A filter leaves files out of it
(tensorflow/python/util/tf_stack.py); AutoGraph leaves out its own in this way, too.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from .users_frames import HOUSE


@contextmanager
def frames_left_out_of_graphs() -> Iterator[None]:
    """Let no op that this thread makes in the block note a frame of these verbs."""
    stacks = sys.modules.get("tensorflow.python.util.tf_stack")
    if not hasattr(stacks, "StackTraceFilter"):  # no TensorFlow, or one that has no filters
        yield
        return
    own_filter = _build_filter_class(stacks)()
    own_filter.__enter__()
    try:
        yield
    finally:
        # Not its own `__exit__`, which raises if blocks end in another order than they began, as
        # in the cells of a notebook. TensorFlow keeps the open filters of each thread in a list.
        open_filters = own_filter._stack_dict[own_filter._thread_key]
        open_filters[:] = [each for each in open_filters if each is not own_filter]


@cache
def _build_filter_class(stacks) -> type:
    """Return the class of a filter that adds this package's files to those that are left out.

    `stacks` is TensorFlow's module `tf_stack`. TensorFlow asks the innermost filter for the files.
    """

    class OwnFrames(stacks.StackTraceFilter):
        def get_filtered_filenames(self) -> frozenset[str]:
            return own_files() | self.parent.get_filtered_filenames()

    return OwnFrames


@cache
def own_files() -> frozenset[str]:
    """Return the files of this package, less those of the small systems, which learners run."""
    package = Path(HOUSE)
    files = []
    for file in package.rglob("*.py"):
        room = file.relative_to(package).parts[0]
        if room != "mini":
            files.append(str(file))
    return frozenset(files)
