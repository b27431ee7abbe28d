// The kernels of a layer; `cuda_layer.py` says what each makes, `cuda_kernels.py` which words they are told.

enum { LOW, LEFT, RIGHT, VALUES, OUT, TOTAL, PER_HEAD };  // words of a head
enum { SUM, RESIDUAL, CENTER };  // and totals of the layer
#define LANES ((K + 31) / 32)
#define SLICE (K > 64 ? 32 : K)  // columns of a row times a matrix that a block makes
#define CHUNK 16  // columns of both factors of a product that are loaded together
// Columns of packed rows. Strips of 64 rows lie in memory as 8 columns after 8 columns: one piece for every chunk.
#define WIDE ((K + CHUNK - 1) / CHUNK * CHUNK)

__device__ __forceinline__ double warp_sum(double v) {
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

__device__ __forceinline__ double* word(const Places& P, int h, int i) { return P.words + PER_HEAD * h + i; }
__device__ __forceinline__ double* whole(const Places& P, int i) { return P.totals + i; }
__device__ __forceinline__ double* told(Layer& L) { return (double*)&L + TOLD; }  // a record, then a state

__device__ __forceinline__ int which_network(const Places& plan) {
  // Every network of a batch has as many blocks x.
  return plan.networks == 1 ? 0 : blockIdx.x / (gridDim.x / (unsigned)plan.networks);
}

// Memory and layer of the network that this block is of, and the block's place there.
#define HERE                                    \
  const int network = which_network(plan);      \
  const Places P = of_network(plan, network);   \
  Layer& L = given[network];                    \
  int here = blockIdx.x - network * (gridDim.x / (unsigned)plan.networks);

__device__ __forceinline__ const double* of_head(const Places& P, const Layer& L, const double* weights, int h) {
  return weights + h * L.owners * P.d * P.d;  // heads come before networks
}

__device__ void row_times_matrix(const double* row, const double* W, int d, int c0, double* parts, double* out) {
  // out = row W for one row and SLICE columns from c0 on, by a whole block; `parts` has a number for every thread.
  const int width = min(d - c0, SLICE), many = THREADS / width;
  const int c = threadIdx.x % width, part = threadIdx.x / width;
  double s = 0.0;
  if (part < many)
#pragma unroll 16
    for (int i = part; i < d; i += many) s = fma(row[i], W[(long long)i * d + c0 + c], s);
  parts[threadIdx.x] = s;
  __syncthreads();
  if (part == 0) {
    for (int p = 1; p < many; p++) s += parts[p * width + c];
    out[c0 + c] = s;
  }
  __syncthreads();
}

__device__ bool last_of(double* count, long long blocks) {
  // Whether this is the last of so many blocks that come here; what all others wrote can then be read.
  __shared__ bool last;
  if (blocks == 1) return true;
  __syncthreads();
  if (threadIdx.x == 0) {  // one thread's fences stand for all, barriers before and after: those of all take longer
    __threadfence();
    last = atomicAdd((Bits*)count, 1ull) == blocks - 1;
    __threadfence();
  }
  __syncthreads();
  return last;
}

__device__ void make_pull(const Places& P, const Layer& L, int h, int c0, double* x, double* parts, double* g) {
  // Some columns of x W_QK, and of the key bias.
  for (int k = threadIdx.x; k < P.d; k += THREADS) x[k] = L.x[k];
  __syncthreads();
  row_times_matrix(x, of_head(P, L, L.query, h), P.d, c0, parts, g);
  const int k = c0 + threadIdx.x;
  if (L.key_bias && threadIdx.x < SLICE && k < P.d)
    g[k] = L.of_pull * g[k] + L.of_key * L.key_bias[h * L.owners * P.d + k];
  __syncthreads();
}

#if K > 64
extern "C" __global__ void __launch_bounds__(THREADS) pull(const Places plan, Layer* given) {
  __shared__ double x[K], parts[THREADS];
  HERE
  const int slices = (P.d + SLICE - 1) / SLICE, h = here / slices;
  make_pull(P, L, h, here % slices * SLICE, x, parts, P.g + h * P.d);
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS) scores(const Places plan, Layer* given) {
  __shared__ double x[K], g[K], parts[THREADS], tops[THREADS / 32], places[THREADS / 32];
  HERE
  const int n = P.n, d = P.d, h = here / P.blocks, b = here % P.blocks;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = THREADS / 32;
  const int per = (n + P.blocks - 1) / P.blocks, first = b * per, last = min(n, first + per);
  const double* R = L.R;
  double next[4][LANES], of[LANES];
  auto fetch = [&](int j) {  // four rows, on their way while others are looked at
#pragma unroll
    for (int r = 0; r < 4; r++, j += warps)
#pragma unroll
      for (int i = 0; i < LANES; i++) {
        const int k = lane + 32 * i;
        next[r][i] = j < last && k < d ? R[(long long)j * d + k] : 0.0;
      }
  };
  fetch(first + warp);
#if K > 64
  for (int k = threadIdx.x; k < d; k += THREADS) g[k] = P.g[h * d + k];
  __syncthreads();
#else
  make_pull(P, L, h, 0, x, parts, g);
  if (b == 0 && threadIdx.x < d) P.g[h * d + threadIdx.x] = g[threadIdx.x];
#endif
#pragma unroll
  for (int i = 0; i < LANES; i++) of[i] = lane + 32 * i < d ? g[lane + 32 * i] : 0.0;
  double top = -INFINITE, place = n;
  for (int j = first + warp; j < last; j += 4 * warps) {
    double s[4];
#pragma unroll
    for (int r = 0; r < 4; r++) {
      s[r] = 0.0;
#pragma unroll
      for (int i = 0; i < LANES; i++) s[r] = fma(next[r][i], of[i], s[r]);
    }
    fetch(j + 4 * warps);
#pragma unroll
    for (int r = 0; r < 4; r++) s[r] = warp_sum(s[r]);
#pragma unroll
    for (int r = 0; r < 4; r++)
      if (j + r * warps < last && s[r] > top) top = s[r], place = j + r * warps;
  }
  if (lane == 0) tops[warp] = top, places[warp] = place;
  __syncthreads();
  if (threadIdx.x) return;
  for (int w = 1; w < warps; w++)
    if (tops[w] > top || (tops[w] == top && places[w] < place)) top = tops[w], place = places[w];
  P.best[2 * here] = top;
  P.best[2 * here + 1] = place;
}

__device__ int pivot_of(const Places& P, int h) {
  // By one whole warp: the first of the largest.
  const double* best = P.best + 2 * h * P.blocks;
  double top = -INFINITE, place = P.n;
  for (int b = threadIdx.x & 31; b < P.blocks; b += 32)
    if (best[2 * b] > top) top = best[2 * b], place = best[2 * b + 1];
  for (int o = 16; o; o >>= 1) {
    const double other = __shfl_xor_sync(~0u, top, o), there = __shfl_xor_sync(~0u, place, o);
    if (other > top || (other == top && there < place)) top = other, place = there;
  }
  return place < P.n ? (int)place : 0;
}

extern "C" __global__ void __launch_bounds__(THREADS) relative(const Places plan, Layer* given) {
  __shared__ double parts[THREADS / 32][K + 1];
  HERE
  const int n = P.n, d = P.d, h = here / P.blocks, b = here % P.blocks;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = THREADS / 32;
  const int per = (n + P.blocks - 1) / P.blocks, first = b * per, last = min(n, first + per);
  const double *R = L.R, unit = L.unit;
  double sums[LANES], g[LANES], pivot[LANES], next[LANES], total = 0.0, low = 0.0, longest = 0.0;
  auto fetch = [&](int j) {  // a row, on its way while another is made
#pragma unroll
    for (int i = 0; i < LANES; i++) {
      const int k = lane + 32 * i;
      next[i] = j < last && k < d ? R[(long long)j * d + k] : 0.0;
    }
  };
  auto store = [&](int j, const double* v) {  // a row of D, or of it packed, zeros beyond its last column
    double* to = P.D + (K > 64 ? (h * P.stride + (j & ~63)) * WIDE + j % 64 * 8 : ((long long)h * n + j) * K);
#pragma unroll
    for (int i = 0; i < LANES; i++) {
      const int k = lane + 32 * i;
      if (k < (K > 64 ? WIDE : K)) to[K > 64 ? k / 8 * 512 + k % 8 : k] = v[i];
    }
  };
  fetch(first + warp);
#pragma unroll
  for (int i = 0; i < LANES; i++) sums[i] = 0.0, g[i] = lane + 32 * i < d ? P.g[h * d + lane + 32 * i] : 0.0;
  const int place = pivot_of(P, h);
#pragma unroll
  for (int i = 0; i < LANES; i++) {
    const int k = lane + 32 * i;
    pivot[i] = k < d ? R[(long long)place * d + k] : 0.0;
    if (b == 0 && warp == 0 && k < d) P.common[h * d + k] = P.pivots[h * d + k] = pivot[i];  // without the mean
  }
  for (int j = first + warp; j < last; j += warps) {
    double v[LANES], c = 0.0, square = 0.0;
#pragma unroll
    for (int i = 0; i < LANES; i++) v[i] = lane + 32 * i < d ? next[i] - pivot[i] : 0.0;
    fetch(j + warps);
    store(j, v);
#pragma unroll
    for (int i = 0; i < LANES; i++) c = fma(v[i], g[i], c), square = fma(v[i], v[i], square);
    c = unit * warp_sum(c);
    square = warp_sum(square);
    const double e = exp(c);
    if (lane == 0) P.e[h * P.stride + j] = e;
    total += e;
#pragma unroll
    for (int i = 0; i < LANES; i++) sums[i] = fma(e, v[i], sums[i]);
    low = larger(low, -c);
    longest = larger(longest, square);
  }
#pragma unroll
  for (int i = 0; i < LANES; i++) if (lane + 32 * i < K) parts[warp][lane + 32 * i] = sums[i];
  if (lane == 0) parts[warp][K] = total;
  raise(word(P, h, LOW), low);
  raise(word(P, h, RIGHT), longest);
  if (b == 0 && n + threadIdx.x < P.stride) P.e[h * P.stride + n + threadIdx.x] = 0.0;  // keys that there are not
#if K > 64
  const double zeros[LANES] = {};
  for (int j = n + warp; b == 0 && j < P.stride; j += warps) store(j, zeros);
#endif
  __syncthreads();
  for (int k = threadIdx.x; k <= K; k += THREADS) {
    double s = 0.0;
    for (int w = 0; w < warps; w++) s += parts[w][k];
    P.sums[(long long)here * (K + 1) + k] = s;
  }
  if (!last_of(P.counts + (long long)h * COUNTS, P.blocks)) return;
  __syncthreads();
  double* mean = parts[0];
  for (int k = threadIdx.x; k <= K; k += THREADS) {
    double s = 0.0;
    for (int b0 = 0; b0 < P.blocks; b0 += 8) {
      double of[8];
#pragma unroll
      for (int i = 0; i < 8; i++)
        of[i] = b0 + i < P.blocks ? P.sums[((long long)h * P.blocks + b0 + i) * (K + 1) + k] : 0.0;
#pragma unroll
      for (int i = 0; i < 8; i++) s += of[i];
    }
    mean[k] = s;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < K; k += THREADS) {
    const double m = mean[k] / mean[K];
    P.mean[(long long)h * (K + 1) + k] = m;
    if (k < d) P.common[h * d + k] += m;
  }
  if (threadIdx.x == 0) P.mean[(long long)h * (K + 1) + K] = *word(P, h, TOTAL) = mean[K];
}

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

template <bool EVEN, int WIDTH, int LENGTH>
__device__ __forceinline__ void copy_part(double* to, const Operand& M, int row, int column) {
  // A part of 64 * CHUNK entries, WIDTH in a row, to rows of this length.
  const int r = 2 * threadIdx.x / WIDTH, c = 2 * threadIdx.x % WIDTH, rows = 256 / WIDTH;
  const bool in0 = column + c < M.columns, in1 = column + c + 1 < M.columns;
  const double* from = M.at + (row + r) * M.step + column + c;
  to += r * LENGTH + c;
#pragma unroll
  for (int i = 0; i < 64 * CHUNK / 256; i++, to += rows * LENGTH, from += rows * M.step) {
    const bool in = row + r + i * rows < M.rows;
    if (EVEN) copy_row_part(to, from, in && in0);
    else copy_one(to, from, in && in0), copy_one(to + 1, from + 1, in && in1);
  }
}

template <bool ALONG>
__device__ __forceinline__ void fetch_part(double* to, const Operand& M, int k) {
  // CHUNK rows from k on (ALONG), or columns, of 64.
  if (ALONG && M.even) copy_part<true, 64, BY_COLUMNS>(to, M, k, 0);
  else if (ALONG) copy_part<false, 64, BY_COLUMNS>(to, M, k, 0);
  else if (M.even) copy_part<true, CHUNK, BY_CHUNK>(to, M, 0, k);
  else copy_part<false, CHUNK, BY_CHUNK>(to, M, 0, k);
}

// Of a tile of 64 rows and 64 columns a warp makes 32 x 32. A lane holds for i, e < 2 and j < 4, in c[i][j][2 e],
// the entry in this row and column, and in c[i][j][2 e + 1] the next one.
typedef double Tile[2][4][4];
__device__ __forceinline__ int row_in_tile(int i, int e) {
  return (threadIdx.x >> 6) * 32 + 16 * i + 8 * e + (threadIdx.x >> 2 & 7);
}
__device__ __forceinline__ int column_in_tile(int j) {
  return (threadIdx.x >> 5 & 1) * 32 + 8 * j + 2 * (threadIdx.x & 3);
}

template <bool DOWN, bool ACROSS, int ROWS>
__device__ __forceinline__ void tile(const Operand A, const Operand B, const double (*off)[K + 16], Tile& c) {
  // 64 rows and 64 columns of A B (ACROSS) or A B' by four warps, A' in the place of A where that stands (DOWN);
  // so many rows are first taken off the rows of A, one after the other.
  extern __shared__ __align__(128) double shared[];
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  const int of_A = DOWN ? CHUNK * BY_COLUMNS : 64 * BY_CHUNK;
  const int stage = of_A + (ACROSS ? CHUNK * BY_COLUMNS : 64 * BY_CHUNK), depth = DOWN ? A.rows : A.columns;
  const int r0 = row_in_tile(0, 0), c0 = column_in_tile(0) - 2 * t + g;
  auto fetch = [&](int k0, double* to) {
    fetch_part<DOWN>(to, A, k0);
    fetch_part<ACROSS>(to + of_A, B, k0);
    commit_copies();
  };
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) c[i][j][0] = c[i][j][1] = c[i][j][2] = c[i][j][3] = 0.0;
  fetch(0, shared);
  for (int k0 = 0, phase = 0; k0 < depth; k0 += CHUNK, phase ^= 1) {
    wait_for_copies();
    __syncthreads();
    if (k0 + CHUNK < depth) fetch(k0 + CHUNK, shared + (phase ^ 1) * stage);
    const double *left = shared + phase * stage, *right = left + of_A;
#pragma unroll
    for (int k = t; k < CHUNK + t; k += 8) {
      double a[2][4];
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int f = 0; f < 4; f++) {  // rows r and r + 8 at k, then at k + 4
          const int r = r0 + 16 * i + 8 * (f & 1), at = k + 4 * (f >> 1);
          a[i][f] = left[DOWN ? at * BY_COLUMNS + r : r * BY_CHUNK + at];
#pragma unroll
          for (int o = 0; o < ROWS; o++) a[i][f] -= off[o][k0 + at];
        }
#pragma unroll
      for (int j = 0; j < 4; j++) {
        const double* b = right + (ACROSS ? k * BY_COLUMNS + c0 + 8 * j : (c0 + 8 * j) * BY_CHUNK + k);
#pragma unroll
        for (int i = 0; i < 2; i++)
          mma(c[i][j], a[i][0], a[i][1], a[i][2], a[i][3], b[0], b[ACROSS ? 4 * BY_COLUMNS : 4]);
      }
    }
  }
}

