"""Kernels for what the profile of a layer asks for, each with a twin in arrays that tests hold it to.

The large one: softmax averages relative to their center without an n × m matrix in memory,

    out_i = Σ_j m_ij q_j v_j / (1 + Σ_j m_ij q_j),   m = expm1(left rightᵀ),

given q_j and q_j v_j.

A warp holds 16 rows of `left` and `out` in registers and walks over the keys, 32 at a time, the next 32 copied to
shared memory meanwhile. Both products run on the float64 tensor units (mma m16n8k8). The fragment one leaves m
in is the fragment the other wants, up to a permutation of the keys, and a sum does not mind the order.

The small ones make one pass where CuPy would make several: sizes of matrices, rows relative to one of them, the
softmax of a column, largest distances. The twins: `rankmath.attention.close.by_expm1`, and the methods of
`Float64` that call these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from threading import Lock
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rankmath.validation import Array, Floats

#: A compiled kernel, called with grid, block and arguments (or, elementwise, with arrays).
Kernel: TypeAlias = Callable[..., Array]

#: Wider factors would not fit the registers of a warp.
WIDEST = 64

_WARPS, _TILE = 4, 32


def _powers_of_two() -> Iterator[tuple[float, float]]:
    """2^(j/32), j < 32, as a double, and what it lacks to that, over it."""
    for j in range(32):
        root = 1 << 4096 + j
        for _ in range(5):
            root = math.isqrt(root)
        power = root / (1 << 128)
        yield power, (root - (int(power * 2.0**52) << 76)) / root


#: What only a GPU has: its tensor units, copies that run meanwhile, doubles ordered as their bits.
PRIMITIVES = r"""
#define INFINITE __longlong_as_double(0x7ff0000000000000LL)
typedef unsigned long long Bits;

__device__ __forceinline__ Bits bits_of(double v) { return (Bits)__double_as_longlong(v); }

__device__ __forceinline__ double from_high(int word) { return __hiloint2double(word, 0); }
__device__ __forceinline__ double times_power_of_two(double v, int n) {  // what is made is no subnormal number
  return __hiloint2double(__double2hiint(v) + (n << 20), __double2loint(v));
}

__device__ __forceinline__ void mma(double (&c)[4], double a0, double a1, double a2, double a3,
                                    double b0, double b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1));
}

// Kept in a register, and not found again from what it was made of.
__device__ __forceinline__ void keep(const double*& at) { asm volatile("" : "+l"(at)); }
__device__ __forceinline__ void keep(unsigned& i) { asm volatile("" : "+r"(i)); }

// Two numbers, or one; zeros from outside, where nothing is read.
__device__ __forceinline__ void copy_row_part(double* to, const double* from, bool inside) {
  unsigned target = __cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(target), "l"(from), "r"(inside ? 16 : 0));
}

__device__ __forceinline__ void copy_one(double* to, const double* from, bool inside) {
  unsigned target = __cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" :: "r"(target), "l"(from), "r"(inside ? 8 : 0));
}

__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;"); }

// Until so many of the last commits, at most, are on their way.
template <int MOST = 0>
__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_group %0;" :: "n"(MOST)); }

// Copies of whole chunks, by one thread, and gates that open when all bytes that one expects are there.
__device__ __forceinline__ void make_gates(Bits* gates, int count) {
  for (int i = 0; i < count; i++)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"((unsigned)__cvta_generic_to_shared(gates + i)));
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void expect_bytes(Bits* gate, int bytes) {
  const unsigned at = __cvta_generic_to_shared(gate);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at), "r"(bytes) : "memory");
}

__device__ __forceinline__ void copy_chunk(double* to, const double* from, int bytes, Bits* gate) {
  const unsigned target = __cvta_generic_to_shared(to), at = __cvta_generic_to_shared(gate);
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :: "r"(target), "l"(from), "r"(bytes), "r"(at) : "memory");
}

__device__ __forceinline__ void wait_at(Bits* gate, unsigned phase) {  // the phase changes each time it opens
  const unsigned at = __cvta_generic_to_shared(gate);
  asm volatile("{\n.reg .pred open;\nAGAIN%=:\nmbarrier.try_wait.parity.shared::cta.b64 open, [%0], %1;\n"
               "@!open bra AGAIN%=;\n}" :: "r"(at), "r"(phase) : "memory");
}
"""

#: Sizes to words that start at zero, in any order with the same result.
LARGEST = r"""
__device__ __forceinline__ double larger(double a, double v) { return v > a || v != v ? v : a; }  // a nan stays

