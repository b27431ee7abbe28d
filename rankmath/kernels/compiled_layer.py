"""A whole layer of attention alone, compiled for the CPU: tokens e^ξ 1x + e^σ R, heads W_QK and W, key biases k.

Each head finds the common part (`head`), then adds its deviation times W to every row (`rows`):

    deviation_i = Σ_j m_ij q_j (D_j − qᵀD)/(1 + Σ_j m_ij q_j),
    m = expm1(e^{2σ} R W_QK Dᵀ/√d_qk),  D = R − 1R_pivot

At the end one thread moves the mean of all rows into the center, and divides both by their sizes (`recentre`).
Threads take whole heads, or heads and then rows, as they come; which thread makes a number changes no digit of it.
Uneven attention and logits out of range stop all threads; `rankmath.attention` then makes that layer from arrays.
"""

import struct
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np

from rankmath.kernels.compiled import Shape, Writer

#: The words that the code reads: sizes, addresses, numbers. It writes `stop`.
SIZES = ("n", "d", "heads", "tiles", "per", "chunk", "chunks", "at_once", "rounds", "apart", "by_heads")
RUN = ("layer", "layers", "measured", "unmeasured", "left", "stop", "ready")
GIVEN = ("given", "first_x", "first_R", "places", "records", "log")
#: Memory in which tokens are measured.
MEASURING = ("tiles_of_rows", "squares", "ends", "found", "small")
ADDRESSES = (
    *("x", "R", "query", "value", "key_bias", "bias", "center", "total"),
    *("g", "image", "keys", "values", "q", "packed", "thin", "of_each", "sizes", "of_heads", "of_queries", "yield"),
    *MEASURING,
    *(f"second_{name}" for name in MEASURING),
)
LIMITS = ("log_zero", "safe_log", "linear_log", "suspicious", "uneven")
NUMBERS = (
    *("scale", "limit", "of_pull", "of_key", "of_x", "of_common", "of_thin"),
    *("skip", "of_image", "of_bias", "of_skip", "of_shift", "of_total", "of_residual", "of_center"),
    *("mantissa", "exponent", "log_center"),
)
#: Words that path sums alone use.
OF_PATHS = (
    *("lengths", "cancels", "far", "tokens", "terms", "new_tokens", "new_terms", "pair_of_tokens", "pair_of_terms"),
    *("origin", "zeros"),
)
#: The index of each word.
_NAMES = (*SIZES, *RUN, *GIVEN, *ADDRESSES, *LIMITS, *NUMBERS, *OF_PATHS)
PLACES = {name: place for place, name in enumerate(_NAMES)}
#: Where counters begin, on a cache line of their own.
COUNTERS = 8 * (2 + len(PLACES) // 8)
# Rows of a matrix that are read side by side.
_ABREAST = 8
#: A size beyond this, or below its inverse, is far from one.
WILD = 1e60
# Of each head: the largest and the least logit of the common part, the sum of its exponentials, the longest D_j².
PER_HEAD = 4


class LayerWriter(Writer):
    """Writes the functions of a layer."""

    def word(self, name: str) -> str:
        return self.put(f"load i64, ptr {self.at('%words', PLACES[name])}, align 8")

    def pointer(self, name: str) -> str:
        return self.put(f"load ptr, ptr {self.at('%words', PLACES[name])}, align 8")

    def number(self, place: str) -> str:
        return self.put(f"load double, ptr {place}, align 8")

    def real(self, x: float) -> str:
        return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"

    def told(self, name: str) -> str:
        return self.number(self.at("%words", PLACES[name]))

    def write(self, x: str, place: str) -> None:
        self.code.append(f"  store double {x}, ptr {place}, align 8")

    def room(self, name: str, count: str) -> str:
        self.code.append(f"  %{name} = alloca double, i64 {count}, align 64")
        return f"%{name}"

    def held(self, slot: str, padded: str, d: str) -> tuple[str, str]:
        """Where keys and values of a head are: whole tiles of the ones, whole blocks of the others."""
        size, of_head = self.shape.keys, self.times(slot, d)
        blocks = self.put(f"udiv i64 {self.put(f'add i64 {padded}, {size - 1}')}, {size}")
        keys = self.address(self.pointer("keys"), self.times(of_head, padded))
        return keys, self.address(self.pointer("values"), self.times(of_head, self.times(blocks, size)))

    def keep(self, x: str, place: str, relation: str) -> str:
        """The larger (ogt) or smaller (olt) of x and what is there, in its place; whether that is x."""
        better = self.put(f"fcmp {relation} double {x}, {self.number(place)}")
        for _ in self.when(better):
            self.write(x, place)
        return better

    def stop(self) -> None:
        self.code.append(f"  store atomic i64 1, ptr {self.at('%words', PLACES['stop'])} monotonic, align 8")

    def goes_on(self) -> str:
        """Whether nothing has stopped this run."""
        state = self.put(f"load atomic i64, ptr {self.at('%words', PLACES['stop'])} monotonic, align 8")
        return self.put(f"icmp eq i64 {state}, 0")

    def transposed(self, rows: list[str]) -> list[str]:
        """A square of vectors, by exchanging halves, quarters …"""
        lanes, v = self.shape.lanes, self.vector
        rows, step = list(rows), 1
        while step < lanes:
            first = [l if not l & step else lanes + l - step for l in range(lanes)]
            second = [l + step if not l & step else lanes + l for l in range(lanes)]
            for i in range(lanes):
                if not i & step:
                    pair = rows[i], rows[i + step]
                    for place, mask in ((i, first), (i + step, second)):
                        chosen = ", ".join(f"i32 {k}" for k in mask)
                        rows[place] = self.put(
                            f"shufflevector {v} {pair[0]}, {v} {pair[1]}, <{lanes} x i32> <{chosen}>"
                        )
            step *= 2
        return rows

    def head(self) -> list[str]:
        """All that the rows of head %h share, kept in slot %slot:

        g = of_pull · x W_QK + of_key · k, and W_QK packed in strips
        pivot = the first j with the largest R_j · g
        D_j = R_j − R_pivot, c_j = D_j · g;  top, low = max c, min c;  far = max |D_j|²
        q = softmax(c);  stop if e^(low − top)/Σ e^(c − top) is uneven or no number
        mean = Σ q_j D_j
        image = (of_x · x + of_common · (R_pivot + mean)) W, and W packed; stop if W is far from size one
        keys = scale · D in tiles, transposed;  values = q_j (D_j − mean) in blocks
        if the logits are below rounding and n ≥ d:  covariance
        """
        lanes, vectors, width, size = self.shape.lanes, self.shape.vectors, self.shape.width, self.shape.keys
        n, d, tiles = self.word("n"), self.word("d"), self.word("tiles")
        count, last = self.put(f"udiv i64 {d}, {lanes}"), self.put(f"sub i64 {n}, 1")
        tokens, x, g = self.pointer("R"), self.pointer("x"), self.address(self.pointer("g"), self.times("%h", d))
        of_head = self.times("%h", self.times(d, d))
        query, value = (self.address(self.pointer(name), of_head) for name in ("query", "value"))
        packed = self.address(self.pointer("packed"), self.times("%slot", self.times(self.times(d, d), 2)))
        self._pull(x, query, d, count, packed, g)
        padded = self.times(tiles, width)
        keys, w = self.held("%slot", padded, d)
        q = self.address(self.pointer("q"), self.times("%slot", padded))
        found = self.address(self.pointer("of_heads"), self.times("%h", PER_HEAD))
        top, low, total, far = (self.at(found, k) for k in range(PER_HEAD))
        best, mean = self.room("best", "1"), self.room("mean", d)
        self.code.append("  %place = alloca i64, align 8")
        self.code.append("  store i64 0, ptr %place, align 8")
        infinite = "0x7FF0000000000000", "0xFFF0000000000000"
        for start, place in zip((infinite[1], infinite[1], infinite[0], "0.0"), (best, top, low, far), strict=True):
            self.write(start, place)
        for j, _ in self.loop("j", "0", n):
            row, sums = self.address(tokens, self.times(j, d)), [self.splat(0.0)]
            for c, now in self.loop("c", "0", count, sums):
                at = self.times(c, lanes)
                sums[0] = self.fma(self.load(self.address(row, at)), self.load(self.address(g, at)), now[0])
            for _ in self.when(self.keep(self.total(sums[0]), best, "ogt")):
                self.code.append(f"  store i64 {j}, ptr %place, align 8")
        pivot = self.address(tokens, self.times(self.put("load i64, ptr %place, align 8"), d))
        for j, _ in self.loop("j", "0", n):
            row, sums = self.address(tokens, self.times(j, d)), [self.splat(0.0)] * 2
            for c, now in self.loop("c", "0", count, sums):
                at = self.times(c, lanes)
                D = self.binary("fsub", self.load(self.address(row, at)), self.load(self.address(pivot, at)))
                sums[:] = self.fma(D, self.load(self.address(g, at)), now[0]), self.fma(D, D, now[1])
            logit = self.total(sums[0])
            self.write(logit, self.address(q, j))
            self.keep(logit, top, "ogt")
            self.keep(logit, low, "olt")
            self.keep(self.total(sums[1]), far, "ogt")
        self._softmax(n, padded, q, top, total)
        spread = self.exp(self._not_tiny(self.binary("fsub", self.broadcast(low), self.broadcast(top))))
        least = self.put(f"fmul double {self.number(total)}, {self.told('uneven')}")
        even = self.put(f"fcmp ogt double {self.most(spread)}, {least}")  # not so for nan either
        for _ in self.when(self.put(f"xor i1 {even}, true")):
            self.stop()
            self.code += ["  ret void", "stopped:"]
        self.code.append(f"  call void @llvm.memset.p0.i64(ptr {mean}, i8 0, i64 {self.times(d, 8)}, i1 false)")
        for j, _ in self.loop("j", "0", n):
            row, weight = self.address(tokens, self.times(j, d)), self.broadcast(self.address(q, j))
            for c, _ in self.loop("c", "0", count):
                at = self.times(c, lanes)
                D = self.binary("fsub", self.load(self.address(row, at)), self.load(self.address(pivot, at)))
                place = self.address(mean, at)
                self.store(self.fma(weight, D, self.load(place)), place)
        seen, of_x, of_common = self.room("seen", d), *(self.spread(self.told(a)) for a in ("of_x", "of_common"))
        for c, _ in self.loop("c", "0", count):
            at = self.times(c, lanes)
            row = self.binary("fadd", self.load(self.address(pivot, at)), self.load(self.address(mean, at)))
            row = self.binary("fmul", row, of_common)
            self.store(self.fma(self.load(self.address(x, at)), of_x, row), self.address(seen, at))
        image = self.address(self.pointer("image"), self.times("%h", d))
        self.stop_if_wild(self.row_times(seen, value, d, self.address(packed, self.times(d, d)), image))
        scales = self.spread(self.told("scale")), self.spread(self.told("of_thin"))
        by_pairs = self.put(f"and i1 {self.is_thin()}, {self.has_few_tokens()}")
        scale = self.put(f"select i1 {by_pairs}, {self.vector} {scales[1]}, {self.vector} {scales[0]}")
        whole, rest = self.put(f"udiv i64 {count}, {vectors}"), self.put(f"urem i64 {count}, {vectors}")
        for b, _ in self.loop("b", "0", self.times(tiles, vectors)):
            tile, part = self.put(f"udiv i64 {b}, {vectors}"), self.put(f"urem i64 {b}, {vectors}")
            key_tile = self.address(keys, self.times(tile, self.times(d, width)))
            lane, first = self.times(part, lanes), self.times(b, lanes)
            block, of_block = self.put(f"udiv i64 {first}, {size}"), self.put(f"urem i64 {first}, {size}")
            value_block = self.address(w, self.times(block, self.times(d, size)))
            # Of rows that are missing the weight is zero.
            weights = [self.broadcast(self.at(self.address(q, first), r)) for r in range(lanes)]
            rows = self.rows_of(tokens, first, d, last, lanes)
            for c, _ in self.loop("c", "0", count):
                at, strip = self.times(c, lanes), self.put(f"udiv i64 {c}, {vectors}")
                full = self.put(f"icmp slt i64 {strip}, {whole}")
                step = self.times(self.put(f"select i1 {full}, i64 {vectors}, i64 {rest}"), lanes)
                target = self.address(value_block, self.times(strip, size * width))
                target = self.address(target, self.times(self.put(f"urem i64 {c}, {vectors}"), lanes))
                of_pivot, of_mean = (self.load(self.address(a, at)) for a in (pivot, mean))
                tile_of_D = [self.binary("fsub", self.load(self.address(row, at)), of_pivot) for row in rows]
                for r in range(lanes):
                    weighted = self.binary("fmul", self.binary("fsub", tile_of_D[r], of_mean), weights[r])
                    place = self.times(self.put(f"add i64 {of_block}, {r}"), step)
                    self.store(weighted, self.address(target, place))
                target = self.address(self.address(key_tile, self.times(at, width)), lane)
                for k, column in enumerate(self.transposed(tile_of_D)):
                    self.store(self.binary("fmul", column, scale), self.at(target, k * width))
        many = self.put(f"xor i1 {self.has_few_tokens()}, true")
        for _ in self.when(self.put(f"and i1 {self.is_thin()}, {many}")):
            self.code.append("  call void @covariance(ptr %words, i64 %slot)")
        return self.function("head", "ptr %words, i64 %h, i64 %slot", [*self.code, "  ret void"])

    def is_thin(self) -> str:
        """Whether the logits are below rounding: then the factor of the covariance is given, and no −1."""
        return self.put(f"fcmp oge double {self.told('of_thin')}, 0.0")

    def has_few_tokens(self) -> str:
        """Fewer than columns: all pairs of them are fewer numbers than a covariance."""
        return self.put(f"icmp slt i64 {self.word('n')}, {self.word('d')}")

    def covariance(self) -> list[str]:
        """Where E is below rounding the deviation is R W_QK C W with a d × d matrix C:

        C = Σ_j D_jᵀ q_j (D_j − mean)     (keys and values as `head` has packed them)
        W in its packed place = of_thin · C W
        """
        rows, lanes, width, size = self.shape.rows, self.shape.lanes, self.shape.width, self.shape.keys
        d, tiles = self.word("d"), self.word("tiles")
        count, last, square = self.put(f"udiv i64 {d}, {lanes}"), self.put(f"sub i64 {d}, 1"), self.times(d, d)
        groups = self.put(f"udiv i64 {self.put(f'add i64 {last}, {rows}')}, {rows}")
        keys, w = self.held("%slot", self.times(tiles, width), d)
        value = self.address(self.pointer("packed"), self.times("%slot", self.times(square, 2)))
        value = self.address(value, square)
        room = self.times(d, self.put(f"add i64 {self.times(d, 2)}, {rows}"))
        sums_at = self.address(self.pointer("thin"), self.times("%slot", room))
        made = self.address(sums_at, square)
        for v, column in self.strips(count):
            for g, _ in self.loop("g", "0", groups):
                first, sums = self.times(g, rows), [self.splat(0.0)] * (rows * v)
                for t, through in self.loop("t", "0", tiles, sums):
                    sums[:] = through
                    begin = self.times(t, width)
                    block, of_block = self.put(f"udiv i64 {begin}, {size}"), self.put(f"urem i64 {begin}, {size}")
                    source = self.address(w, self.times(block, self.times(d, size)))
                    source = self.address(source, self.times(column, size))
                    source = self.address(source, self.times(of_block, v * lanes))
                    of_keys = self.rows_of(self.address(keys, self.times(begin, d)), first, str(width), last)
                    for j, now in self.loop("j", "0", str(width), sums):
                        sums[:] = now
                        entries = [self.address(row, j) for row in of_keys]
                        self.product(sums, map(self.broadcast, entries), self.vectors(source, j, v))
                for r, row in enumerate(self.rows_of(self.address(sums_at, column), first, d, last)):
                    for c in range(v):
                        self.store(sums[r * v + c], self.at(row, c * lanes))
        given = f"i64 {d}, i64 {groups}, i64 {last}, ptr {sums_at}, ptr {value}, ptr {made}, ptr {made}"
        self.code.append(f"  call void @project({given})")
        factor = self.spread(self.told("of_thin"))
        for v, column in self.strips(count):
            source, target = self.address(made, column), self.address(value, self.times(column, d))
            for k, _ in self.loop("k", "0", d):
                row, place = self.address(source, self.times(k, d)), self.address(target, self.times(k, v * lanes))
                for c in range(v):
                    x = self.binary("fmul", self.load(self.at(row, c * lanes)), factor)
                    self.store(x, self.at(place, c * lanes))
        return self.function("covariance", "ptr %words, i64 %slot", [*self.code, "  ret void"])

    def row_times(self, row: str, matrix: str, d: str, packed: str, out: str) -> str:
        """A row times a square matrix, to `out`, and the largest |entry| of the matrix, which is packed on the way:
        strips of columns one after the other, since far rows may share their places in the cache. Some rows are
        read side by side: whole matrices come from far."""
        lanes, count = self.shape.lanes, self.put(f"udiv i64 {d}, {self.shape.lanes}")
        self.code.append(f"  call void @llvm.memset.p0.i64(ptr {out}, i8 0, i64 {self.times(d, 8)}, i1 false)")
        most = self.put(f"alloca {self.vector}, align 64")
        self.store(self.splat(0.0), most)
        for first, some in self.parts(d, str(_ABREAST)):
            end = self.put(f"add i64 {first}, {some}")
            for v, column in self.strips(count):
                source, target = self.address(matrix, column), self.address(packed, self.times(column, d))
                place = self.address(out, column)
                sums = [*(self.load(self.at(place, c * lanes)) for c in range(v)), self.load(most)]
                for k, now in self.loop("k", first, end, sums):
                    sums[:] = now
                    of_k, x = self.address(source, self.times(k, d)), self.broadcast(self.address(row, k))
                    to = self.address(target, self.times(k, v * lanes))
                    for c in range(v):
                        entries = self.load(self.at(of_k, c * lanes))
                        self.store(entries, self.at(to, c * lanes))
                        sums[c] = self.fma(x, entries, sums[c])
                        sums[v] = self.larger(self.without_sign(entries), sums[v])
                for c in range(v):
                    self.store(sums[c], self.at(place, c * lanes))
                self.store(sums[v], most)
        return self.most(self.load(most))

    def stop_if_wild(self, size: str) -> None:
        """Stop where a matrix is far from size one; zeros are not."""
        large = self.put(f"fcmp ogt double {size}, {self.real(WILD)}")
        small = self.put(f"fcmp olt double {size}, {self.real(1 / WILD)}")
        some = self.put(f"fcmp ogt double {size}, 0.0")
        for _ in self.when(self.put(f"or i1 {large}, {self.put(f'and i1 {small}, {some}')}")):
            self.stop()

    def _pull(self, x: str, query: str, d: str, count: str, packed: str, g: str) -> None:
        lanes, of_pull, of_key = self.shape.lanes, *(self.spread(self.told(a)) for a in ("of_pull", "of_key"))
        self.row_times(x, query, d, packed, g)
        for c, _ in self.loop("c", "0", count):
            place = self.address(g, self.times(c, lanes))
            self.store(self.binary("fmul", self.load(place), of_pull), place)
        bias = self.pointer("key_bias")
        for _ in self.when(self.put(f"icmp ne ptr {bias}, null")):
            bias = self.address(bias, self.times("%h", d))
            for c, _ in self.loop("c", "0", count):
                at = self.times(c, lanes)
                place = self.address(g, at)
                self.store(self.fma(self.load(self.address(bias, at)), of_key, self.load(place)), place)

    def _not_tiny(self, x: str) -> str:
        """x, or −700 where e^x is below that of −700: far below what is even."""
        return self.larger(x, self.splat(-700.0))

    def _softmax(self, n: str, padded: str, q: str, top: str, total: str) -> None:
        lanes, largest = self.shape.lanes, self.broadcast(top)
        blocks = self.put(f"udiv i64 {padded}, {lanes}")
        for j, _ in self.loop("j", n, padded):
            self.write(self.number(top), self.address(q, j))
        for b, _ in self.loop("b", "0", blocks):
            place = self.address(q, self.times(b, lanes))
            self.store(self.exp(self._not_tiny(self.binary("fsub", self.load(place), largest))), place)
        for j, _ in self.loop("j", n, padded):
            self.write("0.0", self.address(q, j))
        sums = [self.splat(0.0)]
        for b, now in self.loop("b", "0", blocks, sums):
            sums[0] = self.binary("fadd", now[0], self.load(self.address(q, self.times(b, lanes))))
        self.write(self.total(sums[0]), total)
        inverse = self.spread(self.put(f"fdiv double 1.0, {self.number(total)}"))
        for b, _ in self.loop("b", "0", blocks):
            place = self.address(q, self.times(b, lanes))
            self.store(self.binary("fmul", self.load(place), inverse), place)

    def times_matrix(self, name: str, to: Literal["alone", "added", "measured"]) -> list[str]:
        """Groups of rows a times a packed matrix b:

        for each strip of columns, for each group:  sums = a · b[strip]     (in registers)
            out = sums ("alone"), or out += sums ("added"), or that and largest = max(largest, |sums|) ("measured")
        """
        rows, lanes = self.shape.rows, self.shape.lanes
        count = self.put(f"udiv i64 %d, {lanes}")
        for v, column in self.strips(count):
            panel = self.address("%b", self.times(column, "%d"))
            for g, _ in self.loop("g", "0", "%groups"):
                first = self.times(g, rows)
                made = self.rows_from(
                    self.address("%out", self.put(f"add i64 {self.times(first, '%d')}, {column}")), "%d"
                )
                places = [self.at(made[i // v], i % v * lanes) for i in range(rows * v)]
                sums = [self.load(place) if to == "added" else self.splat(0.0) for place in places]
                given = self.rows_of("%a", first, "%d", "%last")
                for k, now in self.loop("k", "0", "%d", sums):
                    sums[:] = now
                    entries = [self.address(row, k) for row in given]
                    self.product(sums, map(self.broadcast, entries), self.vectors(panel, k, v))
                most = self.load("%largest") if to == "measured" else ""
                for x, place in zip(sums, places, strict=True):
                    if to == "measured":
                        most = self.larger(self.without_sign(x), most)
                        x = self.binary("fadd", self.load(place), x)
                    self.store(x, place)
                if to == "measured":
                    self.store(most, "%largest")
        pointers = ", ".join(f"ptr noalias %{a}" for a in ("a", "b", "out", "largest"))
        return self.function(name, f"i64 %d, i64 %groups, i64 %last, {pointers}", [*self.code, "  ret void"])

    def rows(self) -> list[str]:
        """Part %unit of the rows, of the heads from %h0 to %h1, which are held from %slot on.

        In plain steps::

            if h0 = 0:  to = skip · R
            for each head h:
                left = R W_QK
                E not below rounding:          stop if |left_i|² far exceeds the limit;  deviation = sums(expm1)
                below, n < d:                  deviation = sums(E itself)
                below, n ≥ d:                  deviation = left, and W holds the covariance
                to += deviation W;  sizes[unit, h] = the largest |entry| of that
        """
        lanes, width = self.shape.lanes, self.shape.width
        d, chunk, tiles = (self.word(name) for name in ("d", "chunk", "tiles"))
        count, (start, have) = self.put(f"udiv i64 {d}, {lanes}"), self.part_of_rows("%unit")
        groups, last = self.grouped(have)
        self.code.append(f"  %largest = alloca {self.vector}, align 64")
        tokens, total = (self.address(a, self.times(start, d)) for a in (self.pointer("R"), "%to"))
        entries, square = self.times(chunk, d), self.times(d, d)
        left, made, means = (self.address("%scratch", self.times(entries, k)) for k in range(3))
        for _ in self.when(self.put("icmp eq i64 %h0, 0")):
            skip = self.spread(self.told("skip"))
            for i, _ in self.loop("i", "0", self.times(have, count)):
                at = self.times(i, lanes)
                self.store(self.binary("fmul", self.load(self.address(tokens, at)), skip), self.address(total, at))
        padded = self.times(tiles, width)
        per, thin, few = self.word("per"), self.is_thin(), self.has_few_tokens()
        by_pairs = self.put(f"or i1 {self.put(f'xor i1 {thin}, true')}, {few}")
        for h, _ in self.loop("h", "%h0", "%h1"):
            for _ in self.when(self.goes_on()):
                slot = self.put(f"add i64 {self.put(f'sub i64 {h}, %h0')}, %slot")
                query = self.address(self.pointer("packed"), self.times(slot, self.times(square, 2)))
                value = self.address(query, square)
                keys, w = self.held(slot, padded, d)
                q = self.address(self.pointer("q"), self.times(slot, padded))
                sizes = f"i64 {d}, i64 {groups}, i64 {last}"
                self.code.append(f"  call void @project({sizes}, ptr {tokens}, ptr {query}, ptr {left}, ptr %largest)")
                given = f"i64 {groups}, i64 {d}, i64 {tiles}, i64 {per}, i64 {count}, i64 {d}, i64 {last}"
                given += "".join(f", ptr {a}" for a in (left, keys, w, q, made, means))
                for _ in self.when(self.put(f"xor i1 {thin}, true")):
                    far = self.at(self.address(self.pointer("of_heads"), self.times(h, PER_HEAD)), 3)
                    self.check(left, d, count, groups, self.number(far))
                    self.code.append(f"  call void @sums({given})")
                for _ in self.when(self.put(f"and i1 {thin}, {few}")):
                    self.code.append(f"  call void @linear({given})")
                self.store(self.splat(0.0), "%largest")
                deviation = self.put(f"select i1 {by_pairs}, ptr {made}, ptr {left}")
                given = f"{sizes}, ptr {deviation}, ptr {value}, ptr {total}, ptr %largest"
                self.code.append(f"  call void @collect({given})")
                place = self.put(f"add i64 {self.times('%unit', self.word('heads'))}, {h}")
                self.write(self.most(self.load("%largest")), self.address(self.pointer("sizes"), place))
        arguments = "ptr %words, i64 %unit, ptr %scratch, i64 %h0, i64 %h1, i64 %slot, ptr %to"
        return self.function("rows", arguments, [*self.code, "  ret void"])

    def part_of_rows(self, part: str) -> tuple[str, str]:
        """Where a part of the rows starts, and how many it has."""
        start = self.times(part, self.word("chunk"))
        left_over = self.put(f"sub i64 {self.word('n')}, {start}")
        fewer = self.put(f"icmp slt i64 {left_over}, {self.word('chunk')}")
        return start, self.put(f"select i1 {fewer}, i64 {left_over}, i64 {self.word('chunk')}")

    def grouped(self, rows: str) -> tuple[str, str]:
        """How many groups so many rows are, and the last row."""
        last = self.put(f"sub i64 {rows}, 1")
        return self.put(f"udiv i64 {self.put(f'add i64 {last}, {self.shape.rows}')}, {self.shape.rows}"), last

    def gather(self) -> list[str]:
        """total = Σ_h of_each[h] for part %unit of the rows, in the order in which one thread adds them."""
        lanes, d = self.shape.lanes, self.word("d")
        start, have = self.part_of_rows("%unit")
        first, heads = self.times(start, d), self.word("heads")
        each = self.put(f"sub i64 {self.word('apart')}, {d}")
        total, parts = (self.address(self.pointer(name), first) for name in ("total", "of_each"))
        for i, _ in self.loop("i", "0", self.put(f"udiv i64 {self.times(have, d)}, {lanes}")):
            at = self.times(i, lanes)
            sums = [self.load(self.address(parts, at))]
            for h, now in self.loop("h", "0", self.put(f"sub i64 {heads}, 1"), sums):
                place = self.times(self.put(f"add i64 {h}, 1"), each)
                sums[0] = self.binary("fadd", now[0], self.load(self.address(self.address(parts, place), at)))
            self.store(sums[0], self.address(total, at))
        return self.function("gather", "ptr %words, i64 %unit", [*self.code, "  ret void"])

    def check(self, left: str, d: str, count: str, groups: str, far: str) -> None:
        """Stop where the longest row of left and the square of the longest key bound no logit well enough."""
        lanes = self.shape.lanes
        for i, _ in self.loop("i", "0", self.times(groups, self.shape.rows)):
            row, sums = self.address(left, self.times(i, d)), [self.splat(0.0)]
            for c, now in self.loop("c", "0", count, sums):
                x = self.load(self.address(row, self.times(c, lanes)))
                sums[0] = self.fma(x, x, now[0])
            bound = self.put(f"fmul double {self.total(sums[0])}, {far}")
            good = self.put(f"fcmp ole double {bound}, {self.told('limit')}")
            for _ in self.when(self.put(f"xor i1 {good}, true")):
                self.stop()

    def recentre(self) -> list[str]:
        """The mean of the total moves into the center, and both are divided by their largest entries:

        shift = mean of the rows of total
        center = of_image · Σ_h image_h + of_bias · bias + of_skip · x + of_shift · shift
        of_total = max |total|;  total −= shift
        of_center, of_residual = max |center|, max |total|;  center /= of_center, total /= of_residual
        """
        lanes, zero = self.shape.lanes, self.splat(0.0)
        n, d, heads = self.word("n"), self.word("d"), self.word("heads")
        count, total, center = self.put(f"udiv i64 {d}, {lanes}"), self.pointer("total"), self.pointer("center")
        shift, real = self.room("shift", d), self.put(f"sitofp i64 {n} to double")
        tokens, rows = self.spread(real), self.times(n, count)
        sizes = {name: self.at("%words", PLACES[name]) for name in ("of_total", "of_residual", "of_center")}
        self.code.append(f"  call void @llvm.memset.p0.i64(ptr {shift}, i8 0, i64 {self.times(d, 8)}, i1 false)")
        for j, _ in self.loop("j", "0", n):  # in the order of memory
            row = self.address(total, self.times(j, d))
            for c, _ in self.loop("c", "0", count):
                at = self.times(c, lanes)
                place = self.address(shift, at)
                self.store(self.binary("fadd", self.load(place), self.load(self.address(row, at))), place)
        for c, _ in self.loop("c", "0", count):
            place = self.address(shift, self.times(c, lanes))
            self.store(self.binary("fdiv", self.load(place), tokens), place)
        of = {name: self.spread(self.told(name)) for name in ("of_image", "of_bias", "of_skip", "of_shift")}
        image, x, bias = (self.pointer(name) for name in ("image", "x", "bias"))
        biased = self.put(f"icmp ne ptr {bias}, null")
        bias, largest = self.put(f"select i1 {biased}, ptr {bias}, ptr {x}"), [zero]
        for c, now in self.loop("c", "0", count, largest):
            at, sums = self.times(c, lanes), [zero]
            for h, part in self.loop("h", "0", heads, sums):
                place = self.address(self.address(image, self.times(h, d)), at)
                sums[0] = self.binary("fadd", part[0], self.load(place))
            value = self.binary("fmul", sums[0], of["of_image"])
            for name, source in (("of_bias", bias), ("of_skip", x), ("of_shift", shift)):
                value = self.fma(self.load(self.address(source, at)), of[name], value)
            self.store(value, self.address(center, at))
            largest[0] = self.larger(self.without_sign(value), now[0])
        self.write(self.most(largest[0]), sizes["of_center"])
        largest = [zero, zero]
        for j, now in self.loop("j", "0", n, largest):
            row, inner = self.address(total, self.times(j, d)), list(now)
            for c, found in self.loop("c", "0", count, inner):
                at = self.times(c, lanes)
                place = self.address(row, at)
                y = self.load(place)
                moved = self.binary("fsub", y, self.load(self.address(shift, at)))
                self.store(moved, place)
                sizes_of_two = (self.without_sign(a) for a in (y, moved))
                inner[:] = [self.larger(size, old) for size, old in zip(sizes_of_two, found, strict=True)]
            largest[:] = inner
        for x, name in zip(largest, ("of_total", "of_residual"), strict=True):
            self.write(self.most(x), sizes[name])
        for array, size, stop in ((center, "of_center", count), (total, "of_residual", rows)):
            largest_one = self.number(sizes[size])
            some = self.put(f"fcmp ogt double {largest_one}, 0.0")
            self._divide(array, self.put(f"select i1 {some}, double {largest_one}, double 1.0"), stop)
        return self.function("recentre", "ptr %words", [*self.code, "  ret void"])

    def _divide(self, array: str, divisor: str, count: str) -> None:
        """So many vectors over a number. A product with its inverse, corrected once, is rounded as a quotient is,
        and takes a fifth of the time; near the end of the range of doubles it is not."""
        lanes, by = self.shape.lanes, self.spread(divisor)
        ordinary = self.put(f"fcmp ogt double {divisor}, {self.real(1e-290)}")
        for _ in self.when(ordinary):
            inverse = self.binary("fdiv", self.splat(1.0), by)
            minus = self.put(f"fneg {self.vector} {by}")
            for i, _ in self.loop("i", "0", count):
                place = self.address(array, self.times(i, lanes))
                y = self.load(place)
                quotient = self.binary("fmul", y, inverse)
                left = self.fma(quotient, minus, y)
                self.store(self.fma(left, inverse, quotient), place)
        for _ in self.when(self.put(f"xor i1 {ordinary}, true")):
            for i, _ in self.loop("i", "0", count):
                place = self.address(array, self.times(i, lanes))
                self.store(self.binary("fdiv", self.load(place), by), place)

    def work(self) -> list[str]:
        """What every thread does of layer %l; "take" means: a unit that no other thread has taken:

        take the tokens before the layer (not before the last one), and measure them
        by_heads:   take heads: head, then all rows of it, into memory of its own;  wait;  take parts: gather
        otherwise:  for some heads at a time:  take heads: head;  wait;  take parts of rows: rows;  wait
        take queries of the next layer, and measure them;  wait
        """
        heads, at_once, chunks = self.word("heads"), self.word("at_once"), self.word("chunks")
        by_heads = self.put(f"icmp ne i64 {self.word('by_heads')}, 0")
        each = self.put(f"sub i64 {self.word('apart')}, {self.word('d')}")
        # What is measured, if anything: the counters behind all others.
        rounds, measuring = self.word("rounds"), self.word("measured")
        of_measuring = self.address("%counters", self.times(rounds, 4))
        last = self.put(f"sub i64 {self.word('layers')}, 1")
        goes_on = self.put(f"icmp slt i64 %l, {last}")
        early = self.put(f"select i1 {goes_on}, i64 {measuring}, i64 0")
        for _ in self.taken(of_measuring, early):
            self.code.append("  call void @lengths(ptr %words, i64 %l, i64 0)")
        for _ in self.when(by_heads):
            size = self.times(each, 8)
            for h in self.units_of("%counters", heads):
                to, end = self.address(self.pointer("of_each"), self.times(h, each)), self.put(f"add i64 {h}, 1")
                self.code.append(f"  call void @llvm.memset.p0.i64(ptr {to}, i8 0, i64 {size}, i1 false)")
                self.code.append(f"  call void @head(ptr %words, i64 {h}, i64 %thread)")
                for c, _ in self.loop("c", "0", chunks):
                    given = f"ptr %words, i64 {c}, ptr %scratch, i64 {h}, i64 {end}, i64 %thread, ptr {to}"
                    self.code.append(f"  call void @rows({given})")
            for unit in self.units_of(self.at("%counters", 2), chunks):
                self.code.append(f"  call void @gather(ptr %words, i64 {unit})")
        for k, _ in self.loop("k", "0", self.put(f"select i1 {by_heads}, i64 0, i64 {rounds}")):
            first = self.times(k, at_once)
            end = self.put(f"add i64 {first}, {at_once}")
            fewer = self.put(f"icmp slt i64 {heads}, {end}")
            end = self.put(f"select i1 {fewer}, i64 {heads}, i64 {end}")
            counter = self.address("%counters", self.times(k, 4))
            for unit in self.units_of(counter, self.put(f"sub i64 {end}, {first}")):
                h = self.put(f"add i64 {first}, {unit}")
                self.code.append(f"  call void @head(ptr %words, i64 {h}, i64 {unit})")
            for unit in self.units_of(self.at(counter, 2), chunks):
                total = self.pointer("total")
                given = f"ptr %words, i64 {unit}, ptr %scratch, i64 {first}, i64 {end}, i64 0, ptr {total}"
                self.code.append(f"  call void @rows({given})")
        queries, after = self.put(f"select i1 {goes_on}, i64 {heads}, i64 0"), self.put("add i64 %l, 1")
        for h in self.units_of(self.at(of_measuring, 2), queries):
            self.code.append(f"  call void @of_query(ptr %words, i64 {after}, i64 {h})")
        self.wait_until(lambda: self.put(f"icmp sge i64 {self._done(of_measuring)}, {early}"))
        arguments = "i64 %thread, i64 %l, ptr %words, ptr %counters, ptr %scratch"
        return self.function("work", arguments, [*self.code, "  ret void"])

    def taken(self, counter: str, count: str) -> Iterator[str]:
        """Yield a unit that no other thread has. What the code is told of a layer may be read from then on alone: a
        thread that comes late finds none."""
        self.count += 1
        name = f"unit{self.count}"
        self.code += [f"  br label %{name}.next", f"{name}.next:"]
        unit = self.put(f"atomicrmw add ptr {counter}, i64 1 seq_cst")
        more = self.put(f"icmp slt i64 {unit}, {count}")
        self.code += [f"  br i1 {more}, label %{name}.body, label %{name}.end", f"{name}.body:"]
        yield unit
        self.put(f"atomicrmw add ptr {self.at(counter, 1)}, i64 1 seq_cst")
        self.code += [f"  br label %{name}.next", f"{name}.end:"]

    def units_of(self, counter: str, count: str) -> Iterator[str]:
        """… and wait until all are done, by whomever."""
        yield from self.taken(counter, count)
        self.wait_until(lambda: self.put(f"icmp sge i64 {self._done(counter)}, {count}"))

    def _done(self, counter: str) -> str:
        return self.put(f"load atomic i64, ptr {self.at(counter, 1)} seq_cst, align 8")

    def wait_until(self, ready: Callable[[], str]) -> None:
        self.count += 1
        name = f"until{self.count}"
        self.code += [f"  br label %{name}.wait", f"{name}.wait:"]
        self.code += [f"  br i1 {ready()}, label %{name}.end, label %{name}.spin", f"{name}.spin:"]
        pause = self.pointer("yield")
        for _ in self.when(self.put(f"icmp ne ptr {pause}, null")):
            self.put(f"call i32 {pause}()")
        self.code += [f"  br label %{name}.wait", f"{name}.end:"]

    def measure(self) -> list[str]:
        """out = Σ_i |R_i|², the largest |R_i − R_j|², |x|²:

        squares_i = |R_i|²;  out[0] = Σ squares;  out[2] = |x|²
        out[1] = what `chosen` finds in floats first, where there is memory for that
        if it finds nothing:  out[1] = max_i squares_i + pairs_i
        """
        lanes, count = self.shape.lanes, self.put(f"udiv i64 %d, {self.shape.lanes}")
        for given, stop, out in (("%R", "%n", "%squares"), ("%x", "1", self.at("%out", 2))):
            for j, _ in self.loop("j", "0", stop):
                row, sums = self.address(given, self.times(j, "%d")), [self.splat(0.0)]
                for c, now in self.loop("c", "0", count, sums):
                    y = self.load(self.address(row, self.times(c, lanes)))
                    sums[0] = self.fma(y, y, now[0])
                self.write(self.total(sums[0]), self.address(out, j))
        self._sum_of("%squares", "%n", "%out")
        far = self.at("%out", 1)
        self.write("-1.0", far)
        arrays = ", ".join(f"ptr {a}" for a in ("%R", "%squares", "%found", "%small", far))
        for _ in self.when(self.put("icmp ne ptr %small, null")):
            self.code.append(f"  call void @chosen(i64 %n, i64 %d, {arrays})")
        for _ in self.when(self.put(f"fcmp olt double {self.number(far)}, 0.0")):
            self._all_pairs(count, far)
        sizes = ", ".join(f"i64 %{a}" for a in ("n", "d", "tiles", "groups"))
        pointers = ", ".join(f"ptr %{a}" for a in ("R", "x", "keys", "squares", "ends", "found", "out", "small"))
        return self.function("measure", f"{sizes}, {pointers}", [*self.code, "  ret void"])

    def tiles_of_rows(self, keys: str, tiles: str, count: str, *, single: bool = False) -> None:
        """All rows of %R as tiles of columns, in doubles or floats."""
        lanes, wide = self.shape.lanes, 1 + single
        vectors, width, last = wide * self.shape.vectors, wide * self.shape.width, self.put("sub i64 %n, 1")
        at_of, store = (self.single_at, self.store_single) if single else (self.address, self.store)
        for b, _ in self.loop("b", "0", self.times(tiles, vectors)):
            tile, part = self.put(f"udiv i64 {b}, {vectors}"), self.put(f"urem i64 {b}, {vectors}")
            target = at_of(at_of(keys, self.times(tile, self.times("%d", width))), self.times(part, lanes))
            rows = self.rows_of("%R", self.times(b, lanes), "%d", last, lanes)
            for c, _ in self.loop("c", "0", count):
                at = self.times(c, lanes)
                place = at_of(target, self.times(at, width))
                for k, column in enumerate(self.transposed([self.load(self.address(row, at)) for row in rows])):
                    store(column, at_of(place, str(k * width)))

    def single_at(self, base: str, offset: str) -> str:
        return self.put(f"getelementptr float, ptr {base}, i64 {offset}")

    def store_single(self, x: str, place: str) -> None:
        """A vector of doubles as floats."""
        floats = f"<{self.shape.lanes} x float>"
        x = self.put(f"fptrunc {self.vector} {x} to {floats}")
        self.code.append(f"  store {floats} {x}, ptr {place}, align 4")

    def _all_pairs(self, count: str, far: str) -> None:
        """The largest |R_i − R_j|² from products of all pairs of rows."""
        self.tiles_of_rows("%keys", "%tiles", count)
        last = self.put("sub i64 %n, 1")
        arrays = ", ".join(f"ptr %{a}" for a in ("R", "keys", "squares", "ends", "found"))
        self.code.append(f"  call void @pairs(i64 0, i64 %groups, i64 %d, i64 {last}, {arrays})")
        self.write("0.0", far)
        for i, _ in self.loop("i", "0", "%n"):
            found, square = (self.number(self.address(a, i)) for a in ("%found", "%squares"))
            self.keep(self.put(f"fadd double {found}, {square}"), far, "ogt")

    def largest_of(self, array: str, count: str) -> str:
        """The largest |entry| of so many vectors, four abreast: each comparison waits for the one before."""
        last, most = self.put(f"sub i64 {count}, 1"), [self.splat(0.0)] * 4
        fours = self.put(f"udiv i64 {self.put(f'add i64 {count}, 3')}, 4")
        for i, now in self.loop("i", "0", fours, most):
            places = self.rows_of(array, self.times(i, 4), str(self.shape.lanes), last, 4)
            most[:] = [self.larger(self.without_sign(self.load(x)), y) for x, y in zip(places, now, strict=True)]
        for x in most[1:]:
            most[0] = self.larger(x, most[0])
        return self.most(most[0])

    def _sum_of(self, numbers: str, count: str, out: str) -> None:
        """The sum of so many, in as many parts as there are lanes."""
        lanes, parts = self.shape.lanes, self.room("parts", str(self.shape.lanes))
        whole = self.put(f"udiv i64 {count}, {lanes}")
        self.store(self.splat(0.0), parts)
        for b, _ in self.loop("b", "0", whole):
            y = self.load(self.address(numbers, self.times(b, lanes)))
            self.store(self.binary("fadd", self.load(parts), y), parts)
        self.write(self.total(self.load(parts)), out)
        for j, _ in self.loop("j", self.times(whole, lanes), count):
            y = self.number(self.address(numbers, j))
            self.write(self.put(f"fadd double {self.number(out)}, {y}"), out)


#: Arrays in single precision, a word with the address of each; `ends` are whole numbers.
_PARTS = ("rows", "keys", "squares", "ends", "found")
# Single precision pays from this many products of entries.
_MANY = 2**18
# One call compares all pairs up to this many products, in floats and in doubles: beyond, threads pay.
_MOST_IN_FLOATS, _MOST_IN_DOUBLES = 2**28, 2**24


class FarWriter(LayerWriter):
    """Writes what is done in doubles before and after the products of floats."""

    def chosen(self) -> list[str]:
        """The farthest of all pairs of rows, in single precision first, which takes half the time of doubles:

        for every row i:  found_i = max_j |x_j|² − 2 x_i·x_j over the rows j from its own tile on, in floats
        doubt = what the rounding of floats may change of that, for the longest row
        for every row i with |x_i|² + found_i ≥ the largest of these − 2 doubt, in doubles:
        far = max(far, |x_i|² + |x_j|² − 2 x_i·x_j) over all rows j
        far = −1 if more than an eighth of the rows are such: then all pairs are compared in doubles
        """
        lanes, width = self.shape.lanes, 2 * self.shape.width
        rows, keys, squares, ends, found = (
            self.put(f"load ptr, ptr {self.at('%small', k)}, align 8") for k in range(len(_PARTS))
        )
        count, (groups, last) = self.put(f"udiv i64 %d, {lanes}"), self.grouped("%n")
        tiles = self.put(f"udiv i64 {self.put(f'add i64 %n, {width - 1}')}, {width}")
        longest, best = self.room("longest", "1"), self.room("best", "1")
        for place in (longest, best):
            self.write("0.0", place)
        for i, _ in self.loop("i", "0", self.times("%n", count)):
            at = self.times(i, lanes)
            self.store_single(self.load(self.address("%R", at)), self.single_at(rows, at))
        for j, _ in self.loop("j", "0", "%n"):
            square = self.number(self.address("%squares", j))
            self.keep(square, longest, "ogt")
            square = self.put(f"fptrunc double {square} to float")
            self.code.append(f"  store float {square}, ptr {self.single_at(squares, j)}, align 4")
        self.tiles_of_rows(keys, tiles, count, single=True)
        arrays = ", ".join(f"ptr {a}" for a in (rows, keys, squares, ends, found))
        self.code.append(f"  call void @pairs_of_floats(i64 0, i64 {groups}, i64 %d, i64 {last}, {arrays})")
        for i, _ in self.loop("i", "0", "%n"):
            gap = self.put(f"load float, ptr {self.single_at(found, i)}, align 4")
            gap = self.put(f"fpext float {gap} to double")
            gap = self.put(f"fadd double {gap}, {self.number(self.address('%squares', i))}")
            self.write(gap, self.address("%found", i))
            self.keep(gap, best, "ogt")
        # Each of d + 2 terms is rounded thrice and added; their sizes sum to (|x_i| + |x_j|)² at most.
        terms = self.put(f"sitofp i64 {self.put('add i64 %d, 6')} to double")
        doubt = self.put(f"fmul double {terms}, {self.put(f'fmul double {self.number(longest)}, {2.0**-21!r}')}")
        least = self.put(f"fsub double {self.number(best)}, {doubt}")
        self.code += ["  %many = alloca i64, align 8", "  store i64 0, ptr %many, align 8"]
        most = self.put("udiv i64 %n, 8")
        self.write("0.0", "%far")
        for i, _ in self.loop("i", "0", "%n"):
            likely = self.put(f"fcmp uge double {self.number(self.address('%found', i))}, {least}")
            for _ in self.when(likely):  # and for what is no number
                many = self.put("load i64, ptr %many, align 8")
                self.code.append(f"  store i64 {self.put(f'add i64 {many}, 1')}, ptr %many, align 8")
                for _ in self.when(self.put(f"icmp slt i64 {many}, {most}")):
                    self._row(i, count, last)
        many = self.put("load i64, ptr %many, align 8")
        for _ in self.when(self.put(f"icmp sgt i64 {many}, {most}")):
            self.write("-1.0", "%far")
        arguments = "i64 %n, i64 %d, ptr %R, ptr %squares, ptr %found, ptr %small, ptr %far"
        return self.function("chosen", arguments, [*self.code, "  ret void"])

    def _row(self, i: str, count: str, last: str) -> None:
        """Row i with all rows, four of them at a time, in doubles."""
        lanes, fours = self.shape.lanes, self.put(f"udiv i64 {self.put('add i64 %n, 3')}, 4")
        row, own = self.address("%R", self.times(i, "%d")), self.number(self.address("%squares", i))
        for b, _ in self.loop("b", "0", fours):
            first, sums = self.times(b, 4), [self.splat(0.0)] * 4
            others, their = (self.rows_of(a, first, step, last, 4) for a, step in (("%R", "%d"), ("%squares", "1")))
            for c, now in self.loop("c", "0", count, sums):
                at = self.times(c, lanes)
                x = self.load(self.address(row, at))
                sums[:] = [self.fma(x, self.load(self.address(y, at)), s) for y, s in zip(others, now, strict=True)]
            for product, square in zip(sums, their, strict=True):
                twice = self.put(f"fmul double {self.total(product)}, 2.0")
                both = self.put(f"fadd double {own}, {self.number(square)}")
                self.keep(self.put(f"fsub double {both}, {twice}"), "%far", "ogt")


def functions(shape: Shape) -> list[list[str]]:
    """`chosen`, and what it calls."""
    # Registers hold twice as many floats as doubles.
    floats = Writer(Shape(2 * shape.lanes, shape.rows, shape.vectors), "float")
    return [floats.declared()[:-1], floats.pairs("pairs_of_floats"), FarWriter(shape).chosen()]


class Memory:
    """What `chosen` needs for n rows of d columns, and the place of its addresses: 0 where floats do not pay; and
    whether it pays to compare all pairs in one call."""

    def __init__(self, shape: Shape, n: int, d: int) -> None:
        products = n * n * d
        self.place, self.pays = 0, products <= _MOST_IN_DOUBLES
        if not _MANY <= products <= _MOST_IN_FLOATS:
            return
        tiles, groups = -(-n // (2 * shape.width)), -(-n // shape.rows)
        padded = 2 * tiles * shape.width
        self.held: dict[str, Any] = {
            "rows": np.empty(n * d, np.float32),
            "keys": np.empty(padded * d, np.float32),
            "squares": np.full(padded, -np.inf, np.float32),  # of rows that are missing
            "ends": np.full(groups, tiles, np.int64),
            "found": np.empty(groups * shape.rows, np.float32),
        }
        self._addresses = np.array([self.held[name].ctypes.data for name in _PARTS], np.int64)
        self.place, self.pays = int(self._addresses.ctypes.data), True
