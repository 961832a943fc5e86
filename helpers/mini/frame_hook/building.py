"""Compiles hook.c to an extension module, the frame hook, and loads it. The compiled file stays in
a cache folder, under a key made of the source and the version of Python.
"""

import hashlib
import importlib.util
import opcode
import os
import shlex
import shutil
import sys
import sysconfig
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType

from ...safety import folders, progress
from ...safety.children import run_command
from ...safety.missing_parts import COMPILER_CURE, OneSentence

SOURCE = Path(__file__).with_name("hook.c")
PYTHONS = ((3, 11), (3, 12), (3, 13))
GENERATOR_KINDS = 0x2A0  # generator, coroutine, asynchronous generator: Include/cpython/code.h
BUILD_SECONDS = 60  # time limit of the C compiler


class NotBuilt(OneSentence, RuntimeError):
    """The frame hook could not be built or loaded. The message says why in one sentence."""


@cache
def extension() -> ModuleType:
    """Load the frame hook, and compile it first if necessary. Raise NotBuilt if that fails."""
    spec = importlib.util.spec_from_file_location("_frame_hook", build())
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.set_up(_make_stub)  # hook.c calls `_make_stub` to skip the code of a frame
    except (ImportError, RuntimeError) as error:
        raise NotBuilt(f"the frame hook cannot be loaded here: {error}") from None
    return module


def build() -> Path:
    """Return the path of the compiled extension; compile it if it is not in the cache.

    Raise NotBuilt if that fails.
    """
    refuse_python()
    cache_folder = folders.open_cache_folder("frame_hook")
    headers = sysconfig.get_path("include")
    inputs = (SOURCE.read_bytes(), sys.version.encode(), os.fsencode(headers))
    key = hashlib.sha256(b"\0".join(inputs)).hexdigest()[:16]
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    path = cache_folder.path / f"_frame_hook-{key}{suffix}"
    if not path.exists():
        _compile(cache_folder, path.name)
    return path


def refuse_python() -> None:
    """Raise NotBuilt on a Python whose frame layout hook.c does not know."""
    if sys.version_info[:2] not in PYTHONS or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise NotBuilt("the frame hook knows the frames of CPython 3.11 to 3.13, with the GIL")


def _compile(cache_folder: folders.ManagedDirectory, name: str) -> None:
    """Compile hook.c to the file `name` in the cache folder. Raise NotBuilt if that fails.

    The compiler writes into a separate folder, and the finished file is moved into place. So
    another process never sees an incomplete file.
    """
    compiler = _find_compiler()
    if compiler is None:
        raise NotBuilt(f"there is no C compiler to build the frame hook with: {COMPILER_CURE}")
    flags = ["-O2", "-shared", "-fPIC", "-w"]
    if sys.platform == "darwin":  # symbols of Python are found when the extension is loaded
        flags += ["-undefined", "dynamic_lookup"]
    headers = sysconfig.get_path("include")
    try:
        with progress.report_activity("compiling the frame hook"), cache_folder.work() as work:
            command = [*compiler, *flags, f"-I{headers}", str(SOURCE), "-o", str(work / name)]
            # A compiler that is stopped at the time limit leaves files in TMPDIR.
            process = run_command(command, BUILD_SECONDS, env={**os.environ, "TMPDIR": str(work)})
            if process.hit_time_limit or process.code:
                error = _find_error(process.err)
                raise NotBuilt(f"the C compiler could not build the frame hook: {error}")
            cache_folder.put(work / name, name)
    except OSError as error:
        raise NotBuilt(f"the C compiler did not run ({type(error).__name__})") from None


def _find_compiler() -> list[str] | None:
    """Return the command of a C compiler as a list of words; None if there is none.

    If $CC is set, only that is tried.
    """
    requested = os.environ.get("CC")
    names = [requested] if requested else ["cc", "gcc", "clang"]
    for name in names:
        command = shlex.split(name)
        if shutil.which(command[0]):
            return command
    return None


def _find_error(message: str) -> str:
    """Return the first line with "error" in a compiler's message; "" if there is none."""
    for line in message.splitlines():
        if "error" in line:
            return line.strip()
    return ""


def _make_stub(code: CodeType) -> CodeType:
    """Return code with the parameters and locals of `code` that only returns None.

    hook.c runs it in a frame whose real code must not run.
    """
    numbers = opcode.opmap
    bytecode = bytes([numbers["RESUME"], 0, numbers["LOAD_CONST"], 0, numbers["RETURN_VALUE"], 0])
    return code.replace(
        co_code=bytecode,
        co_consts=(None,),
        co_flags=code.co_flags & ~GENERATOR_KINDS,
        co_exceptiontable=b"",
        co_linetable=b"",
    )