__device__ __forceinline__ void raise(double* word, double v) {
  // Bits of non-negative doubles are ordered as the doubles are; a nan is above them all. One atomic a warp.
  Bits b = bits_of(fabs(v));
  for (int o = 16; o; o >>= 1) b = max(b, __shfl_xor_sync(~0u, b, o));
  if ((threadIdx.x & 31) == 0) atomicMax((Bits*)word, b);
}
"""

#: 2^(j/32) is kept by lane j, rounded, with the part of itself that this lacks (of which a high word is enough).
_POWERS = "".join(f"{{{power!r}, {rest!r}}}, " for power, rest in _powers_of_two())

#: expm1 to 1.1 times a unit in its last place plus what half a unit of x makes of it, in the fewest operations:
#: they and the tensor units share one pipe, and shuffles have another.
EXPM1 = r"""
__device__ const double POWERS[32][2] = {POWERS_OF_TWO};
struct Powers { double power; int rest; };

__device__ __forceinline__ Powers powers_of_two() {
  const double* mine = POWERS[threadIdx.x & 31];
  return {mine[0], (int)(bits_of(mine[1]) >> 32)};
}

__device__ __forceinline__ double expm1_of(double x, const Powers& table) {
  // By a whole warp. x = k log(2)/32 + r, |r| <= log(2)/64, 2^(k/32) = s (1 + rest): s (r p(r) + rest) + (s - 1),
  // p(r) = expm1(r)/r at Chebyshev's points, to 2e-17. That log 2 is rounded changes x by 4e-17 of itself, less
  // than its own rounding. The caller keeps |x| below 700.
  const double magic = 6755399441055744.0;  // 1.5 2^52: a sum with it is rounded to an integer, in its last bits
  const double shifted = fma(x, 46.16624130844683, magic), steps = shifted - magic;
  const double r = fma(steps, -0.021660849392498290, x);
  const int k = (int)bits_of(shifted);
  const double rest = from_high(__shfl_sync(~0u, table.rest, k));  // of lane k mod 32
  const double s = times_power_of_two(__shfl_sync(~0u, table.power, k), k >> 5);
  double p = 0.001388893252751131;
  p = fma(p, r, 0.008333368244244067);
  p = fma(p, r, 0.041666666666474714);
  p = fma(p, r, 0.16666666666513102);
  p = fma(p, r, 0.5);
  p = fma(p, r, 1.0);
  return fma(fma(p, r, rest), s, s - 1.0);
}
""".replace("POWERS_OF_TWO", _POWERS)

DEVIATION = r"""
// Row lengths in shared memory that keep every fragment load free of bank conflicts.
#define LDR (K % 16 == 0 ? K + 8 : K)
#define LDV (V + 2)
#define STAGE (TILE * LDR + TILE * LDV + TILE)
#define PAIR (K > 48 ? 1 : 2)  // eights of keys that go abreast: as many as registers allow

template <int WIDTH, int LENGTH>
__device__ __forceinline__ void copy_rows(double* to, const double* from, int rows) {
  // TILE rows of this width, of which there are so many, to rows of this length.
  const int pass = WARPS * 64 / WIDTH, r = 2 * threadIdx.x / WIDTH, c = 2 * threadIdx.x % WIDTH;
  to += r * LENGTH + c, from += r * WIDTH + c;
#pragma unroll
  for (int i = 0; i < TILE; i += pass)
    if (r < min(pass, TILE - i)) copy_row_part(to + i * LENGTH, from + i * WIDTH, rows == TILE || r + i < rows);
}

