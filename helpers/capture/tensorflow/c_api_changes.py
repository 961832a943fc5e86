"""What readers learned in 2019 on TensorFlow's way from Python to C -> whether it is still true.

Each row is a Claim: a line of code from 2019 (`then`), what the installed TensorFlow has (`now`),
and whether both are the same (`still`). `now` is looked up in the live modules, and in the
installed sources and headers.
"""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module, metadata

from ...internals.shared_libraries import list_exported_names
from ...model.tables import Column, Listing
from ..text.error import describe_error
from .c_libraries import LIBRARIES, find_library_files, find_package_folder

OLD_LIBRARY = "python/lib_pywrap_tensorflow_common"
SWIG_NAMES = "_ZNK?10tensorflow4swig"  # C++ names in the namespace tensorflow::swig
OPERATION_MEMBERS = ("ctx", "op_name", "attrs", "inputs", "device", "is_function", "executor")
COLUMNS = (
    Column("then", "then", code=True),
    Column("now", "now", code=True),
    Column("still", "the same?"),
)


@dataclass(frozen=True)
class Claim:
    """One line that readers learned in 2019, and what is true now."""

    #: the line of 2019
    then: str
    #: what was looked up
    now: str
    #: whether it is the same, in a word or a few
    still: str


def list_changes() -> Listing:
    """Return the table of all claims: from Python to C in 2019, and in this TensorFlow."""
    claims = (
        *_list_modules(),
        *_list_builders(),
        *_list_entry_points(),
        *_list_headers(),
        *_list_sources(),
    )
    return Listing("From Python to C: then and now", COLUMNS, claims)


def _list_modules() -> Iterator[Claim]:
    """Yield the claims on the Python modules through which TensorFlow's C functions are called.

    In 2019 it was `pywrap_tensorflow`, with all functions of C. Now it is almost empty.
    """
    names = vars(import_module("tensorflow.python.pywrap_tensorflow"))
    sources = [path.read_bytes() for path in find_package_folder().rglob("*.py")]
    importer_count = sum(b"import pywrap_tensorflow" in source for source in sources)
    # In 2019 the module had the functions that run ops, such as TFE_Py_Execute.
    tfe_count = sum(name.startswith("TFE_") for name in names)
    yield Claim(
        "from tensorflow.python import pywrap_tensorflow",
        f"importable; {importer_count} of the package's files import it; "
        f"names in it that begin with TFE_: {tfe_count}",
        "only the name is",
    )

    now = "importable"
    still = "yes"
    try:
        import_module("tensorflow.python.pywrap_tensorflow_internal")
    except ModuleNotFoundError as error:
        now = describe_error(error)
        still = "no"
    yield Claim("pywrap_tensorflow_internal.py", now, still)

    module = import_module("tensorflow.python._pywrap_tensorflow_internal")
    public_names = ", ".join(name for name in vars(module) if not name.startswith("_"))
    yield Claim(
        "pywrap_tensorflow_internal contains every C function",
        f"_pywrap_tensorflow_internal contains {public_names}",
        "no",
    )


def _list_builders() -> Iterator[Claim]:
    """Yield the claims on what generates the wrappers that let Python call C.

    In 2019 it was SWIG, with an input file `*.i` for each module. Now it is pybind11. Three things
    are counted: files of SWIG, C++ names of SWIG, and the extension modules (one in 2019).
    """
    package = metadata.packages_distributions()["tensorflow"][0]
    file_names = [file.name for file in metadata.files(package)]
    swig_files = [name for name in file_names if name.endswith(".i") or "swig" in name.lower()]
    old_library = find_library_files()[LIBRARIES.index(OLD_LIBRARY)]
    remaining_name_count = len(list_exported_names(old_library, SWIG_NAMES))
    yield Claim(
        "SWIG writes the wrappers, from *.i files",
        f"files named *.i or *swig* in the package: {len(swig_files)}; "
        f"C++ names left in tensorflow::swig: {remaining_name_count}",
        "yes" if swig_files else "no",
    )

    # The metaclass of a wrapper class shows which tool made the class.
    metaclass = type(import_module("tensorflow.python._pywrap_tfe").TFE_Executor)
    yield Claim(
        "SWIG's proxy classes",
        f"classes of _pywrap_tfe are made by {metaclass.__module__}.{metaclass.__name__}",
        "no",
    )

    files = list(find_package_folder().rglob("*.so"))
    # A file whose name begins with "lib" is a library of C++ or of ops, and no extension module.
    candidates = [path for path in files if not path.name.startswith("lib")]
    # Python can import a shared library that exports a function PyInit_<name of the module>.
    extension_count = sum(bool(list_exported_names(path, "PyInit_")) for path in candidates)
    yield Claim("one extension module", f"{extension_count} extension modules in the package", "no")