// Where one kernel takes both products, and below rounding, weights are part of the values.
#define FOLDED (K <= 64)

extern "C" __global__ void __launch_bounds__(128, 4) project(const Places plan, Layer* given, long long first) {
  // 64 rows of a head and 64 columns a block; 0 makes left, 1 the values.
  __shared__ double off[FOLDED ? 1 : 2][K + 16];
  HERE
  const int n = P.n, d = P.d, h = here / P.row_blocks, start = here % P.row_blocks * 64, c0 = 64 * blockIdx.z;
  const bool values = first + blockIdx.y, weighted = FOLDED || L.way == THIN, packed = !weighted;
  const double* W = of_head(P, L, values ? L.value : L.query, h) + c0;
  const double *of_rows = P.e + h * P.stride + start, total = P.mean[(long long)h * (K + 1) + K];
  const double* rows = L.R + (long long)start * d;
  const Operand R = {rows, n - start, d, d, in_pairs(rows, d)}, B = {W, d, d - c0, d, in_pairs(W, d)};
  Tile c;
  if (values) {
    for (int k = threadIdx.x; k < K + 16; k += 128) {
      off[!FOLDED][k] = k < K ? P.mean[(long long)h * (K + 1) + k] : 0.0;
      if (!FOLDED) off[0][k] = k < d ? P.pivots[h * d + k] : 0.0;
    }
    const int j = start + threadIdx.x;
    if (FOLDED && threadIdx.x < 64 && j < n) P.q[(long long)h * n + j] = of_rows[threadIdx.x] / total;
#if K <= 64
    const double* D = P.D + ((long long)h * n + start) * K;
    tile<false, true, 1>({D, n - start, K, K, true}, B, off, c);
#else
    tile<false, true, 2>(R, B, off, c);
#endif
  } else tile<false, true, 0>(R, B, nullptr, c);
  double largest = 0.0, longest = 0.0;
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int e = 0; e < 2; e++) {
      const int r = row_in_tile(i, e);
      const bool inside = start + r < n;
      const double factor = !values ? L.scale : weighted && inside ? of_rows[r] / total : 1.0;
      double* out = (values ? P.values : P.left) + ((long long)h * n + start + r) * K + c0;
      double square = 0.0;
#pragma unroll
      for (int j = 0; j < 4; j++) {
        const double y0 = c[i][j][2 * e], y1 = c[i][j][2 * e + 1], z0 = y0 * factor, z1 = y1 * factor;
        if (c0 + column_in_tile(j) >= K || !inside) break;
        largest = larger(larger(largest, fabs(y0)), fabs(y1));
        square = fma(z0, z0, fma(z1, z1, square));
        if (values || !packed) *(double2*)(out + column_in_tile(j)) = make_double2(z0, z1);
      }
      for (int o = 1; o <= 2; o <<= 1) square += __shfl_xor_sync(~0u, square, o);
      longest = larger(longest, square);
    }
  if (!values && packed) {
    // As `mma` wants them: of 16 rows and 8 columns a lane has rows r and r + 8, first of even columns, then odd.
    double* to = P.left + (h * P.stride + start) * WIDE + 64 * c0 + 2 * (threadIdx.x & 31);
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int j = 0; j < 4; j++) {
        const int column = column_in_tile(j) & ~7, row = row_in_tile(i, 0) & ~15;
        if (c0 + column >= WIDE) break;
        double2* pair = (double2*)(to + 64 * column + 8 * row);
        pair[0] = make_double2(c[i][j][0] * L.scale, c[i][j][2] * L.scale);
        pair[32] = make_double2(c[i][j][1] * L.scale, c[i][j][3] * L.scale);
      }
  }
  // Rows wider than 32 are in several warps: a sum of their largest squares bounds the square of the longest.
  raise(word(P, h, values ? VALUES : LEFT), values ? largest : longest * ((K + 31) / 32));
}

