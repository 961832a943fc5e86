"""Give numbers to the tensors that the ops of a run read and make, and describe each tensor by its
number, its dtype and sizes, and its name in the program. The *identity* of a tensor is what tells
it from all others: its `id`, or TensorFlow's own number of it.
"""

import weakref
from collections.abc import Callable

from ...safety import restoring
from ...safety.dynamo_aside import leave_to_python
from ..text import tensors
from ..text.tensors import find_tensor_type
from .tensor_names import TensorNames, find_identity

# What a class is to the register.
LIST = "list"  # a list or a tuple, which is looked into
PLAIN_TENSOR = "plain tensor"  # torch's own class, whose attributes run no code of a user's
OTHER_TENSOR = "tensor"
NO_TENSOR = ""


class TensorRegister:
    """Numbers the tensors of a run in the order in which ops first read or made them."""

    def __init__(self, names: TensorNames):
        """Start with no numbers; `names` has the names of the tensors that the program names."""
        self._names = names
        self._numbers_by_identity: dict[object, int] = {}  # of tensors that are not freed
        self._count = 0  # numbers that have been given
        # Weak references, whose callbacks run only as long as the references exist.
        self._references: list[weakref.ref] = []
        self._has_left_to_python = False
        # class -> LIST, PLAIN_TENSOR, OTHER_TENSOR or NO_TENSOR
        self._kinds_by_type: dict[type, str] = {}
        self._words_by_shape: dict[tuple, str] = {}  # (dtype, sizes) -> words for both

    def forget_types(self) -> None:
        """Forget the classes of all values, so that none is kept alive after the run."""
        self._kinds_by_type = {}

    def find_tensors(self, values) -> list:
        """Return the tensors in a list or tuple, and in lists and tuples inside it, as a flat list.

        `values` are what a framework reports as inputs or outputs of an op. Some are no tensors.
        """
        found_tensors = []
        for value in values:
            kind = self._find_kind(type(value))
            if kind == LIST:
                found_tensors += self.find_tensors(value)
            elif kind != NO_TENSOR:
                found_tensors.append(value)
        return found_tensors

    def read_value(self, tensor) -> tuple[int, str, str]:
        """Return (number, dtype and sizes, name) of a tensor, such as (3, "float32 [4]", "w").

        The name is "" for a tensor that the program has not named.
        """
        identity = self._find_identity(tensor)
        number = self._find_number_of_identity(identity, tensor)
        return number, self._describe(tensor), self._names.find_name(identity)

    def find_number(self, tensor) -> int:
        """Return the number of a tensor; a tensor that is met for the first time gets a new one."""
        return self._find_number_of_identity(self._find_identity(tensor), tensor)

    def _find_number_of_identity(self, identity: object, tensor) -> int:
        """Return the number of the tensor with this identity; give it a number if it has none."""
        if identity not in self._numbers_by_identity:
            self._count += 1
            self._numbers_by_identity[identity] = self._count
            if identity == id(tensor):
                # A new tensor may get the id of a freed one, so the number is forgotten when the
                # tensor is freed. The tensor must not be kept alive for that, because autograd
                # copies a gradient to which somebody else refers.
                reference = weakref.ref(tensor, self._make_forget_callback(identity))
                self._references.append(reference)
        return self._numbers_by_identity[identity]

    def _make_forget_callback(self, identity: object) -> Callable[[object], None]:
        """Return the function that Python calls when it frees a tensor: it forgets the number.

        The function runs inside the program, where Dynamo must not compile it.
        """

        def forget(_reference):
            """Forget the number of the tensor that was freed."""
            self._numbers_by_identity.pop(identity, None)

        if not self._has_left_to_python:
            leave_to_python(forget)  # once is enough: all these functions share one code object
            self._has_left_to_python = True
        return forget

    def _find_identity(self, tensor) -> object:
        """Return what tells a tensor from all others."""
        if self._find_kind(type(tensor)) == PLAIN_TENSOR:
            return id(tensor)  # the most frequent case, without a look at the class
        return find_identity(tensor)

    def _describe(self, tensor) -> str:
        """Return dtype and sizes, such as `float32 [4]`.

        The text is stored for each dtype and sizes, because there may be very many tensors.
        """
        # Only the attributes of torch's own class can be read without running a user's code.
        if self._find_kind(type(tensor)) != PLAIN_TENSOR:
            return tensors.format_dtype_and_sizes(tensor)
        try:
            shape = (tensor.dtype, tensor.shape)
            words = self._words_by_shape.get(shape)
        except Exception:  # a nested tensor has no sizes; symbolic sizes cannot be a dict key
            return tensors.format_dtype_and_sizes(tensor)
        if words is None:
            words = tensors.format_dtype_and_sizes(tensor)
            self._words_by_shape[shape] = words
        return words

    def _find_kind(self, value_type: type) -> str:
        """Return LIST, PLAIN_TENSOR, OTHER_TENSOR or NO_TENSOR for a class, and store it."""
        kind = self._kinds_by_type.get(value_type)
        if kind is None:
            kind = _choose_kind(value_type)
            self._kinds_by_type[value_type] = kind
        return kind


def _choose_kind(value_type: type) -> str:
    """Return what a class is to the register.

    PLAIN_TENSOR is torch's own class, LIST a list or tuple, and OTHER_TENSOR any other class of
    tensors, such as TensorFlow's. NO_TENSOR is anything else.
    """
    torch = restoring.find_loaded_module("torch")
    if torch and value_type in (torch.Tensor, torch.nn.Parameter):
        return PLAIN_TENSOR
    if issubclass(value_type, (list, tuple)):
        return LIST
    return NO_TENSOR if find_tensor_type(value_type) is None else OTHER_TENSOR
