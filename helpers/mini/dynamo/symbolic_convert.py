"""The symbolic interpreter: it runs a function's bytecode on symbolic values, and fills a graph.
A symbolic value is a Known (a constant, or another object known now), a Tensor (a graph node,
without numbers), a SequenceVariable (a list or tuple of symbolic values) or a LazyVariable (an
object that nothing has looked at yet). Each handler has the name of its opcode. A handler raises
GraphBreak to end the graph before its instruction, and SkipFrame if the function cannot be traced.

Mirrors torch/_dynamo/symbolic_convert.py, class InstructionTranslatorBase.
"""

import operator

from ..versions import METHODS_BY_BIT, NULL_ABOVE
from .parts import OPERATORS, UNARY
from .resume_execution import Code
from .symbolic_values import (
    NULL,
    RESULT,
    SCALARS,
    GraphBreak,
    IteratorVariable,
    Known,
    SequenceVariable,
    SkipFrame,
    Tensor,
)
from .variables import call, get_attribute, is_constant, iterate, truth

# ruff: noqa: N802, D102 - a handler is named for its opcode, and its lines are all there is to say

STEP_LIMIT = 20_000


class Interpreter:
    """One frame of `fn`. `local` holds symbolic values by name, `stack` the symbolic stack.

    A handler gets the step of its instruction (`resume_execution.Step`): `step.arg` is the number
    in the bytecode, `step.value` what that stands for, such as a name or a constant.
    """

    def __init__(self, trace, fn, local: dict):
        """Prepare to run `fn` from its first step.

        `trace` is the `output_graph.Tracing` that records its calls, and `local` has the symbolic
        values of its parameters, by name.
        """
        self.trace = trace
        self.fn = fn
        self.code = Code(fn.__code__)
        self.local = local  # name -> symbolic value, of each local that is bound
        self.stack = []
        self.position = 0  # of the next step in `code.steps`
        self.step_count = 0
        # The names of the keyword arguments of the next call; KW_NAMES or CALL_KW sets them.
        self.keywords = ()
        self.condition = None  # after a GraphBreak at an `if`: the symbolic tensor that it tests
        self.result = None  # the symbolic value that the function returns

    def run(self):
        """Run the handler of each step until the function returns; return the symbolic result.

        GraphBreak is raised at a graph break, and SkipFrame at what cannot be traced. `position` is
        then already that of the following step.
        """
        while self.result is None:
            step = self.code.steps[self.position]
            self.position += 1
            self.step_count += 1
            if self.step_count > STEP_LIMIT:
                raise SkipFrame(
                    f"more than {STEP_LIMIT} instructions: a loop is too long to unroll"
                )
            handler = getattr(self, step.opname, None)
            if handler is None:
                raise SkipFrame(f"{step.opname} is not supported")
            handler(step)
        return self.result

    def push(self, value):
        """Push a symbolic value; a LazyVariable is looked at first, and gets its guards."""
        self.stack.append(self.trace.resolve(value))

    def pop(self):
        """Take the top value off the stack, and return it."""
        return self.stack.pop()

    def pop_many(self, count):
        """Pop `count` values; return them in the order in which they were pushed."""
        first = len(self.stack) - count
        values = self.stack[first:]
        del self.stack[first:]
        return values

    def push_loaded(self, value, is_called_next: bool):
        """Push a loaded value, and a NULL beside it if the next instruction calls it.

        The NULL is above the callable since CPython 3.13, and below it before.
        """
        if not is_called_next:
            self.push(value)
        elif NULL_ABOVE:
            self.push(value)
            self.push(NULL)
        else:
            self.push(NULL)
            self.push(value)

    def do_nothing(self, step):
        """Do nothing, for an instruction that has no meaning for symbolic values."""

    RESUME = do_nothing
    NOP = do_nothing
    CACHE = do_nothing
    PRECALL = do_nothing
    EXTENDED_ARG = do_nothing
    COPY_FREE_VARS = do_nothing

    def POP_TOP(self, step):
        self.pop()

    def PUSH_NULL(self, step):
        self.stack.append(NULL)

    def COPY(self, step):
        self.stack.append(self.stack[-step.arg])

    def SWAP(self, step):
        self.stack[-1], self.stack[-step.arg] = self.stack[-step.arg], self.stack[-1]

    def LOAD_CONST(self, step):
        self.push(Known(step.value))

    def RETURN_CONST(self, step):
        self.result = Known(step.value)

    def RETURN_VALUE(self, step):
        self.result = self.pop()

    def load_or_store_locals(self, step):
        """Load or store each local of the step. A fused instruction of CPython 3.13 has two."""
        for kind, name in step.locals:
            if kind == "STORE":
                self.local[name] = self.pop()
            elif name not in self.local:
                raise SkipFrame(f"{name} is not bound yet")
            else:
                # `resolve` looks at a LazyVariable. The result is stored, so that all later loads
                # share one symbolic value.
                self.local[name] = self.trace.resolve(self.local[name])
                self.push(self.local[name])

    LOAD_FAST = load_or_store_locals
    STORE_FAST = load_or_store_locals
    LOAD_FAST_LOAD_FAST = load_or_store_locals
    STORE_FAST_STORE_FAST = load_or_store_locals
    STORE_FAST_LOAD_FAST = load_or_store_locals

    def LOAD_DEREF(self, step):
        self.push(self.trace.wrap_cell(self.fn, step.value))

    def LOAD_GLOBAL(self, step):
        value = self.trace.wrap_global(self.fn, step.value)
        self.push_loaded(value, is_called_next=bool(step.arg & 1))

    def BINARY_OP(self, step):
        right = self.pop()
        left = self.pop()
        # `+=` may change a list or a tensor in place, so Python runs it. A Known needs no
        # GraphBreak here: `operate` computes it only if it is a constant.
        if step.text.endswith("=") and not isinstance(left, Known):
            fn = Known(OPERATORS[step.text])
            raise GraphBreak(f"{step.text} may change its left side in place", fn, [left, right])
        self.push(self.operate(step.text, left, right))

    def COMPARE_OP(self, step):
        right = self.pop()
        left = self.pop()
        self.push(self.operate(step.value, left, right))

    def operate(self, sign, left, right):
        """Return the symbolic result of `left sign right`, where `sign` is such as "+" or "<=".

        `parts.binary_op`, which a learner may have written, decides for tensors and constants.
        Raise GraphBreak if Python has to run the operator.
        """
        fn = Known(OPERATORS[sign])
        operands = [left, right]
        if not all(isinstance(operand, Tensor) or is_constant(operand) for operand in operands):
            # Such as two lists: an operator is then traced like any other function.
            return call(self.trace, fn, operands, {})
        try:
            return self.trace.parts.binary_op(self.trace, sign, left, right)
        except GraphBreak as graph_break:  # `binary_op` knows the reason; the call is added here
            raise GraphBreak(str(graph_break), fn, operands) from None
        except (ArithmeticError, TypeError, ValueError) as error:  # such as 1 / 0
            raise GraphBreak(f"{sign} raises {type(error).__name__}", fn, operands) from None

    def unary(self, step):
        """Replace the top value by the result of a unary operator, such as -x."""
        value = self.pop()
        self.call_known(UNARY[step.opname], value)

    UNARY_NEGATIVE = unary
    UNARY_POSITIVE = unary
    UNARY_INVERT = unary

    def UNARY_NOT(self, step):
        value = self.pop()
        self.call_known(operator.not_, value)

    def BINARY_SUBSCR(self, step):
        key = self.pop()
        container = self.pop()
        self.call_known(operator.getitem, container, key)

    def call_known(self, function, *args):
        """Push the symbolic result of a call of this function."""
        self.push(call(self.trace, Known(function), list(args), {}))

    def BINARY_SLICE(self, step):
        self.BUILD_SLICE(step)  # BINARY_SLICE has no argument, so its slice has no step
        self.BINARY_SUBSCR(step)

    def BUILD_TUPLE(self, step):
        self.push(SequenceVariable(tuple, self.pop_many(step.arg)))

    def BUILD_LIST(self, step):
        self.push(SequenceVariable(list, self.pop_many(step.arg)))

    def LIST_EXTEND(self, step):
        more = self.pop()
        extended = self.stack[-step.arg]
        self.stack[-step.arg] = SequenceVariable(list, [*extended.items, *iterate(more)])

    def BUILD_SLICE(self, step):
        # The ends are start and stop, and with 3 values the step of the slice.
        ends = self.pop_many(3 if step.arg == 3 else 2)
        if not all(isinstance(end, Known) and type(end.value) in SCALARS for end in ends):
            raise SkipFrame("a slice whose ends are not plain numbers")
        self.push(Known(slice(*(end.value for end in ends))))

    def UNPACK_SEQUENCE(self, step):
        sequence = self.pop()
        items = list(iterate(sequence))
        if len(items) != step.arg:
            raise SkipFrame("a sequence is unpacked into a different number of names")
        for item in reversed(
            items
        ):  # the next instructions store the first name first, from the top
            self.push(item)

    def JUMP(self, step):
        self.position = step.target

    def TO_BOOL(self, step):
        if not isinstance(self.stack[-1], Tensor):
            value = self.pop()
            self.push(Known(truth(value)))

    def branch(self, step):
        """Pop a value; jump if it is true (opcodes with TRUE) or false (opcodes with FALSE).

        A symbolic tensor has no numbers, so its truth is unknown, and GraphBreak is raised.
        """
        value = self.pop()
        if isinstance(value, Tensor):
            self.condition = value
            raise GraphBreak("a branch needs the value of a tensor")
        jumps_if_true = "TRUE" in step.opname
        if truth(value) == jumps_if_true:
            self.position = step.target
            # CPython 3.11 has these opcodes for `and` and `or`. They keep the value if they jump.
            if step.opname.endswith("OR_POP"):
                self.stack.append(value)

    POP_JUMP_IF_TRUE = branch
    POP_JUMP_IF_FALSE = branch
    JUMP_IF_TRUE_OR_POP = branch
    JUMP_IF_FALSE_OR_POP = branch

    def branch_on_none(self, step):
        """Pop a value; jump if it is None, or, for opcodes with NOT, if it is not None."""
        value = self.pop()
        is_none = isinstance(value, Known) and value.value is None
        jumps_if_none = "NOT" not in step.opname
        if is_none == jumps_if_none:
            self.position = step.target

    POP_JUMP_IF_NONE = branch_on_none
    POP_JUMP_IF_NOT_NONE = branch_on_none

    def GET_ITER(self, step):
        iterable = self.pop()
        self.stack.append(IteratorVariable(iterate(iterable)))

    def FOR_ITER(self, step):
        iterator = self.stack[-1]
        if not isinstance(iterator, IteratorVariable):
            raise SkipFrame("a loop over an iterator of someone else's")
        item = next(iterator.items, None)  # a symbolic value is never None, so None is the end
        if item is not None:
            self.push(item)
            return

        self.pop()  # the iterator
        self.position = step.target
        # The loop has ended, so there is no item for the END_FOR at the target to pop. CPython
        # skips it as well. The POP_TOP that follows in 3.13 pops the iterator, which was popped
        # above.
        steps = self.code.steps
        while steps[self.position].opname == "END_FOR":
            self.position += 1
            if NULL_ABOVE and steps[self.position].opname == "POP_TOP":
                self.position += 1

    def KW_NAMES(self, step):
        self.keywords = self.code.code.co_consts[step.arg]

    def CALL_KW(self, step):
        names = self.pop()
        self.keywords = names.value
        self.CALL(step)

    def CALL(self, step):
        names = self.keywords
        self.keywords = ()  # they are for this call alone
        values = self.pop_many(step.arg)
        # Below the arguments are the callable and a NULL; which is above depends on the version of
        # CPython. CPython may have `self` where the NULL is. Here a bound method is one
        # `MethodVariable`.
        callable_and_null = self.pop_many(2)
        fn = next(value for value in callable_and_null if value is not NULL)

        positional_count = len(values) - len(names)
        kwargs = dict(zip(names, values[positional_count:], strict=True))
        self.push(call(self.trace, fn, values[:positional_count], kwargs))

    def LOAD_ATTR(self, step):
        owner = self.pop()
        # LOAD_METHOD (3.11) and the lowest bit of the argument (since 3.12) say that a call
        # follows.
        is_called_next = step.opname == "LOAD_METHOD"
        if METHODS_BY_BIT and step.arg & 1:
            is_called_next = True
        try:
            value = get_attribute(self.trace, owner, step.value)
        except GraphBreak as graph_break:
            # Python runs `getattr(owner, name)` instead. The resume function starts with the same
            # stack as after this instruction: the attribute, and a NULL if a call follows.
            pushes = [RESULT]
            if is_called_next:
                pushes = [RESULT, NULL] if NULL_ABOVE else [NULL, RESULT]
            args = [owner, Known(step.value)]
            raise GraphBreak(str(graph_break), Known(getattr), args, pushes=pushes) from None
        self.push_loaded(value, is_called_next)

    LOAD_METHOD = LOAD_ATTR
