"""Attributes and super."""

# ruff: noqa: N802 - a handler is named for its opcode


class Attributes:
    """What is done with an attribute but reading it."""

    def STORE_ATTR(self, name):
        """[value, object] → []"""
        value, obj = self.take(2)
        setattr(obj, name, value)

    def DELETE_ATTR(self, name):
        """[object] → []"""
        delattr(self.pop(), name)

    def LOAD_SUPER_ATTR(self, name, with_arguments):
        """[super, class, self] → [attribute]"""
        maker, cls, obj = self.take(3)
        if maker is super:
            self.push(getattr(super(cls, obj), name))
        else:
            self.push(getattr(self.call(maker, *((cls, obj) if with_arguments else ())), name))
