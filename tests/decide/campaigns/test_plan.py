"""Plans: every instance in exactly one chunk, and every mistake named."""

from __future__ import annotations

import math
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankmath.claims import statements
from rankmath.decide.campaigns.plan import OF_A_STATEMENT, OF_THE_CAMPAIGN, Plan, default_chunk
from rankmath.decide.campaigns.progress import Watcher
from rankmath.decide.campaigns.run import campaign
from rankmath.decide.campaigns.work import Attempt

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "my_statement.py"


@settings(max_examples=30)
@given(instances=st.integers(1, 3000), chunk=st.integers(1, 400), seeds=st.sets(st.integers(0, 9), min_size=1))
def test_chunks_partition_the_instances(instances: int, chunk: int, seeds: set[int]) -> None:
    plan = Plan.of(
        {"statements": ["own:tv", "own:diameter"], "instances": instances, "chunk": chunk, "seeds": sorted(seeds)}
    )
    chunks = list(plan.chunks())
    assert len({(c.key, c.seed, c.index) for c in chunks}) == len(chunks)
    for key in ("own:tv", "own:diameter"):
        for seed in seeds:
            mine = [c for c in chunks if (c.key, c.seed) == (key, seed)]
            assert [c.index for c in mine] == list(range(len(mine)))
            assert sum(c.size for c in mine) == instances
            assert all(c.size == chunk for c in mine[:-1])


def test_statements_take_turns() -> None:
    plan = Plan.of({"statements": ["own:tv", "own:diameter"], "instances": 20, "chunk": 10, "seeds": [5, 6]})
    places = [(c.index, c.key, c.seed) for c in plan.chunks()]
    assert places[:4] == [(0, "own:tv", 5), (0, "own:tv", 6), (0, "own:diameter", 5), (0, "own:diameter", 6)]


def test_all_means_all_that_can_be_drawn() -> None:
    plan = Plan.of({"statements": "all", "instances": 10})
    assert [task.recipe.key for task in plan.tasks] == [k for k, entry in statements().items() if entry.draws]
    assert all(task.recipe.chunk == default_chunk(statements()[task.recipe.key]) for task in plan.tasks)


def test_a_table_overrides_what_stands_at_the_top(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text(
        'statements = ["own:tv"]\ninstances = 50\ncertify = 0.5\nseeds = [3]\nworkers = 4\nseconds = 9\n'
        '[[statement]]\nkey = "own:diameter"\ninstances = 70\nscales = [0.5, 2]\nsizes = [[3, 2, 1, 1]]\n'
        f'[[statement]]\nkey = "example:never-grows"\nfile = "{EXAMPLE}"\n'
    )
    plan = Plan.read(path)
    assert [(t.recipe.key, t.instances, t.recipe.certify) for t in plan.tasks] == [
        ("own:tv", 50, 0.5),
        ("own:diameter", 70, 0.5),
        ("example:never-grows", 50, 0.5),
    ]
    assert plan.tasks[1].recipe.scales == (0.5, 2.0)
    assert plan.tasks[1].recipe.sizes == ((3, 2, 1, 1),)
    assert (plan.seeds, plan.workers, plan.seconds) == ((3,), 4, 9.0)
    assert plan.ledger == str(tmp_path / "two.db")
    assert plan.tasks[2].file == str(EXAMPLE)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "statements: none given"),
    ({"statements": []}, "statements: none given"),
    ({"statements": "own:tv"}, "statements: 'own:tv' given; a list"),
    ({"statements": ["zzz:qqqq"]}, "key: 'zzz:qqqq' given; `rankmath list` shows all"),
    ({"statements": [3]}, "key: 3 given; a text"),
    ({"statements": ["own:tv", "own:tv"]}, "given twice"),
    ({"statements": ["own:tv"], "instance": 3}, "instance: unknown key of the plan; allowed are"),
    ({"statements": ["own:tv"], "instances": 0}, "instances: 0 given"),
    ({"statements": ["own:tv"], "instances": 1.5}, "instances: 1.5 given"),
    ({"statements": ["own:tv"], "instances": 10**13}, "instances: 10000000000000 given"),
    ({"statements": ["own:tv"], "certify": 2}, "certify: 2 given; a share"),
    ({"statements": ["own:tv"], "certify": True}, "certify: True given; a finite number"),
    ({"statements": ["own:tv"], "certify": float("nan")}, "certify: nan given"),
    ({"statements": ["own:tv"], "chunk": 0}, "chunk: 0 given"),
    ({"statements": ["own:tv"], "batch": -1}, "batch: -1 given"),
    ({"statements": ["own:tv"], "keep": -1}, "keep: -1 given"),
    ({"statements": ["own:tv"], "search": "long"}, "search: 'long' given"),
    ({"statements": ["own:tv"], "seeds": 1}, "seeds: 1 given; a list"),
    ({"statements": ["own:tv"], "seeds": []}, "seeds: "),
    ({"statements": ["own:tv"], "seeds": [1, 1]}, "seeds: "),
    ({"statements": ["own:tv"], "seeds": [-1]}, "seeds: -1 given"),
    ({"statements": ["own:tv"], "seeds": [2**63]}, "seeds: "),
    ({"statements": ["own:tv"], "seconds": 0}, "seconds: 0 given"),
    ({"statements": ["own:tv"], "workers": -1}, "workers: -1 given"),
    ({"statements": ["own:tv"], "attempts": 0}, "attempts: 0 given"),
    ({"statements": ["own:tv"], "ledger": 3}, "ledger: 3 given"),
    ({"statements": ["own:tv"], "dask": 8786}, "dask: 8786 given"),
    ({"statements": ["own:tv"], "sizes": [[3, 2, 1, 1]]}, "sizes: given for own:tv; only statements about networks"),
    ({"statements": ["own:tv"], "scales": [2]}, "scales: given for own:tv; only statements about networks"),
    ({"statements": ["wu2024:1"], "sizes": [[3, 2, 1, 1]]}, "carry a mask, a norm or an MLP"),
    ({"statements": ["own:diameter"], "sizes": [[3, 2]]}, r"sizes: \[3, 2\] given; each size is"),
    ({"statements": ["own:diameter"], "sizes": [[3, 0, 1, 1]]}, "sizes: 0 given"),
    ({"statements": ["own:diameter"], "sizes": [[10**6, 10**6, 1, 1]]}, "does not fit into memory"),
    ({"statements": ["own:diameter"], "scales": [0]}, "scales: 0 given"),
    ({"statement": [3]}, "statement: 3 given; write it as a table"),
    ({"statement": [{}]}, "key: none given"),
    ({"statement": [{"key": "own:tv", "seed": 1}]}, "seed: unknown key of a"),
    ({"statement": [{"file": str(EXAMPLE)}]}, "key: none given; .* defines example:never-grows, example:always-halves"),
    ({"statement": [{"file": str(EXAMPLE), "key": "own:tv"}]}, "key: 'own:tv' given; .* defines"),
    ({"statement": [{"file": "nowhere.py"}]}, "file: 'nowhere.py' given; it cannot be read"),
    ({"statement": [{"file": __file__}]}, "test_plan.py' given; it defines no Statement"),
]


