"""numpy, TensorFlow and torch for judges, each imported only when one of its names is used.
A *judge* is a function that decides whether a learner's answer is right.
"""

from importlib import import_module


class LazyFramework:
    """A framework that is imported when you use one of its names."""

    def __init__(self, name: str):
        """Remember the name of the module; nothing is imported yet."""
        self._name = name

    def __getattr__(self, name: str):
        return getattr(import_module(self._name), name)


np = LazyFramework("numpy")
tf = LazyFramework("tensorflow")
torch = LazyFramework("torch")