extern "C" __global__ void __launch_bounds__(128) covariance(const Places plan, Layer* given) {
  // 64 x 64 entries of D' times weighted values, from a part of the rows; the last of the parts adds them up.
  HERE
  if (L.way != THIN) return;
  const int n = P.n, tiles = (K + 63) / 64, h = here / P.splits, split = here % P.splits;
  const int r0 = 64 * blockIdx.y, c0 = 64 * blockIdx.z;
  const int per = (n + P.splits - 1) / P.splits, start = min(n, split * per), rows = min(n - start, per);
  const long long at = (long long)h * n + start;
  Tile c;
#if K <= 64
  const Operand keys = {P.D + at * K + r0, rows, K - r0, K, true};
#else  // weighted values add up to nothing: R in the place of D, which is packed
  const double* R = L.R + (long long)start * P.d + r0;
  const Operand keys = {R, rows, (int)P.d - r0, P.d, in_pairs(R, P.d)};
#endif
  tile<true, true, 0>(keys, {P.values + at * K + c0, rows, K - c0, K, true}, nullptr, c);
  double* part = P.thin + ((long long)h * P.splits + split) * K * K;
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int e = 0; e < 2; e++) {
        const int r = r0 + row_in_tile(i, e), column = c0 + column_in_tile(j);
        double2* p = (double2*)(part + (long long)r * K + column);
        if (r < K && column < K) *p = make_double2(c[i][j][2 * e], c[i][j][2 * e + 1]);
      }
  double* count = P.counts + (long long)h * COUNTS + 1 + blockIdx.y * tiles + blockIdx.z;
  if (P.splits == 1 || !last_of(count, P.splits)) return;
  double* all = P.thin + (long long)h * P.splits * K * K;
  const int column = c0 + threadIdx.x % 64;
  for (int r = r0 + threadIdx.x / 64; r < min(K, r0 + 64) && column < K; r += 16) {
    double s[8] = {0.0};  // eight rows on their way together
    for (int p = 0; p < P.splits; p++)
#pragma unroll
      for (int i = 0; i < 8; i++) s[i] += r + 2 * i < K ? all[((long long)p * K + r + 2 * i) * K + column] : 0.0;
#pragma unroll
    for (int i = 0; i < 8; i++) if (r + 2 * i < K) all[(long long)(r + 2 * i) * K + column] = s[i];
  }
}

