"""The installed TensorFlow -> a table that says which shared library exports which C functions.
Each row is one of five files, such as `libtensorflow_framework.so.2`. What a file exports is read
from its symbol table. C++ functions have *mangled* names there, as in `_Z14TFE_Py_Execute…`: `_Z`,
the length of the name, the name, and the types of the parameters.
"""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from ...internals.shared_libraries import list_exported_names
from ...model.tables import Column, Listing

C_FUNCTIONS_OR_MODULE = r"TFE?_|PyInit_|_Z\d+(?:TFE_Py_|EagerTensor)"
C_NAMES = ("TF_NewStatus", "TFE_NewOp", "TFE_Execute")
CPP_NAMES = (
    "TFE_Py_Execute",
    "TFE_Py_FastPathExecute_C",
    "TFE_Py_InitEagerTensor",
    "EagerTensor_Handle",
    "EagerTensorFromHandle",
)

LIBRARIES = (
    "libtensorflow_framework",
    "libtensorflow_cc",
    "python/lib_pywrap_tensorflow_common",
    "python/_pywrap_tensorflow_internal",
    "python/_pywrap_tfe",
)
# A mangled name is searched for "TFE_Py_" only in so many characters at its start: `_Z`, up to
# three digits, `TFE_Py_`. What follows are types of parameters, which may contain the same letters.
MANGLED_START_LENGTH = 12
COLUMNS = (
    Column("name", "library", code=True),
    Column("tf", "TF_…"),
    Column("tfe", "TFE_…"),
    Column("tfe_py", "TFE_Py_… (C++)"),
    Column("holds", "names this chapter uses", code=True),
    Column("module", "a Python module"),
)


@dataclass(frozen=True)
class Library:
    """One shared library, and what it exports."""

    #: the name of the file, without what follows the first dot
    name: str
    #: how many C functions begin with `TF_`
    tf: int
    #: how many C functions begin with `TFE_`
    tfe: int
    #: how many C++ functions begin with `TFE_Py_`
    tfe_py: int
    #: those names that the chapter uses
    holds: str
    #: "yes" if Python can import the file, else "no"
    module: str


def list_libraries() -> Listing:
    """List TensorFlow's shared libraries and the C functions that each file exports."""
    rows = tuple(_read_library(path) for path in find_library_files())
    note = "Counts of exported names, from the symbol table of each file."
    return Listing("Which library exports what", COLUMNS, rows, note)


def _read_library(path: Path) -> Library:
    """Return the row of one library file: how many names of each kind it exports."""
    names = list_exported_names(path, C_FUNCTIONS_OR_MODULE)
    used_names = [name for name in C_NAMES if name in names]
    used_names += [name for name in CPP_NAMES if _has_cpp_name(names, name)]
    library_name, _, _ = path.name.partition(".")
    cpp_names = [name for name in names if name.startswith("_Z")]
    is_module = any(name.startswith("PyInit_") for name in names)
    return Library(
        name=library_name,
        tf=_count_prefix(names, "TF_"),
        tfe=_count_prefix(names, "TFE_"),
        tfe_py=sum("TFE_Py_" in name[:MANGLED_START_LENGTH] for name in cpp_names),
        holds=", ".join(used_names),
        module="yes" if is_module else "no",
    )


def _has_cpp_name(symbols, name: str) -> bool:
    """Return whether a C++ function of this name is among the symbols of a file.

    `f(int)` is there as `_Z1fi`: `_Z`, the length of the name, the name, the types.
    """
    mangled_start = f"_Z{len(name)}{name}"
    return any(symbol.startswith(mangled_start) for symbol in symbols)


def _count_prefix(names, prefix: str) -> int:
    """Return how many names begin with a prefix."""
    return sum(name.startswith(prefix) for name in names)


def find_package_folder() -> Path:
    """Return the folder of the installed TensorFlow."""
    return Path(import_module("tensorflow").__file__).parent


def find_library_files() -> list[Path]:
    """Return the path of each library in LIBRARIES, in that order.

    The end of a file's name depends on the platform, as in `.so.2` and `.dylib`.
    """
    files = []
    for name in LIBRARIES:
        paths = sorted(find_package_folder().glob(f"{name}.*"))
        # A `.pyi` with the types of a module stands beside the module.
        files.append(next(path for path in paths if path.suffix != ".pyi"))
    return files
