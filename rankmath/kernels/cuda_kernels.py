"""The words that the kernels of a layer on a GPU are told (`cuda_layer` says what each makes), and their source."""

from pathlib import Path

#: Threads of a block, and of one that adds up many rows.
THREADS, MANY = 256, 1024
#: Words of a head, and which of them is the size of its term.
PER_HEAD, OUT = 6, 4
#: Words of a layer's record, of its tokens' state, of a row of the log; counters of a head.
RECORD, STATE, ROW, COUNTS = 7, 4, 7, 17
#: Logits beyond rounding, below it, no attention at all (the mean of R moved to the center), none that may stand.
FUSED, THIN, CENTRE, STOPPED = range(4)

#: What a layer is told: addresses, factors, numbers, one word each. Those of tokens, and of one layer.
TOKENS = ("centers", "residuals", "first_x", "first_R", "center", "residual", "x", "R")
LAYER = ("query", "value", "key_bias", "bias", "records", "log")
POINTERS = (*TOKENS, *LAYER)
LIMITS = ("log_zero", "safe_log", "linear_log", "small_loss", "suspicious", "uneven_log")
FACTORS = (
    *LIMITS,
    *("unit", "of_pull", "of_key", "scale", "of_x", "of_common", "of_out", "lambda", "of_skip", "of_bias"),
    *("of_shift", "mantissa", "exponent", "log_center"),
    *(f"told{k}" for k in range(RECORD + STATE)),  # the record of the layer that is told, the state of the tokens
)
COUNTERS = ("way", "layer", "owners")  # owners: networks that have weights of their own, all or one
#: What no layer changes, given to every launch: where the first network has its memory, how far apart all have it,
#: and sizes.
MEMORY = (
    *("g", "left", "D", "pivots", "values", "out", "e", "q", "common", "image", "best", "sums", "mean"),
    *("columns", "thin", "partial", "means", "lifted", "row_sums", "counts", "squares", "parts", "far", "words"),
    *("totals", "report"),
)
SIZES = (
    *("n", "d", "heads", "networks", "blocks", "row_blocks", "groups", "splits", "key_parts"),
    *("wide_rows", "stride"),
)

_STRUCT = "struct Layer {{ {} {} {} }};\nstruct Places {{ {} {} }};\n{}\n".format(
    "".join(f"double* {name}; " for name in POINTERS),
    "".join(f"double {name}; " for name in FACTORS),
    "".join(f"long long {name}; " for name in COUNTERS),
    "".join(f"double* {name}; long long of_{name}; " for name in MEMORY),
    "".join(f"long long {name}; " for name in SIZES),
    "__device__ __forceinline__ Places of_network(Places P, int network) {{ {} return P; }}".format(
        " ".join(f"P.{name} += network * P.of_{name};" for name in MEMORY)
    ),
)
_NUMBERS = {"THREADS": THREADS, "MANY": MANY, "RECORD": RECORD, "STATE": STATE, "LOG_ROW": ROW, "COUNTS": COUNTS}
_NUMBERS |= {"WORDS": len(POINTERS + FACTORS + COUNTERS), "TOLD": len(POINTERS) + FACTORS.index("told0")}
_WAYS = f"enum {{ FUSED = {FUSED}, THIN = {THIN}, CENTRE = {CENTRE}, STOPPED = {STOPPED} }};\n"


def text(name: str) -> str:
    """The source in the file of this name."""
    return Path(__file__).with_name(f"{name}.cu").read_text(encoding="utf-8")


def source(K: int) -> str:
    """All kernels for tokens of at most K columns, K a multiple of 8."""
    defined = "".join(f"#define {name} {value}\n" for name, value in {"K": K, **_NUMBERS}.items())
    return defined + _WAYS + _STRUCT + text("layer")