extern "C" __global__ void __launch_bounds__(128, 4) thin(const Places plan, Layer* given) {
  HERE
  if (L.way != THIN) return;
  const int n = P.n, h = here / P.row_blocks, row = 64 * (here % P.row_blocks), c0 = 64 * blockIdx.y;
  const long long at = ((long long)h * n + row) * K;
  Tile c;
  tile<false, true, 0>({P.left + at, n - row, K, K, true},
                          {P.thin + (long long)h * P.splits * K * K + c0, K, K - c0, K, true}, nullptr, c);
  double largest = 0.0;
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int e = 0; e < 2; e++)
#pragma unroll
      for (int j = 0; j < 4; j++) {
        const int r = row_in_tile(i, e), column = c0 + column_in_tile(j);
        if (column >= K || row + r >= n) break;
        const double y0 = c[i][j][2 * e], y1 = c[i][j][2 * e + 1];
        largest = larger(larger(largest, fabs(y0)), fabs(y1));
        *(double2*)(P.out + at + r * K + column) = make_double2(y0, y1);
      }
  raise(word(P, h, OUT), largest);
}

#if K > 64
extern "C" __global__ void __launch_bounds__(128, 4) lifted(const Places plan, Layer* given, long long start) {
  // m_ij e_j for rows from `start` on, 64 of them and 64 keys a block, and their sums over these. Keys and rows
  // beyond the last have memory.
  extern __shared__ __align__(128) double shared[];
  const int STAGES = 3;  // chunks that are on their way or in use
  __shared__ Bits gates[STAGES];
  __shared__ double halves[2][64];
  HERE
  if (L.way != FUSED) return;
  const int h = blockIdx.z, row = start + 64 * blockIdx.y, j0 = 64 * here, lane = threadIdx.x & 31;
  const int r0 = row_in_tile(0, 0), c0 = column_in_tile(0), part = 64 * CHUNK;
  const double *left = P.left + (h * P.stride + row) * WIDE, *keys = P.D + (h * P.stride + j0) * WIDE;
  auto fetch = [&](int chunk, int stage) {
    if (threadIdx.x || chunk >= WIDE / CHUNK) return;
    double* to = shared + stage * 2 * part;
    expect_bytes(gates + stage, 2 * 8 * part);
    copy_chunk(to, left + chunk * part, 8 * part, gates + stage);
    copy_chunk(to + part, keys + chunk * part, 8 * part, gates + stage);
  };
  if (threadIdx.x == 0) make_gates(gates, STAGES);
  __syncthreads();
#pragma unroll
  for (int s = 0; s < STAGES - 1; s++) fetch(s, s);
  const double *at = shared + (r0 & 32) * 8 + 2 * lane, *of = shared + part + (c0 & 32) * 8 + 2 * lane;
  Tile c;
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) c[i][j][0] = c[i][j][1] = c[i][j][2] = c[i][j][3] = 0.0;
  for (int chunk = 0, stage = 0, phase = 0; chunk < WIDE / CHUNK; chunk++) {
    wait_at(gates + stage, phase);
    __syncthreads();  // nobody reads the chunk before any more
    fetch(chunk + STAGES - 1, (stage + STAGES - 1) % STAGES);
#pragma unroll
    for (int k = 0; k < CHUNK; k += 8) {
      double2 a[4], b[4];
#pragma unroll
      for (int i = 0; i < 4; i++) a[i] = *(const double2*)(at + stage * 2 * part + 64 * (k + i));
#pragma unroll
      for (int i = 0; i < 4; i++) b[i] = *(const double2*)(of + stage * 2 * part + 64 * (k + i));
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          mma(c[i][j], a[2 * i].x, a[2 * i].y, a[2 * i + 1].x, a[2 * i + 1].y, b[j].x, b[j].y);
    }
    if (++stage == STAGES) stage = 0, phase ^= 1;
  }
  const Powers powers = powers_of_two();
  const double* of_keys = P.e + h * P.stride + j0;
  double *to = P.lifted + (h * P.wide_rows + row - start) * P.stride + j0, sums[2][2] = {};
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const double2 e_of = *(const double2*)(of_keys + column_in_tile(j));
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int e = 0; e < 2; e++) {
        const double2 y = make_double2(expm1_of(c[i][j][2 * e], powers) * e_of.x,
                                       expm1_of(c[i][j][2 * e + 1], powers) * e_of.y);
        sums[i][e] += y.x + y.y;
        *(double2*)(to + row_in_tile(i, e) * P.stride + column_in_tile(j)) = y;
      }
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int e = 0; e < 2; e++) {
      for (int o = 1; o <= 2; o <<= 1) sums[i][e] += __shfl_xor_sync(~0u, sums[i][e], o);
      if ((lane & 3) == 0) halves[threadIdx.x >> 5 & 1][row_in_tile(i, e)] = sums[i][e];
    }
  __syncthreads();
  const int r = threadIdx.x;
  if (r < 64)
    P.row_sums[(h * P.row_blocks + here) * P.wide_rows + row - start + r] = halves[0][r] + halves[1][r];
}

#define STAGES 4  // chunks of keys that are on their way or in use

