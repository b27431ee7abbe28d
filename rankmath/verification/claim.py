"""What the file of a claim needs of this room, from one place: statements, instances, draws, the names of papers."""
# mypy: implicit-reexport
# ruff: noqa: F401, F403, F405

from functools import partial

from rankmath.verification.draws import *
from rankmath.verification.exact import exact_batch, rational
from rankmath.verification.instance import ArrayInstance, Instance, NetworkInstance, network_instance
from rankmath.verification.papers import *
from rankmath.verification.statement import Draw, Statement
from rankmath.verification.verdict import Verdict

#: A claim that is proved, one that is proved and ours, and one that is refuted.
proved = partial(Statement, status="proved")
ours = partial(proved, source=OWN)
refuted = partial(Statement, status="refuted")
