"""Find the names that a program has for its tensors and modules, such as "x", "self.weights[0]" or
"layer.conv1.weight". The *identity* of a tensor is what tells it from all others: its `id`, or
TensorFlow's own number of it.

Tensors are found in arguments, in cells of a closure, in globals that the code names, in lists of
lists, and in the modules of torch and the layers of Keras.
"""

import contextlib
import weakref
from collections.abc import Iterable, Iterator, Mapping
from types import FrameType, FunctionType, MethodType

from ...internals import tensorflow_private
from ...safety import restoring
from ...safety.arguments import printable, real_isinstance, real_type_name
from ..cpython.objects import list_global_names, read_instance_dict
from ..cpython.unwrapping import name_arguments
from ..text import tensors
from ..text.tensors import TENSOR_TYPES, find_tensor_type

LONGEST_NAME = 80
MOST_ITEMS = 100  # a longer list or tuple is not looked into
DEEPEST = 2  # levels of lists that are looked into

# Module and name of a class, for `is_instance_of`.
TORCH_MODULE = ("torch.nn.modules.module", "Module")
KERAS_LAYER = ("keras.src.layers.layer", "Layer")
TF_TENSOR = TENSOR_TYPES[1]


class TensorNames:
    """The names of tensors, variables and modules."""

    def __init__(self, named_values: Iterable[tuple[str, object]]):
        """Find the tensors in some values; `named_values` has (name, value) for each."""
        #: Identity of a tensor (`find_identity`), or the `id` of a tensor or a module -> the first
        #: name that leads to it.
        self.names_by_identity: dict[object, str] = {}
        # id of a gradient -> a weak reference to it. These are the `.grad` that named tensors have
        # before the run, so no op of the run has made them.
        self._gradients_by_id: dict[int, weakref.ref] = {}
        for name, value in named_values:
            for path, tensor_or_module in find_tensors(name, value):
                self._add(path, tensor_or_module)

    def _add(self, path: str, value: object) -> None:
        """Store the name of a tensor, a variable or a module, and note the gradient that it has.

        An earlier name of the same object stays.
        """
        keys = [find_identity(value)]
        # An op that reads a variable of TensorFlow gets the tensor in this attribute as its input.
        handle = (read_instance_dict(value) or {}).get("_handle")
        if is_instance_of(handle, TF_TENSOR):
            keys.append(find_identity(handle))
        keys.append(id(value))
        for key in keys:
            self.names_by_identity.setdefault(key, printable(path, LONGEST_NAME))

        gradient = tensors.read_gradient(value)
        if gradient is not None:
            self._gradients_by_id[id(gradient)] = weakref.ref(gradient)

    def find_name(self, identity: object) -> str:
        """Return the name of what has this identity or `id`; "" for none."""
        return self.names_by_identity.get(identity, "")

    def has_name(self, value: object) -> bool:
        """Return whether a name leads to a module."""
        return id(value) in self.names_by_identity

    def add_submodules(self, module: object) -> None:
        """Name the modules and parameters inside a module that have no name yet.

        The names begin with the type of the module, such as "Net.conv1". The caller keeps the
        module alive, because the names are stored by `id`.
        """
        for path, part in find_tensors(real_type_name(module), module):
            self.names_by_identity.setdefault(id(part), printable(path, LONGEST_NAME))

    def is_earlier_gradient(self, tensor: object) -> bool:
        """Return whether a tensor was the `.grad` of a named tensor before the run."""
        reference = self._gradients_by_id.get(id(tensor))
        # The gradient with this id may have been freed, and another tensor may have the id now.
        return reference is not None and reference() is tensor


def list_values_of_call(fn, args: tuple, kwargs: Mapping) -> Iterator[tuple[str, object]]:
    """Yield (name, value) of everything that a call can reach.

    These are the receiver, the attributes of a method's `self`, the arguments, the variables of the
    closure, and the globals that the code names. The receiver is the `self` of a method, or `fn`
    itself. Its name is "layer", because it matters only if it is a module or a layer.
    """
    receiver = fn.__self__ if type(fn) is MethodType else fn
    yield "layer", receiver
    # Of two names of one tensor the first counts, so the order is from near to far.
    if type(fn) is MethodType:
        for name, value in (read_instance_dict(receiver) or {}).items():
            yield f"self.{name}", value

    yield from name_arguments(fn, args, kwargs)

    if type(fn) is FunctionType:
        for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # an empty cell: the name is bound later
                yield name, cell.cell_contents
        for name in sorted(list_global_names(fn.__code__) & fn.__globals__.keys()):
            yield name, fn.__globals__[name]


def list_values_of_frame(frame: FrameType) -> Iterator[tuple[str, object]]:
    """Yield (name, value) of a frame's variables, and of the globals that its code names."""
    variables = {**frame.f_locals}
    for name in list_global_names(frame.f_code):
        if name not in variables:
            variables[name] = frame.f_globals.get(name)
    yield from variables.items()


def find_tensors(name: str, value, depth: int = DEEPEST) -> Iterator[tuple[str, object]]:
    """Yield (path, object) for each tensor and module in a value.

    `name` is the name of the value, with which each path begins, as in `weights[0]`. Parameters of
    Keras have paths of their own. `depth` is how many levels of lists are searched.
    """
    if real_isinstance(value, list, tuple):
        # A class of the user's may have its own methods, so those of `list` or `tuple` are called.
        base = list if real_isinstance(value, list) else tuple
        if depth and base.__len__(value) <= MOST_ITEMS:
            for index, item in enumerate(base.__iter__(value)):
                yield from find_tensors(f"{name}[{index}]", item, depth - 1)
    elif is_instance_of(value, KERAS_LAYER):
        with contextlib.suppress(Exception):  # a class of the user's may raise
            yield from [(weight.path, weight.value) for weight in value.weights]
    elif is_instance_of(value, TORCH_MODULE):
        with contextlib.suppress(Exception):  # a class of the user's may raise
            modules = value.named_modules(prefix=name)
            parameters = value.named_parameters(prefix=name)
            for path, part in (*modules, *parameters):
                # A compiled module has the original one in the attribute `_orig_mod`, which is no
                # part of the path that a reader knows.
                yield path.replace("._orig_mod", ""), part
    elif is_tensor(value):
        yield name, value


def is_tensor(value) -> bool:
    """Return whether this is a tensor, a variable or an array by its real type."""
    return find_tensor_type(type(value)) is not None


def find_identity(tensor) -> object:
    """Return what tells a tensor from all others: TensorFlow's number of it, or its `id`.

    TensorFlow may make several Python objects for one tensor; torch makes only one.
    """
    if is_instance_of(tensor, TF_TENSOR):
        return tensorflow_private.tensor_number(tensor)
    return id(tensor)


def is_instance_of(value, class_path: tuple[str, str]) -> bool:
    """Return whether a value is an instance of a class; `class_path` is (module, class name).

    The module is not imported for this. If it is not imported yet, there is no instance.
    """
    module, name = class_path
    cls = getattr(restoring.find_loaded_module(module), name, None)
    return isinstance(cls, type) and real_isinstance(value, cls)