template <int EIGHTS>
__device__ __forceinline__ void average_tile(const double* A, long long step, int rows, const double* B,
                                             int columns, int keys, double (&c)[2][EIGHTS][4]) {
  // 16 EIGHTS rows and 64 columns of A B for many keys, by four warps. Columns of B are the rows of `mma`: what
  // lies side by side in A and in B is loaded at once to registers side by side. Eight keys are loaded while those
  // before are multiplied. Halves of odd rows of A change places, rows of B are two entries longer: no bank
  // conflicts. A lane holds, in c[i][j][e] and c[i][j][2 + e], two columns of a row.
  extern __shared__ __align__(128) double shared[];
  const int of_A = 16 * EIGHTS * CHUNK, STAGE = of_A + CHUNK * (64 + 2);
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3, odd = 8 * (g & 1);
  const double* at_A = shared + ((threadIdx.x >> 6) * 8 * EIGHTS + g) * CHUNK + 2 * t + odd;
  const double* at_B = shared + of_A + 2 * t * 66 + (threadIdx.x >> 5 & 1) * 32 + 2 * g;
  const int ra = threadIdx.x / 8, ca = 2 * (threadIdx.x % 8), rb = threadIdx.x / 32, cb = 2 * lane;
  int to_A = ra * CHUNK + (ca ^ 8 * (ra & 1)), to_B = of_A + rb * 66 + cb;
  unsigned line[EIGHTS];  // rows beyond the last repeat it, and are nobody's
#pragma unroll
  for (int i = 0; i < EIGHTS; i++) line[i] = min(ra + 16 * i, rows - 1) * (int)step + ca, keep(line[i]);
  B += rb * K + cb;
  double a[2][2][4], b[2][EIGHTS][2];
  auto fetch = [&](int k0, int stage) {
    double *here = shared + stage * STAGE + to_A, *there = shared + stage * STAGE + to_B;
    const bool whole = k0 + CHUNK <= keys;
    if (k0 < keys) {
#pragma unroll
      for (int i = 0; i < EIGHTS; i++) copy_row_part(here + 16 * i * CHUNK, A + line[i], whole || k0 + ca < keys);
#pragma unroll
      for (int i = 0; i < 4; i++)
        copy_row_part(there + 4 * i * 66, B + 4 * i * K, cb < columns && (whole || k0 + rb + 4 * i < keys));
    }
    A += CHUNK, B += CHUNK * K;
    keep(A), keep(B);  // fewer instructions than to find them again
    commit_copies();
  };
  auto load = [&](int stage, int s) {
    const double *p = at_A + stage * STAGE + s * (8 - 2 * odd), *q = at_B + stage * STAGE + 8 * s * 66;
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const double2 u = *(const double2*)(q + 16 * i), v = *(const double2*)(q + 66 + 16 * i);
      a[s][i][0] = u.x, a[s][i][1] = u.y, a[s][i][2] = v.x, a[s][i][3] = v.y;
    }
#pragma unroll
    for (int j = 0; j < EIGHTS; j++) {
      const double2 u = *(const double2*)(p + 8 * j * CHUNK);
      b[s][j][0] = u.x, b[s][j][1] = u.y;
    }
  };
  auto multiply = [&](int s) {
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int j = 0; j < EIGHTS; j++)
        mma(c[i][j], a[s][i][0], a[s][i][1], a[s][i][2], a[s][i][3], b[s][j][0], b[s][j][1]);
  };
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < EIGHTS; j++) c[i][j][0] = c[i][j][1] = c[i][j][2] = c[i][j][3] = 0.0;
#pragma unroll
  for (int s = 0; s < STAGES - 1; s++) fetch(s * CHUNK, s);
  wait_for_copies<STAGES - 2>();
  __syncthreads();
  load(0, 0);
  for (int k0 = 0; k0 < keys;)
#pragma unroll
    for (int stage = 0; stage < STAGES; stage++, k0 += CHUNK) {
      if (k0 >= keys) break;
      load(stage, 1);
      fetch(k0 + (STAGES - 1) * CHUNK, (stage + STAGES - 1) % STAGES);
      multiply(0);
      wait_for_copies<STAGES - 2>();
      __syncthreads();
      load((stage + 1) % STAGES, 0);  // after the last chunk: never used
      multiply(1);
    }
}

template <int EIGHTS>
__device__ __forceinline__ void average_of_rows(const Places plan, Layer* given, long long start) {
  // The averages of these rows, 64 columns a block, or their bare sums over a part of the keys.
  __shared__ double of_rows[16 * EIGHTS];
  HERE
  if (L.way != FUSED) return;
  const int n = P.n, heads = P.heads, h = blockIdx.z % heads, part = blockIdx.z / heads, c0 = 64 * here;
  const int row = start + 16 * EIGHTS * blockIdx.y;
  const int rows = min(min((long long)n, start + P.wide_rows) - row, 16ll * EIGHTS);
  const int blocks = P.row_blocks, per = (blocks + P.key_parts - 1) / P.key_parts;  // of keys as of rows
  const int first = min(n, 64 * part * per), keys = min(n - first, 64 * per);
  const bool whole = P.key_parts == 1;
  double c[2][EIGHTS][4];
  average_tile<EIGHTS>(P.lifted + (h * P.wide_rows + row - start) * P.stride + first, P.stride, rows,
               P.values + ((long long)h * n + first) * K + c0, K - c0, keys, c);
  const long long at = (long long)h * n + row, apart = part * (P.networks * heads * n);
  if (threadIdx.x < rows) {
    const double* sums = P.row_sums + h * blocks * P.wide_rows + row - start + threadIdx.x;
    double sum = 0.0;
#pragma unroll 8
    for (int b = part * per; b < min(blocks, (part + 1) * per); b++) sum += sums[b * P.wide_rows];
    if (!whole && c0 == 0) P.means[apart + at + threadIdx.x] = sum;
    of_rows[threadIdx.x] = whole ? 1.0 / (P.mean[(long long)h * (K + 1) + K] + sum) : 1.0;
  }
  __syncthreads();
  double largest = 0.0, *to = (whole ? P.out : P.partial + apart * K) + at * K + c0;
#pragma unroll
  for (int j = 0; j < EIGHTS; j++)
#pragma unroll
    for (int e = 0; e < 2; e++) {
      const int r = (threadIdx.x >> 6) * 8 * EIGHTS + 8 * j + 2 * (threadIdx.x & 3) + e;
      if (r >= rows) continue;
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const int column = (threadIdx.x >> 5 & 1) * 32 + 16 * i + 2 * (threadIdx.x >> 2 & 7);
        const double y0 = c[i][j][e] * of_rows[r], y1 = c[i][j][2 + e] * of_rows[r];
        if (c0 + column >= K) continue;
        largest = larger(larger(largest, fabs(y0)), fabs(y1));
        *(double2*)(to + (long long)r * K + column) = make_double2(y0, y1);
      }
    }
  if (whole) raise(word(P, h, OUT), largest);
}

// 64 rows a block, or 128, which reads less and wants more blocks.
extern "C" __global__ void __launch_bounds__(128, 3) average(const Places plan, Layer* given, long long start) {
  average_of_rows<4>(plan, given, start);
}
extern "C" __global__ void __launch_bounds__(128, 2)
average_long(const Places plan, Layer* given, long long start) {
  average_of_rows<8>(plan, given, start);
}
#endif

__device__ void moved(double& mantissa, double& exponent, double factor, double term) {
  // LogScale.moved: factor times mantissa 2^exponent, plus term.
  mantissa *= factor;
  if (fabs(mantissa) > 0x1p1000 && fabs(mantissa) < INFINITE) {
    mantissa *= 0x1p-512;
    exponent += 512.0;
  }
  mantissa += exponent == 0.0 ? term : term * exp2(-fmin(exponent, 1000.0));
}

__device__ double single(double mantissa, double exponent) {
  return exponent == 0.0 ? mantissa : copysign(INFINITE, mantissa);
}

