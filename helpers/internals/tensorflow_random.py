"""A `with` block whose use of TensorFlow's random numbers does not affect the program after it.

TensorFlow has an *op seed* for each random op: the one that the user gave it, or the next number of
a generator in TensorFlow's context (`context._rng`, a `random.Random`).
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..safety.restoring import patched
from . import tensorflow_private


class RandomUse:
    """Which random numbers of TensorFlow a block has used."""

    def __init__(self):
        """Begin with nothing used."""
        #: whether the block has drawn from a generator that the whole program shares
        self.drawn = False
        #: whether the block ran an eager op with a seed that the user gave it. The kernel of such
        #: an op keeps its place in its stream of numbers in C++, where nobody can restore it.
        self.has_own_seed = False


@contextmanager
def use_own_random_numbers() -> Iterator[RandomUse]:
    """Draw the op seeds of the block from another generator, and restore TensorFlow's own after it.

    The block gets a RandomUse, which is complete after the block. TensorFlow's seed and the global
    generator of `tf.random` are restored, too. To restore only the generator of op seeds would not
    be enough. TensorFlow has a kernel for each op seed, and the kernel remembers how many numbers
    it has drawn. So the block must not use the op seeds that the program will draw.
    """
    context = tensorflow_private.context.context()
    seeds = tensorflow_private.random_seed
    original_get_seed = seeds.get_seed
    use = RandomUse()

    def get_seed(op_seed):
        """Note the op seed that a user gave. TensorFlow calls `get_seed` for each random op."""
        # In a graph, the kernel belongs to the traced function, and not to eager code.
        if op_seed is not None and context.executing_eagerly():
            use.has_own_seed = True
        return original_get_seed(op_seed)

    seed_before = context._seed
    generator_before = getattr(context, "_rng", None)  # missing before the first random op
    own_generator = None
    state_at_start = None
    # Without a generator, a random op in the block makes one, which is dropped after the block.
    if generator_before:
        own_generator = random.Random(repr(generator_before.getstate()))  # the same in each run
        state_at_start = own_generator.getstate()
        context._rng = own_generator
    try:
        with patched(seeds, get_seed=get_seed), _global_generator_restored(use):
            yield use
    finally:
        generator = getattr(context, "_rng", None)
        is_replaced = generator is not own_generator  # by `tf.random.set_seed` or a first op
        has_moved = own_generator is not None and own_generator.getstate() != state_at_start
        if is_replaced or has_moved:
            use.drawn = True
        if generator_before or generator is not None:
            context._seed = seed_before
            context._rng = generator_before


@contextmanager
def _global_generator_restored(use: RandomUse) -> Iterator[None]:
    """Restore the generator of `tf.random.get_global_generator` after the block.

    If the block has drawn from it, made it or replaced it, `use.drawn` is set.
    """
    module = tensorflow_private.stateful_random_ops
    generator = module.global_generator  # None before somebody has asked for it
    state = None if generator is None else read_generator_state(generator)
    try:
        yield
    finally:
        if module.global_generator is not generator:
            use.drawn = True
        module.global_generator = generator
        if state is not None and read_generator_state(generator) != state:
            use.drawn = True
            restore_generator(generator, state)


def read_generator_state(generator) -> tuple[int, ...] | None:
    """Return the state of a tf.random.Generator; None if the state has no value, as in a graph."""
    with suppress(Exception):
        return tuple(generator.state.numpy().tolist())
    return None


def restore_generator(generator, state: tuple[int, ...]) -> None:
    """Set the state of a tf.random.Generator to one that was read."""
    generator.state.assign(state)
