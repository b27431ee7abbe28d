"""Tables written into a page, between the page's markers."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path


def write_tables(description: str | None, tables: dict[str, Callable[[], str]]) -> int:
    """The command of a benchmark that makes Markdown tables: print them, or with --write replace them in PAGE."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="replace the tables between the page's markers")
    parser.add_argument("--only", metavar="NAMES", help="the tables to make, with commas between; all by default")
    options = parser.parse_args()
    if options.only:
        tables = {name: tables[name] for name in options.only.split(",")}
    page = options.write.read_text(encoding="utf-8") if options.write else ""
    for name, make in tables.items():
        table = make()
        if not options.write:
            print(f"{name}\n\n{table}\n", flush=True)
            continue
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        page, count = re.subn(f"{begin}.*?{end}", f"{begin}\n{table}\n{end}", page, flags=re.DOTALL)
        if count != 1:
            print(f"{options.write}: the markers {begin} … {end} must stand there once", file=sys.stderr)
            return 2
    if options.write:
        options.write.write_text(page, encoding="utf-8")
    return 0
