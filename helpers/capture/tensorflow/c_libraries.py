"""This TensorFlow -> where its C functions are: by library, by Python module, then and now.

Every answer is looked up: in the symbol tables of the installed files, in the live modules, in the
installed sources and headers. Only the column `then` is what a reader of 2019 was told.
"""

import inspect
import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from pathlib import Path

from helpers.capture.text.error import said
from helpers.internals.shared_libraries import exported
from helpers.model.listing import Column, Listing

PATTERN = r"TFE?_|PyInit_|_Z\d+(?:TFE_Py_|EagerTensor)"
C_NAMES = ("TF_NewStatus", "TFE_NewOp", "TFE_Execute")
CPP_NAMES = (
    *("TFE_Py_Execute", "TFE_Py_FastPathExecute_C", "TFE_Py_InitEagerTensor"),
    *("EagerTensor_Handle", "EagerTensorFromHandle"),
)
OPERATION = ("ctx", "op_name", "attrs", "inputs", "device", "is_function", "executor")
LIBRARIES = (
    ("", "libtensorflow_framework"),
    ("", "libtensorflow_cc"),
    ("python", "lib_pywrap_tensorflow_common"),
    ("python", "_pywrap_tensorflow_internal"),
    ("python", "_pywrap_tfe"),
)


@dataclass(frozen=True)
class Library:
    """One shared library: how many names of each kind it exports, and which of those asked for."""

    name: str
    tf: int
    tfe: int
    tfe_py: int
    holds: str
    module: str


@dataclass(frozen=True)
class Claim:
    """What was so then, what is so now, and whether that is the same."""

    then: str
    now: str
    still: str


def c_libraries() -> Listing:
    """Return the libraries that matter, with what each exports; read from the files."""
    rows = tuple(_library(path) for path in _files())
    columns = (
        Column("name", "library", code=True),
        Column("tf", "TF_…"),
        Column("tfe", "TFE_…"),
        Column("tfe_py", "TFE_Py_… (C++)"),
        Column("holds", "of the names used here", code=True),
        Column("module", "a Python module"),
    )
    note = "Counts of exported names, from the symbol table of each file."
    return Listing("Which library holds what", columns, rows, note)


def then_and_now() -> Listing:
    """Return what the imports of 2019 were, and what becomes of each on this TensorFlow."""
    columns = Column("then", "then", True), Column("now", "now", True), Column("still", "the same?")
    rows = tuple(Claim(then, *ask()) for then, ask in CLAIMS)
    return Listing("From Python to C: then and now", columns, rows)


@cache
def _library(path: Path) -> Library:
    names = exported(path, PATTERN)
    holds = [name for name in C_NAMES if name in names]
    holds += [name for name in CPP_NAMES if any(_is(mangled, name) for mangled in names)]
    return Library(
        path.name.partition(".")[0],
        sum(name.startswith("TF_") for name in names),
        sum(name.startswith("TFE_") for name in names),
        sum(name.startswith("_Z") and "TFE_Py_" in name[:12] for name in names),
        ", ".join(holds),
        _yes(any(name.startswith("PyInit_") for name in names)),
    )


def _is(mangled: str, name: str) -> bool:
    """Return whether a C++ name, as the compiler writes it, is this function.

    It writes the number of letters before the name, and the types of the arguments behind it.
    """
    return mangled.startswith(f"_Z{len(name)}{name}")


def _root() -> Path:
    return Path(import_module("tensorflow").__file__).parent


def _files() -> list[Path]:
    found = [sorted((_root() / folder).glob(f"{name}.*")) for folder, name in LIBRARIES]
    if missing := [name for (_, name), paths in zip(LIBRARIES, found, strict=True) if not paths]:
        raise RuntimeError(f"this TensorFlow has no file {', '.join(missing)}")
    return [next(p for p in paths if p.suffix != ".pyi") for paths in found]


# ------------------------------------------------------------------ the claims, each looked up


def _pywrap_tensorflow():
    module = import_module("tensorflow.python.pywrap_tensorflow")
    count = sum(name.startswith("TFE_") for name in vars(module))
    words = f"it can be imported, and {_importers()} files of the package do"
    return f"{words}; names in it that begin with TFE_: {count}", "the name only"


def _internal():
    try:
        import_module("tensorflow.python.pywrap_tensorflow_internal")
    except ModuleNotFoundError as error:
        return said(error), "no"
    return "it can be imported", "yes"


def _stub():
    module = import_module("tensorflow.python._pywrap_tensorflow_internal")
    names = [name for name in vars(module) if not name.startswith("_")]
    return f"_pywrap_tensorflow_internal holds {', '.join(names)}", "no"


def _swig():
    count = sum(name.endswith(".i") or "swig" in name.lower() for name in _names())
    common = next(path for path in _files() if "common" in path.name)
    left = len(exported(common, "_ZNK?10tensorflow4swig"))
    words = f"files named *.i or *swig* in the package: {count}; C++ names left in tensorflow::swig"
    return f"{words}: {left}", _yes(bool(count))


