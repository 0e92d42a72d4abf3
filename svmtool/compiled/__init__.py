"""Compiled loops: declares Python functions as loops and finds or compiles their machine code.

A loop is a function over 1-D C-contiguous arrays and scalars, arrays first:

    @loop("f8(f8[], f8[], i8)")
    def dot(a, b, n): ...

Types: i1 u1 i4 u4 i8 u8 f4 f8, with [] for an array; the result is void or a scalar.  A signed array is accepted for
an unsigned argument of 4 or 8 bytes.  Arguments `u4|u8[]` take arrays of each of these types, all that are declared so
arrays of the same one; a loop with two such kinds, indices and values, is not compiled for later types of both.
numba lets negative indices count from the end, which costs a test at each access and prevents vectorisation; indices
and bounds that are declared unsigned avoid it.  A loop allocates nothing, raises nothing and calls only other loops and
functions marked `@helper` (numba infers the types of these calls).  Loop names are unique in the package.

Two ways to run the same source:

* ahead of time (the default): `build.py` compiles all loops into one shared library that does not use Python; it is
  called through ctypes, which releases the GIL.  A call passes its arguments as one string of 8 bytes each: converted
  one by one by ctypes they took several times as long as a loop over few rows.  Neither numba nor scipy is imported.
* just in time, if no library matches the sources and the processor: numba with its cache on disk.  `SVMTOOL_LOOPS=jit`
  selects it.

The compiled file's name contains a checksum of the loops, of tolerances.py and of build.py, so that edited loops never
use old machine code.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
import sys
import zlib
from collections.abc import Callable

from svmtool.errors import SvmtoolError
from svmtool.systems import POSIX

TYPE_CHECKING = False  # typing is not imported at start
if TYPE_CHECKING:
    from typing import Any

MODE = os.environ.get("SVMTOOL_LOOPS", "auto")  # auto | jit | build (build.py)
FOLDER = os.path.dirname(os.path.abspath(__file__))
LOOP_FOLDERS = ("cd", "kernel", "loss", "rows", "text")  # of svmtool/compiled/loops

# Reductions may be reordered and contracted; nan and inf keep their meaning.
FAST_MATH = {"nsz", "arcp", "contract", "afn", "reassoc"}

# Results of loops in the shared library, and scalars, which have 8 bytes each
RESULTS = {"void": None, "i4": ctypes.c_int32, "i8": ctypes.c_int64, "u8": ctypes.c_uint64, "f8": ctypes.c_double}
CODES = {"i4": "q", "i8": "q", "u8": "Q", "f8": "d"}

# Types are compared with an array's dtype by name: numpy is not imported here, so that prediction starts without it.
TAKES = {"u4": "i4", "u8": "i8"}  # signed arrays that are accepted as unsigned

REGISTRY: dict[str, Loop] = {}

address_of, from_buffer = ctypes.addressof, ctypes.c_char.from_buffer


def loop_sources() -> list[str]:
    """The files that determine the machine code, in a fixed order."""
    folders = [os.path.join(FOLDER, "loops", name) for name in LOOP_FOLDERS]
    loops = [os.path.join(folder, f) for folder in folders for f in sorted(os.listdir(folder)) if f.endswith(".py")]
    return [*loops, os.path.join(FOLDER, "build.py"), os.path.join(os.path.dirname(FOLDER), "tolerances.py")]


@functools.cache
def checksum() -> str:
    crc = 0
    for path in loop_sources():
        with open(path, "rb") as f:
            crc = zlib.crc32(f.read(), crc)
    return f"{crc:08x}"


def jit_options(fast: bool) -> dict[str, Any]:
    """numba's options.  A build calls no loop, so it leaves out what Python would call: a sixth of the time."""
    options: dict[str, Any] = {
        "nopython": True,
        "nogil": True,
        "error_model": "numpy",
        "fastmath": FAST_MATH if fast else False,
    }
    return {**options, "no_cpython_wrapper": True, "no_cfunc_wrapper": True} if MODE == "build" else options


def type_name(a) -> str:
    """`f8` for a Buffer or numpy's array of that type."""
    return a.dtype if isinstance(a.dtype, str) else a.dtype.str[1:]


