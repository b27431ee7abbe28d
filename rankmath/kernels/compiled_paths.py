"""Layers of plain attention on the CPU, for some matrices V_k side by side, as the paths of all lengths need them.

With tokens T a layer makes V'_k = λ V_k + Σ_h P_h V_{k−1} W_h (without a skip Σ_h P_h V_k W_h, and no longer one),
and new tokens Σ_k V'_k + b. All heads share keys and values. A softmax does not see what all keys have in common:
keys are T or T − 1T_0, whichever is shorter.

One call on each thread makes all layers: the first leads, the others follow. It stops where a logit may leave the
range of an exponential, and after a layer whose V'_k are so much larger than their sum that this has lost digits.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np

from rankmath.kernels.compiled import Kernel, Shape, Writer, address, aligned, groups_at_once, module
from rankmath.kernels.compiled_layer import COUNTERS, PLACES
from rankmath.kernels.compiled_network import (
    END,
    LONG,
    MEASURED,
    RECORD,
    NetworkWriter,
    chunk_of,
    lead_and_follow,
    widened,
    yielding,
)
from rankmath.validation import Floats

#: query, value (H, d, d) and b (1, d), or None; the factor of the logits; λ.
Layer: TypeAlias = tuple[Floats, Floats, "Floats | None", float, float]


class Sums(NamedTuple):
    """What some layers made: V (n, k, d) and the tokens (n, d)."""

    terms: Floats
    tokens: Floats


class PathRun(NamedTuple):
    """How far some layers went, and what they made. If lengths cancel in the last one its tokens lack digits, or
    something is not finite; what was there before it is then known, too."""

    layers: int
    last: Sums
    before: Sums | None


class PathWriter(NetworkWriter):
    """Writes what a layer does."""

    def prepare(self) -> list[str]:
        """Where the next layer finds tokens T and matrices V, and the keys' origin:

        tokens, terms = the places before;  new_tokens, new_terms = the other of two places each
        origin = T_0 if max |T_j − T_0| < max |T_j|, else 0;  far = the smaller of both, squared
        """
        lanes, l, n, d = self.shape.lanes, self.word("layer"), self.word("n"), self.word("d")
        record, zeros = self.address(self.pointer("records"), self.times(l, RECORD)), self.pointer("zeros")
        query, value, bias = (self.put(f"load ptr, ptr {self.at(record, k)}, align 8") for k in range(3))
        none = self.put(f"icmp eq ptr {bias}, null")
        for a, name in ((query, "query"), (value, "value"), (self.choose(none, zeros, bias, "ptr"), "bias")):
            self.set("ptr", a, name)
        for k, name in enumerate(("scale", "limit", "skip")):
            self.tell(self.number(self.at(record, 4 + k)), name)
        odd, first = self.put(f"and i64 {l}, 1"), self.put(f"icmp eq i64 {l}, 0")
        for name, given, size in (("tokens", "first_R", self.times(n, d)), ("terms", "given", self.word("apart"))):
            here, before = (
                self.address(self.pointer(f"pair_of_{name}"), self.times(place, size))
                for place in (odd, self.put(f"xor i64 {odd}, 1"))
            )
            self.set("ptr", here, f"new_{name}")
            self.set("ptr", self.choose(first, self.pointer(given), before, "ptr"), name)
        tokens, count = self.pointer("tokens"), self.put(f"udiv i64 {d}, {lanes}")
        longest = self.room("given", "1"), self.room("apart", "1")
        for place in longest:
            self.write(self.real(0.0), place)
        for j, _ in self.loop("j", "0", n):
            row, sums = self.address(tokens, self.times(j, d)), [self.splat(0.0)] * 2
            for c, now in self.loop("c", "0", count, sums):
                at = self.times(c, lanes)
                x = self.load(self.address(row, at))
                y = self.binary("fsub", x, self.load(self.address(tokens, at)))
                sums[:] = self.fma(x, x, now[0]), self.fma(y, y, now[1])
            for x, place in zip(sums, longest, strict=True):
                self.keep(self.total(x), place, "ogt")  # what is no number stops its own row
        given, apart = (self.number(place) for place in longest)
        shorter = self.is_("olt", apart, given)
        self.set("ptr", self.choose(shorter, tokens, zeros, "ptr"), "origin")
        self.tell(self.choose(shorter, apart, given), "far")
        return self.function("prepare", "ptr %words", [*self.code, "  ret void"])

    def pack_tile(self) -> list[str]:
        """keys[t] = scale · (T_j − origin) for the rows j of tile %t, transposed;  values = V_j in blocks."""
        lanes, vectors, width, size = self.shape.lanes, self.shape.vectors, self.shape.width, self.shape.keys
        d, last = self.word("d"), self.put(f"sub i64 {self.word('n')}, 1")
        wide, first = self.times(d, self.word("lengths")), self.times("%t", width)
        key_tile = self.address(self.pointer("keys"), self.times("%t", self.times(d, width)))
        tokens, origin, scale = self.pointer("tokens"), self.pointer("origin"), self.spread(self.told("scale"))
        for b, _ in self.loop("b", "0", str(vectors)):
            lane = self.times(b, lanes)
            rows = self.rows_of(tokens, self.put(f"add i64 {first}, {lane}"), d, last, lanes)
            for c, _ in self.loop("c", "0", self.put(f"udiv i64 {d}, {lanes}")):
                at = self.times(c, lanes)
                base = self.load(self.address(origin, at))
                square = [self.binary("fsub", self.load(self.address(row, at)), base) for row in rows]
                target = self.address(self.address(key_tile, self.times(at, width)), lane)
                for k, column in enumerate(self.transposed(square)):
                    self.store(self.binary("fmul", column, scale), self.at(target, k * width))
        block, of_block = self.put(f"udiv i64 {first}, {size}"), self.put(f"urem i64 {first}, {size}")
        values = self.address(self.pointer("values"), self.times(block, self.times(wide, size)))
        for r, _ in self.loop("r", "0", str(width)):
            j = self.put(f"add i64 {first}, {r}")
            (row,) = self.rows_of(self.pointer("terms"), j, wide, last, 1)
            # Of rows that are missing the weight is zero.
            weight = self.broadcast(self.address(self.pointer("q"), j))
            place = self.put(f"add i64 {of_block}, {r}")
            for v, column in self.strips(self.put(f"udiv i64 {wide}, {lanes}")):
                source = self.address(row, column)
                target = self.address(self.address(values, self.times(column, size)), self.times(place, v * lanes))
                for at_column in range(0, v * lanes, lanes):
                    x = self.binary("fmul", self.load(self.at(source, at_column)), weight)
                    self.store(x, self.at(target, at_column))
        return self.function("pack_tile", "ptr %words, i64 %t", [*self.code, "  ret void"])

    def pack_matrix(self) -> list[str]:
        """packed[m] = query or value %m, in strips of columns one after the other."""
        lanes, d, heads = self.shape.lanes, self.word("d"), self.word("heads")
        square, of_query = self.times(d, d), self.put(f"icmp slt i64 %m, {heads}")
        place = self.put(f"select i1 {of_query}, i64 %m, i64 {self.put(f'sub i64 %m, {heads}')}")
        matrix = self.choose(of_query, self.pointer("query"), self.pointer("value"), "ptr")
        matrix = self.address(matrix, self.times(place, square))
        packed = self.address(self.pointer("packed"), self.times("%m", square))
        for v, column in self.strips(self.put(f"udiv i64 {d}, {lanes}")):
            source, strip = self.address(matrix, column), self.address(packed, self.times(column, d))
            for k, _ in self.loop("k", "0", d):
                row, target = self.address(source, self.times(k, d)), self.address(strip, self.times(k, v * lanes))
                for c in range(v):
                    self.store(self.load(self.at(row, c * lanes)), self.at(target, c * lanes))
        return self.function("pack_matrix", "ptr %words, i64 %m", [*self.code, "  ret void"])

    def rows(self) -> list[str]:
        """Part %unit of the rows.

        In plain steps::

            made = 0
            for each head:  left = T W_QK;  stop if |left_i|² far exceeds the limit
                            seen = softmax averages of V by `sums`;  made += seen W
            V'_k = λ V_k + made_{k−1}   (without a skip made_k);  T' = Σ_k V'_k + b
            cancels = 1 if Σ_k |V'_k|² + |b|² ≥ 16 |T'|² for a row
        """
        lanes, lengths, d, chunk = self.shape.lanes, self.word("lengths"), self.word("d"), self.word("chunk")
        wide, count, square = self.times(d, lengths), self.put(f"udiv i64 {d}, {lanes}"), self.times(d, d)
        start, have = self.part_of_rows("%unit")
        all_rows = self.times(have, lengths)
        (groups, last), (all_groups, all_last) = self.grouped(have), self.grouped(all_rows)
        keys, values, q, packed = (self.pointer(name) for name in ("keys", "values", "q", "packed"))
        left, (entries, means) = "%scratch", (self.times(chunk, d), self.times(chunk, lanes))
        of_keys = self.address(left, entries)
        seen = self.address(of_keys, means)
        made = self.address(seen, self.times(chunk, wide))
        size = self.times(self.times(all_rows, d), 8)
        self.code.append(f"  call void @llvm.memset.p0.i64(ptr {made}, i8 0, i64 {size}, i1 false)")
        tokens = self.address(self.pointer("tokens"), self.times(start, d))
        for h, _ in self.loop("h", "0", self.word("heads")):
            for _ in self.when(self.goes_on()):
                query = self.address(packed, self.times(h, square))
                value = self.address(query, self.times(self.word("heads"), square))
                given = f"i64 {d}, i64 {groups}, i64 {last}, ptr {tokens}, ptr {query}, ptr {left}, ptr null"
                self.code.append(f"  call void @project({given})")
                self.check(left, d, count, groups, self.told("far"))
                vectors = self.put(f"udiv i64 {wide}, {lanes}")
                sizes = (groups, d, self.word("tiles"), self.word("per"), vectors, d, last)
                arrays = ", ".join(f"ptr {a}" for a in (left, keys, values, q, seen, of_keys))
                self.code.append(f"  call void @sums({', '.join(f'i64 {a}' for a in sizes)}, {arrays})")
                given = f"i64 {d}, i64 {all_groups}, i64 {all_last}, ptr {seen}, ptr {value}, ptr {made}, ptr null"
                self.code.append(f"  call void @onto({given})")
        self._longer(start, have, made)
        return self.function("rows", "ptr %words, i64 %unit, ptr %scratch", [*self.code, "  ret void"])

    def _longer(self, start: str, have: str, made: str) -> None:
        """λ V_k + what the heads made of V_{k−1}, and the sum of all."""
        lanes, d, lengths = self.shape.lanes, self.word("d"), self.word("lengths")
        wide, count, factor = self.times(d, lengths), self.put(f"udiv i64 {d}, {lanes}"), self.told("skip")
        skips, skip = self.is_("une", factor, self.real(0.0)), self.spread(factor)
        more = self.put(f"select i1 {skips}, i64 {d}, i64 0")
        new_wide, bias = self.put(f"add i64 {wide}, {more}"), self.pointer("bias")
        new_lengths = self.put(f"udiv i64 {new_wide}, {d}")
        terms, new_terms, new_tokens = (self.pointer(name) for name in ("terms", "new_terms", "new_tokens"))
        for i, _ in self.loop("i", "0", have):
            j = self.put(f"add i64 {start}, {i}")
            old, row = self.address(terms, self.times(j, wide)), self.address(new_terms, self.times(j, new_wide))
            by_heads, token = self.address(made, self.times(i, wide)), self.address(new_tokens, self.times(j, d))
            for c, _ in self.loop("c", "0", self.put(f"udiv i64 {wide}, {lanes}")):
                at = self.times(c, lanes)
                self.store(self.binary("fmul", skip, self.load(self.address(old, at))), self.address(row, at))
            size = self.times(more, 8)
            self.code.append(
                f"  call void @llvm.memset.p0.i64(ptr {self.address(row, wide)}, i8 0, i64 {size}, i1 false)"
            )
            behind = self.address(row, more)
            for c, _ in self.loop("c", "0", self.put(f"udiv i64 {wide}, {lanes}")):
                at = self.times(c, lanes)
                place = self.address(behind, at)
                self.store(self.binary("fadd", self.load(place), self.load(self.address(by_heads, at))), place)
            squares = [self.splat(0.0)] * 2
            for c, now in self.loop("c", "0", count, squares):
                at = self.times(c, lanes)
                b = self.load(self.address(bias, at))
                sums = [b, self.fma(b, b, now[0])]
                for k, inner in self.loop("k", "0", new_lengths, sums):
                    x = self.load(self.address(self.address(row, self.times(k, d)), at))
                    sums[:] = self.binary("fadd", inner[0], x), self.fma(x, x, inner[1])
                self.store(sums[0], self.address(token, at))
                squares[:] = sums[1], self.fma(sums[0], sums[0], now[1])
            parts, whole = (self.total(x) for x in squares)
            # If these do not cancel much, their sum is as accurate as the tokens. Squares 0 or ∞ decide nothing.
            for _ in self.unless(self.is_("olt", parts, self.product_of(whole, self.real(16.0)))):
                place = self.at("%words", PLACES["cancels"])
                self.code.append(f"  store atomic i64 1, ptr {place} monotonic, align 8")

    def work(self) -> list[str]:
        """What every thread does of a layer:  take tiles and matrices: pack;  wait;  take parts: rows;  wait."""
        tiles, heads = self.word("tiles"), self.word("heads")
        for unit in self.units_of("%counters", self.put(f"add i64 {tiles}, {self.times(heads, 2)}")):
            of_tile, m = self.put(f"icmp slt i64 {unit}, {tiles}"), self.put(f"sub i64 {unit}, {tiles}")
            for _ in self.when(of_tile):
                self.code.append(f"  call void @pack_tile(ptr %words, i64 {unit})")
            for _ in self.unless(of_tile):
                self.code.append(f"  call void @pack_matrix(ptr %words, i64 {m})")
        for unit in self.units_of(self.at("%counters", 2), self.word("chunks")):
            self.code.append(f"  call void @rows(ptr %words, i64 {unit}, ptr %scratch)")
        arguments = "i64 %thread, i64 %l, ptr %words, ptr %counters, ptr %scratch"
        return self.function("work", arguments, [*self.code, "  ret void"])

    def measure_rest(self) -> None:
        """Nothing is measured."""

    def lead(self) -> list[str]:
        """What the first thread does.

        In plain steps::

            for each layer, until stopped:  prepare;  announce the layer;  work
                the layer counts, and there is one length more if it has a skip;  stop if lengths cancel
            announce the end
        """
        for l, _ in self.loop("l", "0", self.word("layers")):
            for _ in self.when(self.goes_on()):
                self.code.append("  call void @prepare(ptr %words)")
                after = self.put(f"add i64 {l}, 1")
                self.announce(after)
                self.work_on("0", l)
                for _ in self.unless(self.goes_on()):  # then what was found of this layer says nothing
                    self.set("i64", "0", "cancels")
                for _ in self.when(self.goes_on()):
                    self.set("i64", after, "layer")
                    skips = self.put(f"zext i1 {self.is_('une', self.told('skip'), self.real(0.0))} to i64")
                    self.set("i64", self.put(f"add i64 {self.word('lengths')}, {skips}"), "lengths")
                    for _ in self.when(self.put(f"icmp ne i64 {self.word('cancels')}, 0")):
                        self.stop()
        self.announce(str(END))
        return self.function("lead", "ptr %words, ptr %scratch", [*self.code, "  ret void"])


def source(shape: Shape) -> str:
    """All functions in LLVM's intermediate language."""

    def writer() -> PathWriter:
        return PathWriter(shape)

    return module(
        shape,
        Writer(shape).sums("exp"),
        writer().times_matrix("project", "alone"),
        writer().times_matrix("onto", "added"),
        writer().prepare(),
        writer().pack_tile(),
        writer().pack_matrix(),
        writer().rows(),
        writer().work(),
        writer().lead(),
        writer().follow(),
    )


