"""Keys of statements on a page: each links to its statement's page, and a block shows statements from their keys.

    ```{statement} own:diameter own:skip-lower
    ```

Title, status, hypotheses, formula and the meaning of its letters come from the registry; no page says them otherwise.
"""

from __future__ import annotations

from typing import Any

from generated import escaped

from rankmath.claims import statements
from rankmath.formula.printing import words
from rankmath.report.sources import slug


def shown(key: str) -> tuple[list[str], list[str]]:
    """A statement as paragraphs of Markdown, and the meanings of its letters.

    Examples
    --------
    >>> claim, letters = shown("own:skip-lower")
    >>> claim[1].partition("no MLP")[2]
    ', no positions, logits that are not capped, no norms of queries and keys.'
    >>> letters[0]
    '- $\\\\Delta_{2}(X^{L})$: largest ℓ\\\\_2 distance of two tokens'
    """
    entry = statements()[key]
    claim = [f"**{escaped(entry.title)}** (`{key}`, {entry.status})."]
    demanded = [*entry.premises, *filter(None, map(words, entry.unsaid))]
    if demanded:
        claim.append(f"Suppose: {', '.join(part if part.startswith('$') else escaped(part) for part in demanded)}.")
    claim += (f"$$\n{part}\n$$" for part in (*entry.conclusion, *entry.letters))
    claim += (f"In words: {escaped(said)}." for formula, said in entry.meanings if formula in entry.conclusion)
    return claim, [
        f"- ${formula}$: {escaped(said)}" for formula, said in entry.meanings if formula not in entry.conclusion
    ]


def setup(app: Any) -> dict[str, Any]:
    from docutils import nodes
    from docutils.statemachine import StringList
    from sphinx.util.docutils import SphinxDirective

    class Shown(SphinxDirective):
        required_arguments = 1
        final_argument_whitespace = True

        def run(self) -> list[nodes.Node]:
            made: list[nodes.Node] = []
            for key in self.arguments[0].split():
                if key not in statements():
                    raise self.error(f"{key}: no statement has this key")
                claim, letters = shown(key)
                whole = self.parsed(claim)
                if letters:
                    whole += nodes.raw("", "<details><summary>Letters</summary>", format="html")
                    whole += self.parsed(["\n".join(letters)])
                    whole += nodes.raw("", "</details>", format="html")
                made.append(whole)
            return made

        def parsed(self, paragraphs: list[str]) -> nodes.container:
            whole = nodes.container(classes=["statement"])
            lines = "\n\n".join(paragraphs).splitlines()
            self.state.nested_parse(StringList(lines, self.env.docname), self.content_offset, whole)
            return whole

    def link(app: Any, tree: Any, page: str) -> None:
        for node in list(tree.findall(nodes.literal)):
            key = node.astext()
            if key in statements() and not isinstance(node.parent, nodes.reference):
                address = app.builder.get_relative_uri(page, f"gallery/{slug(key)}")
                node.replace_self(nodes.reference("", "", node.deepcopy(), internal=True, refuri=address))

    app.add_directive("statement", Shown)
    app.connect("doctree-resolved", link)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
