"""One layer of attention alone on a GPU in eight launches and one wait, its units on the host before and after.

With tokens e^ξ 1x + e^σ R, heads W_QK, W and key biases k the kernels below make, one after the other::

    scores      g = x W_QK + k and the pivot: the first largest entry of R g
    relative    D = R − 1R_pivot, e = exp(unit · D g), and what their sums over the rows are made of
    project     left = scale · R W_QK, q = e/Σe, values = (D − 1qᵀD) W
    deviation   Σ_j m_ij q_j v_j/(1 + Σ_j m_ij q_j), m = expm1(left Dᵀ) (in `cuda`), where there are few rows over
                parts of the keys that `combine` adds up; below rounding, in its place,
    covariance  Dᵀ diag(q) values, and
    thin        left times it;
    lifted, average   the same for more than 64 columns, through m of some rows
    collect     the sum over the heads and what a skip carries, its column sums; the images of the common rows
    recentre    the mean moved into the center
    normalise   both over their largest entry

Sizes that say whether all this was allowed (`Report`) come back in one transfer; what they forbid, the arrays of
`rankmath.attention` make. The launches are captured once in a graph. The same source runs on the host in tests.
"""

from __future__ import annotations

import ctypes
import math
from functools import cache, lru_cache
from threading import Lock
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from rankmath.arithmetic.cuda import (
    EXPM1,
    LARGEST,
    PRIMITIVES,
    WIDEST,
    Kernel,
    deviation_kernel,
    has_tensor_units,
    padded,
)
from rankmath.validation import Array, Floats

_THREADS = 256
# Words of a head, and which of them is the size of its term.
_PER_HEAD, _OUT = 6, 4
#: Tokens of at most so many columns.
MOST_COLUMNS = 256
# Entries of m of all heads at a time, where it is formed: 512 MiB.
_WIDE_ENTRIES = 2**26
# So many blocks fill a GPU twice.
_FILLED = 264

_GIVEN = ("x", "R", "query", "value", "key_bias", "bias", "center", "residual")
#: Logits beyond rounding, below it, and no attention at all: the mean of R moved to the center.
Way: TypeAlias = Literal["fused", "thin", "centre"]
#: What the kernels are told: addresses, factors, sizes, one word each.
POINTERS = (
    *_GIVEN,
    *(
        "g",
        "left",
        "D",
        "values",
        "out",
        "e",
        "q",
        "common",
        "image",
        "best",
        "sums",
        "columns",
        "thin",
        "partial",
        "means",
        "lifted",
    ),
    *("words", "report"),
)
FACTORS = (
    *("unit", "of_pull", "of_key", "scale", "of_x", "of_common"),
    *("of_out", "lambda", "of_skip", "of_bias", "of_shift"),
)
SIZES = ("n", "d", "heads", "blocks", "row_blocks", "groups", "splits", "key_parts", "wide_rows", "stride")

_STRUCT = "struct Layer {{ {} {} {} }};\n".format(
    "".join(f"double* {name}; " for name in POINTERS),
    "".join(f"double {name}; " for name in FACTORS),
    "".join(f"long long {name}; " for name in SIZES),
)

