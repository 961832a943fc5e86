"""A shared library's file -> the names that it exports, read from its own symbol table.

ELF (Linux): the dynamic symbols, .dynsym. Mach-O (macOS): the external ones of LC_SYMTAB, without
the underscore that C names have there. Nothing is loaded or run.
"""

import mmap
import re
import struct
from collections.abc import Iterator
from pathlib import Path

ELF, MACH_O = b"\x7fELF", b"\xcf\xfa\xed\xfe"
ELF_DYNSYM, MACH_SYMTAB = 11, 2
MACH_TYPE, MACH_EXTERNAL, MACH_DEFINED = 0x0E, 0x01, 0x0E


def exported(path: Path, pattern: str) -> list[str]:
    """Return, sorted, the exported names whose beginning the regular expression matches.

    ValueError if the file is neither 64-bit ELF nor 64-bit Mach-O.
    """
    wanted = re.compile(pattern.encode()).match
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        reader = {ELF: _elf, MACH_O: _mach_o}.get(bytes(data[:4]))
        if reader is None or (reader is _elf and data[4:6] != b"\x02\x01"):
            raise ValueError(f"{path.name} is neither ELF nor Mach-O of 64 bits")
        return sorted(name.decode() for name in reader(data) if wanted(name))


def _elf(data) -> Iterator[bytes]:
    """Yield every defined dynamic symbol. Layouts: man 5 elf, Elf64_Ehdr, Elf64_Shdr, Elf64_Sym."""
    (start,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    places = range(start, start + size * count, size)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, place) for place in places]
    for section in sections:
        if section[1] == ELF_DYNSYM:
            names = _piece(data, *sections[section[6]][4:6])
            table = struct.iter_unpack("<IBBHQQ", _piece(data, *section[4:6]))
            yield from (_name(names, row[0]) for row in table if row[0] and row[3])


def _mach_o(data) -> Iterator[bytes]:
    """Yield every defined external symbol. Layouts: mach-o/loader.h, mach-o/nlist.h."""
    (count,) = struct.unpack_from("<I", data, 16)
    place = 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, place)
        if command == MACH_SYMTAB:
            at, rows, names_at, names_size = struct.unpack_from("<IIII", data, place + 8)
            names = _piece(data, names_at, names_size)
            for row in struct.iter_unpack("<IBBHQ", _piece(data, at, rows * 16)):
                if row[1] & MACH_EXTERNAL and row[1] & MACH_TYPE == MACH_DEFINED:
                    yield _name(names, row[0]).removeprefix(b"_")
        place += size


def _piece(data, start, size) -> bytes:
    return data[start : start + size]


def _name(names: bytes, start: int) -> bytes:
    return names[start : names.index(b"\0", start)]