# What the code is told once of a run.
_SIZES = ("n", "d", "heads", "tiles", "per", "chunk", "chunks", "rounds", "apart", "lengths", "layers", "yield")
_PAIRS = ("pair_of_tokens", "pair_of_terms")
_ARRAYS = ("records", "first_R", "given", *_PAIRS, "zeros", "keys", "values", "q", "packed")
_WORDS = [PLACES[name] for name in (*_SIZES, *_ARRAYS)]
_LAYER, _CANCELS = PLACES["layer"], PLACES["cancels"]


def path_layers(
    kernel: Kernel, tokens: Floats, V: Floats, layers: Sequence[Layer], limit: float, threads: int
) -> PathRun:
    """As many of these layers as can be made of tokens (n, d) and V (n, k, d) with no logit beyond the limit. All
    layers have as many heads, contiguous."""
    shape, missing = kernel.shape, -tokens.shape[1] % kernel.shape.lanes
    first = Sums(V, tokens)
    if missing:  # columns of zeros change nothing
        V, tokens = widened(V, missing, both=False), widened(tokens, missing, both=False)
    V, tokens, (n, k, d), L = np.ascontiguousarray(V), np.ascontiguousarray(tokens), V.shape, len(layers)
    records = np.zeros((L, RECORD))
    held: list[Floats | None] = [V, tokens, records]
    lengths, heads = [k], len(layers[0][0])
    for record, (query, value, bias, scale, skip) in zip(records, layers, strict=True):
        arrays = [query, value, None if bias is None else np.ascontiguousarray(bias)]
        if missing:
            arrays = [None if a is None else widened(a, missing, both=a.ndim == 3) for a in arrays]
        held += arrays
        record.view(np.int64)[:3] = [0 if a is None else address(a) for a in arrays]
        record[4:] = scale, (limit / scale) ** 2, skip
        lengths.append(lengths[-1] + (skip != 0))
    tiles, most = -(-n // shape.width), lengths[-1] * d
    chunk = chunk_of(n, lengths[-2] * d, threads, shape)
    chunks, per = -(-n // chunk), groups_at_once(shape, chunk // shape.rows, d)
    places = min(L, 2)
    of_tokens, of_terms = aligned(places, n, d), aligned(places, n * most)
    q, zeros = np.zeros(tiles * shape.width), np.zeros(d)
    q[:n] = 1.0
    memory = aligned(tiles * shape.width * d), aligned(-(-n // shape.keys) * shape.keys * most), q
    weights = aligned(2 * heads * d * d)
    own = records, tokens, V, of_tokens, of_terms, zeros, *memory, weights
    words = np.zeros(COUNTERS + (4 + MEASURED) * (L + 1), np.int64)
    sizes = n, d, heads, tiles, per, chunk, chunks, 1, n * most, k, L, yielding()
    words[_WORDS] = *sizes, *(address(a) for a in own)
    scratch = aligned(threads, -(-(chunk * (2 * most + d + shape.lanes) + shape.rows * d) // 8) * 8)
    products = heads * n * (n + d) * d * sum(lengths)
    lead_and_follow(*_compiled(kernel), words, scratch, (kernel, held, own), products >= LONG)

    def after(l: int) -> Sums:
        if not l:
            return first
        terms = of_terms[(l - 1) % 2, : n * lengths[l] * d].reshape(n, lengths[l], d)
        return Sums(terms[..., : d - missing], of_tokens[(l - 1) % 2, :, : d - missing])

    reached = int(words[_LAYER])
    return PathRun(reached, after(reached), after(reached - 1) if words[_CANCELS] else None)


@cache
def _compiled(kernel: Kernel) -> tuple[Callable[..., None], Callable[..., None]]:
    lead, follow = kernel.compiled_all(source(kernel.shape), {"lead": (0, 2), "follow": (1, 2)})
    return lead, follow
