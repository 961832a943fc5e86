"""hook.c -> a loaded extension module: compiled once per source and Python, then found again."""

import hashlib
import importlib.machinery
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType

SOURCE = Path(__file__).with_name("hook.c")
PYTHONS = ((3, 11), (3, 12), (3, 13))
KINDS = 0x2A0  # generator, coroutine, asynchronous generator: Include/cpython/code.h
LONGEST = 60  # seconds


class NotBuilt(RuntimeError):
    """There is no extension; the message says why, in one sentence."""


@cache
def extension() -> ModuleType:
    """Return the extension, built if need be. NotBuilt says why there is none."""
    refuse_python()
    path = _folder() / f"_frame_hook-{_key()}{sysconfig.get_config_var('EXT_SUFFIX')}"
    if not path.exists():
        _compile(path)
    try:
        module = _load(path)
    except ImportError:  # a file that something else has damaged
        _compile(path)
        module = _load(path)
    module.set_stub_maker(_stub)
    return module


def refuse_python() -> None:
    """Raise NotBuilt where the frames are not those that hook.c knows."""
    name = sys.implementation.name
    here = f"{name} {sys.version_info[0]}.{sys.version_info[1]}"
    if name != "cpython" or sys.version_info[:2] not in PYTHONS:
        raise NotBuilt(f"the frame hook knows the frames of CPython 3.11 to 3.13; this is {here}")
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise NotBuilt("the frame hook needs a Python with the GIL; this one has none")


def _key() -> str:
    """Return what must be the same for a built file to fit: the source, and this very Python."""
    parts = (SOURCE.read_bytes(), sys.version.encode(), sysconfig.get_path("include").encode())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _folder() -> Path:
    """Return this user's cache folder, or one of this process where that cannot be written."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home, "who-runs-your-function")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="frame-hook-"))


def _compiler() -> list[str]:
    asked = shlex.split(os.environ.get("CC", ""))
    names = [asked] if asked else [["cc"], ["gcc"], ["clang"]]
    for command in names:
        if shutil.which(command[0]):
            return command
    raise NotBuilt("there is no C compiler to build the frame hook with (none of cc, gcc, clang)")


def _compile(path: Path) -> None:
    """Compile into a file of its own, then move it into place: nobody ever sees half of it."""
    command, headers = _compiler(), sysconfig.get_path("include")
    if not Path(headers, "internal", "pycore_frame.h").exists():
        raise NotBuilt("Python's C headers are not installed, and the frame hook needs them")
    handle, half = tempfile.mkstemp(dir=path.parent, suffix=path.suffix)
    os.close(handle)
    mac = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
    flags = ["-O2", "-shared", "-fPIC", "-w", *mac, f"-I{headers}", str(SOURCE), "-o", half]
    try:
        done = subprocess.run(
            [*command, *flags], capture_output=True, timeout=LONGEST, check=False, text=True
        )
        if done.returncode:
            first = next((line for line in done.stderr.splitlines() if "error" in line), "")
            raise NotBuilt(f"the C compiler could not build the frame hook: {first.strip()}")
        os.replace(half, path)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotBuilt(f"the C compiler did not run ({type(error).__name__})") from None
    finally:
        Path(half).unlink(missing_ok=True)


def _load(path: Path) -> ModuleType:
    loader = importlib.machinery.ExtensionFileLoader("_frame_hook", str(path))
    spec = importlib.util.spec_from_loader("_frame_hook", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def _stub(code: CodeType) -> CodeType:
    """Return code with the same places that does nothing but return None."""
    import opcode

    op = opcode.opmap
    steps = bytes([op["RESUME"], 0, op["LOAD_CONST"], 0, op["RETURN_VALUE"], 0])
    return code.replace(
        co_code=steps,
        co_consts=(None,),
        co_exceptiontable=b"",
        co_linetable=b"",
        co_flags=code.co_flags & ~KINDS,
    )