def _list_entry_points() -> Iterator[Claim]:
    """Yield the claims on `TFE_Py_Execute`, which runs an op: its module and its parameters."""
    module = import_module("tensorflow.python.pywrap_tfe")
    execute = module.TFE_Py_Execute
    count = sum(name.startswith("TFE_") for name in vars(module))
    yield Claim(
        "pywrap_tensorflow.TFE_…",
        f"tensorflow.python.pywrap_tfe: {count} names, from {execute.__module__}",
        "moved",
    )

    # pybind11 writes the signature at the start of the docstring, as in "f(arg0: int, arg1: str)".
    _, _, after_bracket = execute.__doc__.partition("(")
    parameters, _, _ = after_bracket.partition(")")
    parameter_count = len(parameters.split(","))
    yield Claim(
        "TFE_Py_Execute(handle, device, op, inputs, attrs, n)",
        f"pywrap_tfe.TFE_Py_Execute takes {parameter_count} arguments",
        "yes, elsewhere",
    )


def _list_headers() -> Iterator[Claim]:
    """Yield the claims on C and C++ declarations, each looked up in one installed header.

    They are TFE_Py_Execute, the function that makes an op, the struct TFE_Op, and the class
    EagerOperation.
    """
    header = _read_header("python/eager/pywrap_tfe.h")
    declaration = re.search(r"void TFE_Py_Execute\((.*?)\);", header, re.DOTALL)
    parameter_count = declaration[1].count(",") + 1
    yield Claim(
        "void TFE_Py_Execute(…), 7 parameters in C",
        f"{parameter_count} parameters, as installed in pywrap_tfe.h",
        "yes",
    )

    # Since 2019, one object of an op serves many calls: `Reset` gives it another op's name.
    methods = []
    if "CreateOperation()" in _read_header("c/eager/immediate_execution_context.h"):
        methods.append("CreateOperation")
    if "Reset(const char* op" in _read_header("c/eager/abstract_operation.h"):
        methods.append("Reset")
    yield Claim(
        "TFE_NewOp: return new TFE_Op(…)",
        f"in the headers: {' and '.join(methods)}, so that an op object can be used again",
        "no",
    )

    # A typedef names the struct without its members. "struct TFE_Op {" would define the members.
    header = _read_header("c/eager/c_api.h") + _read_header("c/eager/tfe_op_internal.h")
    line = re.search("^typedef struct TFE_Op .*", header, re.MULTILINE)[0]
    yield Claim(
        "struct TFE_Op { EagerOperation operation; … }",
        f"{line} (declared, defined nowhere)",
        "yes" if "struct TFE_Op {" in header else "no",
    )

    header = _read_header("core/common_runtime/eager/eager_operation.h")
    line = re.search("^class EagerOperation :.*", header, re.MULTILINE)[0].rstrip(" {")
    members = []
    for name in OPERATION_MEMBERS:
        # A member is declared as in "  EagerContext& ctx_;": two spaces, no bracket before it.
        if re.search(rf"^  [^(]*\b{name}_;", header, re.MULTILINE):
            members.append(name)
    yield Claim(
        "EagerOperation in core/common_runtime/eager",
        f"{line}; its members: {', '.join(members)}",
        "yes, with a base",
    )


def _list_sources() -> Iterator[Claim]:
    """Yield the claims on three places of TensorFlow's Python sources, read as text.

    They are the line that makes the class EagerTensor, the function that makes the eager context,
    and the test in `enable_eager_execution`.
    """
    ops = import_module("tensorflow.python.framework.ops")
    source = inspect.getsource(ops)
    call = re.search(r"[\w.]+\.TFE_Py_InitEagerTensor\(\w+\)", source).group()
    yield Claim(
        "EagerTensor = c_api.TFE_Py_InitEagerTensor(_EagerTensorBase)",
        f"EagerTensor = {call}, then exported",
        "yes, by another name",
    )

    context = import_module("tensorflow.python.eager.context")
    # The function ends with a call of the function that now sets the context.
    last_word = inspect.getsource(context._create_context).split()[-1]
    yield Claim(
        "_create_context: _context = Context()", f"{last_word}, which also informs C++", "almost"
    )

    source = inspect.getsource(ops.enable_eager_execution)
    has_test = "if context.default_execution_mode != context.EAGER_MODE:" in source
    yield Claim(
        "enable_eager_execution: if the default mode is not eager",
        "the same test is there" if has_test else "another test is there",
        "yes" if has_test else "no",
    )


def _read_header(source_path: str) -> str:
    """Return the text of an installed header, such as "c/eager/c_api.h" in TensorFlow's sources."""
    return (find_package_folder() / "include/tensorflow" / source_path).read_text()