class Loop:
    """One loop, callable with arrays and scalars; `bind` fixes the arrays for repeated calls."""

    def __init__(self, function: Callable, signature: str, fast: bool, ending: str = ""):
        self.function, self.fast = function, fast
        self.name = function.__name__ + ending
        self.__doc__ = function.__doc__
        self.result, _, inside = signature.partition("(")
        declared = [a.strip() for a in inside.removesuffix(")").split(",")]
        self.arguments = [a.partition("|")[0] + "[]" if "|" in a else a for a in declared]
        # types of which one is chosen -> the places of the arguments that take them
        self.both = {a: [k for k, b in enumerate(declared) if b == a] for a in declared if "|" in a}
        self._first = [places[0] for places in self.both.values()]
        self._of_types: dict[tuple, Loop] = {}
        self.n_arrays = sum(a.endswith("[]") for a in self.arguments)
        assert all(a.endswith("[]") for a in self.arguments[: self.n_arrays]), f"{self.name}: arrays come first"
        self.dtypes = [a[:-2] for a in self.arguments[: self.n_arrays]]
        self._seen: list[object] = [None] * self.n_arrays  # the last accepted type of each argument
        self._pack_arrays = struct.Struct("Qq" * self.n_arrays).pack
        self._pack_scalars = struct.Struct("".join(map(CODES.__getitem__, self.arguments[self.n_arrays :]))).pack
        self.entry: Callable | None = None

    def _addresses(self, arrays) -> list[int]:
        """Pointer and length of each array, after a check of types and layout."""
        if len(arrays) != self.n_arrays:
            raise TypeError(f"loop {self.name}: expected {self.n_arrays} arrays, got {len(arrays)}")
        flat, seen, k = [], self._seen, 0
        for a in arrays:
            if a.dtype is not seen[k]:
                self._check_type(k, a)
            size = a.size
            try:  # an empty array needs no address
                flat.append(address_of(from_buffer(a)) if size else 0)  # raises TypeError unless contiguous
            except (TypeError, ValueError):  # read-only; this way takes four times as long
                if not a.flags.c_contiguous:
                    raise self._unfit(k, a) from None
                flat.append(a.__array_interface__["data"][0])
            flat.append(size)
            k += 1
        return flat

    def _check_type(self, k: int, a) -> None:
        """Raise TypeError unless an array matches argument k."""
        found = type_name(a)
        if found != self.dtypes[k] and found != TAKES.get(self.dtypes[k]):
            raise self._unfit(k, a)
        self._seen[k] = a.dtype

    def _unfit(self, k: int, a) -> TypeError:
        return TypeError(f"loop {self.name}: expected contiguous {self.dtypes[k]}, got {a.dtype}")

    def _flat(self, arrays) -> list:
        """The arrays for numba: flat, of the declared type, writable (loops do not write to read-only ones)."""
        import numpy as np

        def flat(dtype: str, address: int, size: int):
            memory: Any = (ctypes.c_char * (size * int(dtype[1]))).from_address(address)
            return np.frombuffer(memory, dtype)

        found = self._addresses(arrays)
        return list(map(flat, self.dtypes, found[::2], found[1::2]))

    @functools.cached_property
    def variants(self) -> dict[tuple[str, str], Loop]:
        """The loop for each type after the first of each kind."""
        found = {}
        for kind, places in self.both.items():
            for other in kind.removesuffix("[]").split("|")[1:]:
                arguments = [other + "[]" if k in places else a for k, a in enumerate(self.arguments)]
                signature = f"{self.result}({', '.join(arguments)})"
                found[kind, other] = Loop(self.function, signature, self.fast, f"_{other}")
        return found

    def _for(self, arrays) -> Loop:
        """The variant for the types of these arrays."""
        types = arrays[self._first[0]].dtype, arrays[self._first[-1]].dtype
        found = self._of_types.get(types)
        if found is None:
            names = {kind: type_name(arrays[places[0]]) for kind, places in self.both.items()}
            there = [key for key in self.variants if names[key[0]] in (key[1], TAKES.get(key[1]))]
            if len(there) > 1:
                raise self._unfit(self._first[-1], arrays[self._first[-1]])
            found = self._of_types[types] = self.variants[there[0]] if there else self
        return found

    def __call__(self, *args):
        return self.bind(*args[: self.n_arrays])(*args[self.n_arrays :])

    def bind(self, *arrays) -> Callable:
        """The loop with its arrays fixed: call the result with the scalars alone."""
        this = self._for(arrays) if self._first else self
        entry = this.entry or this._find()
        if _library is None:
            flat = this._flat(arrays)
            return lambda *scalars, kept=arrays: entry(*flat, *scalars)
        begin, pack = this._pack_arrays(*this._addresses(arrays)), this._pack_scalars
        return lambda *scalars, kept=arrays: entry(begin + pack(*scalars))  # kept: the arrays stay alive

    def _find(self) -> Callable:
        if _library is None:
            self.entry = self.dispatcher()
            return self.entry
        self.entry = entry = _library["svmtool_" + self.name]
        entry.restype = RESULTS[self.result]
        return entry

    def numba_types(self) -> tuple:
        """The declared arguments as numba's types."""
        from numba import types

        scalars = {
            "i1": types.int8, "u1": types.uint8, "i4": types.int32, "u4": types.uint32, "i8": types.int64,
            "u8": types.uint64, "f4": types.float32, "f8": types.float64,
        }  # fmt: skip
        return tuple(types.Array(scalars[a[:-2]], 1, "C") if a.endswith("[]") else scalars[a] for a in self.arguments)

    @functools.cached_property
    def _numba_type_(self):
        """The type by which numba compiles calls from other loops, as of a helper."""
        self._callee = helper(self.function, fast=self.fast)  # numba's type has a weak reference to it
        return self._callee._numba_type_

    def dispatcher(self):
        """The numba dispatcher of this loop, compiled for the declared types and cached on disk."""
        import numba

        return numba.jit(self.numba_types(), cache=MODE != "build", **jit_options(self.fast))(self.function)


