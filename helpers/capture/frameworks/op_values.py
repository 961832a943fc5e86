"""The tensors of one run of ops, each with a number, its dtype and sizes, and its name."""

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
        self._numbers_by_identity: dict[object, int] = {}
        self._count = 0
        self._references: list[weakref.ref] = []
        self._has_left_to_python = False
        self._kinds_by_type: dict[type, str] = {}
        self._words_by_shape: dict[tuple, str] = {}  # (dtype, sizes) -> words for both

    def forget_types(self) -> None:
        """Forget the classes of all values, so that none is kept alive after the run."""
        self._kinds_by_type = {}

    def find_tensors(self, values) -> list:
        """Return the tensors in a list or tuple, and in lists and tuples inside it."""
        found = []
        for value in values:
            kind = self._find_kind(type(value))
            if kind == LIST:
                found += self.find_tensors(value)
            elif kind != NO_TENSOR:
                found.append(value)
        return found

    def read_value(self, tensor) -> tuple[int, str, str]:
        """Return the number of a tensor, its dtype and sizes in words, and its name or ""."""
        identity = self._find_identity(tensor)
        number = self._find_number_of_identity(identity, tensor)
        return number, self._describe(tensor), self._names.find_name(identity)

    def find_number(self, tensor) -> int:
        """Return the number of a tensor, which is a new one for a new tensor."""
        return self._find_number_of_identity(self._find_identity(tensor), tensor)

    def _find_number_of_identity(self, identity: object, tensor) -> int:
        """Return the number of a tensor whose identity is known."""
        if identity not in self._numbers_by_identity:
            self._count += 1
            self._numbers_by_identity[identity] = self._count
            if identity == id(tensor):
                # A freed tensor lends its id to another, so the number goes with the tensor. The
                # tensor must not be kept: autograd copies a gradient that somebody else has.
                reference = weakref.ref(tensor, self._make_forget_callback(identity))
                self._references.append(reference)
        return self._numbers_by_identity[identity]

    def _make_forget_callback(self, identity: object) -> Callable[[object], None]:
        """Return what Python calls when it frees a tensor: it forgets the tensor's number."""

        def forget(_reference):
            """Forget the number of the tensor that was freed."""
            self._numbers_by_identity.pop(identity, None)

        if not self._has_left_to_python:
            leave_to_python(forget)  # once is enough: all of these functions have one code object
            self._has_left_to_python = True
        return forget

    def _find_identity(self, tensor) -> object:
        """Return what tells a tensor from all others."""
        # The most frequent case, without a search.
        if self._find_kind(type(tensor)) == PLAIN_TENSOR:
            return id(tensor)
        return find_identity(tensor)

    def _describe(self, tensor) -> str:
        """Return dtype and sizes, such as `float32 [4]`; equal ones are put in words only once."""
        if self._find_kind(type(tensor)) != PLAIN_TENSOR:
            return tensors.format_dtype_and_sizes(tensor)
        try:
            shape = (tensor.dtype, tensor.shape)
            words = self._words_by_shape.get(shape)
        except Exception:  # a nested tensor has no sizes; sizes that are symbols have no hash
            return tensors.format_dtype_and_sizes(tensor)
        if words is None:
            words = tensors.format_dtype_and_sizes(tensor)
            self._words_by_shape[shape] = words
        return words

    def _find_kind(self, value_type: type) -> str:
        """Return what a class is to the register."""
        kind = self._kinds_by_type.get(value_type)
        if kind is None:
            kind = _choose_kind(value_type)
            self._kinds_by_type[value_type] = kind
        return kind


def _choose_kind(value_type: type) -> str:
    """Return LIST, PLAIN_TENSOR, OTHER_TENSOR or NO_TENSOR for a class."""
    torch = restoring.module("torch")
    if torch and value_type in (torch.Tensor, torch.nn.Parameter):
        return PLAIN_TENSOR
    if issubclass(value_type, (list, tuple)):
        return LIST
    return NO_TENSOR if find_tensor_type(value_type) is None else OTHER_TENSOR
