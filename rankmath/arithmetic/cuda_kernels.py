"""Source of the kernels of a layer on a GPU (`cuda_layer` says what each makes), and the words they are told."""

from __future__ import annotations

#: Threads of a block, and of one that adds up many rows.
THREADS, MANY = 256, 1024
#: Words of a head, and which of them is the size of its term.
PER_HEAD, OUT = 6, 4
#: Words of a layer's record, of its tokens' state, of a row of the log; counters of a head.
RECORD, STATE, ROW, COUNTS = 7, 4, 7, 17
#: Logits beyond rounding, below it, no attention at all (the mean of R moved to the center), none that may stand.
FUSED, THIN, CENTRE, STOPPED = range(4)

#: What the kernels are told: addresses, factors, sizes, one word each. Those of tokens, of one layer, and memory.
TOKENS = ("centers", "residuals", "first_x", "first_R", "center", "residual", "x", "R")
LAYER = ("query", "value", "key_bias", "bias", "records", "log")
POINTERS = (
    *(
        *TOKENS,
        *LAYER,
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
        "mean",
        "columns",
    ),
    *("thin", "partial", "means", "lifted", "row_sums", "counts", "squares", "parts", "far", "words"),
    *("totals", "report"),
)
LIMITS = ("log_zero", "safe_log", "linear_log", "hardly", "suspicious", "uneven_log")
FACTORS = (
    *LIMITS,
    *(
        "unit",
        "of_pull",
        "of_key",
        "scale",
        "of_x",
        "of_common",
        "of_out",
        "lambda",
        "of_skip",
        "of_bias",
        "of_shift",
    ),
    *("mantissa", "exponent", "log_center"),
    *(f"told{k}" for k in range(RECORD + STATE)),  # the record of the layer that is told, the state of the tokens
)
SIZES = (
    *("n", "d", "heads", "blocks", "row_blocks", "groups", "splits", "key_parts", "wide_rows", "stride"),
    *("way", "layer", "networks", "owners"),  # owners: networks that have weights of their own, all or one
)

_STRUCT = "struct Layer {{ {} {} {} }};\n".format(
    "".join(f"double* {name}; " for name in POINTERS),
    "".join(f"double {name}; " for name in FACTORS),
    "".join(f"long long {name}; " for name in SIZES),
)
_NUMBERS = {"THREADS": THREADS, "MANY": MANY, "RECORD": RECORD, "STATE": STATE, "LOG_ROW": ROW, "COUNTS": COUNTS}
_NUMBERS |= {"WORDS": len(POINTERS + FACTORS + SIZES), "TOLD": len(POINTERS) + FACTORS.index("told0")}
_WAYS = f"enum {{ FUSED = {FUSED}, THIN = {THIN}, CENTRE = {CENTRE}, STOPPED = {STOPPED} }};\n"

