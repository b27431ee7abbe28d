"""What the file of a claim needs of this room, from one place; papers' names and further draws stand in their files."""

from functools import partial

from rankmath.verification.data import exact_batch
from rankmath.verification.draws import ALL_TOKENS, SMALL, Rng, networks
from rankmath.verification.instance import ArrayInstance, Instance, NetworkInstance, network_instance
from rankmath.verification.papers import OWN
from rankmath.verification.statement import Draw, Statement
from rankmath.verification.verdict import Verdict

__all__ = ["ALL_TOKENS", "SMALL", "ArrayInstance", "Draw", "Instance", "NetworkInstance", "Rng", "Statement", "Verdict"]
__all__ += ["exact_batch", "network_instance", "networks", "ours", "proved", "refuted"]

#: A claim that is proved, one that is proved and ours, and one that is refuted.
proved = partial(Statement, status="proved")
ours = partial(proved, source=OWN)
refuted = partial(Statement, status="refuted")
