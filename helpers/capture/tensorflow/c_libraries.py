"""This TensorFlow -> where its C functions are: by library, by Python module, then and now.

Every answer is looked up: in the symbol tables of the installed files, in the live modules, in the
installed sources and headers. Only the column `then` is what a reader of 2019 was told.
"""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from pathlib import Path

from helpers.capture.text.error import error_message
from helpers.internals.shared_libraries import exported
from helpers.model.tables import Column, Listing

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
    """List TensorFlow's shared libraries and the C functions that each file exports."""
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
    """Set what Python imported to reach C in 2019 beside what is there now, looked up live."""
    columns = Column("then", "then", True), Column("now", "now", True), Column("still", "the same?")
    rows = (*_in_modules(), *_in_names(), *_in_headers(), *_in_sources())
    return Listing("From Python to C: then and now", columns, rows)


@cache
def _library(path: Path) -> Library:
    names = exported(path, PATTERN)
    holds = [name for name in C_NAMES if name in names]
    # The compiler writes the number of letters before a C++ name, and the arguments' types behind.
    cpp = {name: f"_Z{len(name)}{name}" for name in CPP_NAMES}
    holds += [name for name, start in cpp.items() if any(one.startswith(start) for one in names)]
    return Library(
        path.name.partition(".")[0],
        sum(name.startswith("TF_") for name in names),
        sum(name.startswith("TFE_") for name in names),
        sum(name.startswith("_Z") and "TFE_Py_" in name[:12] for name in names),
        ", ".join(holds),
        _yes(any(name.startswith("PyInit_") for name in names)),
    )


def _root() -> Path:
    return Path(import_module("tensorflow").__file__).parent


def _files() -> list[Path]:
    found = [sorted((_root() / folder).glob(f"{name}.*")) for folder, name in LIBRARIES]
    if missing := [name for (_, name), paths in zip(LIBRARIES, found, strict=True) if not paths]:
        raise RuntimeError(f"this TensorFlow has no file {', '.join(missing)}")
    return [next(p for p in paths if p.suffix != ".pyi") for paths in found]


def _yes(same: bool) -> str:
    return "yes" if same else "no"


# ------------------------------------------------------------------ the claims, each looked up


def _in_modules() -> Iterator[Claim]:
    names = vars(import_module("tensorflow.python.pywrap_tensorflow"))
    sources = (path.read_bytes() for path in _root().rglob("*.py"))
    importers = sum(b"import pywrap_tensorflow" in source for source in sources)
    count = sum(name.startswith("TFE_") for name in names)
    words = f"it can be imported, and {importers} files of the package do"
    then = "from tensorflow.python import pywrap_tensorflow"
    yield Claim(then, f"{words}; names in it that begin with TFE_: {count}", "the name only")
    then = "pywrap_tensorflow_internal.py"
    try:
        import_module("tensorflow.python.pywrap_tensorflow_internal")
        yield Claim(then, "it can be imported", "yes")
    except ModuleNotFoundError as error:
        yield Claim(then, error_message(error), "no")
    module = import_module("tensorflow.python._pywrap_tensorflow_internal")
    names = ", ".join(name for name in vars(module) if not name.startswith("_"))
    words = f"_pywrap_tensorflow_internal holds {names}"
    yield Claim("pywrap_tensorflow_internal holds every C function", words, "no")
    package = metadata.packages_distributions()["tensorflow"][0]
    names = [file.name for file in metadata.files(package)]
    count = sum(name.endswith(".i") or "swig" in name.lower() for name in names)
    common = next(path for path in _files() if "common" in path.name)
    left = len(exported(common, "_ZNK?10tensorflow4swig"))
    words = f"files named *.i or *swig* in the package: {count}; C++ names left in tensorflow::swig"
    then = "SWIG writes the wrappers, from *.i files"
    yield Claim(then, f"{words}: {left}", _yes(bool(count)))
    kind = type(import_module("tensorflow.python._pywrap_tfe").TFE_Executor)
    words = f"classes of _pywrap_tfe are made by {kind.__module__}.{kind.__name__}"
    yield Claim("SWIG's proxy classes", words, "no")
    files = (path for path in _root().rglob("*.so") if not path.name.startswith("lib"))
    count = sum(bool(exported(path, "PyInit_")) for path in files)  # the others hold ops
    words = f"{count} extension modules in the package"
    yield Claim("one extension module", words, "no" if count > 1 else "yes")