@pytest.mark.parametrize(("content", "words"), REFUSED, ids=[words[:40] for _, words in REFUSED])
def test_mistakes_are_named(content: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Plan.of(content)


def test_files_that_are_no_plans_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        Plan.read(tmp_path / "nowhere.toml")
    path = tmp_path / "bad.toml"
    path.write_text("instances = = 3")
    with pytest.raises(ValueError, match="is no TOML file"):
        Plan.read(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="not UTF-8"):
        Plan.read(path)
    broken = tmp_path / "broken.py"
    broken.write_text("1 +")
    with pytest.raises(ValueError, match=r"broken\.py, line 1: SyntaxError"):
        Plan.of({"statement": [{"file": str(broken)}]})


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({}, "ledger: none given"),
        ({"ledger": "x.db", "resume": 1}, "resume: 1 given"),
        ({"ledger": "x.db", "joblib": "yes"}, "joblib: 'yes' given"),
        ({"ledger": "x.db", "joblib": True, "dask": "tcp://localhost:1"}, "choose one"),
        ({"ledger": "x.db", "workers": "two"}, "workers: 'two' given"),
        ({"ledger": "x.db", "seconds": -1}, "seconds: -1 given"),
        ({"ledger": "nowhere/x.db"}, "there is no folder nowhere"),
    ],
)
def test_arguments_of_campaign_are_checked(
    named: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=words):
        campaign({"statements": ["own:tv"]}, **named)
    with pytest.raises(ValueError, match="plan: a int given"):
        campaign(3, ledger="x.db")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_a_statement_without_draws_has_nothing_to_repeat(tmp_path: Path) -> None:
    bare = tmp_path / "bare.py"
    bare.write_text(
        "from dataclasses import replace\n"
        "from rankmath.claims import statement\n"
        "bare = replace(statement('own:tv'), key='mine:bare', draws=())\n"
    )
    with pytest.raises(ValueError, match="'mine:bare' given; it draws no instances"):
        Plan.of({"statement": [{"file": str(bare)}]})


def test_the_plans_of_the_documentation_are_plans() -> None:
    docs = Path(__file__).parents[3] / "docs"
    blocks = re.findall(r"```toml\n(.*?)```", (docs / "campaigns.md").read_text(encoding="utf-8"), re.DOTALL)
    plans = [Plan.of(tomllib.loads(block), folder=docs.parent) for block in blocks]
    assert [task.instances for plan in plans for task in plan.tasks] == [10_000, 100_000, 100_000]


def test_every_key_of_a_plan_is_documented() -> None:
    text = (Path(__file__).parents[3] / "docs" / "campaigns.md").read_text(encoding="utf-8")
    assert [key for key in OF_A_STATEMENT + OF_THE_CAMPAIGN if f"| `{key}` |" not in text] == ["statement"]
    assert "[[statement]]" in text


def test_what_is_told_of_a_campaign_is_the_tightest_of_all_chunks() -> None:
    """A bound on a quotient does not go back: a looser chunk after a tight one says nothing new."""
    standing = SimpleNamespace(statement="own:tv", instances=5, log_tightest=math.log(0.25))
    ledger: Any = SimpleNamespace(planned=lambda: {"own:tv": 100}, standings=lambda: [standing])
    told = []
    with Watcher(quiet=True) as watch:
        watch(ledger, None)
        for tightest in (0.125, 0.5, None, 0.375):
            log = None if tightest is None else math.log(tightest)
            findings = SimpleNamespace(instances=5, log_tightest=log)
            watch(ledger, Attempt(SimpleNamespace(key="own:tv"), findings, 0.1, "here"))
            told.append(watch._bar.line().partition("; ")[2])
    quarter, half = (f"own:tv  held: lhs/rhs ≤ {most}" for most in (0.25, 0.5))
    assert told == [quarter, half, "own:tv", half]
