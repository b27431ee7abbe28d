"""Machine code of LLVM's intermediate language, kept from one process to the next.

Making it takes half a second, reading it some milliseconds. It is kept in the folder RANKMATH_CACHE (nothing is
kept where that is empty), or else where the system keeps such things (XDG_CACHE_HOME, ~/.cache), if nobody but the
owner may write there. A file is named after all that its code depends on, and begins with a digest of what follows:
what was cut off or changed is made anew.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from rankmath.files import write
from rankmath.validation import InvalidArgument

if TYPE_CHECKING:
    from llvmlite.binding import TargetMachine

# Files that are kept, the latest of them: a version of the library has about a dozen.
_MOST = 64
_DIGEST = 32


def object_of(code: str, machine: TargetMachine, features: str) -> bytes:
    """What `machine` makes of the code; its triple and processor, and these features, are part of the name."""
    import llvmlite
    import llvmlite.binding as llvm

    versions = (llvmlite.__version__, repr(llvm.llvm_version_info), machine.triple, llvm.get_host_cpu_name())
    name = sha256("\0".join((*versions, features, code)).encode()).hexdigest() + ".o"
    kept = folder()
    found = None if kept is None else _read(kept / name)
    if found is not None:
        return found
    module = llvm.parse_assembly(code)
    module.verify()
    made = bytes(machine.emit_object(module))
    if kept is not None:
        with suppress(InvalidArgument, OSError):  # no room, or somebody took the folder away: made anew next time
            write(kept / name, sha256(made).digest() + made)
            for old in sorted(kept.glob("*.o"), key=lambda path: path.stat().st_mtime)[:-_MOST]:
                old.unlink(missing_ok=True)
    return made


def folder() -> Path | None:
    """Where code is kept; None where that may not be: whoever writes there runs code as we do."""
    named = os.environ.get("RANKMATH_CACHE")
    if named == "":
        return None
    try:
        place = Path(named or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rankmath")
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = place.stat()
    except (OSError, RuntimeError):  # a home that is missing, or may not be written
        return None
    own = not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)
    return place if own else None


def _read(path: Path) -> bytes | None:
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    digest, made = raw[:_DIGEST], raw[_DIGEST:]
    return made if made and sha256(made).digest() == digest else None
