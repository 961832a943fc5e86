"""The Python front end: REGISTER_USER_OP(...) in <name>_op_def.py -> records for the registry.

The chain has the names of the C++ one; the setters of InferContext are those of OneFlow 0.9.
"""

# ruff: noqa: D102 - the names are the original's, and say what they do

from ...safety.arguments import quote_value
from .autodiff import BackwardOpConfContext
from .errors import OpError, lookup, need, raised
from .registry import REQUIRED, Chain, GradientDef, OpDef, Spec, attr_def, begin


def REGISTER_USER_OP(op_type_name):
    """Begin the definition of an op type."""
    return begin("op_def.py", OpChain, op_type_name)


def REGISTER_USER_OP_GRAD(op_type_name):
    """Begin the gradient rule of a forward op type."""
    return begin("op_def.py", GradientChain, op_type_name)


class OpChain(Chain):
    """An op type under construction."""

    SetTensorDescInferFn = Chain.keep  # the function that gives each output its shape and dtype

    def __init__(self, name, file):
        """Begin an op type without arguments."""
        super().__init__(name, file)
        self.inputs = []
        self.outputs = []
        self.attrs = {}

    def Input(self, name):
        self.inputs.append(name)
        return self

    def Output(self, name):
        self.outputs.append(name)
        return self

    def Attr(self, name, default=REQUIRED, type=None):
        """Add an attribute; without a type the default's own decides (0.1: double)."""
        self.attrs[name] = attr_def(f'op type "{self.name}": attr "{name}"', type, default)
        return self

    def finish(self):
        """Return the OpDef, checked."""
        definition = OpDef(
            name=self.name,
            inputs=tuple(self.inputs),
            outputs=tuple(self.outputs),
            attrs=self.attrs,
            infer=self.infer,
            file=self.file,
            front_end="Python",
        )
        check(definition, callable(self.function))
        return definition

    def infer(self, inputs, attrs):
        """Run the inference function: OpDef.infer."""
        context = InferContext(self.outputs, inputs, attrs)
        run_own(self.function, context, self.file)
        return {name: Spec(*context.specs[name, 0]) for name in self.outputs}


class GradientChain(Chain):
    """A gradient rule under construction."""

    SetBackwardOpConfGenFn = Chain.keep

    def finish(self):
        """Return the GradientDef, checked."""
        definition = GradientDef(self.name, self.generate, self.file)
        need(callable(self.function), f"{definition} has no SetBackwardOpConfGenFn(function)")
        return definition

    def generate(self, forward):
        """Run the rule on one forward op."""
        context = BackwardOpConfContext(forward)
        run_own(self.function, context, self.file)
        return context.requests


def run_own(function, context, file):
    """Run a function of a definition; whatever it raises becomes an OpError."""
    try:
        function(context)
    except OpError:
        raise
    except Exception as error:
        raise OpError(f"raised {raised(error, file)}") from error


def check(op, has_inference):
    """Raise OpError unless a definition is complete; for both front ends."""
    names = [*op.inputs, *op.outputs, *op.attrs]
    for name in [op.name, *names]:
        is_name = type(name) is str and name and "/" not in name
        need(is_name, f"{op}: bad name {quote_value(name)}")
        need(names.count(name) < 2, f'{op}: the name "{name}" is used twice among its arguments')
    need(op.outputs, f'{op} has no .Output("out"), so no other op could use it')
    need(
        has_inference,
        f"{op} has no .SetTensorDescInferFn(...), so the shape of its outputs is unknown",
    )


class InferContext:
    """What an inference function sees: shapes and dtypes of arguments, and attributes.

    An output has the first input's dtype until another is set, as in 0.3.
    """

    def __init__(self, outputs, inputs, attrs):
        """Begin without shapes of outputs.

        `outputs` are names, `inputs` is (input, index) -> Spec, and `attrs` is name -> value.
        """
        input_dtypes = [spec.dtype for spec in inputs.values()]
        first_dtype = input_dtypes[0] if input_dtypes else None
        self._inputs = inputs
        self._attrs = attrs
        # (output, index) -> [shape, dtype], until both are set
        self.specs = {(output, 0): [None, first_dtype] for output in outputs}

    def InputShape(self, name, index=0):
        return self._input(name, index).shape

    def InputDType(self, name, index=0):
        return self._input(name, index).dtype

    def SetOutputShape(self, name, index, shape):
        self._output(name, index)[0] = shape

    def SetOutputDType(self, name, index, dtype):
        self._output(name, index)[1] = dtype

    def Attr(self, name):
        return lookup(self._attrs, "attr", name)

    def _input(self, name, index) -> Spec:
        return lookup(self._inputs, "input", (name, index))

    def _output(self, name, index) -> list:
        return lookup(self.specs, "output", (name, index))