def _pybind():
    kind = type(import_module("tensorflow.python._pywrap_tfe").TFE_Executor)
    return f"classes of _pywrap_tfe are made by {kind.__module__}.{kind.__name__}", "no"


def _modules():
    files = (path for path in _root().rglob("*.so") if not path.name.startswith("lib"))
    count = sum(bool(exported(path, "PyInit_")) for path in files)  # the others hold ops
    return f"{count} extension modules in the package", "no" if count > 1 else "yes"


def _tfe_names():
    module = import_module("tensorflow.python.pywrap_tfe")
    names = [name for name in vars(module) if name.startswith("TFE_")]
    place = getattr(module, "TFE_Py_Execute").__module__  # noqa: B009
    return f"tensorflow.python.pywrap_tfe: {len(names)} names, from {place}", "moved"


def _py_execute():
    function = import_module("tensorflow.python.pywrap_tfe").TFE_Py_Execute
    arguments = function.__doc__.partition("(")[2].partition(")")[0].split(",")
    return f"pywrap_tfe.TFE_Py_Execute takes {len(arguments)} arguments", "yes, elsewhere"


def _header():
    text = _include("python/eager/pywrap_tfe.h")
    start = text.index("void TFE_Py_Execute(")
    words = " ".join(text[start : text.index(";", start)].split())
    return f"{words.count(',') + 1} parameters, as installed in pywrap_tfe.h", "yes"


def _struct():
    text = "".join(_include(f"c/eager/{name}") for name in ("c_api.h", "tfe_op_internal.h"))
    line = next(line for line in text.splitlines() if line.startswith("typedef struct TFE_Op "))
    return f"{line} (declared, defined nowhere)", "no" if "struct TFE_Op {" not in text else "yes"


def _operation():
    text = _include("core/common_runtime/eager/eager_operation.h")
    line = next(line for line in text.splitlines() if line.startswith("class EagerOperation :"))
    members = [name for name in OPERATION if re.search(rf"^  [^(]*\b{name}_;", text, re.MULTILINE)]
    return f"{line.rstrip(' {')}; it holds {', '.join(members)}", "yes, with a base"


def _new_op():
    makes = "CreateOperation()" in _include("c/eager/immediate_execution_context.h")
    resets = "Reset(const char* op" in _include("c/eager/abstract_operation.h")
    named = [name for name, there in (("CreateOperation", makes), ("Reset", resets)) if there]
    return f"in the headers: {' and '.join(named)}, so that an op object can be used again", "no"


def _eager_tensor():
    source = inspect.getsource(import_module("tensorflow.python.framework.ops"))
    made = re.search(r"[\w.]+\.TFE_Py_InitEagerTensor\(\w+\)", source).group()
    return f"EagerTensor = {made}, then exported", "yes, by another name"


def _context():
    source = inspect.getsource(import_module("tensorflow.python.eager.context")._create_context)
    last = [line.strip() for line in source.splitlines() if line.strip()][-1]
    return f"{last}, which tells C++ too", "almost"


def _enable():
    function = import_module("tensorflow.python.framework.ops").enable_eager_execution
    same = "if context.default_execution_mode != context.EAGER_MODE:" in inspect.getsource(function)
    return "the same test is there" if same else "another test is there", _yes(same)


@cache
def _importers() -> int:
    """Return how many source files of the package import the module by its old name."""
    files = (path.read_bytes() for path in _root().rglob("*.py"))
    return sum(b"import pywrap_tensorflow" in source for source in files)


@cache
def _names() -> list[str]:
    """Return the name of every file of the installed package, whatever it is called."""
    package = metadata.packages_distributions()["tensorflow"][0]
    return [file.name for file in metadata.files(package)]


def _include(place: str) -> str:
    return (_root() / "include/tensorflow" / place).read_text()


def _yes(same: bool) -> str:
    return "yes" if same else "no"


CLAIMS = (
    ("from tensorflow.python import pywrap_tensorflow", _pywrap_tensorflow),
    ("pywrap_tensorflow_internal.py", _internal),
    ("pywrap_tensorflow_internal holds every C function", _stub),
    ("SWIG writes the wrappers, from *.i files", _swig),
    ("SWIG's proxy classes", _pybind),
    ("one extension module", _modules),
    ("pywrap_tensorflow.TFE_…", _tfe_names),
    ("TFE_Py_Execute(handle, device, op, inputs, attrs, n)", _py_execute),
    ("void TFE_Py_Execute(…), 7 parameters in C", _header),
    ("TFE_NewOp: return new TFE_Op(…)", _new_op),
    ("struct TFE_Op { EagerOperation operation; … }", _struct),
    ("EagerOperation in core/common_runtime/eager", _operation),
    ("EagerTensor = c_api.TFE_Py_InitEagerTensor(_EagerTensorBase)", _eager_tensor),
    ("_create_context: _context = Context()", _context),
    ("enable_eager_execution: if the default mode is not eager", _enable),
)
