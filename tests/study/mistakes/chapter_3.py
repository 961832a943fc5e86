"""Chapter 3: handlers, stacks, lifetimes and patches that are nearly right."""

SWAPPED = "self.stack[-1], self.stack[-depth] = self.stack[-depth], self.stack[-1]"
FOUND = "self.push(self.find(name))"
NEXT = "self.push(next(self.stack[-1]))"
CALLED = "self.push(self.call(fn, *values[:split], **keywords))"
POPPED = "values = [self.pop() for _ in range(count)][::-1]"
SLICED = "values = self.stack[-count:]\n        del self.stack[-count:]"
STORED = "self.cells[name].cell_contents = self.pop()"
MADE = "self.push(self.function(code, **given))"
PUSHED = "self.push(self.handled)\n        self.push(error)"
MATCHED = "self.push(isinstance(self.stack[-1], wanted))"
RETURNED = "return steps.to_code()"
IF_NOT = "        if not self.pop():\n"
IF = "        if self.pop():\n"

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
        ("was not pushed", FOUND, "self.find(name)"),
        ("COPY(1) means the top", "self.stack[-depth])\n", "self.stack[depth - 1])\n"),
        ("at SWAP", SWAPPED, SWAPPED.replace("-depth", "-depth - 1")),
        ("what is between stays", SWAPPED, SWAPPED.replace("-depth", "-2")),
        ("at SWAP", SWAPPED, "self.stack.insert(len(self.stack) - depth, self.pop())"),
        ("CPython raises UnboundLocalError", "if name not in self.local:", "if False:"),
        ("no method COPY", "def COPY", "def copied"),
    ),
    "vm_operators": (
        (
            "right operand is on top",
            "right, left = self.pop(), self.pop()\n        self.push(ARITHMETIC",
            "left, right = self.pop(), self.pop()\n        self.push(ARITHMETIC",
        ),
        ("not pushed", "self.push(ARITHMETIC[sign](left, right))", "ARITHMETIC[sign](left, right)"),
        ("at IS_OP", "self.push((one is other) != bool(inverted))", "self.push(one is other)"),
        ("at IS_OP", "(one is other)", "(one == other)"),
        ("'less', 3", "COMPARISON[sign](left, right)", "bool(COMPARISON[sign](left, right))"),
        ("-0.0", "self.push(-self.pop())", "self.push(0 - self.pop())"),
        ("CONTAINS_OP", "(item in container)", "any(item == each for each in container)"),
        ("left on the stack", "self.push(not self.pop())", "self.push(not self.stack[-1])"),
    ),
    "vm_jumps": (
        ("bool is asked", IF, "        value = self.pop()\n        if bool(value) and value:\n"),
        ("FOR_ITER", "except StopIteration", "except (StopIteration, StopAsyncIteration)"),
        ("CPython raises ValueError: x", "except StopIteration", "except Exception"),
        ("jumps only on its condition", IF_NOT, IF),
        ("iterator stays below the item", NEXT, "self.push(next(self.pop()))"),
        (
            "FOR_ITER",
            "            self.pop()\n            self.jump(after)",
            "            self.jump(after)",
        ),
        ("left on the stack", IF_NOT, "        if not self.stack[-1]:\n"),
        ("jumps only on its condition", "        if self.pop() is None:\n", IF_NOT),
    ),
    "vm_calls": (
        ("CPython gives (('item', True)", "container[key]", "container[int(key)]"),
        ("last argument is on top", POPPED, POPPED.replace("[::-1]", "")),
        ("not pushed", CALLED, CALLED[10:-1]),
        ("at CALL", "*values[:split], **keywords", "*values"),
        ("did not run that frame. Let self.call", "self.call(fn, *values", "fn(*values"),
        ("CPython gives", "zip(names, values", "zip(names[::-1], values"),
        ("at CALL", POPPED, SLICED),
        ("left on", "getattr(self.pop(), name)", "getattr(self.stack[-1], name)"),
    ),
    "vm_closures": (
        (
            "LOAD_CLOSURE",
            "self.push(self.cells[name])",
            "self.push(self.cells[name].cell_contents)",
        ),
        ("STORE_DEREF", STORED, "self.local[name] = self.pop()"),
        ("MAKE_FUNCTION", "for part in reversed(parts)", "for part in parts"),
        ("MAKE_FUNCTION", MADE, "self.push(self.function(code))"),
        ("MAKE_FUNCTION", MADE, f"given.pop('kwdefaults', 0)\n        {MADE}"),
        ("not pushed", MADE, MADE[10:-1]),
        ("CPython raises NameError", "        except ValueError:", "        except KeyError:"),
        ("CPython raises UnboundLocalError", "if name in self.code.co_freevars:", "if True:"),
    ),
    "vm_exceptions": (
        ("PUSH_EXC_INFO", PUSHED, "self.push(error)\n        self.push(self.handled)"),
        ("at PUSH_EXC_INFO", "        self.handled = error\n", ""),
        ("your RERAISE must raise", "        raise self.pop()\n", "        self.pop()\n"),
        ("was not pushed", MATCHED, "self.push(isinstance(self.pop(), wanted))"),
        ("CHECK_EXC_MATCH", MATCHED, "self.push(True)"),
        (
            "POP_EXCEPT",
            "        self.handled = self.pop()",
            "        self.pop()\n        self.pop()",
        ),
        ("at POP_EXCEPT", "self.handled = self.pop()", "self.pop()\n        self.handled = None"),
        ("v from TypeError", "raise error from cause[0]", "raise error"),
    ),
    "stack_at": (
        ("the bottom comes first", "guess = [1, 3, 5, 12]"),
        ("'12' is text", "guess = ['12', '5', '3', '1']"),
        ("True is a bool", "guess = [12, 5, 3, True]"),
        ("below them wait values", "guess = [3, 1]"),
        ("the stack after the instruction", "guess = [12, 5, 2]"),
        ("run it in your head", "guess = [12, 4, 3, 1]"),
        ("must be a list, not 12", "guess = 12"),
    ),
    "kept_alive": (
        ("KeyError: 'error'", "functions = {}\nguess = {}"),
        ("the error has a traceback", '"error": True', '"error": False'),
        ("goes into a cell", '"closure": False', '"closure": True'),
        ("has not ended", '"generator": True', '"generator": False'),
        ("was cleared", '"ended": False', '"ended": True'),
        ("keeps its locals", '"frame": True', '"frame": False'),
        ("must be a dict with the keys", "guess = 'frame'"),
        ("one of True, False, not 'True'", '"frame": True', '"frame": "True"'),
    ),
    "code_patch": (
        ("the same code object", RETURNED, "return code"),
        ("try .to_code()", RETURNED, "return steps"),
        ("returns None, which is not a code object", f"    {RETURNED}\n", ""),
        ("offset 4: yours gives 'LOAD_CONST int 25'", FIRST_PAIR),
        (
            "offset 6: yours gives 'BINARY_OP +'",
            "signs[-1].arg = BinaryOp.ADD",
            "for s in signs: s.arg = BinaryOp.ADD",
        ),
        ("BINARY_OP -', the reference gives", "    signs[-1].arg = BinaryOp.ADD\n", ""),
        ("change its last 10", "ten[-1]", "ten[0]"),
        ("for the code of ticket", " and s.arg == 10", ""),
    ),
}
