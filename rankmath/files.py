"""The one way a file is written: whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rankmath.validation import InvalidArgument

# A path that cannot be written is the user's mistake; a full disk is not.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
_MISTAKES = {errno.ENOENT, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG}


class NotWritten(OSError):
    """A disk that is full, or fails: which file was not written, and what is kept."""

    def __init__(self, error: OSError, target: Path) -> None:
        super().__init__(error, target)  # what it is made of again on its way from a worker
        self.errno, self.strerror = error.errno, error.strerror
        kept = "the file that was there is kept" if target.is_file() else "nothing of it is left"
        self.told = f"{target}: not written, {kept}: {error.strerror}; files written before it are whole"

    def __str__(self) -> str:
        return self.told


@contextmanager
def replacing(path: str | os.PathLike[str], name: str = "path") -> Iterator[Path]:
    """A new file beside `path` to write to; it takes the place of `path` when the block ends without an error.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/a.txt") as partial:
    ...         _ = partial.write_text("whole")
    ...     Path(f"{folder}/a.txt").read_text(), os.listdir(folder)
    ('whole', ['a.txt'])
    """
    target = Path(path)
    if target.is_char_device():  # a new file would take its place
        raise InvalidArgument(f"{name}: {str(target)!r} given; it cannot be written: a device, no file")
    try:
        handle, partial = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        os.close(handle)
    except OSError as error:
        raise _refusal(error, target, name) from None
    try:
        yield Path(partial)
        with open(partial, "rb") as written:
            os.fsync(written.fileno())
        os.chmod(partial, 0o644)
        try:
            os.replace(partial, target)
        except OSError as error:
            raise _refusal(error, target, name) from None
    except BaseException as error:  # an interruption too leaves no partial file
        os.unlink(partial)
        if isinstance(error, OSError) and error.errno in _FULL:
            raise NotWritten(error, target) from None
        raise


def write(path: str | os.PathLike[str], content: str | bytes, name: str = "path") -> Path:
    """Write text (UTF-8) or bytes; a file that holds them already is left alone."""
    target, raw = Path(path), content.encode() if isinstance(content, str) else content
    if not (target.is_file() and target.read_bytes() == raw):
        with replacing(target, name) as partial:
            partial.write_bytes(raw)
    return target


def writable(path: str | os.PathLike[str], name: str = "path") -> None:
    """Refuse by name, before any work, a file whose folder takes none."""
    try:
        with tempfile.TemporaryFile(dir=Path(path).parent):
            pass
    except OSError as error:
        raise _refusal(error, Path(path), name) from None


def read(path: str | os.PathLike[str], name: str = "path", most: int = -1) -> bytes:
    """The first `most` bytes of a file (all by default); one that cannot be read is refused by name."""
    try:
        with open(path, "rb") as file:
            if stat.S_ISCHR(os.fstat(file.fileno()).st_mode) and not file.isatty():  # /dev/zero has no end
                raise InvalidArgument(f"{name}: {os.fspath(path)!r} given; it is a device, a file is needed")
            return file.read(most)
    except OSError as error:
        if error.errno not in _MISTAKES:
            raise
        raise InvalidArgument(f"{name}: {os.fspath(path)!r} given; it cannot be read: {error.strerror}") from None


def read_text(path: str | os.PathLike[str], name: str = "path") -> str:
    """A text in UTF-8; one in another encoding is refused by the place of the first byte that is not.

    >>> from contextlib import chdir
    >>> with tempfile.TemporaryDirectory() as folder, chdir(folder):
    ...     _ = Path("story.txt").write_bytes("the café".encode("latin-1"))
    ...     read_text("story.txt", "text")
    Traceback (most recent call last):
    ...
    rankmath.InvalidArgument: text: 'story.txt' given; not UTF-8 (byte 0xe9 in line 1); a text in Latin-1
    becomes it by iconv -f LATIN1 -t UTF-8
    """
    raw = read(path, name)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"byte 0x{raw[error.start]:02x} in line {raw.count(bytes([10]), 0, error.start) + 1}"
        raise InvalidArgument(
            f"{name}: {os.fspath(path)!r} given; not UTF-8 ({place}); a text in Latin-1 becomes it by "
            "iconv -f LATIN1 -t UTF-8"
        ) from None


def folder(path: str | os.PathLike[str], name: str = "folder") -> Path:
    """The folder, made if it is missing; refused by name if it cannot be made or written to."""
    if not os.fspath(path):
        raise InvalidArgument(f"{name}: '' given; the name of a folder is needed")
    target = Path(path)
    for place in (target, *target.parents):
        if place.exists():
            if not place.is_dir():
                raise InvalidArgument(f"{name}: {target} given; {place} is a file, a folder is needed")
            break
    try:
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=target):
            pass
    except OSError as error:
        raise InvalidArgument(f"{name}: {target} given; it cannot be written to: {error.strerror}") from None
    return target


def _refusal(error: OSError, target: Path, name: str) -> OSError | InvalidArgument:
    if error.errno not in _MISTAKES:
        return NotWritten(error, target)
    if not target.parent.is_dir():
        return InvalidArgument(f"{name}: {str(target)!r} given; there is no folder {target.parent}")
    return InvalidArgument(f"{name}: {str(target)!r} given; it cannot be written: {error.strerror}")


def proofs_folder() -> Path:
    """proofs/: inside the package when it is installed, beside it in a source tree.

    >>> (proofs_folder() / "preamble.tex").is_file()
    True
    """
    package = Path(__file__).parents[0]
    places = (package / "proofs", package.parent / "proofs")
    for place in places:
        if (place / "preamble.tex").is_file():
            return place
    raise InvalidArgument(f"proofs: not found in {' or '.join(map(str, places))}; reinstall rankmath")