extern "C" __global__ void __launch_bounds__(WARPS * 32)
deviation(const double* __restrict__ left, const double* __restrict__ right, const double* __restrict__ values,
          const double* __restrict__ q, const double* __restrict__ scales, double scale, double* __restrict__ out,
          int n, int m, int row_blocks, double* __restrict__ sizes, int size_step, double* __restrict__ means,
          const long long* way, int way_step, int heads) {
  // Another way is taken by the network these heads are of (`cuda_kernels.FUSED` is zero).
  if (way && way[blockIdx.x / row_blocks / heads * way_step]) return;
  // Blocks y > 1 take parts of the keys: `out` and `means` then hold the bare sums of each part.
  extern __shared__ __align__(128) double shared[];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
  const long long batch = blockIdx.x / row_blocks;
  left += batch * n * K;
  right += batch * m * K;
  values += batch * m * V;
  q += batch * m;
  out += batch * n * V;
  if (scales) scale = scales[batch];
  const int per = ((m + gridDim.y - 1) / gridDim.y + TILE - 1) / TILE * TILE;
  const int begin = blockIdx.y * per, end = min(m, begin + per);
  const int row = ((blockIdx.x % row_blocks) * WARPS + warp) * 16 + g;
  const bool first = row < n, second = row + 8 < n;

  auto fetch = [&](int j0, double* to) {
    const int rows = end - j0;
    if (rows >= TILE) {  // nearly always: nothing to look at
      copy_rows<K, LDR>(to, right + (long long)j0 * K, TILE);
      copy_rows<V, LDV>(to + TILE * LDR, values + (long long)j0 * V, TILE);
    } else {
      copy_rows<K, LDR>(to, right + (long long)j0 * K, rows);
      copy_rows<V, LDV>(to + TILE * LDR, values + (long long)j0 * V, rows);
    }
    if (threadIdx.x < TILE)
      copy_one(to + TILE * (LDR + LDV) + threadIdx.x, q + j0 + threadIdx.x, (int)threadIdx.x < rows);
    commit_copies();
  };

  // Columns 2t and 2t + 1 lie where the instruction has columns t and t + 4, here as in `right`: one load for both.
  double a[K / 8][4];
#pragma unroll
  for (int k = 0; k < K / 8; k++) {
    const double* p = left + (long long)row * K + 8 * k + 2 * t;
    a[k][0] = first ? scale * p[0] : 0.0;
    a[k][1] = second ? scale * p[8 * K] : 0.0;
    a[k][2] = first ? scale * p[1] : 0.0;
    a[k][3] = second ? scale * p[8 * K + 1] : 0.0;
  }
  double o[V / 8][4];
#pragma unroll
  for (int v = 0; v < V / 8; v++) o[v][0] = o[v][1] = o[v][2] = o[v][3] = 0.0;
  double mean0 = 0.0, mean1 = 0.0;
  const Powers powers = powers_of_two();

  if (begin < end) fetch(begin, shared);
  int phase = 0;
  for (int j0 = begin; j0 < end; j0 += TILE, phase ^= 1) {
    wait_for_copies();
    __syncthreads();
    if (j0 + TILE < end) fetch(j0 + TILE, shared + (phase ^ 1) * STAGE);
    const double* R = shared + phase * STAGE;
    const double* Y = R + TILE * LDR;
    const double* w = Y + TILE * LDV;
#pragma unroll
    for (int j = 0; j < TILE; j += 8 * PAIR) {
      double c[PAIR][4];
#pragma unroll
      for (int p = 0; p < PAIR; p++) c[p][0] = c[p][1] = c[p][2] = c[p][3] = 0.0;
#pragma unroll
      for (int k = 0; k < K / 8; k++)
#pragma unroll
        for (int p = 0; p < PAIR; p++) {
          const double2 b = *(const double2*)(R + (j + 8 * p + g) * LDR + 8 * k + 2 * t);
          mma(c[p], a[k][0], a[k][1], a[k][2], a[k][3], b.x, b.y);
        }
#pragma unroll
      for (int p = 0; p < PAIR; p++) {
        const double2 of = *(const double2*)(w + j + 8 * p + 2 * t);
#pragma unroll
        for (int e = 0; e < 4; e++) c[p][e] = expm1_of(c[p][e], powers);
        mean0 = fma(c[p][0], of.x, fma(c[p][1], of.y, mean0));
        mean1 = fma(c[p][2], of.x, fma(c[p][3], of.y, mean1));
      }
#pragma unroll
      for (int p = 0; p < PAIR; p++) {
        const double* b = Y + (j + 8 * p + 2 * t) * LDV + g;
#pragma unroll
        for (int v = 0; v < V / 8; v++) mma(o[v], c[p][0], c[p][2], c[p][1], c[p][3], b[8 * v], b[LDV + 8 * v]);
      }
    }
  }

  mean0 += __shfl_xor_sync(~0u, mean0, 1);
  mean0 += __shfl_xor_sync(~0u, mean0, 2);
  mean1 += __shfl_xor_sync(~0u, mean1, 1);
  mean1 += __shfl_xor_sync(~0u, mean1, 2);
  if (gridDim.y > 1) {
    const long long part = (long long)blockIdx.y * (gridDim.x / row_blocks);
    out += part * n * V;
    means += (part + batch) * n + row;
    if (first && t == 0) means[0] = mean0;
    if (second && t == 0) means[8] = mean1;
    mean0 = mean1 = 0.0;
  }
  mean0 = 1.0 / (1.0 + mean0);
  mean1 = 1.0 / (1.0 + mean1);
  double largest = 0.0;
#pragma unroll
  for (int v = 0; v < V / 8; v++) {
    double2* p = (double2*)(out + (long long)row * V + 8 * v + 2 * t);
#pragma unroll
    for (int e = 0; e < 4; e++) {
      o[v][e] *= e < 2 ? mean0 : mean1;
      largest = larger(largest, fabs(o[v][e]));
    }
    if (first) *p = make_double2(o[v][0], o[v][1]);
    if (second) *(p + 4 * V) = make_double2(o[v][2], o[v][3]);
  }
  if (sizes) raise(sizes + batch * size_step, largest);
}
"""


# -- small kernels: a block (or a few) for each matrix of the batch ------------------------------------------

_THREADS = 256

_SMALL = r"""
template <typename Better>
__device__ double over_block(double v, Better better) {
  // Every thread gets what `better` leaves of all of them, in an order that does not change from run to run.
  __shared__ double parts[32];
  for (int o = 16; o; o >>= 1) v = better(v, __shfl_xor_sync(~0u, v, o));
  __syncthreads();
  if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = v;
  __syncthreads();
  v = parts[0];
  for (int w = 1; w < blockDim.x >> 5; w++) v = better(v, parts[w]);
  return v;
}