_SOURCE = r"""
enum { LOW, LEFT, RIGHT, VALUES, OUT, TOTAL, PER_HEAD };  // words of a head; after all heads' these of the layer:
enum { SUM, RESIDUAL, CENTER };
#define LANES ((K + 31) / 32)

__device__ __forceinline__ double warp_sum(double v) {
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

__device__ __forceinline__ double* word(const Layer& L, int h, int which) { return L.words + PER_HEAD * h + which; }
__device__ __forceinline__ double* whole(const Layer& L, int which) { return L.words + PER_HEAD * L.heads + which; }

__device__ void row_times_matrix(const double* row, const double* W, int d, double* parts, double* out) {
  // out = row W for one row, by a whole block; `parts` has a number for every thread.
  for (int c0 = 0; c0 < d; c0 += THREADS) {
    const int width = min(d - c0, THREADS), many = THREADS / width;
    const int c = threadIdx.x % width, part = threadIdx.x / width;
    double s = 0.0;
    if (part < many)
#pragma unroll 8
      for (int i = part; i < d; i += many) s = fma(row[i], W[(long long)i * d + c0 + c], s);
    parts[threadIdx.x] = s;
    __syncthreads();
    if (part == 0) {
      for (int p = 1; p < many; p++) s += parts[p * width + c];
      out[c0 + c] = s;
    }
    __syncthreads();
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) scores(const Layer* given) {
  __shared__ double x[K], g[K], parts[THREADS], tops[THREADS / 32], places[THREADS / 32];
  const Layer& L = *given;
  const int n = L.n, d = L.d, h = blockIdx.x / L.blocks, b = blockIdx.x % L.blocks;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  for (int k = threadIdx.x; k < d; k += THREADS) x[k] = L.x[k];
  if (b == 0 && threadIdx.x < PER_HEAD) *word(L, h, threadIdx.x) = 0.0;
  if (blockIdx.x == 0 && threadIdx.x < 3) *whole(L, threadIdx.x) = 0.0;
  __syncthreads();
  row_times_matrix(x, L.query + (long long)h * d * d, d, parts, g);
  for (int k = threadIdx.x; k < d; k += THREADS) {
    if (L.key_bias) g[k] = L.of_pull * g[k] + L.of_key * L.key_bias[h * d + k];
    if (b == 0) L.g[h * d + k] = g[k];
  }
  __syncthreads();
  const int per = (n + L.blocks - 1) / L.blocks, first = b * per, last = min(n, first + per);
  double top = -INFINITE, place = n;
  for (int j = first + warp; j < last; j += THREADS / 32) {
    double s = 0.0;
    for (int k = lane; k < d; k += 32) s = fma(L.R[(long long)j * d + k], g[k], s);
    s = warp_sum(s);
    if (s > top) top = s, place = j;
  }
  if (lane == 0) tops[warp] = top, places[warp] = place;
  __syncthreads();
  if (threadIdx.x) return;
  for (int w = 1; w < THREADS / 32; w++)
    if (tops[w] > top || (tops[w] == top && places[w] < place)) top = tops[w], place = places[w];
  L.best[2 * blockIdx.x] = top;
  L.best[2 * blockIdx.x + 1] = place;
}

__device__ int pivot_of(const Layer& L, int h) {
  // By one whole warp: the first of the largest.
  const double* best = L.best + 2 * h * L.blocks;
  double top = -INFINITE, place = L.n;
  for (int b = threadIdx.x & 31; b < L.blocks; b += 32)
    if (best[2 * b] > top) top = best[2 * b], place = best[2 * b + 1];
  for (int o = 16; o; o >>= 1) {
    const double other = __shfl_xor_sync(~0u, top, o), there = __shfl_xor_sync(~0u, place, o);
    if (other > top || (other == top && there < place)) top = other, place = there;
  }
  return place < L.n ? (int)place : 0;
}

extern "C" __global__ void __launch_bounds__(THREADS) relative(const Layer* given) {
  __shared__ double g[K], pivot[K], parts[THREADS / 32][K + 1];
  __shared__ int place;
  const Layer& L = *given;
  const int n = L.n, d = L.d, h = blockIdx.x / L.blocks, b = blockIdx.x % L.blocks;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (warp == 0) {
    const int found = pivot_of(L, h);
    if (lane == 0) place = found;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < K; k += THREADS) {
    g[k] = k < d ? L.g[h * d + k] : 0.0;
    pivot[k] = k < d ? L.R[(long long)place * d + k] : 0.0;
  }
  __syncthreads();
  const int per = (n + L.blocks - 1) / L.blocks, first = b * per, last = min(n, first + per);
  double sums[LANES], total = 0.0, low = 0.0, longest = 0.0;
#pragma unroll
  for (int i = 0; i < LANES; i++) sums[i] = 0.0;
  for (int j = first + warp; j < last; j += THREADS / 32) {
    const double* row = L.R + (long long)j * d;
    double* to = L.D + ((long long)h * n + j) * K;
    double v[LANES], c = 0.0, square = 0.0;
#pragma unroll
    for (int i = 0; i < LANES; i++) {
      const int k = lane + 32 * i;
      v[i] = k < d ? row[k] - pivot[k] : 0.0;
      if (k < K) to[k] = v[i], c = fma(v[i], g[k], c);
      square = fma(v[i], v[i], square);
    }
    c = L.unit * warp_sum(c);
    const double e = exp(c);
    if (lane == 0) L.e[(long long)h * n + j] = e;
    total += e;
#pragma unroll
    for (int i = 0; i < LANES; i++) sums[i] = fma(e, v[i], sums[i]);
    low = larger(low, -c);
    square = warp_sum(square);
    longest = larger(longest, square);
  }
#pragma unroll
  for (int i = 0; i < LANES; i++) if (lane + 32 * i < K) parts[warp][lane + 32 * i] = sums[i];
  if (lane == 0) parts[warp][K] = total;
  raise(word(L, h, LOW), low);
  raise(word(L, h, RIGHT), longest);
  __syncthreads();
  for (int k = threadIdx.x; k <= K; k += THREADS) {
    double s = 0.0;
    for (int w = 0; w < THREADS / 32; w++) s += parts[w][k];
    L.sums[(long long)blockIdx.x * (K + 1) + k] = s;
  }
}

#define CHUNK 16
// Row lengths in shared memory that keep every fragment load free of bank conflicts.
#define BY_CHUNK (CHUNK + 4)
#define BY_COLUMNS 68

struct Operand {
  const double* at;
  int rows, columns;  // nothing but zeros beyond
  long long step;
  bool even;  // pairs of entries start at multiples of 16 bytes
};

__device__ __forceinline__ bool in_pairs(const double* at, long long step) {
  return ((Bits)at & 15) == 0 && (step & 1) == 0;
}

__device__ __forceinline__ void copy_pair(double* to, const Operand& M, int row, int column) {
  const bool first = row < M.rows && column < M.columns;
  const double* from = first ? M.at + row * M.step + column : M.at;
  if (M.even) {
    copy_row_part(to, from, first);
    return;
  }
  const bool second = first && column + 1 < M.columns;
  copy_one(to, from, first);
  copy_one(to + 1, second ? from + 1 : M.at, second);
}

template <int I, bool ACROSS, bool SHIFTED>
__device__ __forceinline__ void tile(const Operand A, const Operand B, const double* shift, double (&c)[I][8][4],
                                     double (&sums)[I][2]) {
  // 64 I rows and 64 columns of A B (ACROSS) or A B' by four warps, a row first taken off those of A; their sums.
  extern __shared__ double shared[];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
  const int of_A = 64 * I * BY_CHUNK, stage = of_A + (ACROSS ? CHUNK * BY_COLUMNS : 64 * BY_CHUNK);
  auto fetch = [&](int k0, double* to) {
    for (int i = threadIdx.x; i < 64 * I * CHUNK / 2; i += 128) {
      const int r = i / (CHUNK / 2), k = 2 * (i % (CHUNK / 2));
      copy_pair(to + r * BY_CHUNK + k, A, r, k0 + k);
    }
    for (int i = threadIdx.x; i < 64 * CHUNK / 2; i += 128) {
      const int r = ACROSS ? i / 32 : i / (CHUNK / 2), k = ACROSS ? 2 * (i % 32) : 2 * (i % (CHUNK / 2));
      copy_pair(to + of_A + r * (ACROSS ? BY_COLUMNS : BY_CHUNK) + k, B, ACROSS ? k0 + r : r, ACROSS ? k : k0 + k);
    }
    commit_copies();
  };
#pragma unroll
  for (int i = 0; i < I; i++) {
    sums[i][0] = sums[i][1] = 0.0;
#pragma unroll
    for (int v = 0; v < 8; v++) c[i][v][0] = c[i][v][1] = c[i][v][2] = c[i][v][3] = 0.0;
  }
  fetch(0, shared);
  for (int k0 = 0, phase = 0; k0 < A.columns; k0 += CHUNK, phase ^= 1) {
    wait_for_copies();
    __syncthreads();
    if (k0 + CHUNK < A.columns) fetch(k0 + CHUNK, shared + (phase ^ 1) * stage);
    const double* left = shared + phase * stage + (warp * 16 * I + g) * BY_CHUNK + t;
    const double* right = shared + phase * stage + of_A + (ACROSS ? t * BY_COLUMNS + g : g * BY_CHUNK + t);
#pragma unroll
    for (int k = 0; k < CHUNK; k += 8) {
      double a[I][4];
#pragma unroll
      for (int i = 0; i < I; i++) {
        const double* p = left + 16 * i * BY_CHUNK + k;
        a[i][0] = p[0], a[i][1] = p[8 * BY_CHUNK], a[i][2] = p[4], a[i][3] = p[8 * BY_CHUNK + 4];
        if (SHIFTED) {
          const double s0 = shift[k0 + k + t], s1 = shift[k0 + k + t + 4];
          a[i][0] -= s0, a[i][1] -= s0, a[i][2] -= s1, a[i][3] -= s1;
        }
        sums[i][0] += a[i][0] + a[i][2];
        sums[i][1] += a[i][1] + a[i][3];
      }
#pragma unroll
      for (int v = 0; v < 8; v++) {
        const double* b = ACROSS ? right + k * BY_COLUMNS + 8 * v : right + 8 * v * BY_CHUNK + k;
        const double b0 = b[0], b1 = b[ACROSS ? 4 * BY_COLUMNS : 4];
#pragma unroll
        for (int i = 0; i < I; i++) mma(c[i][v], a[i][0], a[i][1], a[i][2], a[i][3], b0, b1);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(128) project(const Layer* given) {
  // 64 rows of a head and 64 columns a block; y = 0 makes left, y = 1 the values.
  __shared__ double mean[K + 16];
  const Layer& L = *given;
  const int n = L.n, d = L.d, h = blockIdx.x / L.row_blocks, block = blockIdx.x % L.row_blocks;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
  const int row = (block * 4 + warp) * 16 + g, c0 = 64 * blockIdx.z;
  const bool values = blockIdx.y, first = row < n, second = row + 8 < n;
  const double* W = (values ? L.value : L.query) + (long long)h * d * d + c0;
  const Operand B = {W, d, d - c0, d, in_pairs(W, d)};
  double c[1][8][4], sums[1][2];
  if (values) {
    for (int k = threadIdx.x; k < K + 16; k += 128) {
      double s = 0.0;
#pragma unroll 8
      for (int b = 0; b < L.blocks && k <= K; b++) s += L.sums[((long long)h * L.blocks + b) * (K + 1) + k];
      mean[k] = s;
    }
    __syncthreads();
    const double total = mean[K];
    __syncthreads();
    for (int k = threadIdx.x; k < K + 16; k += 128) mean[k] = k < K ? mean[k] / total : 0.0;
    const int j = block * 64 + threadIdx.x;
    if (c0 == 0 && threadIdx.x < 64 && j < n) L.q[(long long)h * n + j] = L.e[(long long)h * n + j] / total;
    __syncthreads();
    if (block == 0 && c0 == 0 && warp == 0) {
      const double* pivot = L.R + (long long)pivot_of(L, h) * d;
      for (int k = lane; k < d; k += 32) L.common[h * d + k] = pivot[k] + mean[k];
      if (lane == 0) *word(L, h, TOTAL) = total;
    }
    const double* D = L.D + ((long long)h * n + block * 64) * K;
    tile<1, true, true>({D, n - block * 64, K, K, true}, B, mean, c, sums);
  } else {
    const double* R = L.R + (long long)block * 64 * d;
    tile<1, true, false>({R, n - block * 64, d, d, in_pairs(R, d)}, B, nullptr, c, sums);
  }
  double* out = (values ? L.values : L.left) + ((long long)h * n + row) * K + c0 + 2 * t;
  const double factor = values ? 1.0 : L.scale;
  double largest = 0.0, square0 = 0.0, square1 = 0.0;
#pragma unroll
  for (int v = 0; v < 8; v++) {
    if (c0 + 8 * v >= K) break;
    double* y = c[0][v];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      y[i] = (i < 2 ? first : second) ? y[i] * factor : 0.0;
      largest = larger(largest, fabs(y[i]));
    }
    square0 = fma(y[0], y[0], fma(y[1], y[1], square0));
    square1 = fma(y[2], y[2], fma(y[3], y[3], square1));
    if (first) *(double2*)(out + 8 * v) = make_double2(y[0], y[1]);
    if (second) *(double2*)(out + 8 * K + 8 * v) = make_double2(y[2], y[3]);
  }
  for (int o = 1; o <= 2; o <<= 1) {
    square0 += __shfl_xor_sync(~0u, square0, o);
    square1 += __shfl_xor_sync(~0u, square1, o);
  }
  const double square = larger(square0, square1);
  // Rows wider than 64 are in several blocks: a sum of their largest squares bounds the square of the longest.
  raise(word(L, h, values ? VALUES : LEFT), values ? largest : square * ((K + 63) / 64));
}

#if K <= 64
extern "C" __global__ void __launch_bounds__(128) covariance(const Layer* given) {
  // D' diag(q) values of some rows of a head; a warp has 16 rows of the result.
  const Layer& L = *given;
  const int n = L.n, h = blockIdx.x / L.splits, split = blockIdx.x % L.splits;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
  const double *D = L.D + (long long)h * n * K, *Y = L.values + (long long)h * n * K, *q = L.q + (long long)h * n;
  const int per = (n + L.splits - 1) / L.splits, start = split * per, last = min(n, start + per);
  for (int r = 16 * warp; r < K; r += 64) {
    const bool both = r + 8 < K;
    double c[K / 8][4];
#pragma unroll
    for (int v = 0; v < K / 8; v++) c[v][0] = c[v][1] = c[v][2] = c[v][3] = 0.0;
    for (int j = start; j < last; j += 8) {
      const long long i0 = (long long)(j + t) * K, i1 = i0 + 4 * K;
      const bool in0 = j + t < last, in1 = j + t + 4 < last;
      const double a0 = in0 ? D[i0 + r + g] : 0.0, a1 = in0 && both ? D[i0 + r + g + 8] : 0.0;
      const double a2 = in1 ? D[i1 + r + g] : 0.0, a3 = in1 && both ? D[i1 + r + g + 8] : 0.0;
      const double q0 = in0 ? q[j + t] : 0.0, q1 = in1 ? q[j + t + 4] : 0.0;
#pragma unroll
      for (int v = 0; v < K / 8; v++)
        mma(c[v], a0, a1, a2, a3, in0 ? q0 * Y[i0 + 8 * v + g] : 0.0, in1 ? q1 * Y[i1 + 8 * v + g] : 0.0);
    }
    double* out = L.thin + (long long)blockIdx.x * K * K + (long long)(r + g) * K + 2 * t;
#pragma unroll
    for (int v = 0; v < K / 8; v++) {
      *(double2*)(out + 8 * v) = make_double2(c[v][0], c[v][1]);
      if (both) *(double2*)(out + 8 * K + 8 * v) = make_double2(c[v][2], c[v][3]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(128) thin(const Layer* given) {
  __shared__ double B[K * (K + 4)];
  const Layer& L = *given;
  const int n = L.n, h = blockIdx.x / L.row_blocks, block = blockIdx.x % L.row_blocks;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
  for (int i = threadIdx.x; i < K * K; i += 128) {
    double s = 0.0;
    for (int p = 0; p < L.splits; p++) s += L.thin[((long long)h * L.splits + p) * K * K + i];
    B[(i / K) * (K + 4) + i % K] = s;
  }
  __syncthreads();
  const int row = (block * 4 + warp) * 16 + g;
  const bool first = row < n, second = row + 8 < n;
  const double* a = L.left + ((long long)h * n + row) * K + t;
  double c[K / 8][4];
#pragma unroll
  for (int v = 0; v < K / 8; v++) c[v][0] = c[v][1] = c[v][2] = c[v][3] = 0.0;
  for (int k = 0; k < K; k += 8) {
    const double a0 = first ? a[k] : 0.0, a1 = second ? a[8 * K + k] : 0.0;
    const double a2 = first ? a[k + 4] : 0.0, a3 = second ? a[8 * K + k + 4] : 0.0;
    const double* b = B + (k + t) * (K + 4) + g;
#pragma unroll
    for (int v = 0; v < K / 8; v++) mma(c[v], a0, a1, a2, a3, b[8 * v], b[4 * (K + 4) + 8 * v]);
  }
  double* out = L.out + ((long long)h * n + row) * K + 2 * t;
  double largest = 0.0;
#pragma unroll
  for (int v = 0; v < K / 8; v++) {
#pragma unroll
    for (int i = 0; i < 4; i++) largest = larger(largest, fabs(c[v][i]));
    if (first) *(double2*)(out + 8 * v) = make_double2(c[v][0], c[v][1]);
    if (second) *(double2*)(out + 8 * K + 8 * v) = make_double2(c[v][2], c[v][3]);
  }
  raise(word(L, h, OUT), largest);
}
#else
template <int I>
__device__ __forceinline__ void lift(const Layer& L, int start) {
  // m_ij q_j for rows from `start` on, some 64 keys a block.
  const int n = L.n, h = blockIdx.z, row = start + 64 * I * blockIdx.y, j0 = 64 * blockIdx.x;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
  const int rows = min((long long)n, start + L.wide_rows) - row;
  double c[I][8][4], sums[I][2];
  tile<I, false, false>({L.left + ((long long)h * n + row) * K, rows, K, K, true},
                        {L.D + ((long long)h * n + j0) * K, n - j0, K, K, true}, nullptr, c, sums);
  double* to = L.lifted + (h * L.wide_rows + row - start) * L.stride + j0;
#pragma unroll
  for (int v = 0; v < 8; v++) {
    const int j = 8 * v + 2 * t;
    if (j0 + j >= L.stride) break;
    const double q0 = j0 + j < n ? L.q[(long long)h * n + j0 + j] : 0.0;
    const double q1 = j0 + j + 1 < n ? L.q[(long long)h * n + j0 + j + 1] : 0.0;
#pragma unroll
    for (int i = 0; i < I; i++) {
      const int r = (warp * I + i) * 16 + g;
      double2* p = (double2*)(to + r * L.stride + j);
      if (r < rows) *p = make_double2(expm1_of(c[i][v][0]) * q0, expm1_of(c[i][v][1]) * q1);
      if (r + 8 < rows) p[4 * L.stride] = make_double2(expm1_of(c[i][v][2]) * q0, expm1_of(c[i][v][3]) * q1);
    }
  }
}

template <int I>
__device__ __forceinline__ void average_of(const Layer& L, int start) {
  // The averages of these rows, 64 columns a block.
  const int n = L.n, h = blockIdx.z, row = start + 64 * I * blockIdx.y, c0 = 64 * blockIdx.x;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
  const int rows = min((long long)n, start + L.wide_rows) - row;
  double c[I][8][4], sums[I][2], largest = 0.0;
  tile<I, true, false>({L.lifted + (h * L.wide_rows + row - start) * L.stride, rows, (int)L.stride, L.stride, true},
                       {L.values + (long long)h * n * K + c0, n, K - c0, K, true}, nullptr, c, sums);
#pragma unroll
  for (int i = 0; i < I; i++) {
    const int r = (warp * I + i) * 16 + g;
    double* out = L.out + ((long long)h * n + row + r) * K + c0 + 2 * t;
#pragma unroll
    for (int e = 0; e < 2; e++) {
      double sum = sums[i][e];
      sum += __shfl_xor_sync(~0u, sum, 1);
      sum += __shfl_xor_sync(~0u, sum, 2);
      const double factor = 1.0 / (1.0 + sum);
#pragma unroll
      for (int v = 0; v < 8; v++) {
        const double y0 = c[i][v][2 * e] * factor, y1 = c[i][v][2 * e + 1] * factor;
        if (c0 + 8 * v >= K || r + 8 * e >= rows) break;
        largest = larger(larger(largest, fabs(y0)), fabs(y1));
        *(double2*)(out + 8 * e * K + 8 * v) = make_double2(y0, y1);
      }
    }
  }
  raise(word(L, h, OUT), largest);
}

#define WIDE extern "C" __global__ void __launch_bounds__(128)
WIDE lifted_64(const Layer* given, int start) { lift<1>(*given, start); }
WIDE lifted_128(const Layer* given, int start) { lift<2>(*given, start); }
WIDE average_64(const Layer* given, int start) { average_of<1>(*given, start); }
WIDE average_128(const Layer* given, int start) { average_of<2>(*given, start); }
#endif

extern "C" __global__ void __launch_bounds__(128) combine(const Layer* given) {
  // Averages of 8 rows from their sums over parts of the keys.
  const Layer& L = *given;
  const int n = L.n, blocks = (n + 7) / 8, h = blockIdx.x / blocks, first = (blockIdx.x % blocks) * 8;
  const long long step = (long long)L.heads * n;
  double largest = 0.0;
  for (int i = threadIdx.x; i < 8 * K; i += 128) {
    const int row = first + i / K, k = i % K;
    if (row >= n) break;
    const long long at = (long long)h * n + row;
    double sum = 0.0, mean = 1.0;
#pragma unroll 8
    for (int p = 0; p < L.key_parts; p++) sum += L.partial[(p * step + at) * K + k], mean += L.means[p * step + at];
    L.out[at * K + k] = sum / mean;
    largest = larger(largest, fabs(sum / mean));
  }
  raise(word(L, h, OUT), largest);
}

extern "C" __global__ void __launch_bounds__(THREADS) collect(const Layer* given) {
  __shared__ double parts[THREADS / 32][K], row[K], numbers[THREADS], image[K];
  const Layer& L = *given;
  const int n = L.n, d = L.d, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (blockIdx.x >= L.groups) {  // a block for each head's image of what its rows have in common
    const int h = blockIdx.x - L.groups;
    for (int k = threadIdx.x; k < d; k += THREADS) row[k] = L.of_x * L.x[k] + L.of_common * L.common[h * d + k];
    __syncthreads();
    row_times_matrix(row, L.value + (long long)h * d * d, d, numbers, image);
    for (int k = threadIdx.x; k < d; k += THREADS) L.image[h * d + k] = image[k];
    return;
  }
  const int per = (n + L.groups - 1) / L.groups, first = blockIdx.x * per, last = min(n, first + per);
  double sums[LANES], largest = 0.0;
#pragma unroll
  for (int i = 0; i < LANES; i++) sums[i] = 0.0;
  for (int j = first + warp; j < last; j += THREADS / 32)
#pragma unroll
    for (int i = 0; i < LANES; i++) {
      const int k = lane + 32 * i;
      if (k >= d) break;
      const double* at = L.out + (long long)j * K + k;
      double v = 0.0;
#pragma unroll 16
      for (int h = 0; h < L.heads; h++) v += at[(long long)h * n * K];
      v *= L.of_out;
      if (L.lambda != 0.0) v = fma(L.lambda, L.R[(long long)j * d + k], v);
      L.residual[(long long)j * d + k] = v;
      sums[i] += v;
      largest = larger(largest, fabs(v));
    }
#pragma unroll
  for (int i = 0; i < LANES; i++) if (lane + 32 * i < K) parts[warp][lane + 32 * i] = sums[i];
  raise(whole(L, SUM), largest);
  __syncthreads();
  for (int k = threadIdx.x; k < d; k += THREADS) {
    double s = 0.0;
    for (int w = 0; w < THREADS / 32; w++) s += parts[w][k];
    L.columns[(long long)blockIdx.x * d + k] = s;
  }
}

extern "C" __global__ void clear(const Layer* given) {
  if (threadIdx.x < 3) *whole(*given, threadIdx.x) = 0.0;
}

extern "C" __global__ void __launch_bounds__(THREADS) recentre(const Layer* given) {
  __shared__ double shift[K], parts[THREADS];
  const Layer& L = *given;
  const int n = L.n, d = L.d, many = THREADS / d, part = threadIdx.x / d;
  double s = 0.0;
  if (part < many)
#pragma unroll 4
    for (int b = part; b < L.groups; b += many) s += L.columns[(long long)b * d + threadIdx.x % d];
  parts[threadIdx.x] = s;
  __syncthreads();
  if (part == 0) {
    for (int p = 1; p < many; p++) s += parts[p * d + threadIdx.x];
    shift[threadIdx.x] = s / n;
  }
  __syncthreads();
  const int per = (n + L.groups - 1) / L.groups, first = blockIdx.x * per, last = min(n, first + per);
  double largest = 0.0;
  for (long long i = (long long)first * d + threadIdx.x; i < (long long)last * d; i += THREADS) {
    const double v = L.residual[i] - shift[i % d];
    L.residual[i] = v;
    largest = larger(largest, fabs(v));
  }
  raise(whole(L, RESIDUAL), largest);
  if (blockIdx.x) return;
  largest = 0.0;
  for (int k = threadIdx.x; k < d; k += THREADS) {
    double v = 0.0;
#pragma unroll 8
    for (int h = 0; h < L.heads; h++) v += L.image[h * d + k];
    v = fma(L.of_shift, shift[k], v);
    if (L.lambda != 0.0) v = fma(L.of_skip, L.x[k], v);
    if (L.bias) v = fma(L.of_bias, L.bias[k], v);
    L.center[k] = v;
    largest = larger(largest, fabs(v));
  }
  raise(whole(L, CENTER), largest);
}

extern "C" __global__ void __launch_bounds__(THREADS) normalise(const Layer* given) {
  const Layer& L = *given;
  const long long size = (long long)L.n * L.d, step = (long long)L.groups * THREADS;
  double largest = *whole(L, RESIDUAL);
  if (largest == 0.0) largest = 1.0;
  for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < size; i += step) L.residual[i] /= largest;
  if (blockIdx.x) return;
  largest = *whole(L, CENTER);
  if (largest == 0.0) largest = 1.0;
  for (int k = threadIdx.x; k < L.d; k += THREADS) L.center[k] /= largest;
  if (threadIdx.x >= 32) return;
  double out = 0.0, values = 0.0, low = 0.0, logit = 0.0, least = INFINITE;
  for (int h = threadIdx.x; h < L.heads; h += 32) {
    const double v = *word(L, h, VALUES), o = *word(L, h, OUT);
    out = fmax(out, o);
    values = fmax(values, v);
    low = fmax(low, *word(L, h, LOW) + log(*word(L, h, TOTAL)));
    logit = fmax(logit, sqrt(*word(L, h, LEFT)) * sqrt(*word(L, h, RIGHT)));
    if (v > 0.0) least = fmin(least, o / v);
  }
  for (int o = 16; o; o >>= 1) {
    out = fmax(out, __shfl_xor_sync(~0u, out, o));
    values = fmax(values, __shfl_xor_sync(~0u, values, o));
    low = fmax(low, __shfl_xor_sync(~0u, low, o));
    logit = fmax(logit, __shfl_xor_sync(~0u, logit, o));
    least = fmin(least, __shfl_xor_sync(~0u, least, o));
  }
  if (threadIdx.x) return;
  const double found[] = {*whole(L, CENTER), *whole(L, RESIDUAL), *whole(L, SUM), out, values, low, logit, least};
  for (int i = 0; i < 8; i++) L.report[i] = found[i];
}

extern "C" __global__ void __launch_bounds__(THREADS) squares(const double* R, const double* x, int n, int d,
                                                               double* square, double* parts, Bits* far) {
  // Squares of the rows, their sums by blocks, and that of the center.
  __shared__ double sums[THREADS / 32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = THREADS / 32;
  if (blockIdx.x == 0 && threadIdx.x == 0) *far = 0;
  double sum = 0.0;
  for (int j = blockIdx.x * warps + warp; j < n; j += gridDim.x * warps) {
    double s = 0.0;
    for (int k = lane; k < d; k += 32) s = fma(R[(long long)j * d + k], R[(long long)j * d + k], s);
    s = warp_sum(s);
    if (lane == 0) square[j] = s;
    sum += s;
  }
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (warp) return;
  if (lane == 0) {
    for (int w = 1; w < warps; w++) sum += sums[w];
    parts[1 + blockIdx.x] = sum;
  }
  if (blockIdx.x) return;
  sum = 0.0;
  for (int k = lane; k < d; k += 32) sum = fma(x[k], x[k], sum);
  sum = warp_sum(sum);
  if (lane == 0) parts[0] = sum;
}

extern "C" __global__ void __launch_bounds__(128) pairs(const double* R, const double* square, int n, int d,
                                                         Bits* far) {
  // The largest |R_i|^2 + |R_j|^2 - 2 R_i R_j of 64 rows with every y-th tile of 8 from the first of them on.
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
  const int row = (blockIdx.x * 4 + warp) * 16 + g;
  const bool first = row < n, second = row + 8 < n;
  const double square0 = first ? square[row] : 0.0, square1 = second ? square[row + 8] : 0.0;
  double largest = 0.0;
  for (int j = blockIdx.x * 64 + 32 * blockIdx.y; j < n; j += 32 * gridDim.y) {
    double c[4][4];
#pragma unroll
    for (int p = 0; p < 4; p++) c[p][0] = c[p][1] = c[p][2] = c[p][3] = 0.0;
    for (int k = t; k < K; k += 8) {
      const bool in0 = k < d, in1 = k + 4 < d;
      const double* a = R + (long long)row * d + k;
      const double a0 = first && in0 ? a[0] : 0.0, a1 = second && in0 ? a[8 * d] : 0.0;
      const double a2 = first && in1 ? a[4] : 0.0, a3 = second && in1 ? a[8 * d + 4] : 0.0;
#pragma unroll
      for (int p = 0; p < 4; p++) {
        const int column = j + 8 * p + g;
        const double* b = R + (long long)column * d + k;
        mma(c[p], a0, a1, a2, a3, column < n && in0 ? b[0] : 0.0, column < n && in1 ? b[4] : 0.0);
      }
    }
#pragma unroll
    for (int p = 0; p < 4; p++)
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int column = j + 8 * p + 2 * t + (i & 1);
        if (column >= n || !(i < 2 ? first : second)) continue;
        const double v = (i < 2 ? square0 : square1) + square[column] - 2.0 * c[p][i];
        largest = larger(largest, v);
      }
  }
  raise((double*)far, largest);
}

extern "C" __global__ void measured(const double* parts, int blocks, const double* far, double* out) {
  if (threadIdx.x) return;
  double sum = 0.0;
  for (int b = 0; b < blocks; b++) sum += parts[1 + b];
  out[0] = sqrt(sum);
  out[1] = sqrt(*far);
  out[2] = sqrt(parts[0]);
}
"""