_SOURCE = r"""
enum { LOW, LEFT, RIGHT, VALUES, OUT, TOTAL, PER_HEAD };  // words of a head
enum { SUM, RESIDUAL, CENTER };  // and totals of the layer
#define LANES ((K + 31) / 32)
#define SLICE (K > 64 ? 32 : K)  // columns of a row times a matrix that a block makes

__device__ __forceinline__ double warp_sum(double v) {
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

__device__ __forceinline__ double* word(const Layer& L, int h, int which) { return L.words + PER_HEAD * h + which; }
__device__ __forceinline__ double* whole(const Layer& L, int which) { return L.totals + which; }
__device__ __forceinline__ double* told(Layer& L) { return (double*)&L + TOLD; }  // a record, then a state

__device__ __forceinline__ Layer& network(Layer* given, int& block) {
  // Every network of a batch has as many blocks x: which one this block is of, and the block's place there.
  const int per = gridDim.x / (int)given->networks;
  block = blockIdx.x % per;
  return given[blockIdx.x / per];
}

__device__ __forceinline__ const double* of_head(const Layer& L, const double* weights, int h) {
  return weights + h * L.owners * L.d * L.d;  // heads come before networks
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

__device__ void make_pull(const Layer& L, int h, int c0, double* x, double* parts, double* g) {
  // Some columns of x W_QK, and of the key bias.
  for (int k = threadIdx.x; k < L.d; k += THREADS) x[k] = L.x[k];
  __syncthreads();
  row_times_matrix(x, of_head(L, L.query, h), L.d, c0, parts, g);
  const int k = c0 + threadIdx.x;
  if (L.key_bias && threadIdx.x < SLICE && k < L.d)
    g[k] = L.of_pull * g[k] + L.of_key * L.key_bias[h * L.owners * L.d + k];
  __syncthreads();
}

#if K > 64
extern "C" __global__ void __launch_bounds__(THREADS) pull(Layer* given) {
  __shared__ double x[K], parts[THREADS];
  int here;
  const Layer& L = network(given, here);
  const int slices = (L.d + SLICE - 1) / SLICE, h = here / slices;
  make_pull(L, h, here % slices * SLICE, x, parts, L.g + h * L.d);
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS) scores(Layer* given) {
  __shared__ double x[K], g[K], parts[THREADS], tops[THREADS / 32], places[THREADS / 32];
  int here;
  const Layer& L = network(given, here);
  const int n = L.n, d = L.d, h = here / L.blocks, b = here % L.blocks;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = THREADS / 32;
  const int per = (n + L.blocks - 1) / L.blocks, first = b * per, last = min(n, first + per);
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
  for (int k = threadIdx.x; k < d; k += THREADS) g[k] = L.g[h * d + k];
  __syncthreads();
#else
  make_pull(L, h, 0, x, parts, g);
  if (b == 0 && threadIdx.x < d) L.g[h * d + threadIdx.x] = g[threadIdx.x];
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
  L.best[2 * here] = top;
  L.best[2 * here + 1] = place;
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

extern "C" __global__ void __launch_bounds__(THREADS) relative(Layer* given) {
  __shared__ double parts[THREADS / 32][K + 1];
  int here;
  const Layer& L = network(given, here);
  const int n = L.n, d = L.d, h = here / L.blocks, b = here % L.blocks;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = THREADS / 32;
  const int per = (n + L.blocks - 1) / L.blocks, first = b * per, last = min(n, first + per);
  const double *R = L.R, unit = L.unit;
  double sums[LANES], g[LANES], pivot[LANES], next[LANES], total = 0.0, low = 0.0, longest = 0.0;
  auto fetch = [&](int j) {  // a row, on its way while another is made
#pragma unroll
    for (int i = 0; i < LANES; i++) {
      const int k = lane + 32 * i;
      next[i] = j < last && k < d ? R[(long long)j * d + k] : 0.0;
    }
  };
  fetch(first + warp);
#pragma unroll
  for (int i = 0; i < LANES; i++) sums[i] = 0.0, g[i] = lane + 32 * i < d ? L.g[h * d + lane + 32 * i] : 0.0;
  const int place = pivot_of(L, h);
#pragma unroll
  for (int i = 0; i < LANES; i++) {
    const int k = lane + 32 * i;
    pivot[i] = k < d ? R[(long long)place * d + k] : 0.0;
    if (b == 0 && warp == 0 && k < d) L.common[h * d + k] = pivot[i];  // the last block adds the mean
  }
  for (int j = first + warp; j < last; j += warps) {
    double* to = L.D + ((long long)h * n + j) * K;
    double v[LANES], c = 0.0, square = 0.0;
#pragma unroll
    for (int i = 0; i < LANES; i++) v[i] = lane + 32 * i < d ? next[i] - pivot[i] : 0.0;
    fetch(j + warps);
#pragma unroll
    for (int i = 0; i < LANES; i++) {
      if (lane + 32 * i < K) to[lane + 32 * i] = v[i];
      c = fma(v[i], g[i], c);
      square = fma(v[i], v[i], square);
    }
    c = unit * warp_sum(c);
    square = warp_sum(square);
    const double e = exp(c);
    if (lane == 0) L.e[(long long)h * n + j] = e;
    total += e;
#pragma unroll
    for (int i = 0; i < LANES; i++) sums[i] = fma(e, v[i], sums[i]);
    low = larger(low, -c);
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
    for (int w = 0; w < warps; w++) s += parts[w][k];
    L.sums[(long long)here * (K + 1) + k] = s;
  }
  if (!last_of(L.counts + (long long)h * COUNTS, L.blocks)) return;
  __syncthreads();
  double* mean = parts[0];
  for (int k = threadIdx.x; k <= K; k += THREADS) {
    double s = 0.0;
    for (int b0 = 0; b0 < L.blocks; b0 += 8) {
      double of[8];
#pragma unroll
      for (int i = 0; i < 8; i++)
        of[i] = b0 + i < L.blocks ? L.sums[((long long)h * L.blocks + b0 + i) * (K + 1) + k] : 0.0;
#pragma unroll
      for (int i = 0; i < 8; i++) s += of[i];
    }
    mean[k] = s;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < K; k += THREADS) {
    const double m = mean[k] / mean[K];
    L.mean[(long long)h * (K + 1) + k] = m;
    if (k < d) L.common[h * d + k] += m;
  }
  if (threadIdx.x == 0) L.mean[(long long)h * (K + 1) + K] = *word(L, h, TOTAL) = mean[K];
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

enum { NONE, TAKEN_OFF };  // what is done to the rows of A with a row of numbers

template <bool DOWN, bool ACROSS, int ROW>
__device__ __forceinline__ void tile(const Operand A, const Operand B, const double* row, Tile& c) {
  // 64 rows and 64 columns of A B (ACROSS) or A B' by four warps, A' in the place of A where that stands (DOWN);
  // `row` is first taken off the rows of A, or not.
  extern __shared__ double shared[];
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
          if (ROW == TAKEN_OFF) a[i][f] -= row[k0 + at];
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

extern "C" __global__ void __launch_bounds__(128, 4) project(Layer* given, long long first) {
  // 64 rows of a head and 64 columns a block; 0 makes left, 1 the values.
  __shared__ double mean[K + 16];
  int here;
  const Layer& L = network(given, here);
  const int n = L.n, d = L.d, h = here / L.row_blocks, start = here % L.row_blocks * 64, c0 = 64 * blockIdx.z;
  const bool values = first + blockIdx.y, weighted = FOLDED || L.way == THIN;
  const double* W = of_head(L, values ? L.value : L.query, h) + c0;
  const double *of_rows = L.e + (long long)h * n + start, total = L.mean[(long long)h * (K + 1) + K];
  const Operand B = {W, d, d - c0, d, in_pairs(W, d)};
  Tile c;
  if (values) {
    for (int k = threadIdx.x; k < K + 16; k += 128) mean[k] = k < K ? L.mean[(long long)h * (K + 1) + k] : 0.0;
    const int j = start + threadIdx.x;
    if (FOLDED && threadIdx.x < 64 && j < n) L.q[(long long)h * n + j] = of_rows[threadIdx.x] / total;
    const double* D = L.D + ((long long)h * n + start) * K;
    tile<false, true, TAKEN_OFF>({D, n - start, K, K, true}, B, mean, c);
  } else {
    const double* R = L.R + (long long)start * d;
    tile<false, true, NONE>({R, n - start, d, d, in_pairs(R, d)}, B, nullptr, c);
  }
  double largest = 0.0, longest = 0.0;
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int e = 0; e < 2; e++) {
      const int r = row_in_tile(i, e);
      const bool inside = start + r < n;
      const double factor = !values ? L.scale : weighted && inside ? of_rows[r] / total : 1.0;
      double* out = (values ? L.values : L.left) + ((long long)h * n + start + r) * K + c0;
      double square = 0.0;
#pragma unroll
      for (int j = 0; j < 4; j++) {
        const double y0 = c[i][j][2 * e], y1 = c[i][j][2 * e + 1], z0 = y0 * factor, z1 = y1 * factor;
        if (c0 + column_in_tile(j) >= K || !inside) break;
        largest = larger(larger(largest, fabs(y0)), fabs(y1));
        square = fma(z0, z0, fma(z1, z1, square));
        *(double2*)(out + column_in_tile(j)) = make_double2(z0, z1);
      }
      for (int o = 1; o <= 2; o <<= 1) square += __shfl_xor_sync(~0u, square, o);
      longest = larger(longest, square);
    }
  // Rows wider than 32 are in several warps: a sum of their largest squares bounds the square of the longest.
  raise(word(L, h, values ? VALUES : LEFT), values ? largest : longest * ((K + 31) / 32));
}

extern "C" __global__ void __launch_bounds__(128) covariance(Layer* given) {
  // 64 x 64 entries of D' times weighted values, from a part of the rows; the last of the parts adds them up.
  int here;
  const Layer& L = network(given, here);
  if (L.way != THIN) return;
  const int n = L.n, tiles = (K + 63) / 64, h = here / L.splits, split = here % L.splits;
  const int r0 = 64 * blockIdx.y, c0 = 64 * blockIdx.z;
  const int per = (n + L.splits - 1) / L.splits, start = min(n, split * per), rows = min(n - start, per);
  const long long at = (long long)h * n + start;
  Tile c;
  tile<true, true, NONE>({L.D + at * K + r0, rows, K - r0, K, true},
                         {L.values + at * K + c0, rows, K - c0, K, true}, nullptr, c);
  double* part = L.thin + ((long long)h * L.splits + split) * K * K;
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
  double* count = L.counts + (long long)h * COUNTS + 1 + blockIdx.y * tiles + blockIdx.z;
  if (L.splits == 1 || !last_of(count, L.splits)) return;
  double* all = L.thin + (long long)h * L.splits * K * K;
  const int column = c0 + threadIdx.x % 64;
  for (int r = r0 + threadIdx.x / 64; r < min(K, r0 + 64) && column < K; r += 16) {
    double s[8] = {0.0};  // eight rows on their way together
    for (int p = 0; p < L.splits; p++)
#pragma unroll
      for (int i = 0; i < 8; i++) s[i] += r + 2 * i < K ? all[((long long)p * K + r + 2 * i) * K + column] : 0.0;
#pragma unroll
    for (int i = 0; i < 8; i++) if (r + 2 * i < K) all[(long long)(r + 2 * i) * K + column] = s[i];
  }
}

extern "C" __global__ void __launch_bounds__(128, 4) thin(Layer* given) {
  int here;
  const Layer& L = network(given, here);
  if (L.way != THIN) return;
  const int n = L.n, h = here / L.row_blocks, row = 64 * (here % L.row_blocks), c0 = 64 * blockIdx.y;
  const long long at = ((long long)h * n + row) * K;
  Tile c;
  tile<false, true, NONE>({L.left + at, n - row, K, K, true},
                          {L.thin + (long long)h * L.splits * K * K + c0, K, K - c0, K, true}, nullptr, c);
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
        *(double2*)(L.out + at + r * K + column) = make_double2(y0, y1);
      }
  raise(word(L, h, OUT), largest);
}

#if K > 64
extern "C" __global__ void __launch_bounds__(128, 4) lifted(Layer* given, long long start) {
  // m_ij e_j for rows from `start` on, some 64 keys a block, and their sums over these.
  int here;
  const Layer& L = network(given, here);
  if (L.way != FUSED) return;
  const int n = L.n, h = blockIdx.z, row = start + 64 * blockIdx.y, j0 = 64 * here;
  const int rows = min((long long)n, start + L.wide_rows) - row;
  __shared__ double halves[2][64];
  Tile c;
  double sums[2][2] = {{0.0, 0.0}, {0.0, 0.0}};
  tile<false, false, NONE>({L.left + ((long long)h * n + row) * K, rows, K, K, true},
                           {L.D + ((long long)h * n + j0) * K, n - j0, K, K, true}, nullptr, c);
  const Powers powers = powers_of_two();
  const double* of_keys = L.e + (long long)h * n + j0;
  double* to = L.lifted + (h * L.wide_rows + row - start) * L.stride + j0;
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const int key = column_in_tile(j);
    if (j0 + key >= L.stride) break;
    const double e0 = j0 + key < n ? of_keys[key] : 0.0;
    const double e1 = j0 + key + 1 < n ? of_keys[key + 1] : 0.0;
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int e = 0; e < 2; e++) {
        const int r = row_in_tile(i, e);
        const double2 y = make_double2(expm1_of(c[i][j][2 * e], powers) * e0,
                                       expm1_of(c[i][j][2 * e + 1], powers) * e1);
        sums[i][e] += y.x + y.y;
        if (r < rows) *(double2*)(to + r * L.stride + key) = y;
      }
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int e = 0; e < 2; e++) {
      for (int o = 1; o <= 2; o <<= 1) sums[i][e] += __shfl_xor_sync(~0u, sums[i][e], o);
      if ((threadIdx.x & 3) == 0) halves[threadIdx.x >> 5 & 1][row_in_tile(i, e)] = sums[i][e];
    }
  __syncthreads();
  const int r = threadIdx.x;
  if (r < min(64, rows))
    L.row_sums[(h * L.row_blocks + here) * L.wide_rows + row - start + r] = halves[0][r] + halves[1][r];
}

#define STAGES 4  // chunks of keys that are on their way or in use

template <int EIGHTS>
__device__ __forceinline__ void average_tile(const double* A, long long step, int rows, const double* B,
                                             int columns, int keys, double (&c)[2][EIGHTS][4]) {
  // 16 EIGHTS rows and 64 columns of A B for many keys, by four warps. Columns of B are the rows of `mma`: what
  // lies side by side in A and in B is loaded at once to registers side by side. Eight keys are loaded while those
  // before are multiplied. Halves of odd rows of A change places, rows of B are two entries longer: no bank
  // conflicts. A lane holds, in c[i][j][e] and c[i][j][2 + e], two columns of a row.
  extern __shared__ double shared[];
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
__device__ __forceinline__ void average_of_rows(Layer* given, long long start) {
  // The averages of these rows, 64 columns a block, or their bare sums over a part of the keys.
  __shared__ double of_rows[16 * EIGHTS];
  int here;
  const Layer& L = network(given, here);
  if (L.way != FUSED) return;
  const int n = L.n, heads = L.heads, h = blockIdx.z % heads, part = blockIdx.z / heads, c0 = 64 * here;
  const int row = start + 16 * EIGHTS * blockIdx.y;
  const int rows = min(min((long long)n, start + L.wide_rows) - row, 16ll * EIGHTS);
  const int blocks = L.row_blocks, per = (blocks + L.key_parts - 1) / L.key_parts;  // of keys as of rows
  const int first = min(n, 64 * part * per), keys = min(n - first, 64 * per);
  const bool whole = L.key_parts == 1;
  double c[2][EIGHTS][4];
  average_tile<EIGHTS>(L.lifted + (h * L.wide_rows + row - start) * L.stride + first, L.stride, rows,
               L.values + ((long long)h * n + first) * K + c0, K - c0, keys, c);
  const long long at = (long long)h * n + row, apart = part * (L.networks * heads * n);
  if (threadIdx.x < rows) {
    const double* sums = L.row_sums + h * blocks * L.wide_rows + row - start + threadIdx.x;
    double sum = 0.0;
#pragma unroll 8
    for (int b = part * per; b < min(blocks, (part + 1) * per); b++) sum += sums[b * L.wide_rows];
    if (!whole && c0 == 0) L.means[apart + at + threadIdx.x] = sum;
    of_rows[threadIdx.x] = whole ? 1.0 / (L.mean[(long long)h * (K + 1) + K] + sum) : 1.0;
  }
  __syncthreads();
  double largest = 0.0, *to = (whole ? L.out : L.partial + apart * K) + at * K + c0;
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
  if (whole) raise(word(L, h, OUT), largest);
}

// 64 rows a block, or 128, which reads less and wants more blocks.
extern "C" __global__ void __launch_bounds__(128, 3) average(Layer* given, long long start) {
  average_of_rows<4>(given, start);
}
extern "C" __global__ void __launch_bounds__(128, 2) average_long(Layer* given, long long start) {
  average_of_rows<8>(given, start);
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
  // Units of what the layer made, and whether it may stand.
  const double center = found[0], residual = found[1], total = found[2], parts = found[3], values = found[4];
  const double low = found[5], logit = found[6], least = found[7];
  const bool uneven = low >= -L.uneven_log, thin = L.way == THIN;
  const bool in_range = center > L.suspicious && center < INFINITE && residual > 0.0 && residual < INFINITE;
  const bool moderate = low <= L.safe_log && (thin || logit <= L.safe_log);
  if (!in_range || !moderate || (uneven && (thin || least < exp(-L.hardly)))) L.way = STOPPED;
  if (L.way == STOPPED) return;
  const double made = L.of_out * fmax(parts, uneven ? values : 0.0);
  const double largest = fmax(fmax(total, made), fabs(L.lambda));
  moved(L.mantissa, L.exponent, 1.0, log(residual));
  double *state = told(L) + RECORD, *log_row = L.log + LOG_ROW * ++L.layer;
  state[0] = L.log_center + log(center);
  state[1] = L.mantissa, state[2] = L.exponent;
  state[3] = fmax(state[3], log2(largest) - log2(residual));
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
  if (threadIdx.x) return;
  for (int w = 1; w < WARPS_HERE; w++) b = max(b, parts[w]);
  atomicMax((Bits*)word, b);
}

#define ABREAST (16 / LANES)  // heads whose entries are on their way together
#define PARTS (LANES > 4 ? 2 : 4)  // and parts of the keys

extern "C" __global__ void __launch_bounds__(THREADS, K > 64 ? 2 : 3) collect(Layer* given) {
  __shared__ double parts[THREADS / 32][K], row[K], numbers[THREADS];
  int here;
  const Layer& L = network(given, here);
  const int n = L.n, d = L.d, lane = threadIdx.x & 31, warp = threadIdx.x >> 5, groups = L.groups;
  const bool centre = L.way == CENTRE, parted = L.way == FUSED && L.key_parts > 1;
  if (here >= groups) {  // some columns of a head's image of what its rows have in common
    if (centre) return;
    const int slices = (d + SLICE - 1) / SLICE, h = (here - groups) / slices;
    for (int k = threadIdx.x; k < d; k += THREADS) row[k] = L.of_x * L.x[k] + L.of_common * L.common[h * d + k];
    __syncthreads();
    row_times_matrix(row, of_head(L, L.value, h), d, (here - groups) % slices * SLICE, numbers, L.image + h * d);
    return;
  }
  const int per = (n + groups - 1) / groups, first = here * per, last = min(n, first + per);
  const int warps = THREADS / 32, split = max(1, warps / per);  // so many warps share the heads of a row
  double v[LANES], sums[LANES], largest = 0.0;
#pragma unroll
  for (int i = 0; i < LANES; i++) sums[i] = 0.0;
  auto add_parts = [&](int j, int h) {  // a head's average from its sums over parts of the keys
    const long long step = L.networks * L.heads * n, at = (long long)h * n + j;
    double sum[LANES], mean = FOLDED ? 1.0 : *word(L, h, TOTAL), most = 0.0;
#pragma unroll
    for (int i = 0; i < LANES; i++) sum[i] = 0.0;
    for (int p0 = 0; p0 < L.key_parts; p0 += PARTS) {
      double next[PARTS][LANES], of[PARTS];
#pragma unroll
      for (int a = 0; a < PARTS; a++) {
        const int p = p0 + a;
        of[a] = p < L.key_parts ? L.means[p * step + at] : 0.0;
#pragma unroll
        for (int i = 0; i < LANES; i++) {
          const int k = lane + 32 * i;
          next[a][i] = p < L.key_parts && k < d ? L.partial[(p * step + at) * K + k] : 0.0;
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
    raise(word(L, h, OUT), most);
  };
  auto add_heads = [&](int j, int share) {
#pragma unroll
    for (int i = 0; i < LANES; i++) v[i] = 0.0;
    if (parted) {
      for (int h = share; h < L.heads; h += split) add_parts(j, h);
      return;
    }
    for (int h0 = share; h0 < (centre ? 0 : L.heads); h0 += ABREAST * split) {
      double next[ABREAST][LANES];
#pragma unroll
      for (int a = 0; a < ABREAST; a++)
#pragma unroll
        for (int i = 0; i < LANES; i++) {
          const int h = h0 + a * split, k = lane + 32 * i;
          next[a][i] = h < L.heads && k < d ? L.out[((long long)h * n + j) * K + k] : 0.0;
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
  raise_once<THREADS / 32>(whole(L, SUM), largest);
  for (int k = threadIdx.x; k < d; k += THREADS) {
    double s = 0.0;
    for (int w = 0; w < warps; w++) s += parts[w][k];
    L.columns[(long long)here * d + k] = s;
  }
}

__device__ double of_column(double v, double* parts, int width, int many) {
  // The sum over the threads x, x + width, x + 2 width, .. of a block, `many` of them, for thread x < width.
  parts[threadIdx.x] = v;
  __syncthreads();
  if (threadIdx.x < width)
    for (int p = 1; p < many; p++) v += parts[p * width + threadIdx.x];
  __syncthreads();
  return v;
}

extern "C" __global__ void __launch_bounds__(MANY) recentre(Layer* given) {
  // Some rows, and 64 columns: all sums of a column are needed for each. The first of the blocks makes the center.
  __shared__ double shift[64], parts[MANY];
  int here;
  const Layer& L = network(given, here);
  const int n = L.n, d = L.d, slices = (d + 63) / 64, c0 = here % slices * 64, width = min(64, d - c0);
  const int many = min(MANY / width, 16), part = threadIdx.x / width, k = c0 + threadIdx.x % width;
  here /= slices;
  double s = 0.0, v = 0.0;
  if (part < many)
#pragma unroll 16
    for (int b = part; b < L.groups; b += many) s += L.columns[(long long)b * d + k];
  if (here == 0 && part < many && L.way != CENTRE)
#pragma unroll 16
    for (int h = part; h < L.heads; h += many) v += L.image[h * d + k];
  s = of_column(s, parts, width, many) / n;
  double largest = 0.0;
  if (here) {
    if (part == 0) shift[k - c0] = s;
    __syncthreads();
    const int blocks = gridDim.x / L.networks / slices - 1, per = (n + blocks - 1) / blocks;
    const int first = (here - 1) * per, last = min(n, first + per);
#pragma unroll 4
    for (int j = first + part; j < last && part < many; j += many) {
      const double y = L.residual[(long long)j * d + k] - shift[k - c0];
      L.residual[(long long)j * d + k] = y;
      largest = larger(largest, fabs(y));
    }
    raise_once<MANY / 32>(whole(L, RESIDUAL), largest);
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
  raise_once<MANY / 32>(whole(L, CENTER), largest);
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

extern "C" __global__ void clear(Layer* given, long long home) {
  Layer& L = given[blockIdx.x];
  if (home) tell(L, (const long long*)home);
  if (threadIdx.x < 3) *whole(L, threadIdx.x) = 0.0;
}

extern "C" __global__ void units(Layer* given, long long home) {
  // The next layer's weights and tokens, and all factors: in which unit each of its parts is made.
  // One warp: each lane makes one of the factors. What others only raise or count starts at zero.
  __shared__ double record[RECORD];
  Layer& L = given[blockIdx.x];
  if (home) tell(L, (const long long*)home);
  const long long way = L.way, l = L.layer, odd = l & 1, d = L.d;
  const long long row = L.networks * d, all = L.n * row;  // of one of the two places that layers write to in turn
  const double* source = home ? told(L) : L.records + RECORD * l;
  if (threadIdx.x < RECORD) record[threadIdx.x] = source[threadIdx.x];
  double *const words = L.words, *const counts = L.counts, *const totals = L.totals;
  const int heads = L.heads;
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

extern "C" __global__ void __launch_bounds__(THREADS) normalise(Layer* given) {
  int here;
  Layer& L = network(given, here);
  const long long size = (long long)L.n * L.d, step = (gridDim.x / L.networks - 1) * THREADS;
  double largest = *whole(L, RESIDUAL), y[4];
  if (largest == 0.0) largest = 1.0;
  for (long long i = (here - 1ll) * THREADS + threadIdx.x; here && i < size; i += 4 * step) {
#pragma unroll
    for (int k = 0; k < 4; k++) y[k] = i + k * step < size ? L.residual[i + k * step] : 0.0;
#pragma unroll
    for (int k = 0; k < 4; k++) if (i + k * step < size) L.residual[i + k * step] = y[k] / largest;
  }
  if (here) return;
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
  if (L.way == CENTRE) begin(L, found);
  else conclude(L, found);
  for (int i = 0; i < 8; i++) L.report[i] = found[i];
  L.report[8] = L.layer;
}

extern "C" __global__ void __launch_bounds__(THREADS) squares(Layer* given, long long before) {
  // Squares of the rows, their sums by blocks, and that of the center: of tokens before a layer, or of new ones.
  __shared__ double sums[THREADS / 32];
  int here;
  const Layer& L = network(given, here);
  const int n = L.n, d = L.d;
  const double *R = before ? L.R : L.residual, *x = before ? L.x : L.center;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = THREADS / 32;
  if (here == 0 && threadIdx.x == 0) *L.far = 0.0;
  double sum = 0.0;
  for (int j = here * warps + warp; j < n; j += L.groups * warps) {
    double s = 0.0;
    for (int k = lane; k < d; k += 32) s = fma(R[(long long)j * d + k], R[(long long)j * d + k], s);
    s = warp_sum(s);
    if (lane == 0) L.squares[j] = s;
    sum += s;
  }
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (warp) return;
  if (lane == 0) {
    for (int w = 1; w < warps; w++) sum += sums[w];
    L.parts[1 + here] = sum;
  }
  if (here) return;
  sum = 0.0;
  for (int k = lane; k < d; k += 32) sum = fma(x[k], x[k], sum);
  sum = warp_sum(sum);
  if (lane == 0) L.parts[0] = sum;
}

extern "C" __global__ void __launch_bounds__(128, 4) pairs(Layer* given, long long before) {
  // The largest |R_i|^2 + |R_j|^2 - 2 R_i R_j of 64 rows with every y-th 64 from the first of them on.
  int here;
  const Layer& L = network(given, here);
  const int n = L.n, d = L.d, row = 64 * here;
  const double *R = before ? L.R : L.residual, *square = L.squares, *rows = R + (long long)row * d;
  double largest = 0.0;
  for (int column = row + 64 * blockIdx.y; column < n; column += 64 * gridDim.y) {
    const double* columns = R + (long long)column * d;
    Tile c;
    tile<false, false, NONE>({rows, n - row, d, d, in_pairs(rows, d)},
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
  raise(L.far, largest);
}

extern "C" __global__ void measured(Layer* given, long long before) {
  int here;
  const Layer& L = network(given, here);
  if (L.way == STOPPED && !before) return;
  double sum = 0.0, *out = L.log + LOG_ROW * L.layer + 4;
  for (int b = threadIdx.x; b < L.groups; b += 32) sum += L.parts[1 + b];
  sum = warp_sum(sum);
  if (threadIdx.x) return;
  out[0] = sqrt(sum);
  out[1] = sqrt(*L.far);
  out[2] = sqrt(L.parts[0]);
}
"""


def source(K: int) -> str:
    """All kernels for tokens of at most K columns, K a multiple of 8."""
    defined = "".join(f"#define {name} {value}\n" for name, value in {"K": K, **_NUMBERS}.items())
    return defined + _WAYS + _STRUCT + _SOURCE