extern "C" __global__ void largest(const double* const* many, long long count, long long size, int blocks,
                                   unsigned long long* out) {
  // Of each of the `count` matrices of each of many arrays.
  // Bits of non-negative doubles are ordered as the doubles are; a nan is above them all.
  __shared__ unsigned long long parts[32];
  const long long matrix = blockIdx.x / blocks, step = blocks * blockDim.x;
  const double* a = many[matrix / count] + (matrix % count) * size;
  unsigned long long v = 0;
  for (long long i = (blockIdx.x % blocks) * blockDim.x + threadIdx.x; i < size; i += 8 * step) {
    double next[8];  // on their way together
#pragma unroll
    for (int k = 0; k < 8; k++) next[k] = i + k * step < size ? a[i + k * step] : 0.0;
#pragma unroll
    for (int k = 0; k < 8; k++) v = max(v, (unsigned long long)__double_as_longlong(fabs(next[k])));
  }
  for (int o = 16; o; o >>= 1) v = max(v, __shfl_xor_sync(~0u, v, o));
  if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = v;
  __syncthreads();
  if (threadIdx.x) return;
  for (int w = 1; w < blockDim.x >> 5; w++) v = max(v, parts[w]);
  out[blockIdx.x] = v;
}

extern "C" __global__ void first_largest(const double* scores, int n, int* place) {
  scores += (long long)blockIdx.x * n;
  double top = -INFINITE;
  for (int i = threadIdx.x; i < n; i += blockDim.x) top = fmax(top, scores[i]);
  top = over_block(top, [](double a, double b) { return fmax(a, b); });
  double first = n;
  for (int i = threadIdx.x; i < n && first == n; i += blockDim.x) if (scores[i] == top) first = i;
  first = over_block(first, [](double a, double b) { return fmin(a, b); });
  if (threadIdx.x == 0) place[blockIdx.x] = first < n ? (int)first : 0;
}

extern "C" __global__ void relative(const double* rows, const int* place, int own, int n, int d, int blocks,
                                    double* row, double* out) {
  // Matrix b of the batch takes its rows from matrix b mod `own`.
  const int matrix = blockIdx.x / blocks;
  const long long size = (long long)n * d;
  rows += (matrix % own) * size;
  row += (long long)matrix * d;
  out += matrix * size;
  const double* pivot = rows + (long long)place[matrix] * d;
  const int start = (blockIdx.x % blocks) * blockDim.x + threadIdx.x;
  for (long long i = start; i < d; i += blocks * blockDim.x) row[i] = pivot[i];
  for (long long i = start; i < size; i += blocks * blockDim.x) out[i] = rows[i] - pivot[i % d];
}

extern "C" __global__ void column_softmax(const double* c, const double* scales, double scale, int n, double* q,
                                          double* log_q, double* least) {
  const long long at = (long long)blockIdx.x * n;
  if (scales) scale = scales[blockIdx.x];
  double top = -INFINITE, total = 0.0, low = 0.0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) top = fmax(top, scale * c[at + i]);
  top = over_block(top, [](double a, double b) { return fmax(a, b); });
  for (int i = threadIdx.x; i < n; i += blockDim.x) total += exp(__dmul_rn(scale, c[at + i]) - top);
  total = over_block(total, [](double a, double b) { return a + b; });
  const double log_total = log(total);
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    double x = __dmul_rn(scale, c[at + i]) - top;
    q[at + i] = exp(x) / total;
    log_q[at + i] = x - log_total;
    if (x > -INFINITE) low = fmin(low, x - log_total);
  }
  low = over_block(low, [](double a, double b) { return fmin(a, b); });
  if (threadIdx.x == 0) least[blockIdx.x] = low;
}

template <int PER>
__device__ void softmax_of_row(double* a, double divisor, long long columns, const double* added, long long rows) {
  // A block for each row, in place, PER entries in the registers of each thread, with none as often as is needed;
  // -inf counts as nothing. What may be added stands there for every so many rows.
  a += blockIdx.x * columns;
  if (added) added += blockIdx.x / rows * columns;
  double v[PER > 0 ? PER : 1], top = -INFINITE, total = 0.0;
  auto entry = [&](long long j) {
    const double x = divisor == 1.0 ? a[j] : a[j] / divisor;
    return added ? x + added[j] : x;
  };
  if (PER > 0) {
#pragma unroll
    for (int i = 0; i < PER; i++) {
      const long long j = threadIdx.x + i * blockDim.x;
      v[i] = j < columns ? entry(j) : -INFINITE;
      top = fmax(top, v[i]);
    }
  } else
    for (long long j = threadIdx.x; j < columns; j += blockDim.x) top = fmax(top, a[j] = entry(j));
  top = over_block(top, [](double x, double y) { return fmax(x, y); });
  if (PER > 0) {
#pragma unroll
    for (int i = 0; i < PER; i++) total += v[i] = exp(v[i] - top);
  } else
    for (long long j = threadIdx.x; j < columns; j += blockDim.x) total += a[j] = exp(a[j] - top);
  total = over_block(total, [](double x, double y) { return x + y; });
  if (PER > 0) {
#pragma unroll
    for (int i = 0; i < PER; i++)
      if (threadIdx.x + i * blockDim.x < columns) a[threadIdx.x + i * blockDim.x] = v[i] / total;
  } else
    for (long long j = threadIdx.x; j < columns; j += blockDim.x) a[j] /= total;
}