def source(K: int) -> str:
    """All kernels for tokens of at most K columns, K a multiple of 8."""
    return f"#define K {K}\n#define THREADS {_THREADS}\n{_STRUCT}{_SOURCE}"


class Report(NamedTuple):
    """Sizes of what a layer made, each the largest |entry|."""

    center: float
    residual: float
    total: float  # of the residual before its mean is taken off
    parts: float  # of one head's term of it
    values: float  # of (V − 1qᵀV) W
    unevenness: float  # −log of the least attention
    logit: float  # bound of |E|
    least_ratio: float  # of a head's term to its values


@cache
def _module(K: int, device: int) -> Array:
    import cupy as cp

    return cp.RawModule(code=PRIMITIVES + LARGEST + EXPM1 + source(K), options=("-std=c++17",))


@cache
def _kernel(name: str, K: int, device: int) -> Kernel:
    kernel = _module(K, device).get_function(name)
    if memory_of(name):
        kernel.max_dynamic_shared_size_bytes = memory_of(name)
    found: Kernel = kernel
    return found


def memory_of(name: str) -> int:
    """Bytes of shared memory of a kernel that makes tiles: two chunks of 16 of their rows and columns."""
    rows = {"project": 64, "lifted_64": 64, "average_64": 64, "lifted_128": 128, "average_128": 128}.get(name)
    return 0 if rows is None else 2 * 8 * 20 * (64 + rows)