def _in_names() -> Iterator[Claim]:
    module = import_module("tensorflow.python.pywrap_tfe")
    count = sum(name.startswith("TFE_") for name in vars(module))
    place = module.TFE_Py_Execute.__module__
    words = f"tensorflow.python.pywrap_tfe: {count} names, from {place}"
    yield Claim("pywrap_tensorflow.TFE_…", words, "moved")
    given = module.TFE_Py_Execute.__doc__.partition("(")[2].partition(")")[0].split(",")
    words = f"pywrap_tfe.TFE_Py_Execute takes {len(given)} arguments"
    then = "TFE_Py_Execute(handle, device, op, inputs, attrs, n)"
    yield Claim(then, words, "yes, elsewhere")


def _in_headers() -> Iterator[Claim]:
    text = _header("python/eager/pywrap_tfe.h")
    start = text.index("void TFE_Py_Execute(")
    given = text[start : text.index(";", start)].count(",") + 1
    words = f"{given} parameters, as installed in pywrap_tfe.h"
    yield Claim("void TFE_Py_Execute(…), 7 parameters in C", words, "yes")
    makes = "CreateOperation()" in _header("c/eager/immediate_execution_context.h")
    resets = "Reset(const char* op" in _header("c/eager/abstract_operation.h")
    named = [name for name, there in (("CreateOperation", makes), ("Reset", resets)) if there]
    words = f"in the headers: {' and '.join(named)}, so that an op object can be used again"
    yield Claim("TFE_NewOp: return new TFE_Op(…)", words, "no")
    text = "".join(_header(f"c/eager/{name}") for name in ("c_api.h", "tfe_op_internal.h"))
    line = next(line for line in text.splitlines() if line.startswith("typedef struct TFE_Op "))
    still = _yes("struct TFE_Op {" in text)
    words = f"{line} (declared, defined nowhere)"
    yield Claim("struct TFE_Op { EagerOperation operation; … }", words, still)
    text = _header("core/common_runtime/eager/eager_operation.h")
    line = next(line for line in text.splitlines() if line.startswith("class EagerOperation :"))
    members = [name for name in OPERATION if re.search(rf"^  [^(]*\b{name}_;", text, re.MULTILINE)]
    words = f"{line.rstrip(' {')}; it holds {', '.join(members)}"
    yield Claim("EagerOperation in core/common_runtime/eager", words, "yes, with a base")


def _in_sources() -> Iterator[Claim]:
    ops = import_module("tensorflow.python.framework.ops")
    found = re.search(r"[\w.]+\.TFE_Py_InitEagerTensor\(\w+\)", inspect.getsource(ops)).group()
    then = "EagerTensor = c_api.TFE_Py_InitEagerTensor(_EagerTensorBase)"
    yield Claim(then, f"EagerTensor = {found}, then exported", "yes, by another name")
    context = import_module("tensorflow.python.eager.context")
    lines = inspect.getsource(context._create_context).split("\n")
    last = [line.strip() for line in lines if line.strip()][-1]
    then = "_create_context: _context = Context()"
    yield Claim(then, f"{last}, which tells C++ too", "almost")
    source = inspect.getsource(ops.enable_eager_execution)
    same = "if context.default_execution_mode != context.EAGER_MODE:" in source
    words = "the same test is there" if same else "another test is there"
    then = "enable_eager_execution: if the default mode is not eager"
    yield Claim(then, words, _yes(same))


def _header(place: str) -> str:
    return (_root() / "include/tensorflow" / place).read_text()