#define SOFTMAX(name, per) \
  extern "C" __global__ void __launch_bounds__(256) name(double* a, double divisor, long long columns, \
                                                         const double* added, long long rows) { \
    softmax_of_row<per>(a, divisor, columns, added, rows); \
  }
SOFTMAX(row_softmax_1, 1)
SOFTMAX(row_softmax_4, 4)
SOFTMAX(row_softmax_16, 16)
SOFTMAX(row_softmax_32, 32)
SOFTMAX(row_softmax_0, 0)

extern "C" __global__ void lengthened(const double* wide, const double* made, const double* bias, double skip,
                                      long long start, long long rows, long long k, long long held, long long d,
                                      long long heads, double* out, Bits* found) {
  // Of some rows: what is carried, and the sums over the heads; but for the tokens each comes one place later.
  // Where fewer are held than there are, the last held stands for the others.
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const bool carried = skip != 0.0;
  const long long more = k + carried, row = i / (more * d), at = i / d % more, c = i % d;
  if (row >= rows) return;
  const long long from = min(at && carried ? at - 1 : at, held - 1);
  double z = carried && at < k ? skip * wide[((start + row) * held + min(at, held - 1)) * d + c] : 0.0;
  if (!carried || at != 1)
    for (long long h = 0; h < heads; h++) z += made[((h * rows + row) * held + from) * d + c];
  if (bias && !at) z += bias[c];
  out[start * more * d + i] = z;
  if (!(fabs(z) < INFINITE)) *found = 1;
}

