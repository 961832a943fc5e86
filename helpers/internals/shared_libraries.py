"""A shared library -> the names that it exports, and the slots through which it calls others.

The names of an ELF file (Linux) are its dynamic symbols, `.dynsym`; those of a Mach-O file (macOS)
are the external symbols of LC_SYMTAB. Layouts: man 5 elf, mach-o/loader.h.

A call into another library goes through the global offset table (on Linux). It has a slot for each
function, which is filled in when the function is first called. A slot is to C what a name in a
module's `__dict__` is to Python.
"""

import mmap
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

# The first bytes of a file, its magic number; the two after ELF's are for 64 bits, little-endian.
ELF = b"\x7fELF"
ELF_64 = b"\x02\x01"
MACH_O = b"\xcf\xfa\xed\xfe"
# Types of an ELF section (sh_type), and the size of a symbol in bytes.
SECTION_DYNSYM = 11
SECTION_RELOCATIONS = 4
SYMBOL_SIZE = 24
# Mach-O: the load command LC_SYMTAB, and bits of a symbol's n_type.
MACH_SYMTAB = 2
MACH_TYPE_MASK = 0x0E
MACH_EXTERNAL = 0x01
MACH_DEFINED = 0x0E
MACH_SYMBOL_SIZE = 16
# The machine of an ELF file (e_machine) -> its relocation type JUMP_SLOT: x86-64, aarch64.
JUMP_SLOTS = {62: 7, 183: 1026}
MEMORY_MAPS = Path("/proc/self/maps")


class _Section(NamedTuple):
    """A section header of an ELF file, Elf64_Shdr, with its fields in the order of the file."""

    name: int
    type: int
    flags: int
    address: int
    #: Where the section begins in the file, in bytes.
    offset: int
    #: How many bytes it has.
    size: int
    #: The number of another section: of a table of symbols, or of names.
    link: int
    info: int
    alignment: int
    entry_size: int


@dataclass(frozen=True)
class _MemoryRange:
    """A range of addresses into which a file is loaded."""

    #: Its first address.
    start: int
    #: The address after its last.
    end: int
    #: Whether this process may write to it.
    is_writable: bool


def list_exported_names(path: Path, pattern: str) -> list[str]:
    """Return, sorted, the exported names of a library that begin as a regular expression says.

    Raise ValueError if the file is of another kind than the two that this module can read.
    """
    is_wanted = re.compile(pattern.encode()).match
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:6] == ELF + ELF_64:
            names = _read_elf_names(data)
        elif data[:4] == MACH_O:
            names = _read_mach_o_names(data)
        else:
            raise ValueError(f"{path.name} is neither a 64-bit ELF nor a 64-bit Mach-O file")
        return sorted(name.decode() for name in names if is_wanted(name))


def find_import_slots(path: Path) -> dict[str, int]:
    """Return the name of each imported function -> the address of its slot in this process.

    The dict is empty where the library is not loaded, or is not of a system that this can read.
    """
    data = path.read_bytes()
    (machine,) = struct.unpack_from("<H", data, 18)
    is_known = data[:6] == ELF + ELF_64 and machine in JUMP_SLOTS
    if not is_known or not MEMORY_MAPS.exists():
        return {}

    # Addresses in the file count from where the first part of it is loaded.
    ranges = _list_memory_ranges(path.name)
    base = min((memory.start for memory in ranges), default=0)
    slots = {}
    for name, offset in _read_jump_slots(data, JUMP_SLOTS[machine]):
        address = base + offset
        # A slot that the linker has made read-only after loading (RELRO) cannot be replaced.
        if any(memory.start <= address < memory.end for memory in ranges if memory.is_writable):
            slots[name.decode()] = address
    return slots


def _list_memory_ranges(file_name: str) -> list[_MemoryRange]:
    """Return where the file of this name is loaded into this process (man 5 proc, `maps`)."""
    ranges = []
    for line in MEMORY_MAPS.read_text("utf-8", "replace").splitlines():
        if line.endswith(f"/{file_name}"):
            addresses, rights, *_ = line.split()
            start, end = (int(address, 16) for address in addresses.split("-"))
            ranges.append(_MemoryRange(start, end, "w" in rights))
    return ranges


def _read_jump_slots(data: bytes, jump_slot: int) -> Iterator[tuple[bytes, int]]:
    """Yield the name of each imported function of an ELF file, and its slot's offset in memory.

    `jump_slot` is the machine's number for a relocation (Elf64_Rela) that fills in such a slot.
    """
    sections = _read_sections(data)
    for section in sections:
        if section.type != SECTION_RELOCATIONS:
            continue
        rows = data[section.offset : section.offset + section.size]
        for offset, info, _ in struct.iter_unpack("<QQq", rows):
            # The low half of `info` is the type, and the high half the number of a symbol.
            if info & 0xFFFFFFFF == jump_slot:
                symbols = sections[section.link]
                names = sections[symbols.link]
                symbol = symbols.offset + SYMBOL_SIZE * (info >> 32)
                (name_offset,) = struct.unpack_from("<I", data, symbol)
                yield _read_name(data, names.offset + name_offset), offset


def _read_sections(data: bytes | mmap.mmap) -> list[_Section]:
    """Return the section headers of an ELF file."""
    (start,) = struct.unpack_from("<Q", data, 40)  # e_shoff
    size, count = struct.unpack_from("<HH", data, 58)  # e_shentsize, e_shnum
    offsets = range(start, start + size * count, size)
    return [_Section(*struct.unpack_from("<IIQQQQIIQQ", data, offset)) for offset in offsets]


def _read_elf_names(data: mmap.mmap) -> Iterator[bytes]:
    """Yield the name of every defined dynamic symbol of an ELF file."""
    sections = _read_sections(data)
    for section in sections:
        if section.type != SECTION_DYNSYM:
            continue
        names = sections[section.link]
        rows = data[section.offset : section.offset + section.size]
        # Elf64_Sym; a symbol of section 0 is defined in another library.
        for name_offset, _, _, section_number, _, _ in struct.iter_unpack("<IBBHQQ", rows):
            if name_offset and section_number:
                yield _read_name(data, names.offset + name_offset)


def _read_mach_o_names(data: mmap.mmap) -> Iterator[bytes]:
    """Yield the name of every defined external symbol of a Mach-O file, without its underscore."""
    (command_count,) = struct.unpack_from("<I", data, 16)  # ncmds
    offset = 32  # of the first load command, after the header
    for _ in range(command_count):
        command, size = struct.unpack_from("<II", data, offset)
        if command == MACH_SYMTAB:
            start, count, names = struct.unpack_from("<III", data, offset + 8)
            rows = data[start : start + count * MACH_SYMBOL_SIZE]
            for name_offset, symbol_type, *_ in struct.iter_unpack("<IBBHQ", rows):  # nlist_64
                is_defined = symbol_type & MACH_TYPE_MASK == MACH_DEFINED
                if symbol_type & MACH_EXTERNAL and is_defined:
                    yield _read_name(data, names + name_offset).removeprefix(b"_")
        offset += size


def _read_name(data: bytes | mmap.mmap, start: int) -> bytes:
    """Return the bytes from `start` up to the next null byte."""
    return data[start : data.find(b"\0", start)]
