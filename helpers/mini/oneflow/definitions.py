"""Definitions of ops in Python: what REGISTER_USER_OP(...) in <name>_op_def.py registers. A
definition is a *chain* of calls: REGISTER_USER_OP("relu").Input("in").Output("out")… . At the end,
`finish` makes a checked record of it, an OpDef or a GradientDef. An *inference function* sets the
shape and dtype of each output. The methods of a chain are named as in C++; the setters of
InferContext are named as in OneFlow 0.9.
"""

# ruff: noqa: D102 - the names are the original's, and say what they do

from ...safety.arguments import quote_value
from .autodiff import BackwardOpConfContext
from .errors import OpError, describe_exception, get_by_name, require
from .registry import REQUIRED, Chain, GradientDef, OpDef, Spec, begin_chain, make_attr_def


def REGISTER_USER_OP(op_type_name):
    """Begin the definition of an op type; return its OpChain."""
    return begin_chain("op_def.py", OpChain, op_type_name)


def REGISTER_USER_OP_GRAD(op_type_name):
    """Begin the gradient rule of an op type; return its GradientChain."""
    return begin_chain("op_def.py", GradientChain, op_type_name)


class OpChain(Chain):
    """The definition of an op type while its chain of calls runs."""

    # the function that gives each output its shape and dtype
    SetTensorDescInferFn = Chain.set_function

    def __init__(self, name, file):
        """Begin an op type without arguments, which is defined in `file`."""
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
        """Add an attribute. Without a type, it follows from the default: 0.1 means "double"."""
        self.attrs[name] = make_attr_def(f'op type "{self.name}": attr "{name}"', type, default)
        return self

    def finish(self):
        """Return the OpDef, checked; OpError if something is missing."""
        definition = OpDef(
            name=self.name,
            inputs=tuple(self.inputs),
            outputs=tuple(self.outputs),
            attrs=self.attrs,
            infer=self.infer,
            file=self.file,
            front_end="Python",
        )
        check_definition(definition, callable(self.function))
        return definition

    def infer(self, inputs, attrs):
        """Run the inference function; return output's name -> Spec. This is `OpDef.infer`."""
        context = InferContext(self.outputs, inputs, attrs)
        run_user_function(self.function, context, self.file)
        return {name: Spec(*context.specs[name, 0]) for name in self.outputs}


class GradientChain(Chain):
    """A gradient rule while its chain of calls runs."""

    SetBackwardOpConfGenFn = Chain.set_function

    def finish(self):
        """Return the GradientDef, checked; OpError if it has no function."""
        definition = GradientDef(self.name, self.generate, self.file)
        require(callable(self.function), f"{definition} has no SetBackwardOpConfGenFn(function)")
        return definition

    def generate(self, forward):
        """Run the rule on a ForwardOp; return the Requests for the backward ops."""
        context = BackwardOpConfContext(forward)
        run_user_function(self.function, context, self.file)
        return context.requests


def run_user_function(function, context, file):
    """Run a function that a definition file has registered; its exception becomes an OpError."""
    try:
        function(context)
    except OpError:
        raise
    except Exception as error:
        raise OpError(f"raised {describe_exception(error, file)}") from error


def check_definition(op, has_inference):
    """Raise OpError unless an OpDef is complete. Definitions in C++ are checked by it, too."""
    names = [*op.inputs, *op.outputs, *op.attrs]
    for name in [op.name, *names]:
        is_name = type(name) is str and name and "/" not in name
        require(is_name, f"{op}: bad name {quote_value(name)}")
        require(names.count(name) < 2, f'{op}: the name "{name}" is used twice among its arguments')
    require(op.outputs, f'{op} has no .Output("out"), so no other op could use it')
    require(
        has_inference,
        f"{op} has no .SetTensorDescInferFn(...), so the shape of its outputs is unknown",
    )


class InferContext:
    """What an inference function gets: shapes and dtypes of the inputs, and attributes.

    It sets the shapes and dtypes of the outputs. An output has the dtype of the first input until
    another one is set, as in OneFlow 0.3.
    """

    def __init__(self, outputs, inputs, attrs):
        """Begin with outputs that have no shape.

        `outputs` has names. `inputs` maps (name, index) -> Spec, and `attrs` maps name -> value.
        """
        input_dtypes = [spec.dtype for spec in inputs.values()]
        first_dtype = input_dtypes[0] if input_dtypes else None
        self._inputs = inputs
        self._attrs = attrs
        # (output, index) -> [shape, dtype], which the setters fill in; None if not set
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
        return get_by_name(self._attrs, "attr", name)

    def _input(self, name, index) -> Spec:
        return get_by_name(self._inputs, "input", (name, index))

    def _output(self, name, index) -> list:
        return get_by_name(self.specs, "output", (name, index))