extern "C" __global__ void farthest(const double* products, const double* squares, int rows, int columns, int n,
                                    double* out) {
  // A block for each row. Rows and columns are the tokens n - columns, n - columns + 1, ...
  products += (long long)blockIdx.x * columns;
  squares += (long long)(blockIdx.x / rows) * n + n - columns;
  double far = -INFINITE;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) {
    double v = squares[j] - 2 * products[j];
    far = v > far || v != v ? v : far;
  }
  far = over_block(far, [](double a, double b) { return a > b || a != a ? a : b; });
  if (threadIdx.x == 0) out[blockIdx.x] = far + squares[blockIdx.x % rows];
}
"""


@cache
def _small(name: str, device: int) -> Kernel:
    import cupy as cp

    kernel: Kernel = cp.RawModule(code=PRIMITIVES + _SMALL, options=("-std=c++17",)).get_function(name)
    return kernel


def _launch(name: str, blocks: int, *arguments: Array) -> None:
    import cupy as cp

    _small(name, cp.cuda.Device().id)((blocks,), (_THREADS,), arguments)


def _blocks(size: int) -> int:
    """Blocks for a matrix: every thread has some dozens of entries to look at."""
    return max(1, min(64, size // (32 * _THREADS)))


class Sizes:
    """Measures the same arrays whenever it is asked, as they are then: the largest |entry| of each matrix."""

    def __init__(self, arrays: Sequence[Array]) -> None:
        import cupy as cp

        self.arrays = [cp.ascontiguousarray(a) for a in arrays]
        places: dict[tuple[int, ...], list[int]] = {}  # one launch for all arrays of a shape
        for place, a in enumerate(self.arrays):
            places.setdefault(a.shape, []).append(place)
        self._lock, start, pointers = Lock(), 0, np.zeros(len(self.arrays), np.uint64)
        self._groups: list[tuple[tuple[int, ...], list[int], slice, tuple[int, int, int]]] = []
        for shape, where in places.items():
            count, blocks = math.prod(shape[:-2]), _blocks(shape[-2] * shape[-1])
            size = len(where) * count * blocks
            first = sum(len(others) for _, others, *_ in self._groups)
            pointers[first : first + len(where)] = [self.arrays[place].data.ptr for place in where]
            self._groups.append((shape, where, slice(start, start + size), (first, count, blocks)))
            start += size
        # Blocks read where their matrix is: on the host that took some 0.1 µs for each of them.
        self._pointers, self._found = cp.asarray(pointers, blocking=True), _shared(start)
        self._done = cp.cuda.Event(disable_timing=True)
        self._launches = [self._launch_of(*group) for group in self._groups if group[3][1]]

    @contextmanager
    def begun(self) -> Iterator[Callable[[], tuple[Floats, Floats]]]:
        """Begins; what is given waits and reads: the sizes of all matrices, and the largest of each array."""
        with self._lock:
            self._begin()
            yield self._sizes

    def read(self) -> list[Floats]:
        """(arrays, matrices) for each shape."""
        with self._lock:
            self._begin()
            return self._read()

    def _launch_of(
        self, shape: tuple[int, ...], where: list[int], part: slice, counts: tuple[int, int, int]
    ) -> tuple[int, tuple[Array, ...]]:
        """Blocks and arguments for the arrays of one shape."""
        first, count, blocks = counts
        many, out = np.intp(self._pointers.data.ptr + 8 * first), np.intp(self._found[part].ctypes.data)
        sizes = (np.int64(count), np.int64(shape[-2] * shape[-1]), np.int32(blocks))
        return part.stop - part.start, (many, *sizes, out)

    def _begin(self) -> None:
        for blocks, arguments in self._launches:
            _launch("largest", blocks, *arguments)
        self._done.record()

    def _read(self) -> list[Floats]:
        """Written where the host reads it: a few numbers for each matrix, whose maximum is taken here."""
        self._done.synchronize()
        groups = (self._found[part].reshape(len(where), -1, sizes[2]) for _, where, part, sizes in self._groups)
        return [group.max(axis=-1).view(np.float64) for group in groups]

    def _sizes(self) -> tuple[Floats, Floats]:
        groups, of_arrays = self._read(), np.empty(len(self.arrays))
        for group, (_, where, *_) in zip(groups, self._groups, strict=True):
            of_arrays[where] = group.max(axis=-1)
        return np.concatenate([group.ravel() for group in groups]), of_arrays


def _shared(size: int) -> npt.NDArray[np.uint64]:
    """Memory of the host that a GPU reads and writes."""
    import cupy as cp

    return np.frombuffer(cp.cuda.alloc_pinned_memory(8 * max(size, 1)), np.uint64, size)


def largest(arrays: Sequence[Array]) -> list[Floats]:
    """The largest |entry| of each matrix of each array, (..., 1, 1), on the host: one wait for all arrays."""
    sizes, result = Sizes(arrays), [np.empty(0)] * len(arrays)
    for group, (shape, where, *_) in zip(sizes.read(), sizes._groups, strict=True):
        for place, found in zip(where, group, strict=True):
            result[place] = found.reshape(*shape[:-2], 1, 1)
    return result


def relative_to_largest(scores: Array, rows: Array) -> tuple[Array, Array]:
    """The row at the first largest score, and all rows minus it.

    (..., n, 1), (..., n, d) -> (..., 1, d), (..., n, d). Leading axes of `rows` are the last of those of `scores`.
    """
    import cupy as cp

    lead, (n, d) = scores.shape[:-2], rows.shape[-2:]
    count, own, blocks = math.prod(lead), math.prod(rows.shape[:-2]), _blocks(n * d)
    place = cp.empty(count, dtype=cp.int32)
    row, out = cp.empty((*lead, 1, d)), cp.empty((*lead, n, d))
    _launch("first_largest", count, cp.ascontiguousarray(scores), np.int32(n), place)
    sizes = (np.int32(own), np.int32(n), np.int32(d), np.int32(blocks))
    _launch("relative", blocks * count, cp.ascontiguousarray(rows), place, *sizes, row, out)
    return row, out


def column_softmax(c: Array, scale: Array = 1.0) -> tuple[Array, Array, float]:
    """q = softmax(scale · c) and log q for columns (..., n, 1), and the least finite log q of all."""
    import cupy as cp

    count, c = math.prod(c.shape[:-2]), cp.ascontiguousarray(c)
    scales = (np.intp(0), scale) if isinstance(scale, float) else (_contiguous(scale, c.shape[:-2], 1), 1.0)
    q, log_q, least = cp.empty_like(c), cp.empty_like(c), cp.empty(count)
    _launch("column_softmax", count, c, *scales, np.int32(c.shape[-2]), q, log_q, least)
    return q, log_q, float(cp.asnumpy(least).min())


def row_softmax(logits: Array, divisor: float = 1.0) -> Array:
    """softmax(logits/divisor) along the last axis, in the place of the logits."""
    import cupy as cp

    logits = cp.ascontiguousarray(logits)
    if logits.size:
        columns = logits.shape[-1]
        sizes = np.int64(columns), np.intp(0), np.int64(1)
        _launch(_softmax(columns), logits.size // columns, logits, float(divisor), *sizes)
    return logits


def _softmax(columns: int) -> str:
    """The kernel for rows of so many entries."""
    return f"row_softmax_{next((per for per in (1, 4, 16, 32) if columns <= per * _THREADS), 0)}"


def farthest(products: Array, squares: Array) -> Array:
    """max_j |x_i − x_j|² = |x_i|² + max_j (|x_j|² − 2 x_i·x_j), (..., r, 1).

    From the products (..., r, m) of r tokens with the last m of n, whose first they are, and squares (..., n, 1).
    """
    import cupy as cp

    (rows, columns), n = products.shape[-2:], squares.shape[-2]
    out = cp.empty((*products.shape[:-1], 1))
    arrays = (cp.ascontiguousarray(products), cp.ascontiguousarray(squares))
    _launch("farthest", out.size, *arrays, np.int32(rows), np.int32(columns), np.int32(n), out)
    return out


def product_with_each(a: Array, b: Array) -> Array:
    """a b_h for one matrix a (n, k) and a stack b (H, k, m): CuPy's own product first spreads a out."""
    import cupy as cp

    (n, k), (H, _, m) = a.shape, b.shape
    a, b, out = cp.ascontiguousarray(a), cp.ascontiguousarray(b), cp.empty((H, n, m))
    _multiplier()(n, m, k, H, (a.data.ptr, k, 0), (b.data.ptr, m, k * m), (out.data.ptr, m, n * m))
    return out


