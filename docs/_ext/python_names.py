"""Sphinx's Python domain reads all names for each that is none of them; this one knows their last parts."""

from __future__ import annotations

from typing import Any

from sphinx.domains.python import ObjectEntry, PythonDomain
from sphinx.environment import BuildEnvironment


class Names(PythonDomain):
    """What has another last part than every object is no object."""

    counted = 0
    last: frozenset[str] = frozenset()

    def find_obj(
        self, env: BuildEnvironment, modname: str, classname: str, name: str, type: str | None, searchmode: int = 0
    ) -> list[tuple[str, ObjectEntry]]:
        if self.counted != len(self.objects):
            self.counted = len(self.objects)
            self.last = frozenset(full.rpartition(".")[2] for full in self.objects)
        if name.removesuffix("()").rpartition(".")[2] not in self.last:
            return []
        found = super().find_obj(env, modname, classname, name, type, searchmode)
        # A public name stands on two pages; the one that people use is meant.
        return [entry for entry in found if entry[0] == f"rankmath.{name}"] or found


def setup(app: Any) -> dict[str, Any]:
    app.add_domain(Names, override=True)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
