"""The one fused kernel: softmax averages relative to their center without an n × m matrix in memory.

    out_i = Σ_j m_ij q_j v_j / (1 + Σ_j m_ij q_j),   m = expm1(left rightᵀ)

A warp holds 16 rows of `left` and `out` in registers and walks over the keys, 32 at a time, the next 32 copied to
shared memory meanwhile. Both products run on the float64 tensor units (mma m16n8k8). The fragment one leaves m
in is the fragment the other wants, up to a permutation of the keys, and a sum does not mind the order.

Its twin in arrays is `rankmath.dynamics.centred._by_expm1`; tests hold one to the other.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from rankmath.validation import Array

#: Wider factors would not fit the registers of a warp.
WIDEST = 64

_WARPS, _TILE, _PAIR = 4, 32, 2

_SOURCE = r"""
__device__ __forceinline__ double expm1_of(double x) {
  // x = n log 2 + r, |r| <= log(2)/2: 2^n expm1(r) + (2^n - 1). The caller keeps |x| below 700.
  double n = rint(x * 1.4426950408889634);
  double r = fma(n, -2.3190468138462996e-17, fma(n, -0.6931471805599453, x));
  double p = 1.6059043836821613e-10;  // 1/13!, 1/12!, ...
  p = fma(p, r, 2.0876756987868100e-09);
  p = fma(p, r, 2.5052108385441720e-08);
  p = fma(p, r, 2.7557319223985888e-07);
  p = fma(p, r, 2.7557319223985893e-06);
  p = fma(p, r, 2.4801587301587302e-05);
  p = fma(p, r, 1.9841269841269841e-04);
  p = fma(p, r, 1.3888888888888889e-03);
  p = fma(p, r, 8.3333333333333332e-03);
  p = fma(p, r, 4.1666666666666664e-02);
  p = fma(p, r, 1.6666666666666666e-01);
  p = fma(p, r, 0.5);
  p = fma(p * r, r, r);
  double s = __hiloint2double((1023 + (int)n) << 20, 0);
  return fma(p, s, s - 1.0);
}

__device__ __forceinline__ void mma(double (&c)[4], double a0, double a1, double a2, double a3,
                                    double b0, double b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1));
}

__device__ __forceinline__ void copy_row_part(double* to, const double* from, bool inside) {
  unsigned target = __cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(target), "l"(from), "r"(inside ? 16 : 0));
}

// Row lengths in shared memory that keep every fragment load free of bank conflicts.
#define LDR (K % 16 == 0 ? K + 4 : K + 12)
#define LDV (V + 2)
#define STAGE (TILE * LDR + TILE * LDV + TILE)

