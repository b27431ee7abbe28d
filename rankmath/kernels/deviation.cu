// Softmax averages relative to their center; `cuda.py` says how.

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