def axpby(a: Array, x: Array, b: Array, y: Array) -> Array:
    """a x + b y in one pass."""
    return _axpby()(a, x, b, y)


@cache
def _axpby() -> Kernel:
    import cupy as cp

    arguments = "float64 a, float64 x, float64 b, float64 y", "float64 z"
    kernel: Kernel = cp.ElementwiseKernel(*arguments, "z = a * x + b * y", "axpby")
    return kernel


class PathSums:
    """λ V + Σ_h P_h V W_h, layer by layer, of tokens and path sums V side by side, P those of the tokens.

    But for the tokens, what heads make comes one place later than what is carried, and one more is made; without λ
    all are where they were. P is made for some rows at a time: `entries` of all heads at most, n × n where they
    suffice. Few launches, and little around them: each takes longer than many a layer.
    """

    def __init__(self, X: Array, heads: int, layers: int, entries: int) -> None:
        import cupy as cp

        (n, d), device = X.shape, cp.cuda.Device().id
        self.n, self.d, self.k = n, d, 2
        of_row = heads * (layers + 2) * d  # where there are most
        self._here, self._held = cp.ascontiguousarray(X), 1  # at first the tokens are the sum of all paths, too
        self._next, self._last = cp.empty((2, n * (layers + 2) * d))
        self._queries, self._added = cp.empty(heads * n * d), cp.empty(heads * n)
        self._P = cp.empty(min(heads * n * n, max(entries, heads * n)))
        self._seen, self._made = cp.empty((2, min(n * of_row, max(entries, of_row))))
        self._found = _shared(1)
        self._found[:] = 0
        self._multiply = _multiplier()
        self._softmax, self._lengthen = _small(_softmax(n), device), _small("lengthened", device)

    @property
    def wide(self) -> Array:
        """The tokens, and the sums by length, (n, k, d)."""
        return self._here[: self.n * self.k * self.d].reshape(self.n, self.k, self.d)

    def finite(self) -> bool:
        """Whether all that was made is; waits for it."""
        import cupy as cp

        cp.cuda.get_current_stream().synchronize()
        return not self._found[0]

    def step(
        self, query: Array, value: Array, key_bias: Array | None, bias: Array | None, root: float, skip: float
    ) -> None:
        """One layer of heads with these weights."""
        n, k, d, H, more, multiply = self.n, self._held, self.d, len(query), self.k + bool(skip), self._multiply
        P, seen, made, queries = (a.data.ptr for a in (self._P, self._seen, self._made, self._queries))
        X, row = (self._here.data.ptr, k * d, 0), k * d
        multiply(n, d, d, H, X, (query.data.ptr, d, d * d), (queries, d, n * d))
        added = _NOTHING
        if key_bias is not None:
            added = self._added
            multiply(1, n, d, H, (key_bias.data.ptr, d, d), X, (added.data.ptr, n, n), across=True, factor=1 / root)
        most = min(n, self._P.size // (H * n), self._seen.size // (H * row))
        for start in range(0, n, most):
            r = min(most, n - start)
            some, of_P = (queries + 8 * start * d, d, n * d), (P, n, r * n)
            multiply(r, n, d, H, some, X, of_P, across=True, factor=1 / root)
            self._softmax((H * r,), (_THREADS,), (self._P, 1.0, np.int64(n), added, np.int64(r)))
            multiply(r, row, n, H, of_P, X, (seen, row, r * row))
            multiply(r * k, d, d, H, (seen, d, r * row), (value.data.ptr, d, d * d), (made, d, r * row))
            sizes = np.array([start, r, self.k, k, d, H], np.int64)
            arrays = self._here, self._made, _NOTHING if bias is None else bias, float(skip)
            found = self._next, np.intp(self._found.ctypes.data)
            self._lengthen((-(-r * more * d // _THREADS),), (_THREADS,), (*arrays, *sizes, *found))
        self._here, self._next, self._last = self._next, self._last, self._next
        self.k = self._held = more


#: Matrices of a batch as BLAS knows them: where the first is, how far rows and how far matrices are apart.
Operand: TypeAlias = tuple[int, int, int]

_NOTHING = np.intp(0)


@lru_cache(64)
def _factors(factor: float) -> tuple[int, int, Floats]:
    """Where BLAS finds what it multiplies a product, and what that is added to, with; and the array, to stay."""
    pair = np.array([factor, 0.0])
    return pair.ctypes.data, pair.ctypes.data + 8, pair


def _multiplier() -> Callable[..., None]:
    """BLAS of this thread and device."""
    from cupy.cuda import cublas, get_cublas_handle

    handle, gemm, as_it_is, turned = (
        get_cublas_handle(),
        cublas.dgemmStridedBatched,
        cublas.CUBLAS_OP_N,
        cublas.CUBLAS_OP_T,
    )

    def multiply(
        n: int,
        m: int,
        k: int,
        count: int,
        a: Operand,
        b: Operand,
        out: Operand,
        *,
        across: bool = False,
        factor: float = 1.0,
    ) -> None:
        """out = factor · a b (`across`: a bᵀ) of `count` pairs, (n, k) by (k, m)."""
        at_factor, at_zero, _ = _factors(factor)
        # Rows of ours are columns of theirs: outᵀ = bᵀ aᵀ.
        way = turned if across else as_it_is
        gemm(handle, way, as_it_is, m, n, k, at_factor, *b, *a, at_zero, *out, count)

    return multiply


def fits(left: Array, values: Array) -> bool:
    """Whether the kernel takes these widths on this device."""
    import cupy

    return max(left.shape[-1], values.shape[-1]) <= WIDEST and has_tensor_units(cupy.cuda.runtime.getDevice())


@cache
def has_tensor_units(device: int) -> bool:
    """Whether a device has the instruction (compute capability 9 or newer)."""
    import cupy

    return int(cupy.cuda.Device(device).compute_capability) >= 90


def fused_deviation(left: Array, right: Array, q: Array, values: Array, scale: Array = 1.0) -> Array:
    """The formula above for CuPy arrays: left (..., n, k), right (..., m, k), q (..., m, 1), values (..., m, v).

    `left` counts times `scale`, a number or an array (..., 1, 1).
    """
    import cupy as cp

    lead = cp.broadcast_shapes(*(a.shape[:-2] for a in (left, right, q, values)))
    n, m, v = left.shape[-2], right.shape[-2], values.shape[-1]
    K, V = padded(left.shape[-1]), padded(v)
    operands = [_contiguous(a, lead, width) for a, width in ((left, K), (right, K), (q * values, V), (q, 1))]
    out = cp.empty((*lead, n, V), dtype=cp.float64)
    kernel, memory = deviation_kernel(K, V, cp.cuda.Device().id)
    row_blocks = -(-n // (16 * _WARPS))
    grid = (row_blocks * math.prod(lead),)
    sizes = (np.int32(n), np.int32(m), np.int32(row_blocks))
    scales = (np.intp(0), scale) if isinstance(scale, float) else (_contiguous(scale, lead, 1), 1.0)
    nowhere = (np.intp(0), np.int32(0), np.intp(0), np.intp(0), np.int32(0), np.int32(1))
    kernel(grid, (32 * _WARPS,), (*operands, *scales, out, *sizes, *nowhere), shared_mem=memory)
    return out if v == V else out[..., :v]


def padded(width: int) -> int:
    return -(-width // 8) * 8


def _contiguous(a: Array, lead: tuple[int, ...], width: int) -> Array:
    import cupy as cp

    if a.shape[-1] == width:
        return cp.ascontiguousarray(cp.broadcast_to(a, (*lead, *a.shape[-2:])))
    wide = cp.zeros((*lead, a.shape[-2], width), dtype=cp.float64)
    wide[..., : a.shape[-1]] = a
    return wide


@cache
def deviation_kernel(K: int, V: int, device: int) -> tuple[Kernel, int]:
    """The compiled kernel for these widths on this device, and its shared memory in bytes."""
    import cupy as cp

    defines = {"K": K, "V": V, "WARPS": _WARPS, "TILE": _TILE}
    options = ("-std=c++17", *(f"-D{name}={value}" for name, value in defines.items()))
    kernel = cp.RawModule(code=PRIMITIVES + LARGEST + EXPM1 + DEVIATION, options=options).get_function("deviation")
    row = K + 8 if K % 16 == 0 else K
    memory = 2 * 8 * _TILE * (row + V + 2 + 1)
    kernel.max_dynamic_shared_size_bytes = memory
    return kernel, memory
