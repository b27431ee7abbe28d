"""The program `rankmath`, also as `python -m rankmath`."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run it; Ctrl-C is one line from the first moment on, while it is still being loaded."""
    try:
        from rankmath.cli import main as program
    except KeyboardInterrupt:
        print("rankmath: interrupted", file=sys.stderr)
        sys.exit(130)
    program(prog_name="rankmath")
    sys.exit(0)


if __name__ == "__main__":
    main()
