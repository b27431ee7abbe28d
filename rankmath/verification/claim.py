"""What the file of a claim needs of this room, from one place: statements, instances, draws, the names of papers."""
# mypy: implicit-reexport
# ruff: noqa: F401, F403

from rankmath.verification.draws import *
from rankmath.verification.exact import exact_batch, rational
from rankmath.verification.instance import ArrayInstance, Instance, NetworkInstance, network_instance
from rankmath.verification.papers import *
from rankmath.verification.statement import Draw, Statement
from rankmath.verification.verdict import Verdict
