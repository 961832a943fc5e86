"""hook.c -> a loaded extension module: compiled once per source and Python, then found again."""

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
BUILD_SECONDS = 60  # at most


class NotBuilt(OneSentence, RuntimeError):
    """There is no extension. The message says why in one sentence."""


@cache
def extension() -> ModuleType:
    """Return the extension, built if need be. NotBuilt says why there is none."""
    spec = importlib.util.spec_from_file_location("_frame_hook", build())
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.set_up(_make_stub)
    except (ImportError, RuntimeError) as error:
        raise NotBuilt(f"the frame hook cannot be loaded here: {error}") from None
    return module


def build() -> Path:
    """Return the file of the extension, compiled if need be. NotBuilt says why there is none."""
    refuse_python()
    home = folders.cache("frame_hook")
    headers = sysconfig.get_path("include")
    inputs = (SOURCE.read_bytes(), sys.version.encode(), os.fsencode(headers))
    key = hashlib.sha256(b"\0".join(inputs)).hexdigest()[:16]
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    path = home.path / f"_frame_hook-{key}{suffix}"
    if not path.exists():
        _compile(home, path.name)
    return path


def refuse_python() -> None:
    """Raise NotBuilt where the frames are not those that hook.c knows."""
    if sys.version_info[:2] not in PYTHONS or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise NotBuilt("the frame hook knows the frames of CPython 3.11 to 3.13, with the GIL")


def _compile(home: folders.ManagedDirectory, name: str) -> None:
    """Compile hook.c to the file `name` in `home`. NotBuilt says why that cannot be done.

    It is compiled in a separate folder, then moved into place, so that it is never half there.
    """
    compiler = _find_compiler()
    if compiler is None:
        raise NotBuilt(f"there is no C compiler to build the frame hook with: {COMPILER_CURE}")
    flags = ["-O2", "-shared", "-fPIC", "-w"]
    if sys.platform == "darwin":
        flags += ["-undefined", "dynamic_lookup"]
    headers = sysconfig.get_path("include")
    try:
        with progress.doing("compiling the frame hook"), home.work() as work:
            command = [*compiler, *flags, f"-I{headers}", str(SOURCE), "-o", str(work / name)]
            # A compiler that is ended leaves files in TMPDIR.
            process = run_command(command, BUILD_SECONDS, env={**os.environ, "TMPDIR": str(work)})
            if process.late or process.code:
                error = _find_error(process.err)
                raise NotBuilt(f"the C compiler could not build the frame hook: {error}")
            home.put(work / name, name)
    except OSError as error:
        raise NotBuilt(f"the C compiler did not run ({type(error).__name__})") from None


def _find_compiler() -> list[str] | None:
    """Return the command of a C compiler, $CC if that is set; None where there is none."""
    requested = os.environ.get("CC")
    names = [requested] if requested else ["cc", "gcc", "clang"]
    for name in names:
        command = shlex.split(name)
        if shutil.which(command[0]):
            return command
    return None


def _find_error(message: str) -> str:
    """Return the first line of a compiler's message that tells of an error."""
    for line in message.splitlines():
        if "error" in line:
            return line.strip()
    return ""


def _make_stub(code: CodeType) -> CodeType:
    """Return code with the same places that does nothing but return None."""
    numbers = opcode.opmap
    bytecode = bytes([numbers["RESUME"], 0, numbers["LOAD_CONST"], 0, numbers["RETURN_VALUE"], 0])
    return code.replace(
        co_code=bytecode,
        co_consts=(None,),
        co_flags=code.co_flags & ~GENERATOR_KINDS,
        co_exceptiontable=b"",
        co_linetable=b"",
    )
