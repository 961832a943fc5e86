"""This TensorFlow -> where its C functions are: by library, by Python module, then and now.

Every answer is looked up: in the symbol tables of the installed files, in the live modules, in the
installed sources and headers. Only the column `then` is what readers learned in 2019.
"""

import inspect
import re
from collections.abc import Iterator
from dataclasses import make_dataclass
from importlib import import_module, metadata
from pathlib import Path

from ...internals.shared_libraries import exported
from ...model.tables import Column, Listing
from ..text.error import error_message

PATTERN = r"TFE?_|PyInit_|_Z\d+(?:TFE_Py_|EagerTensor)"
C_NAMES = "TF_NewStatus", "TFE_NewOp", "TFE_Execute"
CPP_NAMES = "TFE_Py_Execute", "TFE_Py_FastPathExecute_C", "TFE_Py_InitEagerTensor"
CPP_NAMES += "EagerTensor_Handle", "EagerTensorFromHandle"
OPERATION = ("ctx", "op_name", "attrs", "inputs", "device", "is_function", "executor")
LIBRARY = {"name": "library", "tf": "TF_…", "tfe": "TFE_…", "tfe_py": "TFE_Py_… (C++)"}
LIBRARY |= {"holds": "names this chapter uses", "module": "a Python module"}
LIBRARIES = "libtensorflow_framework", "libtensorflow_cc", "python/lib_pywrap_tensorflow_common"
LIBRARIES += "python/_pywrap_tensorflow_internal", "python/_pywrap_tfe"
Library = make_dataclass("Library", LIBRARY, frozen=True)
Claim = make_dataclass("Claim", ("then", "now", "still"), frozen=True)


def c_libraries() -> Listing:
    """List TensorFlow's shared libraries and the C functions that each file exports."""
    rows = tuple(_library(path) for path in _files())
    columns = tuple(Column(*one, one[0] in ("name", "holds")) for one in LIBRARY.items())
    note = "Counts of exported names, from the symbol table of each file."
    return Listing("Which library exports what", columns, rows, note)


def then_and_now() -> Listing:
    """Compare what Python imported to reach C in 2019 with what is there now, looked up live."""
    columns = Column("then", "then", True), Column("now", "now", True), Column("still", "the same?")
    rows = (Claim(*one) for one in (*_in_modules(), *_in_headers(), *_in_sources()))
    return Listing("From Python to C: then and now", columns, tuple(rows))


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
        "yes" if any(name.startswith("PyInit_") for name in names) else "no",
    )


def _root() -> Path:
    return Path(import_module("tensorflow").__file__).parent


def _files() -> list[Path]:
    found = (sorted(_root().glob(f"{name}.*")) for name in LIBRARIES)
    return [next(path for path in paths if path.suffix != ".pyi") for paths in found]


