// Small kernels: a block (or a few) for each matrix of the batch.

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
