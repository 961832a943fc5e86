"""Chapter 3: handlers, stacks, lifetimes and patches that are nearly right."""

PLAIN_ONLY = "(self.call if type(fn).__name__ == 'function' else lambda f, *a, **k: f(*a, **k))"

FEW = "depth = min(depth, 10)\n        "

FIRST_PAIR = """from bytecode import BinaryOp, Bytecode


def patch(code):
    steps = Bytecode.from_code(code)
    plain = [step for step in steps if hasattr(step, "name")]
    for load, sign in zip(plain, plain[1:]):
        pair = load.name, load.arg, sign.name, sign.arg
        if pair == ("LOAD_CONST", 10, "BINARY_OP", BinaryOp.SUBTRACT):
            load.arg, sign.arg = 25, BinaryOp.ADD
            break
    return steps.to_code()
"""

MISTAKES = {
    "vm_names": (
        ("left on the stack", "self.local[name] = self.pop()", "self.local[name] = self.stack[-1]"),
        ("was not pushed", "self.push(self.find(name))", "self.find(name)"),
        (
            "COPY(1) means the top",
            "self.push(self.stack[-depth])",
            "self.push(self.stack[depth - 1])",
        ),
        (
            "at SWAP",
            "self.stack[-1], self.stack[-depth] = self.stack[-depth], self.stack[-1]",
            "self.stack[-1], self.stack[-depth - 1] = self.stack[-depth - 1], self.stack[-1]",
        ),
        ("CPython raises UnboundLocalError", "if name not in self.local:", "if False:"),
        ("no method COPY", "def COPY", "def copied"),
        (
            "what is between stays",
            "self.stack[-1], self.stack[-depth] = self.stack[-depth], self.stack[-1]",
            "self.stack[-1], self.stack[-2] = self.stack[-2], self.stack[-1]",
        ),
        (
            "`SWAP(3), its arguments on the stack`: yours",
            "self.stack[-1], self.stack[-depth] = self.stack[-depth], self.stack[-1]",
            "self.stack.insert(len(self.stack) - depth, self.pop())",
        ),
        ("at DELETE_FAST", "        del self.local[name]\n", ""),
        ("at LOAD_GLOBAL", "        self.push(self.find(name))", "        pass"),
        (
            "named_as_yours()",
            "self.push(self.find(name))",
            "self.push(globals()[name] if name in globals() else self.find(name))",
        ),
        (
            "rebound_global(1)",
            "class Names:\n",
            "class Names:\n    known = {}\n\n",
            "self.push(self.find(name))",
            "self.push(self.known.setdefault(name, self.find(name)))",
        ),
        (
            "SWAP(11)",
            "self.stack[-1], self.stack[-depth] =",
            f"{FEW}self.stack[-1], self.stack[-depth] =",
        ),
        ("COPY(11)", "self.push(self.stack[-depth])", f"{FEW}self.push(self.stack[-depth])"),
        (
            "many_times(range(0, 300))",
            "class Names:\n",
            "class Names:\n    left = 250\n\n",
            "        self.local[name] = self.pop()",
            "        Names.left -= 1\n"
            "        self.local[name] = self.pop() if Names.left > 0 else 0",
        ),
        (
            "your SWAP puts another list in the place of self.stack",
            "        self.stack[-1], self.stack[-depth] =",
            "        self.stack = list(self.stack)\n        self.stack[-1], self.stack[-depth] =",
        ),
        (
            "(a class of learner)",
            "raise UnboundLocalError(",
            "raise type('UnboundLocalError', (UnboundLocalError,), {})(",
        ),
        (
            "Names.LOAD_FAST is the finished machine's own",
            "from helpers.mini.vm import steps\n\n\nclass Names(steps.Names):\n    pass\n",
        ),
    ),
    "vm_operators": (
        (
            "right operand is on top",
            "right, left = self.pop(), self.pop()\n        self.push(ARITHMETIC",
            "left, right = self.pop(), self.pop()\n        self.push(ARITHMETIC",
        ),
        (
            "COMPARE_OP",
            "right, left = self.pop(), self.pop()\n        self.push(COMPARISON",
            "left, right = self.pop(), self.pop()\n        self.push(COMPARISON",
        ),
        ("not pushed", "self.push(ARITHMETIC[sign](left, right))", "ARITHMETIC[sign](left, right)"),
        ("at IS_OP", "self.push((one is other) != bool(inverted))", "self.push(one is other)"),
        ("at IS_OP", "(one is other)", "(one == other)"),
        (
            "CPython gives (('less', 3)",
            "COMPARISON[sign](left, right)",
            "bool(COMPARISON[sign](left, right))",
        ),
        ("-0.0", "self.push(-self.pop())", "self.push(0 - self.pop())"),
        ("CONTAINS_OP", "(item in container)", "any(item == each for each in container)"),
        ("left on the stack", "self.push(not self.pop())", "self.push(not self.stack[-1])"),
    ),
    "vm_jumps": (
        (
            "bool is asked",
            "        if self.pop():\n",
            "        value = self.pop()\n        if bool(value) and value:\n",
        ),
        (
            "yours gives 1",
            "        if self.pop():\n",
            "        value = self.pop()\n"
            "        if len(value) if hasattr(value, '__len__') else value:\n",
        ),
        ("at GET_ITER", "        self.push(iter(self.pop()))", "        pass"),
        (
            "Only a StopIteration ends",
            "except StopIteration",
            "except (StopIteration, LookupError)",
        ),
        ("FOR_ITER", "except StopIteration", "except (StopIteration, StopAsyncIteration)"),
        (
            "FOR_ITER",
            "class Jumps:\n",
            "class Jumps:\n    left = 250\n\n",
            "            self.push(next(self.stack[-1]))",
            "            Jumps.left -= 1\n            if Jumps.left < 0:\n"
            "                raise StopIteration\n            self.push(next(self.stack[-1]))",
        ),
        (
            "where it should",
            "        if not self.pop():\n            self.jump(target)",
            "        if self.pop():\n            self.jump(target)",
        ),
        (
            "iterator stays below the item",
            "self.push(next(self.stack[-1]))",
            "self.push(next(self.pop()))",
        ),
        (
            "FOR_ITER",
            "            self.pop()\n            self.jump(after)",
            "            self.jump(after)",
        ),
        (
            "left on the stack",
            "        if not self.pop():\n            self.jump(target)",
            "        if not self.stack[-1]:\n            self.jump(target)",
        ),
        (
            "jumped where it should fall through",
            "        if self.pop() is None:\n",
            "        if not self.pop():\n",
        ),
        ("CPython raises ValueError: stop", "except StopIteration", "except Exception"),
        ("at POP_JUMP_IF_NOT_NONE", "if self.pop() is not None", "if self.pop() != None"),
        (
            "at POP_JUMP_IF_TRUE",
            "        if self.pop():\n            self.jump(target)",
            "        if not self.pop():\n            self.jump(target)",
        ),
    ),
    "vm_calls": (
        (
            "given_as_is(",
            "container[key]",
            "container[int(key)] if isinstance(key, (bool, float)) else container[key]",
        ),
        (
            "last argument is on top",
            "values = [self.pop() for _ in range(count)][::-1]",
            "values = [self.pop() for _ in range(count)]",
        ),
        (
            "not pushed",
            "self.push(self.call(fn, *values[:split], **keywords))",
            "self.call(fn, *values[:split], **keywords)",
        ),
        ("Look at your CALL", "*values[:split], **keywords", "*values"),
        ("Let self.call make the call", "self.call(fn, *values", "fn(*values"),
        ("CPython gives", "zip(names, values", "zip(names[::-1], values"),
        (
            "at CALL (offset 72): yours raised IndexError",
            "values = [self.pop() for _ in range(count)][::-1]",
            "values = self.stack[-count:]\n        del self.stack[-count:]",
        ),
        (
            "CPython raises AttributeError",
            "getattr(self.pop(), name)",
            "getattr(self.pop(), name, 0)",
        ),
        (
            "BINARY_SUBSCR",
            "key, container = self.pop(), self.pop()",
            "container, key = self.pop(), self.pop()",
        ),
        (
            "last item is on top",
            "self.push([self.pop() for _ in range(count)][::-1])",
            "self.push([self.pop() for _ in range(count)])",
        ),
        (
            "left on",
            "self.push(getattr(self.pop(), name))",
            "self.push(getattr(self.stack[-1], name))",
        ),
        ("as in CPython, but by another way", "self.call(fn, *", f"{PLAIN_ONLY}(fn, *"),
    ),
    "vm_closures": (
        (
            "LOAD_CLOSURE",
            "self.push(self.cells[name])",
            "self.push(self.cells[name].cell_contents)",
        ),
        (
            "STORE_DEREF",
            "self.cells[name].cell_contents = self.pop()",
            "self.local[name] = self.pop()",
        ),
        ("MAKE_FUNCTION", "for part in reversed(parts)", "for part in parts"),
        (
            "put_again(1, None)",
            "self.cells[name].cell_contents = self.pop()",
            "value = self.pop()\n"
            "        if value is not None:\n            self.cells[name].cell_contents = value",
        ),
        (
            "put_again(1, True)",
            "        self.cells[name].cell_contents = self.pop()",
            "        value = self.pop()\n        try:\n"
            "            if self.cells[name].cell_contents == value:\n                return\n"
            "        except ValueError:\n            pass\n"
            "        self.cells[name].cell_contents = value",
        ),
        (
            "looked_at(5)",
            "self.push(self.function(code, **given))",
            "given['defaults'] = given.get('defaults', ())[:1]\n"
            "        self.push(self.function(code, **given))",
        ),
        (
            "MAKE_FUNCTION",
            "self.push(self.function(code, **given))",
            "self.push(self.function(code))",
        ),
        ("not pushed", "self.push(self.function(code, **given))", "self.function(code, **given)"),
        ("CPython raises NameError", "        except ValueError:", "        except KeyError:"),
        ("CPython raises UnboundLocalError", "if name in self.code.co_freevars:", "if True:"),
        (
            "MAKE_FUNCTION",
            "        self.push(self.f",
            "        given.pop('kwdefaults', 0)\n        self.push(self.f",
        ),
    ),
    "vm_exceptions": (
        (
            "PUSH_EXC_INFO",
            "self.push(self.handled)\n        self.push(error)",
            "self.push(error)\n        self.push(self.handled)",
        ),
        ("your RERAISE must raise", "        raise self.pop()", "        self.pop()"),
        ("CPython gives list of 3", "raise self.pop()", "raise self.pop().with_traceback(None)"),
        ("was not pushed", "isinstance(self.stack[-1], wanted)", "isinstance(self.pop(), wanted)"),
        ("CHECK_EXC_MATCH", "self.push(isinstance(self.stack[-1], wanted))", "self.push(True)"),
        (
            "POP_EXCEPT",
            "        self.handled = self.pop()",
            "        self.pop()\n        self.pop()",
        ),
        ("CPython gives", "raise error from cause[0]", "raise error"),
        ("at POP_EXCEPT", "self.handled = self.pop()", "self.pop()\n        self.handled = None"),
        (
            "CPython raises TypeError: exceptions must derive",
            "        if count == 0 and self.handled is None:\n"
            '            raise RuntimeError("No active exception to reraise")\n',
            "",
            "        if cause:\n",
            "        if error is None:\n"
            '            raise RuntimeError("No active exception to reraise")\n        if cause:\n',
        ),
        ("at PUSH_EXC_INFO", "        self.handled = error\n", ""),
        ("RERAISE", "        raise self.pop()\n", "        self.pop()\n"),
    ),
    "stack_at": (
        ("the bottom comes first", "guess = [1, 3, 5, 12]"),
        ("'12' is text", "guess = ['12', '5', '3', '1']"),
        ("True is a bool", "guess = [12, 5, 3, True]"),
        ("below them wait values", "guess = [3, 1]"),
        ("the stack after the instruction", "guess = [12, 5, 2]"),
        ("popped for good", "guess = [4, 3, 4, 1, 3, 1]"),
        ("run it in your head", "guess = [12, 4, 3, 1]"),
        ("must be a list, not 12", "guess = 12"),
        ("in another order", "guess = [5, 12, 3, 1]"),
        ("two operands lie on top", "guess = [12, 5]"),
        ("run it in your head", "guess = [12, 5, 99]"),
        ("3.0 is a float", "guess = [12, 5, 3.0, 1]"),
    ),
    "kept_alive": (
        (
            "closure is not what it was by now",
            "functions = {name: lambda obj: obj for name in functions}\n"
            "guess = dict.fromkeys(functions, True)",
        ),
        (
            "must be a dict with the keys error",
            "functions = {}\nguess = {}",
        ),
        ("the error has a traceback", '"error": True', '"error": False'),
        ("goes into a cell", '"closure": False', '"closure": True'),
        ("has not ended", '"generator": True', '"generator": False'),
        ("was cleared", '"ended": False', '"ended": True'),
        ("keeps its locals", '"frame": True', '"frame": False'),
        ("must be a dict with the keys", "guess = 'frame'"),
        ("or False, not 'True'", '"frame": True', '"frame": "True"'),
    ),
    "code_patch": (
        ("the same code object", "return steps.to_code()", "return code"),
        ("try .to_code()", "return steps.to_code()", "return steps"),
        ("a code object, not None", "    return steps.to_code()\n", ""),
        ("the operator at offset 6 changed; asked is the last one", FIRST_PAIR),
        (
            "operators changed; only the last",
            "signs[-1].arg = BinaryOp.ADD",
            "for s in signs: s.arg = BinaryOp.ADD",
        ),
        ("no operator changed", "    signs[-1].arg = BinaryOp.ADD\n", ""),
        ("the constant 10 is still there", "    ten[-1].arg = 25\n", ""),
        ("became 26, of type int", "arg = 25", "arg = 26"),
        ("became 25.0, of type float", "arg = 25", "arg = 25.0"),
        ("at offset 2 changed; asked is the 10 at the end", "ten[-1]", "ten[0]"),
        ("changed; asked is the 10 at the end", " and s.arg == 10", ""),
        ("operator is * now", "BinaryOp.ADD", "BinaryOp.MULTIPLY"),
        (
            "line table changed",
            "return steps.to_code()",
            "return steps.to_code().replace(co_linetable=b'')",
        ),
        (
            "exception table changed",
            "return steps.to_code()",
            "return steps.to_code().replace(co_exceptiontable=b'')",
        ),
        (
            "co_flags changed",
            "return steps.to_code()",
            "return steps.to_code().replace(co_flags=3)",
        ),
        ("the docstring changed", "    return", "    steps.docstring = None\n    return"),
        (
            "instead of compiling another function",
            "def patch(code):\n    return (lambda age: (100 - age) * 50 + 25).__code__",
        ),
        (
            "instructions and has",
            "    return",
            "    steps.insert(-1, Instr('NOP'))\n    return",
            "import BinaryOp",
            "import Instr, BinaryOp",
        ),
    ),
}
