"""The number systems there are.

Code that branches (``if A.unbounded: …``) takes a `System`: the type checker then knows what only doubles (`Float64`)
or only unbounded exponents (`ObjectArithmetic`) have.
"""

from typing import TypeAlias

from rankmath.arithmetic.float64 import Float64
from rankmath.arithmetic.objects import ObjectArithmetic

System: TypeAlias = Float64 | ObjectArithmetic