__device__ void conclude(Layer& L, const double* found) {
  // Units of what the layer made, and whether it may stand. By one warp: each lane takes one of the logarithms.
  const double center = found[0], residual = found[1], total = found[2], parts = found[3], values = found[4];
  const double low = found[5], logit = found[6], least = found[7];
  const bool uneven = low >= -L.uneven_log, thin = L.way == THIN;
  const double made = L.of_out * fmax(parts, uneven ? values : 0.0);
  const double of[] = {center, residual, fmax(fmax(total, made), fabs(L.lambda)), least};
  double mine = of[0];
#pragma unroll
  for (int i = 1; i < 4; i++) if (threadIdx.x == i) mine = of[i];
  mine = log(mine);
  const double log_center = __shfl_sync(~0u, mine, 0), log_residual = __shfl_sync(~0u, mine, 1);
  const double log_largest = __shfl_sync(~0u, mine, 2), log_least = __shfl_sync(~0u, mine, 3);
  const bool in_range = center > L.suspicious && center < INFINITE && residual > 0.0 && residual < INFINITE;
  const bool moderate = low <= L.safe_log && (thin || logit <= L.safe_log);
  if (threadIdx.x) return;
  if (!in_range || !moderate || (uneven && (thin || log_least < -L.small_loss))) L.way = STOPPED;
  if (L.way == STOPPED) return;
  moved(L.mantissa, L.exponent, 1.0, log_residual);
  double *state = told(L) + RECORD, *log_row = L.log + LOG_ROW * ++L.layer;
  state[0] = L.log_center + log_center;
  state[1] = L.mantissa, state[2] = L.exponent;
  state[3] = fmax(state[3], (log_largest - log_residual) * 1.4426950408889634);  // in bits
  for (int i = 0; i < STATE; i++) log_row[i] = state[i];
}

__device__ void begin(Layer& L, const double* found) {
  // Units of tokens that were centred, if they are of ordinary size: ξ is nan otherwise.
  const double center = found[0], residual = found[1], total = found[2];
  const bool ordinary = center > 1e-60 && center < 1e60 && residual > 1e-60 && residual < 1e60;
  if (!ordinary) L.way = STOPPED;
  double* state = told(L) + RECORD;
  state[0] = ordinary ? log(center) : INFINITE - INFINITE;
  state[1] = log(residual), state[2] = 0.0;
  state[3] = fmax(0.0, log2(total) - log2(residual));
  for (int i = 0; i < STATE; i++) L.log[i] = state[i];
}

template <int WARPS_HERE>
__device__ void raise_once(double* word, double v) {
  // `raise` by a whole block, one atomic for all its warps: thousands of them at one address take microseconds.
  __shared__ Bits parts[WARPS_HERE];
  Bits b = bits_of(fabs(v));
  for (int o = 16; o; o >>= 1) b = max(b, __shfl_xor_sync(~0u, b, o));
  if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = b;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  b = parts[threadIdx.x % WARPS_HERE];
  for (int o = WARPS_HERE / 2; o; o >>= 1) b = max(b, __shfl_xor_sync(~0u, b, o));
  if (threadIdx.x == 0) atomicMax((Bits*)word, b);
}

#define ABREAST (16 / LANES)  // heads whose entries are on their way together
#define PARTS (LANES > 4 ? 2 : 4)  // and parts of the keys