def _in_modules() -> Iterator[tuple[str, str, str]]:
    names = vars(import_module("tensorflow.python.pywrap_tensorflow"))
    sources = (path.read_bytes() for path in _root().rglob("*.py"))
    importers = sum(b"import pywrap_tensorflow" in source for source in sources)
    now = f"importable; {importers} of the package's files import it; names in it that begin "
    now += f"with TFE_: {sum(name.startswith('TFE_') for name in names)}"
    yield "from tensorflow.python import pywrap_tensorflow", now, "only the name is"
    now, still = "importable", "yes"
    try:
        import_module("tensorflow.python.pywrap_tensorflow_internal")
    except ModuleNotFoundError as error:
        now, still = error_message(error), "no"
    yield "pywrap_tensorflow_internal.py", now, still
    module = import_module("tensorflow.python._pywrap_tensorflow_internal")
    now = ", ".join(name for name in vars(module) if not name.startswith("_"))
    then = "pywrap_tensorflow_internal contains every C function"
    yield then, f"_pywrap_tensorflow_internal contains {now}", "no"
    package = metadata.packages_distributions()["tensorflow"][0]
    names = [file.name for file in metadata.files(package)]
    count = sum(name.endswith(".i") or "swig" in name.lower() for name in names)
    left = len(exported(_files()[2], "_ZNK?10tensorflow4swig"))
    now = f"files named *.i or *swig* in the package: {count}; C++ names left in tensorflow::swig"
    yield "SWIG writes the wrappers, from *.i files", f"{now}: {left}", "no" if not count else "yes"
    kind = type(import_module("tensorflow.python._pywrap_tfe").TFE_Executor)
    now = f"classes of _pywrap_tfe are made by {kind.__module__}.{kind.__name__}"
    yield "SWIG's proxy classes", now, "no"
    files = (path for path in _root().rglob("*.so") if not path.name.startswith("lib"))
    count = sum(bool(exported(path, "PyInit_")) for path in files)  # the others hold ops
    yield "one extension module", f"{count} extension modules in the package", "no"
    module = import_module("tensorflow.python.pywrap_tfe")
    count, execute = sum(name.startswith("TFE_") for name in vars(module)), module.TFE_Py_Execute
    now = f"tensorflow.python.pywrap_tfe: {count} names, from {execute.__module__}"
    yield "pywrap_tensorflow.TFE_…", now, "moved"
    given = execute.__doc__.partition("(")[2].partition(")")[0].split(",")
    now = f"pywrap_tfe.TFE_Py_Execute takes {len(given)} arguments"
    yield "TFE_Py_Execute(handle, device, op, inputs, attrs, n)", now, "yes, elsewhere"


def _in_headers() -> Iterator[tuple[str, str, str]]:
    given = re.search(r"void TFE_Py_Execute\((.*?)\);", _header("python/eager/pywrap_tfe.h"), re.S)
    now = f"{given[1].count(',') + 1} parameters, as installed in pywrap_tfe.h"
    yield "void TFE_Py_Execute(…), 7 parameters in C", now, "yes"
    makes = "CreateOperation()" in _header("c/eager/immediate_execution_context.h")
    resets = "Reset(const char* op" in _header("c/eager/abstract_operation.h")
    now = " and ".join(["CreateOperation"] * makes + ["Reset"] * resets)
    now = f"in the headers: {now}, so that an op object can be used again"
    yield "TFE_NewOp: return new TFE_Op(…)", now, "no"
    text = "".join(_header(f"c/eager/{name}") for name in ("c_api.h", "tfe_op_internal.h"))
    line = re.search("^typedef struct TFE_Op .*", text, re.M)[0]
    still = "yes" if "struct TFE_Op {" in text else "no"
    now = f"{line} (declared, defined nowhere)"
    yield "struct TFE_Op { EagerOperation operation; … }", now, still
    text = _header("core/common_runtime/eager/eager_operation.h")
    line = re.search("^class EagerOperation :.*", text, re.M)[0].rstrip(" {")
    members = [name for name in OPERATION if re.search(rf"^  [^(]*\b{name}_;", text, re.M)]
    now = f"{line}; its members: {', '.join(members)}"
    yield "EagerOperation in core/common_runtime/eager", now, "yes, with a base"


def _in_sources() -> Iterator[tuple[str, str, str]]:
    ops = import_module("tensorflow.python.framework.ops")
    found = re.search(r"[\w.]+\.TFE_Py_InitEagerTensor\(\w+\)", inspect.getsource(ops)).group()
    then = "EagerTensor = c_api.TFE_Py_InitEagerTensor(_EagerTensorBase)"
    yield then, f"EagerTensor = {found}, then exported", "yes, by another name"
    context = import_module("tensorflow.python.eager.context")
    last = inspect.getsource(context._create_context).split()[-1]
    yield "_create_context: _context = Context()", f"{last}, which also informs C++", "almost"
    source = inspect.getsource(ops.enable_eager_execution)
    same = "if context.default_execution_mode != context.EAGER_MODE:" in source
    now, still = ("the same test is there", "yes") if same else ("another test is there", "no")
    yield "enable_eager_execution: if the default mode is not eager", now, still


def _header(place: str) -> str:
    return (_root() / "include/tensorflow" / place).read_text()
