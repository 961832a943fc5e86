"""Calls with unpacked arguments, and of what makes a class."""

# ruff: noqa: N802 - a handler is named for its opcode


class MoreCalls:
    """`f(*args, **kwargs)` and `class`."""

    def CALL_FUNCTION_EX(self, with_keywords):
        """[function, iterable] or [function, iterable, mapping] → [value]"""
        kwargs = self.pop() if with_keywords else {}
        function, arguments = self.take(2)
        if not hasattr(type(arguments), "__iter__") or not hasattr(kwargs, "keys"):
            function(*arguments, **kwargs)  # One of them cannot be unpacked: CPython says which.
        self.start(function, list(arguments), dict(kwargs))

    def DICT_MERGE(self, depth):
        """[function …, dict, …, mapping] → [function …, dict, …]: keywords, no key twice"""
        more = self.pop()
        known = self.stack[-depth]
        if not hasattr(more, "keys") or any(key in known for key in more.keys()):  # noqa: SIM118
            self.stack[-depth - 2](**known, **more)  # CPython says what is wrong.
        known.update(more)

    def LOAD_BUILD_CLASS(self):
        """[] → [__build_class__]"""
        if "__build_class__" not in self.builtins:
            raise NameError("__build_class__ not found")
        self.push(self.builtins["__build_class__"])
