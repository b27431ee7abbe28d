"""Bad input is refused by name: the argument, what was given, what is allowed."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias, TypeVar

import array_api_compat.numpy
import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, is_array_api_obj

T = TypeVar("T")
#: An array of any array-API library (NumPy, CuPy, array-api-strict, …) or of an object arithmetic.
Array: TypeAlias = Any
#: An array of NumPy's, of any numbers (doubles, fractions, balls): what rooms have that no GPU reaches.
NumpyArray: TypeAlias = npt.NDArray[Any]
#: What `as_array` takes: such an array, or nested lists of numbers.
ArrayLike: TypeAlias = Any
#: A number of any arithmetic: a float, an mpf, a ball.
Number: TypeAlias = Any
#: Plain data for JSON, and matplotlib's axes (an optional library).
Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | None"
Axes: TypeAlias = Any
#: NumPy arrays of doubles, of integers, of truth values, of exact numbers or balls.
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Objects: TypeAlias = npt.NDArray[np.object_]

_BIGGEST_EXACT_INTEGER = 2**53
_FEW_ENTRIES = 2**13


class InvalidArgument(ValueError):
    """Bad input: the argument, what was given, what is allowed. The command line turns it, and it alone, into
    exit code 2; any other exception is a bug of ours or a failure of the machine."""

    __module__ = "rankmath"  # the name users see and catch


class NoDirection(InvalidArgument):
    """A token is zero, exactly or to rounding, where a LayerNorm divides by its length: the layer is not defined."""

    __module__ = "rankmath"


class Undecided(ArithmeticError):
    """Numbers known to some precision do not show what is asked of them, a sign or which case applies."""


def as_array(
    name: str,
    value: Array,
    *,
    ndim: int | None = None,
    min_ndim: int = 0,
    shape: Sequence[int | None] | None = None,
    allow_empty: bool = False,
    allow_infinite: bool = False,
    look: bool = True,
) -> Array:
    """`value` as a float64 array of its own library, or an InvalidArgument that names it.

    Lists become NumPy arrays. Narrower real types widen exactly; anything a double
    cannot hold exactly (complex, objects, integers beyond 2^53) is refused.

    Parameters
    ----------
    name : the argument's name, as the caller's user typed it.
    ndim, min_ndim : exact or least number of axes.
    shape : required trailing shape; None stands for any length.
    look : whether the entries are looked at; on a GPU that is a wait.

    Examples
    --------
    >>> as_array("X", [[1, 2], [3, 4]], ndim=2).dtype
    dtype('float64')
    >>> as_array("X", [[1.0, float("nan")]], ndim=2)
    Traceback (most recent call last):
    ...
    rankmath.InvalidArgument: X: entry (0, 1) is nan; every entry must be a finite number
    """
    if not (type(value) is np.ndarray or is_array_api_obj(value)):
        value = _from_python(name, value)
    xp = library_of(value)
    known = (type(value) is np.ndarray or type(value) in _LIBRARIES) and value.dtype == np.float64
    if not known:
        _check_kind(name, value, xp)
    dims = value.shape if known else tuple(int(s) for s in value.shape)
    if ndim is not None and len(dims) != ndim:
        raise InvalidArgument(f"{name}: shape {dims} given; it must have {ndim} {_axes(ndim)}")
    if len(dims) < min_ndim:
        raise InvalidArgument(f"{name}: shape {dims} given; it must have at least {min_ndim} {_axes(min_ndim)}")
    if shape is not None:
        tail = dims[len(dims) - len(shape) :] if len(dims) >= len(shape) else ()
        if len(tail) != len(shape) or any(w is not None and w != t for w, t in zip(shape, tail, strict=True)):
            wanted = ", ".join("any" if s is None else str(s) for s in shape)
            lead = "..., " if ndim is None else ""
            raise InvalidArgument(f"{name}: shape {dims} given; it must be ({lead}{wanted})")
    if not allow_empty and 0 in dims:
        raise InvalidArgument(f"{name}: shape {dims} given; no axis may be empty")
    if not known and xp.isdtype(value.dtype, "integral") and value.size:
        largest = max(abs(int(xp.max(value))), abs(int(xp.min(value))))
        if largest > _BIGGEST_EXACT_INTEGER:
            raise InvalidArgument(f"{name}: integer of size {largest} given; a double holds integers up to 2**53 only")
    array = value if known or value.dtype == xp.float64 else xp.astype(value, xp.float64)
    if not look:
        return array
    plain = known and type(value) is np.ndarray
    if plain and array.size <= _FEW_ENTRIES:  # a product minds no overflow, and BLAS wakes no threads for it
        total = float(np.vdot(array, array))
    else:
        # torch warns if gradients are lost on the way to a float
        with np.errstate(over="ignore", invalid="ignore"):
            summed = np.add.reduce(array, axis=None) if plain else xp.sum(getattr(array, "detach", lambda: array)())
            total = float(summed)
    if not math.isfinite(total):  # an entry is not finite, or the sum alone is not
        bad = xp.isnan(array) if allow_infinite else ~xp.isfinite(array)
        if bool(xp.any(bad)):
            where = tuple(int(axis[0]) for axis in xp.nonzero(bad)) if dims else ()
            kind = "a number" if allow_infinite else "a finite number"
            given = float(array[where])
            raise InvalidArgument(f"{name}: entry {where} is {given}; every entry must be {kind}")
    return array


def _check_kind(name: str, value: Array, xp: ModuleType) -> None:
    """Refuse what is not made of real numbers that a double may hold."""
    if isinstance(value, np.ndarray) and value.dtype.kind not in "fiub":
        raise InvalidArgument(f"{name}: dtype {value.dtype} given; a real numeric array is needed")
    if not (xp.isdtype(value.dtype, "real floating") or xp.isdtype(value.dtype, ("integral", "bool"))):
        raise InvalidArgument(f"{name}: dtype {value.dtype} given; a real numeric array is needed")
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.dtype.itemsize > 8:
        raise InvalidArgument(f"{name}: dtype {value.dtype} given; a double cannot hold it exactly, round it first")


def library_of(array: Array) -> ModuleType:
    """`array_namespace`, which takes longer than the arithmetic on a few numbers."""
    kind = type(array)
    if kind is np.ndarray:
        return array_api_compat.numpy
    if kind not in _LIBRARIES:
        found = array_namespace(array)
        if kind.__module__ != "cupy":
            return found
        _LIBRARIES[kind] = found
    return _LIBRARIES[kind]


#: The libraries whose arrays are known by their type.
_LIBRARIES: dict[type, ModuleType] = {}


def _from_python(name: str, value: object) -> Array:
    if value is None:
        raise InvalidArgument(f"{name}: None given; an array of numbers is needed")
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidArgument(f"{name}: {short(value)} given; not a rectangular array of numbers ({error})") from None
    if array.dtype.kind not in "fiub":
        raise InvalidArgument(f"{name}: {short(value)} given; a rectangular array of real numbers is needed")
    return array


def short(value: object) -> str:
    """A value for a message, in sixty signs at most."""
    # repr of a huge integer raises, and a page-long error teaches nobody.
    try:
        text = str(value) if isinstance(value, Fraction) else repr(value)
    except ValueError:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def _axes(count: int) -> str:
    return "axis" if count == 1 else "axes"


def same_library(**arrays: Array) -> ModuleType:
    """The one array namespace of all arguments (None is passed over), or an InvalidArgument that names two."""
    given = {name: array for name, array in arrays.items() if array is not None}
    namespaces = {name: library_of(array) for name, array in given.items()}
    first, *rest = namespaces
    for other in rest:
        if namespaces[other] is not namespaces[first]:
            raise InvalidArgument(
                f"{other}: an array of {type(given[other]).__module__} given while {first} is one of "
                f"{type(given[first]).__module__}; all arrays must come from one library"
            )
    return namespaces[first]


def as_choice(name: str, value: object, allowed: Sequence[T]) -> T:
    """`value` if it is one of `allowed`, else an InvalidArgument that lists them."""
    for choice in allowed:
        if value is choice or (type(value) is type(choice) and value == choice):
            return choice
    listed = ", ".join(repr(choice) for choice in allowed)
    raise InvalidArgument(f"{name}: {short(value)} given; allowed are {listed}")


def as_count(name: str, value: object, *, least: int = 1, most: int | None = None) -> int:
    """`value` as an int with least <= value <= most.

    >>> as_count("layers", 0)
    Traceback (most recent call last):
    ...
    rankmath.InvalidArgument: layers: 0 given; a whole number of at least 1 is needed
    """
    if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_)):
        count = int(value)
        if count >= least and (most is None or count <= most):
            return count
    upto = "" if most is None else f" and at most {most}"
    raise InvalidArgument(f"{name}: {short(value)} given; a whole number of at least {least}{upto} is needed")


def as_real(name: str, value: Number, *, positive: bool = False, most: float = math.inf) -> float:
    """`value` as a finite float (positive if asked) of at most `most`."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    no_number = isinstance(value, (str, bytes, bool, np.bool_)) or not math.isfinite(number)
    if no_number or (positive and number <= 0) or number > most:
        kind = "a positive finite number" if positive else "a finite number"
        kind += "" if most == math.inf else f" of at most {most:g}"
        raise InvalidArgument(f"{name}: {short(value)} given; {kind} is needed")
    return number


#: Bytes up to which nobody asks how much memory is free.
_SMALL = 1 << 28


def fits_in_memory(what: str, size: float) -> None:
    """Refuse what needs more bytes than are free, before any of them is asked for.

    >>> fits_in_memory("dim: 10 given", 800)
    >>> fits_in_memory("dim: 10**9 given", 8e18)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    rankmath.InvalidArgument: dim: 10**9 given; about 7,450,580,596.9 GiB of memory are needed, ... GiB are free
    """
    if size <= _SMALL:
        return
    free = _free_memory()
    if size > free:
        needed, there = (f"{count / 2**30:,.1f} GiB" for count in (size, free))
        raise InvalidArgument(f"{what}; about {needed} of memory are needed, {there} are free")


def _free_memory() -> float:
    """What the machine has left, or this process may still take."""
    import resource

    free = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError):  # Linux alone has this file
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
        free = 1024.0 * int(lines["MemAvailable"].split()[0])
    with suppress(OSError, ValueError):  # a container; "max" is no number
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
        free = min(free, limit - int(Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii")))
    allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
    return free if allowed == resource.RLIM_INFINITY else min(free, float(allowed))
