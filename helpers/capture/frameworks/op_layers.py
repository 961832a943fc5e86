"""Find the layer (a module of torch or a layer of Keras) to which an op belongs, also for an op of
the backward pass. In the forward pass it is the layer whose call is open, which means that the call
has not returned. In the backward pass no such call is open. There autograd runs *nodes*: each node
was made for one forward op, and the backward op belongs to the layer of this forward op.

Autograd makes the node of a forward op before the op runs, and numbers nodes in sequence. So, while
a forward op runs, the newest number is that of its own node. A *leaf* is a tensor that no op made,
such as a parameter.
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
        """Start with no nodes.

        `tensors` gives each tensor a number, and `names` has the names of tensors and modules.
        """
        self._tensors = tensors
        self._names = names
        self._layers_by_node: dict[int, str] = {}  # sequence number of a node -> path of a layer
        self._layers_by_leaf: dict[int, str] = {}  # number of a leaf tensor -> path of a layer
        # Modules whose submodules this object has named. They are kept alive, because names are
        # stored by the ids of the submodules.
        self._unnamed_modules = []

    def find_path(self, layers: list) -> str:
        """Return the path of the innermost layer, such as "layer1.0.conv1"; "" for no layer.

        `layers` are the modules and layers whose calls are open, the innermost first.
        """
        if not layers:
            return ""
        innermost = layers[0]
        outermost = layers[-1]
        if is_instance_of(innermost, KERAS_LAYER):
            return printable(innermost.path or innermost.name, LONGEST_NAME)

        # torch: a module has no name of its own, but an attribute of an outer module refers to it.
        if not self._names.has_name(outermost):
            self._unnamed_modules.append(outermost)
            self._names.add_submodules(outermost)
        if not self._names.has_name(innermost):  # no attribute of the outermost leads to it
            if len(layers) == 1:
                return read_callable_name(innermost)
            return real_type_name(innermost)
        path = self._names.find_name(id(innermost))
        # The watched module itself has the name "layer" in `names`, and its parts "layer.…".
        if path == "layer":
            return read_callable_name(outermost)
        return path.removeprefix("layer.")

    def trace_through_autograd(self, layer: str, tensors_read: list) -> str:
        """Return the layer of an op, and remember it for the op's backward pass.

        `layer` is the result of `find_path`. If it is "" and a node of autograd runs, the op is one
        of the backward pass, and the layer of the node is returned. The layer is stored for the
        node that autograd has made for this op, and for the leaves among `tensors_read`.
        """
        running_node, newest_number = torch_modes.read_autograd_position()
        if running_node is not None and not layer:
            layer = self._find_layer_of_node(running_node)
        if newest_number < 0:  # autograd makes no nodes now
            return layer

        for tensor in tensors_read:
            if not getattr(tensor, "requires_grad", False):
                continue
            # An older entry under this number is one of another thread, which has its own numbers.
            self._layers_by_node[newest_number] = layer
            if tensor.is_leaf:
                # The gradient of a leaf that ops of several layers read belongs to none of them.
                leaf_number = self._tensors.find_number(tensor)
                if self._layers_by_leaf.setdefault(leaf_number, layer) != layer:
                    self._layers_by_leaf[leaf_number] = SEVERAL_LAYERS
        return layer

    def _find_layer_of_node(self, node) -> str:
        """Return the layer of the forward op for which autograd made a node; "" for none.

        A node that adds up the gradient of a leaf was made for no op. It belongs to the layer whose
        op reads the leaf.
        """
        leaf = getattr(node, "variable", None)  # only such a node has this attribute
        if leaf is None:
            return self._layers_by_node.get(node._sequence_nr(), "")
        return self._layers_by_leaf.get(self._tensors.find_number(leaf), "")