def loop(signature: str, fast: bool = False) -> Callable[[Callable], Loop]:
    """Declare a compiled loop.  fast: allow reordered sums (see FAST_MATH)."""

    def declare(function: Callable) -> Loop:
        assert function.__name__ not in REGISTRY, f"two loops are called {function.__name__}"
        REGISTRY[function.__name__] = found = Loop(function, signature, fast)
        return found

    return declare


def helper(function: Callable | None = None, *, fast: bool = False):
    """Declare a function that loops may call; it is compiled together with them."""
    if function is None:
        return lambda f: helper(f, fast=fast)
    if _library is not None:
        return function
    import numba

    return numba.jit(function, **jit_options(fast))


class NumbaMissingError(SvmtoolError, ImportError):
    """numba is not installed, and no compiled loops fit."""


def require_loops() -> None:
    """Raise NumbaMissingError where loops have to be compiled and cannot; svmtool.compiled.loops calls it."""
    if _library is None:
        from importlib.util import find_spec

        if find_spec("numba") is None:
            why = "no compiled loops fit this machine" if MODE == "auto" else f"SVMTOOL_LOOPS={MODE}"
            raise NumbaMissingError(f"ERROR: {why}: compiling them needs numba: pip install 'svmtool[jit]'")


def processor_level() -> str:
    """`v3` if this processor is known to have AVX2 and FMA (x86-64-v3), else `base`."""
    if not POSIX:
        return "base"
    try:
        with open("/proc/cpuinfo", "rb") as f:
            head = f.read(4096)
    except OSError:
        return "base"
    return "v3" if b" avx2 " in head and b" fma " in head and b" bmi2 " in head else "base"


def library_path(level: str | None = None) -> str:
    """Path of the compiled loops, a shared library with this ending on each system."""
    return os.path.join(FOLDER, f"loops-{level or processor_level()}-{checksum()}.so")


V3_FEATURES = "+sse4.2,+popcnt,+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt,+movbe"


def numba_target(level: str) -> tuple[str, str]:
    """Processor and features that numba compiles for at a `processor_level`, the same ahead of time and just in time,
    so that both give the same bits."""
    return ("x86-64-v3", V3_FEATURES) if level == "v3" else ("generic", "")


def _prepare_jit() -> None:
    """Set numba's target and a writable cache folder for this version of the loops."""
    for name, value in zip(("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"), numba_target(processor_level()), strict=True):
        os.environ.setdefault(name, value)
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    os.environ.setdefault("NUMBA_CACHE_DIR", os.path.join(home, "svmtool", checksum()))
    if MODE == "auto" and sys.stderr is not None and sys.stderr.isatty():
        print("svmtool: no compiled loops found for this machine; compiling (the result is cached)", file=sys.stderr)


def ahead_of_time() -> bool:
    """Whether compiled loops were found; otherwise they are compiled just in time."""
    return _library is not None


_library = ctypes.CDLL(library_path()) if MODE == "auto" and os.path.exists(library_path()) else None
if _library is None and MODE != "build":
    _prepare_jit()