def _device() -> int:
    import cupy as cp

    return int(cp.cuda.runtime.getDevice())


class Plan:
    """Memory and launches of a layer with these sizes; nothing of one layer outlives it here."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self.n, self.heads, self.K = sizes["n"], sizes["heads"], padded(sizes["d"])
        self.sizes = sizes
        self.arrays = {name: self.memory(shape) for name, shape in shapes(sizes).items()}
        self.told = self.memory((len(POINTERS) + len(FACTORS) + len(SIZES),))
        self.words = self.pinned(self.told.size).view(np.uint64)
        self.report = self.pinned(len(Report._fields))  # the device writes it, the host reads it: no copy
        for place, name in enumerate(POINTERS):
            if name in self.arrays:
                self.words[place] = self.address(self.arrays[name])
        self.words[POINTERS.index("report")] = self.report.ctypes.data
        self.doubles = self.words[len(POINTERS) : -len(SIZES)].view(np.float64)
        self.words[-len(SIZES) :] = [self.sizes[name] for name in SIZES]
        self._ran: set[Way] = set()
        self._graphs: dict[Way, Array] = {}
        self._lock = Lock()

    def memory(self, shape: tuple[int, ...]) -> Array:
        import cupy as cp

        return cp.empty(shape)

    def pinned(self, size: int) -> Floats:
        import cupy as cp

        return np.frombuffer(cp.cuda.alloc_pinned_memory(8 * size), np.float64, size)

    def address(self, a: Array) -> int:
        return int(a.data.ptr)

    def send(self) -> None:
        self.told.data.copy_from_host_async(ctypes.c_void_p(self.words.ctypes.data), self.told.nbytes)

    def launch(self, name: str, blocks: tuple[int, ...], threads: int, start: int | None = None) -> None:
        """A kernel on all rows, or on rows from `start` on."""
        told = (self.told,) if start is None else (self.told, np.int32(start))
        _kernel(name, self.K, _device())(blocks, (threads,), told, shared_mem=memory_of(name))

    def deviate(self, blocks: tuple[int, ...], arguments: tuple[Array, ...]) -> None:
        kernel, memory = deviation_kernel(self.K, self.K, _device())
        kernel(blocks, (128,), arguments, shared_mem=memory)

    def run(self, arrays: dict[str, Array], factors: dict[str, float], way: Way) -> Report:
        """One layer: `arrays` are what goes in and comes out (`_GIVEN`); what is not given is absent."""
        with self._lock:
            given = [arrays.get(name) for name in _GIVEN]
            self.words[: len(given)] = [0 if a is None else self.address(a) for a in given]
            self.doubles[:] = [factors.get(name, 0.0) for name in FACTORS]
            self.send()
            self.step(way)
            self.wait()
            return Report(*self.report.tolist())

    def wait(self) -> None:
        import cupy as cp

        cp.cuda.get_current_stream().synchronize()

    def step(self, way: Way) -> None:
        """All launches: one by one at first, when kernels are compiled and loaded, then as one graph."""
        if self.K > WIDEST and way == "thin":  # cuBLAS is in no graph
            self.launch_all(way)
        elif way in self._graphs:
            self._graphs[way].launch()
        elif way in self._ran:  # all is compiled and loaded by now
            self._graphs[way] = self._captured(way)
            self._graphs[way].launch()
        else:
            self._ran.add(way)
            self.launch_all(way)

    def _captured(self, way: Way) -> Array:
        import cupy as cp

        stream = cp.cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            self.launch_all(way)
            return stream.end_capture()

    def launch_all(self, way: Way) -> None:
        if way == "centre":
            self.launch("clear", (1,), 32)
            self._after()
            return
        self._before()
        s, rows = self.sizes, self.heads * self.sizes["row_blocks"]
        if self.K > WIDEST:
            self._wide_thin() if way == "thin" else self._wide()
        elif way == "thin":
            self.launch("covariance", (self.heads * s["splits"],), 128)
            self.launch("thin", (rows,), 128)
        else:
            operands = [self.arrays[name] for name in ("left", "D", "values", "q")]
            sizes = (np.int32(self.n), np.int32(self.n), np.int32(s["row_blocks"]))
            whole = s["key_parts"] == 1
            out = self.arrays["out" if whole else "partial"]
            of_heads = (self.arrays["words"][_OUT:] if whole else np.intp(0), np.int32(_PER_HEAD))
            arguments = (*operands, np.intp(0), 1.0, out, *sizes, *of_heads, self.arrays["means"])
            self.deviate((rows, s["key_parts"]), arguments)
            if not whole:
                self.launch("combine", (self.heads * -(-self.n // 8),), 128)
        self._after()

    def _wide(self) -> None:
        """What more than 64 columns take, rows at a time: a warp has not registers enough to keep all."""
        s, H = self.sizes, self.heads
        keys, columns = -(-self.n // 64), -(-self.K // 64)
        for start in range(0, self.n, s["wide_rows"]):
            rows = min(s["wide_rows"], self.n - start)
            for name, across in (("lifted", keys), ("average", columns)):
                tall = 128 if H * across * (rows // 128) >= _FILLED else 64
                self.launch(f"{name}_{tall}", (across, -(-rows // tall), H), 128, start)

    def _wide_thin(self) -> None:
        """Thin products of more than 64 columns."""
        import cupy as cp

        left, D, values, out, q = (self.arrays[name] for name in ("left", "D", "values", "out", "q"))
        cp.matmul(left, cp.matmul(D.transpose(0, 2, 1), q * values), out=out)
        self.arrays["words"][: _PER_HEAD * self.heads].reshape(-1, _PER_HEAD)[:, _OUT] = abs(out).max(axis=(1, 2))

    def _before(self) -> None:
        s, H = self.sizes, self.heads
        self.launch("scores", (H * s["blocks"],), _THREADS)
        self.launch("relative", (H * s["blocks"],), _THREADS)
        self.launch("project", (H * s["row_blocks"], 2, -(-self.K // 64)), 128)

    def _after(self) -> None:
        groups = self.sizes["groups"]
        self.launch("collect", (groups + self.heads,), _THREADS)
        self.launch("recentre", (groups,), _THREADS)
        self.launch("normalise", (groups,), _THREADS)


@lru_cache(maxsize=4)
def plan(n: int, d: int, heads: int, device: int) -> Plan | None:
    """The plan of a layer, the last four kept with their memory; None where it would take most of what is free."""
    import cupy as cp

    free = cp.cuda.Device(device).mem_info[0] + cp.get_default_memory_pool().free_bytes()
    sizes = sizes_of(n, d, heads)
    needed = 8 * sum(math.prod(shape) for shape in shapes(sizes).values())
    return None if needed > free // 2 else Plan(sizes)


def plan_here(n: int, d: int, heads: int) -> Plan | None:
    """`plan` on this device, if its kernels take the layer."""
    device = _device()
    return plan(n, d, heads, device) if d <= MOST_COLUMNS and has_tensor_units(device) else None


def measures(R: Array) -> bool:
    """Whether `measure` takes this matrix here."""
    contiguous = R.ndim == 2 and R.shape[1] <= MOST_COLUMNS and R.flags.c_contiguous
    return bool(contiguous and has_tensor_units(_device()))


def measure(R: Array, x: Array) -> Array:
    """‖R‖_F, the largest distance of two rows, and ‖x‖, as an array of three: R (n, d) of mean zero, x (1, d)."""
    import cupy as cp

    n, d = R.shape
    blocks, row_blocks, device = min(128, -(-n // 8)), -(-n // 64), _device()
    memory, out = cp.empty(n + blocks + 2), cp.empty(3)
    square, parts, far = (np.uintp(memory.data.ptr + 8 * start) for start in (0, n, n + blocks + 1))
    sizes = (np.int32(n), np.int32(d))
    _kernel("squares", padded(d), device)((blocks,), (_THREADS,), (R, x, *sizes, square, parts, far))
    across = (row_blocks, max(1, min(row_blocks, 528 // row_blocks)))
    _kernel("pairs", padded(d), device)(across, (128,), (R, square, *sizes, far))
    _kernel("measured", padded(d), device)((1,), (32,), (parts, np.int32(blocks), far, out))
    return out


def shapes(sizes: dict[str, int]) -> dict[str, tuple[int, ...]]:
    """What a layer needs memory for."""
    n, d, H, parts = sizes["n"], sizes["d"], sizes["heads"], sizes["key_parts"]
    K = padded(d)
    return {
        **dict.fromkeys(("left", "D", "values", "out"), (H, n, K)),
        **dict.fromkeys(("e", "q"), (H, n, 1)),
        **dict.fromkeys(("g", "common", "image"), (H, d)),
        "best": (H, sizes["blocks"], 2),
        "sums": (H, sizes["blocks"], K + 1),
        "columns": (sizes["groups"], d),
        "thin": (H, sizes["splits"], K, K) if K <= WIDEST else (1,),
        "partial": (parts, H, n, K) if parts > 1 else (1,),
        "means": (parts, H, n) if parts > 1 else (1,),
        "lifted": (H, sizes["wide_rows"], sizes["stride"]) if K > WIDEST else (1,),
        "words": (_PER_HEAD * H + 3,),
    }


def sizes_of(n: int, d: int, heads: int) -> dict[str, int]:
    """All `SIZES`: how the work of a layer is cut, some blocks for each head, or for the rows of all."""
    blocks = max(1, min(64, -(-n // 32), -(-528 // max(1, heads))))
    row_blocks, stride = -(-n // 64), padded(n)
    return {
        "n": n,
        "d": d,
        "heads": heads,
        "blocks": blocks,
        "row_blocks": row_blocks,
        "groups": min(128, -(-n // 8)),
        "splits": min(8, -(-n // 128)),
        # Few rows leave the device idle in the large kernel: then parts of the keys, of 64 or more, go abreast.
        "key_parts": max(1, min(8, n // 64, _FILLED // max(1, heads * row_blocks))) if d <= WIDEST else 1,
        "wide_rows": min(n, max(64, _WIDE_ENTRIES // (max(1, heads) * stride) // 64 * 64)),
        "stride": stride,
    }