extern "C" __global__ void __launch_bounds__(THREADS, K > 64 ? 2 : 3) collect(const Places plan, Layer* given) {
  __shared__ double parts[THREADS / 32][K], row[K], numbers[THREADS];
  HERE
  const int n = P.n, d = P.d, lane = threadIdx.x & 31, warp = threadIdx.x >> 5, groups = P.groups;
  const bool centre = L.way == CENTRE, parted = L.way == FUSED && P.key_parts > 1;
  if (here >= groups) {  // some columns of a head's image of what its rows have in common
    if (centre) return;
    const int slices = (d + SLICE - 1) / SLICE, h = (here - groups) / slices, c0 = (here - groups) % slices * SLICE;
    for (int k = threadIdx.x; k < d; k += THREADS) row[k] = L.of_x * L.x[k] + L.of_common * P.common[h * d + k];
    __syncthreads();
    row_times_matrix(row, of_head(P, L, L.value, h), d, c0, numbers, P.image + h * d);
    return;
  }
  const int per = (n + groups - 1) / groups, first = here * per, last = min(n, first + per);
  const int warps = THREADS / 32, split = max(1, warps / per);  // so many warps share the heads of a row
  double v[LANES], sums[LANES], largest = 0.0;
#pragma unroll
  for (int i = 0; i < LANES; i++) sums[i] = 0.0;
  auto add_parts = [&](int j, int h) {  // a head's average from its sums over parts of the keys
    const long long step = P.networks * P.heads * n, at = (long long)h * n + j;
    double sum[LANES], mean = FOLDED ? 1.0 : *word(P, h, TOTAL), most = 0.0;
#pragma unroll
    for (int i = 0; i < LANES; i++) sum[i] = 0.0;
    for (int p0 = 0; p0 < P.key_parts; p0 += PARTS) {
      double next[PARTS][LANES], of[PARTS];
#pragma unroll
      for (int a = 0; a < PARTS; a++) {
        const int p = p0 + a;
        of[a] = p < P.key_parts ? P.means[p * step + at] : 0.0;
#pragma unroll
        for (int i = 0; i < LANES; i++) {
          const int k = lane + 32 * i;
          next[a][i] = p < P.key_parts && k < d ? P.partial[(p * step + at) * K + k] : 0.0;
        }
      }
#pragma unroll
      for (int a = 0; a < PARTS; a++) {
        mean += of[a];
#pragma unroll
        for (int i = 0; i < LANES; i++) sum[i] += next[a][i];
      }
    }
#pragma unroll
    for (int i = 0; i < LANES; i++) v[i] += sum[i] / mean, most = larger(most, fabs(sum[i] / mean));
    raise(word(P, h, OUT), most);
  };
  auto add_heads = [&](int j, int share) {
#pragma unroll
    for (int i = 0; i < LANES; i++) v[i] = 0.0;
    if (parted) {
      for (int h = share; h < P.heads; h += split) add_parts(j, h);
      return;
    }
    for (int h0 = share; h0 < (centre ? 0 : P.heads); h0 += ABREAST * split) {
      double next[ABREAST][LANES];
#pragma unroll
      for (int a = 0; a < ABREAST; a++)
#pragma unroll
        for (int i = 0; i < LANES; i++) {
          const int h = h0 + a * split, k = lane + 32 * i;
          next[a][i] = h < P.heads && k < d ? P.out[((long long)h * n + j) * K + k] : 0.0;
        }
#pragma unroll
      for (int a = 0; a < ABREAST; a++)
#pragma unroll
        for (int i = 0; i < LANES; i++) v[i] += next[a][i];
    }
  };
  auto finish = [&](int j) {
#pragma unroll
    for (int i = 0; i < LANES; i++) {
      const long long k = (long long)j * d + lane + 32 * i;
      if (lane + 32 * i >= d) break;
      v[i] = centre ? L.R[k] - L.x[lane + 32 * i] : v[i] * L.of_out;
      if (!centre && L.lambda != 0.0) v[i] = fma(L.lambda, L.R[k], v[i]);
      L.residual[k] = v[i];
      sums[i] += v[i];
      largest = larger(largest, fabs(v[i]));
    }
  };
  if (split == 1)
    for (int j = first + warp; j < last; j += warps) add_heads(j, 0), finish(j);
  else {
    const int j = first + warp / split;
    if (j < last) add_heads(j, warp % split);
#pragma unroll
    for (int i = 0; i < LANES; i++) if (lane + 32 * i < K) parts[warp][lane + 32 * i] = v[i];
    __syncthreads();
    if (j < last && warp % split == 0) {
#pragma unroll
      for (int i = 0; i < LANES; i++)
        for (int w = 1; w < split; w++) if (lane + 32 * i < K) v[i] += parts[warp + w][lane + 32 * i];
      finish(j);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < LANES; i++) if (lane + 32 * i < K) parts[warp][lane + 32 * i] = sums[i];
  raise_once<THREADS / 32>(whole(P, SUM), largest);
  for (int k = threadIdx.x; k < d; k += THREADS) {
    double s = 0.0;
    for (int w = 0; w < warps; w++) s += parts[w][k];
    P.columns[(long long)here * d + k] = s;
  }
}

__device__ double of_column(double v, double* parts, int width, int many) {
  // The sum over the threads x, x + width, x + 2 width, .. of a block, `many` of them, for thread x < width.
  parts[threadIdx.x] = v;
  __syncthreads();
  if (threadIdx.x < width)
#pragma unroll 5
    for (int p = 1; p < many; p++) v += parts[p * width + threadIdx.x];
  __syncthreads();
  return v;
}

extern "C" __global__ void __launch_bounds__(MANY) recentre(const Places plan, Layer* given) {
  // Some rows, and 64 columns: all sums of a column are needed for each. The first of the blocks makes the center.
  __shared__ double shift[64], parts[MANY];
  HERE
  const int n = P.n, d = P.d, slices = (d + 63) / 64, c0 = here % slices * 64, width = min(64, d - c0);
  const int many = min(MANY / width, 16), part = threadIdx.x / width, k = c0 + threadIdx.x % width;
  here /= slices;
  const int blocks = gridDim.x / P.networks / slices - 1, per = (n + blocks - 1) / blocks;
  const int first = (here - 1) * per + part, last = part < many ? min(n, here * per) : 0;
  double s = 0.0, v = 0.0, y[4], largest = 0.0;
  auto fetch = [&](int j) {
#pragma unroll
    for (int r = 0; r < 4; r++) y[r] = j + r * many < last ? L.residual[(long long)(j + r * many) * d + k] : 0.0;
  };
  if (here) fetch(first);
  if (part < many)
#pragma unroll 16
    for (int b = part; b < P.groups; b += many) s += P.columns[(long long)b * d + k];
  if (here == 0 && part < many && L.way != CENTRE)
#pragma unroll 16
    for (int h = part; h < P.heads; h += many) v += P.image[h * d + k];
  s = of_column(s, parts, width, many) / n;
  if (here) {
    if (part == 0) shift[k - c0] = s;
    __syncthreads();
    for (int j = first; j < last; fetch(j += 4 * many))
#pragma unroll
      for (int r = 0; r < 4; r++) {
        if (j + r * many >= last) break;
        y[r] -= shift[k - c0];
        L.residual[(long long)(j + r * many) * d + k] = y[r];
        largest = larger(largest, fabs(y[r]));
      }
    raise_once<MANY / 32>(whole(P, RESIDUAL), largest);
    return;
  }
  v = of_column(v, parts, width, many);
  if (part == 0) {
    if (L.way == CENTRE) v = L.x[k] + s;
    else {
      v = fma(L.of_shift, s, v);
      if (L.lambda != 0.0) v = fma(L.of_skip, L.x[k], v);
      if (L.bias) v = fma(L.of_bias, L.bias[k], v);
    }
    L.center[k] = v;
    largest = fabs(v);
  }
  raise_once<MANY / 32>(whole(P, CENTER), largest);
}

__device__ void tell(Layer& L, const long long* home) {
  // What the host has written there, by one warp, all of it on its way at once.
  long long words[(WORDS + 31) / 32];
#pragma unroll
  for (int i = 0; i < (WORDS + 31) / 32; i++)
    if (32 * i + threadIdx.x < WORDS) words[i] = home[WORDS * blockIdx.x + 32 * i + threadIdx.x];
#pragma unroll
  for (int i = 0; i < (WORDS + 31) / 32; i++)
    if (32 * i + threadIdx.x < WORDS) ((long long*)&L)[32 * i + threadIdx.x] = words[i];
  __syncwarp();
}

extern "C" __global__ void clear(const Places plan, Layer* given, long long home) {
  const Places P = of_network(plan, blockIdx.x);
  Layer& L = given[blockIdx.x];
  if (home) tell(L, (const long long*)home);
  if (threadIdx.x < 3) *whole(P, threadIdx.x) = 0.0;
}

extern "C" __global__ void units(const Places plan, Layer* given, long long home) {
  // The next layer's weights and tokens, and all factors: in which unit each of its parts is made.
  // One warp: each lane makes one of the factors. What others only raise or count starts at zero.
  __shared__ double record[RECORD];
  const Places P = of_network(plan, blockIdx.x);
  Layer& L = given[blockIdx.x];
  if (home) tell(L, (const long long*)home);
  const long long way = L.way, l = L.layer, odd = l & 1, d = P.d;
  const long long row = P.networks * d, all = P.n * row;  // of one of the two places that layers write to in turn
  const double* source = home ? told(L) : L.records + RECORD * l;
  if (threadIdx.x < RECORD) record[threadIdx.x] = source[threadIdx.x];
  double *const words = P.words, *const counts = P.counts, *const totals = P.totals;
  const int heads = P.heads;
  const double log_zero = L.log_zero, safe_log = L.safe_log, linear_log = L.linear_log;
  double *const centers = L.centers, *const residuals = L.residuals, *first_x = L.first_x, *first_R = L.first_R;
  const double *numbers = record + 4, *state = told(L) + RECORD;
  double xi = state[0], mantissa = state[1], exponent = state[2];
  __syncwarp();
  double* const* weights = (double* const*)record;
  double *query = weights[0], *value = weights[1], *key_bias = weights[2], *bias = weights[3];
  const double largest_query = numbers[0], root = numbers[1], lambda = numbers[2];
  const double sigma = fmax(single(mantissa, exponent), log_zero);
  const double pull = key_bias ? fmax(xi, 0.0) : xi;  // unit of x W_QK + k
  const double log_E = 2.0 * sigma - root, log_unit = sigma + pull - root;
  // |R W_QK| <= d max|W_QK| and |D| <= 2: where this is below rounding, so is E.
  const bool thin = log_E + log(fmax(2.0 * d * d * largest_query, 1e-300)) <= linear_log;
  const double falling = fmin(2.0 * sigma, 0.0), rising = fmax(2.0 * sigma, 0.0);
  const double log_out = thin ? rising - root : -falling;
  if (lambda == 0.0) moved(mantissa, exponent, sigma < 0.0 ? 3.0 : 1.0, log_out);
  const double log_shift = fmax(single(mantissa, exponent), log_zero);
  const double unit = fmax(fmax(xi, sigma), fmax(log_shift, bias ? 0.0 : log_zero));
  __syncwarp();  // all is read by now
  const double of[] = {log_unit, xi - pull, -fmax(pull, 0.0), thin ? 0.0 : log_E, xi - unit, sigma - unit,
                       lambda == 0.0 ? 0.0 : log_out + falling, 0.0, xi - unit, -unit, log_shift - unit};
  double exponent_of = 0.0;  // the order is that of the factors in a Layer, from `unit` on
#pragma unroll
  for (int i = 0; i < 11; i++) if (threadIdx.x == i) exponent_of = of[i];
  const double factor = exp(exponent_of) * (threadIdx.x == 7 || threadIdx.x == 8 ? lambda : 1.0);
  if (threadIdx.x < 11) (&L.unit)[threadIdx.x] = factor;
  for (int i = threadIdx.x; i < PER_HEAD * heads; i += 32) words[i] = 0.0;
  for (int i = threadIdx.x; i < COUNTS * heads; i += 32) counts[i] = 0.0;
  if (threadIdx.x < 3) totals[threadIdx.x] = 0.0;
  if (threadIdx.x) return;
  L.way = way != STOPPED && fmax(log_E, log_unit) <= safe_log ? (thin ? THIN : FUSED) : STOPPED;
  L.x = l ? centers + !odd * row : first_x, L.R = l ? residuals + !odd * all : first_R;
  L.center = centers + odd * row, L.residual = residuals + odd * all;
  L.query = query, L.value = value, L.key_bias = key_bias, L.bias = bias;
  L.mantissa = mantissa, L.exponent = exponent, L.log_center = unit;
}

extern "C" __global__ void __launch_bounds__(THREADS) normalise(const Places plan, Layer* given) {
  HERE
  const long long size = (long long)P.n * P.d, step = (gridDim.x / P.networks - 1) * THREADS;
  double largest = *whole(P, RESIDUAL), y[4];
  if (largest == 0.0) largest = 1.0;
  for (long long i = (here - 1ll) * THREADS + threadIdx.x; here && i < size; i += 4 * step) {
#pragma unroll
    for (int k = 0; k < 4; k++) y[k] = i + k * step < size ? L.residual[i + k * step] : 0.0;
#pragma unroll
    for (int k = 0; k < 4; k++) if (i + k * step < size) L.residual[i + k * step] = y[k] / largest;
  }
  if (here) return;
  largest = *whole(P, CENTER);
  if (largest == 0.0) largest = 1.0;
  for (int k = threadIdx.x; k < P.d; k += THREADS) L.center[k] /= largest;
  if (threadIdx.x >= 32) return;
  const bool centre = L.way == CENTRE;  // by all, before one of them changes it
  double out = 0.0, values = 0.0, low = 0.0, logit = 0.0, least = INFINITE;
  for (int h = threadIdx.x; h < P.heads; h += 32) {
    const double v = *word(P, h, VALUES), o = *word(P, h, OUT);
    out = fmax(out, o);
    values = fmax(values, v);
    low = fmax(low, *word(P, h, LOW) + log(*word(P, h, TOTAL)));
    logit = fmax(logit, sqrt(*word(P, h, LEFT)) * sqrt(*word(P, h, RIGHT)));
    if (v > 0.0) least = fmin(least, o / v);
  }
  for (int o = 16; o; o >>= 1) {
    out = fmax(out, __shfl_xor_sync(~0u, out, o));
    values = fmax(values, __shfl_xor_sync(~0u, values, o));
    low = fmax(low, __shfl_xor_sync(~0u, low, o));
    logit = fmax(logit, __shfl_xor_sync(~0u, logit, o));
    least = fmin(least, __shfl_xor_sync(~0u, least, o));
  }
  const double found[] = {*whole(P, CENTER), *whole(P, RESIDUAL), *whole(P, SUM), out, values, low, logit, least};
  if (!centre) conclude(L, found);
  else if (threadIdx.x == 0) begin(L, found);
  if (threadIdx.x) return;
  for (int i = 0; i < 8; i++) P.report[i] = found[i];
  P.report[8] = L.layer;
}

extern "C" __global__ void __launch_bounds__(THREADS) squares(const Places plan, Layer* given, long long before) {
  // Squares of the rows, their sums by blocks, and that of the center: of tokens before a layer, or of new ones.
  __shared__ double sums[THREADS / 32];
  HERE
  const int n = P.n, d = P.d;
  const double *R = before ? L.R : L.residual, *x = before ? L.x : L.center;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = THREADS / 32;
  if (here == 0 && threadIdx.x == 0) *P.far = 0.0;
  double sum = 0.0;
  for (int j = here * warps + warp; j < n; j += P.groups * warps) {
    double s = 0.0;
    for (int k = lane; k < d; k += 32) s = fma(R[(long long)j * d + k], R[(long long)j * d + k], s);
    s = warp_sum(s);
    if (lane == 0) P.squares[j] = s;
    sum += s;
  }
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (warp) return;
  if (lane == 0) {
    for (int w = 1; w < warps; w++) sum += sums[w];
    P.parts[1 + here] = sum;
  }
  if (here) return;
  sum = 0.0;
  for (int k = lane; k < d; k += 32) sum = fma(x[k], x[k], sum);
  sum = warp_sum(sum);
  if (lane == 0) P.parts[0] = sum;
}

extern "C" __global__ void __launch_bounds__(128, 4) pairs(const Places plan, Layer* given, long long before) {
  // The largest |R_i|^2 + |R_j|^2 - 2 R_i R_j of 64 rows with every y-th 64 from the first of them on.
  HERE
  const int n = P.n, d = P.d, row = 64 * here;
  const double *R = before ? L.R : L.residual, *square = P.squares, *rows = R + (long long)row * d;
  double largest = 0.0;
  for (int column = row + 64 * blockIdx.y; column < n; column += 64 * gridDim.y) {
    const double* columns = R + (long long)column * d;
    Tile c;
    tile<false, false, 0>({rows, n - row, d, d, in_pairs(rows, d)},
                             {columns, n - column, d, d, in_pairs(columns, d)}, nullptr, c);
    __syncthreads();  // until then some of it may be read
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int e = 0; e < 4; e++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
          const int r = row + row_in_tile(i, e >> 1), k = column + column_in_tile(j) + (e & 1);
          if (r < n && k < n) largest = larger(largest, square[r] + square[k] - 2.0 * c[i][j][e]);
        }
  }
  raise(P.far, largest);
}

extern "C" __global__ void measured(const Places plan, Layer* given, long long before) {
  HERE
  if (L.way == STOPPED && !before) return;
  double sum = 0.0, *out = L.log + LOG_ROW * L.layer + 4;
  for (int b = threadIdx.x; b < P.groups; b += 32) sum += P.parts[1 + b];
  sum = warp_sum(sum);
  if (threadIdx.x) return;
  out[0] = sqrt(sum);
  out[1] = sqrt(*P.far);
  out[2] = sqrt(P.parts[0]);
}
