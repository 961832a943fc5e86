"""The front door: what a notebook calls. `show_…` looks at a thing at rest, `watch_…` runs it.

The names stand in `__init__.pyi`, with the module of each. `lazy_loader` imports a module when one
of its names is asked for. The wheel has the same code under the name `whoruns`, without the rooms
`study` and `course`. Only a kernel of the course is prepared by the import: course/kernel.py.
"""

import inspect
import sys
from importlib import import_module
from os.path import isdir, join

try:
    import lazy_loader
except ModuleNotFoundError:  # course.py runs before anything is installed
    lazy_loader = None
    __all__ = []
else:
    _import_name, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = "0.1.0"

if isdir(join(__path__[0], "course")) and "IPython" in sys.modules:
    import_module(".course.kernel", __name__).switch_on()


def __getattr__(name: str):
    """Return the public function or class of this name, whose module is imported now.

    Python calls this for a name that the package does not have yet. The error for an unknown name
    says what the name is called now, or which name is similar.
    """
    if name in __all__:
        return _import_name(name)
    if lazy_loader is None and not name.startswith("_"):
        import_module("lazy_loader")  # its error says what is missing

    former_names = import_module(".safety.former_names", __name__)
    asking_module = inspect.currentframe().f_back.f_globals.get("__name__")
    try:
        raise former_names.build_name_error(name, __all__, __name__, asking_module)
    except (AttributeError, ImportError) as error:
        # A plain `raise` adds no frame to the traceback, so readers see only their own.
        error.__traceback__ = None
        raise
