"""Which module of torch or layer of Keras an op belongs to, also in the backward pass.

A backward op runs below no call of a module. It belongs to the layer of the forward op whose node
of autograd runs now. Autograd makes the node of a forward op before that op runs, and numbers nodes
in sequence: so the newest number, while an op runs, is that of its own node.
"""

from ...internals import torch_modes
from ...safety.arguments import printable, real_type_name
from ..cpython.objects import read_callable_name
from .op_values import TensorRegister
from .tensor_names import KERAS_LAYER, LONGEST_NAME, TensorNames, is_instance_of

SEVERAL_LAYERS = ""  # what is stored for a gradient to which several layers add


class LayerFinder:
    """Finds the path of the layer of an op, such as `layer1.0.conv1`."""

    def __init__(self, tensors: TensorRegister, names: TensorNames):
        """Start with no nodes; `tensors` numbers the leaves, and `names` has the modules' names."""
        self._tensors = tensors
        self._names = names
        self._layers_by_node: dict[int, str] = {}  # by the sequence number of the node
        self._layers_by_leaf: dict[int, str] = {}  # by the number of a leaf tensor
        self._unnamed_modules = []  # kept alive, because names are stored by their ids

    def find_path(self, layers: list) -> str:
        """Return the path of the innermost of the layers with open calls; "" for no layer.

        The innermost layer is the first one of the list.
        """
        if not layers:
            return ""
        innermost = layers[0]
        outermost = layers[-1]
        if is_instance_of(innermost, KERAS_LAYER):
            return printable(innermost.path or innermost.name, LONGEST_NAME)

        if not self._names.has_name(outermost):
            self._unnamed_modules.append(outermost)
            self._names.add_submodules(outermost)
        if not self._names.has_name(innermost):  # a module that is registered nowhere
            return read_callable_name(innermost) if len(layers) == 1 else real_type_name(innermost)
        path = self._names.find_name(id(innermost))
        if path == "layer":  # the name of the receiver of a call
            return read_callable_name(outermost)
        return path.removeprefix("layer.")

    def trace_through_autograd(self, layer: str, tensors_read: list) -> str:
        """Return the layer of an op: `layer`, or that of the forward op whose node runs now.

        The layer is stored for the node that autograd makes of this op, and for the leaves that
        the op reads.
        """
        running_node, newest = torch_modes.read_autograd_position()
        if running_node is not None and not layer:
            layer = self._find_layer_of_node(running_node)
        if newest < 0:  # autograd makes no nodes now
            return layer

        for tensor in tensors_read:
            if not getattr(tensor, "requires_grad", False):
                continue
            # The node of this op has this number now, even if another thread used the number.
            self._layers_by_node[newest] = layer
            if tensor.is_leaf:
                leaf_number = self._tensors.find_number(tensor)
                if self._layers_by_leaf.setdefault(leaf_number, layer) != layer:
                    self._layers_by_leaf[leaf_number] = SEVERAL_LAYERS
        return layer

    def _find_layer_of_node(self, node) -> str:
        """Return the layer of the forward op that made a node of autograd; "" for none."""
        leaf = getattr(node, "variable", None)  # of a node that adds up the gradient of a leaf
        if leaf is None:
            return self._layers_by_node.get(node._sequence_nr(), "")
        return self._layers_by_leaf.get(self._tensors.find_number(leaf), "")