extern "C" __global__ void __launch_bounds__(WARPS * 32)
deviation(const double* __restrict__ left, const double* __restrict__ right, const double* __restrict__ values,
          const double* __restrict__ q, double* __restrict__ out, int n, int m, int row_blocks) {
  extern __shared__ double shared[];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
  const long long batch = blockIdx.x / row_blocks;
  left += batch * n * K;
  right += batch * m * K;
  values += batch * m * V;
  q += batch * m;
  out += batch * n * V;
  const int row = ((blockIdx.x % row_blocks) * WARPS + warp) * 16 + g;
  const bool first = row < n, second = row + 8 < n;

  auto fetch = [&](int j0, double* to) {
    for (int i = threadIdx.x; i < TILE * K / 2; i += WARPS * 32) {
      int r = i / (K / 2), c = 2 * (i % (K / 2));
      copy_row_part(to + r * LDR + c, right + (long long)min(j0 + r, m - 1) * K + c, j0 + r < m);
    }
    for (int i = threadIdx.x; i < TILE * V / 2; i += WARPS * 32) {
      int r = i / (V / 2), c = 2 * (i % (V / 2));
      copy_row_part(to + TILE * LDR + r * LDV + c, values + (long long)min(j0 + r, m - 1) * V + c, j0 + r < m);
    }
    for (int i = threadIdx.x; i < TILE; i += WARPS * 32) to[TILE * (LDR + LDV) + i] = j0 + i < m ? q[j0 + i] : 0.0;
    asm volatile("cp.async.commit_group;");
  };

  double a[K / 8][4];
#pragma unroll
  for (int k = 0; k < K / 8; k++) {
    const double* p = left + (long long)row * K + 8 * k + t;
    a[k][0] = first ? p[0] : 0.0;
    a[k][1] = second ? p[8 * K] : 0.0;
    a[k][2] = first ? p[4] : 0.0;
    a[k][3] = second ? p[8 * K + 4] : 0.0;
  }
  double o[V / 8][4];
#pragma unroll
  for (int v = 0; v < V / 8; v++) o[v][0] = o[v][1] = o[v][2] = o[v][3] = 0.0;
  double mean0 = 0.0, mean1 = 0.0;

  fetch(0, shared);
  int phase = 0;
  for (int j0 = 0; j0 < m; j0 += TILE, phase ^= 1) {
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    if (j0 + TILE < m) fetch(j0 + TILE, shared + (phase ^ 1) * STAGE);
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
          const double* b = R + (j + 8 * p + g) * LDR + 8 * k + t;
          mma(c[p], a[k][0], a[k][1], a[k][2], a[k][3], b[0], b[4]);
        }
#pragma unroll
      for (int p = 0; p < PAIR; p++) {
#pragma unroll
        for (int e = 0; e < 4; e++) c[p][e] = expm1_of(c[p][e]);
        double q0 = w[j + 8 * p + 2 * t], q1 = w[j + 8 * p + 2 * t + 1];
        mean0 = fma(c[p][0], q0, fma(c[p][1], q1, mean0));
        mean1 = fma(c[p][2], q0, fma(c[p][3], q1, mean1));
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
  mean0 = 1.0 / (1.0 + mean0);
  mean1 = 1.0 / (1.0 + mean1);
#pragma unroll
  for (int v = 0; v < V / 8; v++) {
    double2* p = (double2*)(out + (long long)row * V + 8 * v + 2 * t);
    if (first) *p = make_double2(o[v][0] * mean0, o[v][1] * mean0);
    if (second) *(p + 4 * V) = make_double2(o[v][2] * mean1, o[v][3] * mean1);
  }
}
"""


@cache
def _largest_kernel() -> Any:
    import cupy as cp

    return cp.ReductionKernel("float64 x", "float64 y", "abs(x)", "max(a, b)", "y = a", "0", "largest_entry")


def largest(a: Array) -> Array:
    """The largest |entry| over the last two axes, kept as axes of length one."""
    return _largest_kernel()(a, axis=(a.ndim - 2, a.ndim - 1), keepdims=True)


def fits(left: Array, values: Array) -> bool:
    """Whether the kernel takes these widths on this device (compute capability 9 or newer has the instruction)."""
    if max(left.shape[-1], values.shape[-1]) > WIDEST:
        return False
    import cupy

    return int(cupy.cuda.Device().compute_capability) >= 90


def fused_deviation(left: Array, right: Array, q: Array, values: Array) -> Array:
    """The formula above for CuPy arrays: left (..., n, k), right (..., m, k), q (..., m, 1), values (..., m, v)."""
    import cupy as cp
    import numpy as np

    lead = cp.broadcast_shapes(*(a.shape[:-2] for a in (left, right, q, values)))
    n, m, v = left.shape[-2], right.shape[-2], values.shape[-1]
    K, V = _padded(left.shape[-1]), _padded(v)
    operands = [_contiguous(a, lead, width) for a, width in ((left, K), (right, K), (q * values, V), (q, 1))]
    out = cp.empty((*lead, n, V), dtype=cp.float64)
    kernel, memory = _kernel(K, V, cp.cuda.Device().id)
    row_blocks = -(-n // (16 * _WARPS))
    grid = (row_blocks * math.prod(lead),)
    sizes = (np.int32(n), np.int32(m), np.int32(row_blocks))
    kernel(grid, (32 * _WARPS,), (*operands, out, *sizes), shared_mem=memory)
    return out if v == V else out[..., :v]


def _padded(width: int) -> int:
    return -(-width // 8) * 8


def _contiguous(a: Array, lead: tuple[int, ...], width: int) -> Array:
    import cupy as cp

    if a.shape[-1] == width:
        return cp.ascontiguousarray(cp.broadcast_to(a, (*lead, *a.shape[-2:])))
    wide = cp.zeros((*lead, a.shape[-2], width), dtype=cp.float64)
    wide[..., : a.shape[-1]] = a
    return wide


@cache
def _kernel(K: int, V: int, device: int) -> tuple[Any, int]:
    """The compiled kernel for these widths on this device, and its shared memory in bytes."""
    import cupy as cp

    defines = {"K": K, "V": V, "WARPS": _WARPS, "TILE": _TILE, "PAIR": _PAIR}
    options = ("-std=c++17", *(f"-D{name}={value}" for name, value in defines.items()))
    kernel = cp.RawModule(code=_SOURCE, options=options).get_function("deviation")
    row = K + 4 if K % 16 == 0 else K + 12
    memory = 2 * 8 * _TILE * (row + V + 2 + 1)
    kernel.max_dynamic_shared_size_bytes = memory
    return kernel, memory
