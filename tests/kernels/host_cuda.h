// CUDA kernels on the host: the threads of a block are fibers that take turns at barriers, shuffles and mma.
#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <ucontext.h>
#include <vector>
using std::max;
using std::min;
typedef unsigned long long Bits;
struct Dim { int x, y, z; };
struct double2 { double x, y; };
static double2 make_double2(double x, double y) { return {x, y}; }
static Dim blockIdx, gridDim;
static int fiber, live, arrived, epoch, warp_arrived[32], warp_epoch[32];
static ucontext_t fibers[1024];  // where each begins; from then on jumps, which ask the system nothing
static jmp_buf scheduler, places[1024];
static bool begun[1024], done[1024];
static double slots[1024][6];
static std::function<void()> body;
#define threadIdx (Dim{fiber, 0, 0})
#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)
#define INFINITE INFINITY
static void pass() {
  const int me = fiber;
  if (!_setjmp(places[me])) _longjmp(scheduler, 1);
  fiber = me;
}
static void resume(int i) {
  if (_setjmp(scheduler)) return;
  fiber = i;
  if (begun[i]) _longjmp(places[i], 1);
  begun[i] = true;
  setcontext(&fibers[i]);
}
static void __syncthreads() {
  int now = epoch;
  if (++arrived == live) { arrived = 0; epoch++; return; }
  while (epoch == now) pass();
}
static void warp_barrier() {
  int w = fiber / 32, now = warp_epoch[w];
  if (++warp_arrived[w] == 32) { warp_arrived[w] = 0; warp_epoch[w]++; return; }
  while (warp_epoch[w] == now) pass();
}
static void __syncwarp() { warp_barrier(); }
template <typename T> static T __shfl_sync(unsigned, T v, int lane) {
  memcpy(slots[fiber], &v, sizeof v);
  warp_barrier();
  T r;
  memcpy(&r, slots[(fiber & ~31) + (lane & 31)], sizeof r);
  warp_barrier();
  return r;
}
template <typename T> static T __shfl_xor_sync(unsigned, T v, int o) { return __shfl_sync(~0u, v, (fiber & 31) ^ o); }
static Bits bits_of(double v) { Bits b; memcpy(&b, &v, 8); return b; }
static double from_high(int word) {
  Bits b = (Bits)(unsigned)word << 32;
  double v;
  memcpy(&v, &b, 8);
  return v;
}
static double times_power_of_two(double v, int n) { return std::ldexp(v, n); }
static void atomicMax(Bits* word, Bits v) { *word = max(*word, v); }
static Bits atomicAdd(Bits* word, Bits v) { return (*word += v) - v; }
static void __threadfence() {}
static void copy_row_part(double* to, const double* from, bool inside) {
  to[0] = inside ? from[0] : 0.0;
  to[1] = inside ? from[1] : 0.0;
}
static void copy_one(double* to, const double* from, bool inside) { to[0] = inside ? from[0] : 0.0; }
template <typename T> static void keep(T&) {}
static void commit_copies() {}
template <int MOST = 0> static void wait_for_copies() {}
// A chunk is there when it is asked for: whoever waits at a gate came past a barrier after that.
static void make_gates(Bits* gates, int count) { std::fill(gates, gates + count, 0); }
static void expect_bytes(Bits* gate, int bytes) { *gate += bytes; }
static void copy_chunk(double* to, const double* from, int bytes, Bits* gate) {
  memcpy(to, from, bytes);
  *gate -= bytes;
}
static void wait_at(Bits* gate, unsigned) { if (*gate) abort(); }
static void mma(double (&c)[4], double a0, double a1, double a2, double a3, double b0, double b1) {
  double mine[6] = {a0, a1, a2, a3, b0, b1};
  memcpy(slots[fiber], mine, sizeof mine);
  warp_barrier();
  int base = fiber & ~31, g = (fiber & 31) >> 2, t = fiber & 3;
  for (int e = 0; e < 4; e++)
    for (int k = 0; k < 8; k++) {
      double a = slots[base + 4 * g + k % 4][(k < 4 ? 0 : 2) + (e >= 2)];
      double b = slots[base + 4 * (2 * t + (e & 1)) + k % 4][k < 4 ? 4 : 5];
      c[e] = std::fma(a, b, c[e]);
    }
  warp_barrier();
}
static void entry() {
  body();
  done[fiber] = true;
  live--;
  if (live && arrived == live) { arrived = 0; epoch++; }
  _longjmp(scheduler, 1);
}
static void launch(int x, int y, int z, int threads) {
  static std::vector<char> stacks(1024 * 65536);
  gridDim = {x, y, z};
  for (blockIdx.z = 0; blockIdx.z < z; blockIdx.z++)
    for (blockIdx.y = 0; blockIdx.y < y; blockIdx.y++)
      for (blockIdx.x = 0; blockIdx.x < x; blockIdx.x++) {
        live = threads, arrived = epoch = 0;
        std::fill(warp_arrived, warp_arrived + 32, 0);
        for (int i = 0; i < threads; i++) {
          getcontext(&fibers[i]);
          fibers[i].uc_stack = {&stacks[65536 * i], 0, 65536};
          makecontext(&fibers[i], entry, 0);
          begun[i] = done[i] = false;
        }
        while (live)
          for (int i = 0; i < threads; i++)
            if (!done[i]) resume(i);
      }
}
static double shared[1 << 15];
#include KERNELS

extern "C" void expm1_on_host(const double* x, double* y, int size) {
  body = [=] {
    const Powers powers = powers_of_two();
    for (int i = 0; i < size; i += 32) {
      const int at = min(i + fiber, size - 1);
      y[at] = expm1_of(x[at], powers);
    }
  };
  launch(1, 1, 1, 32);
}

extern "C" void layer_kernel(int which, int x, int y, int z, int threads, const Places* all, Layer* L) {
  void (*kernels[])(Places, Layer*) = {scores, relative, covariance, thin, collect, recentre, normalise,
#if K > 64
                               pull
#endif
  };
  body = [=] { kernels[which](*all, L); };
  launch(x, y, z, threads);
}
extern "C" void told_kernel(int which, int x, int y, int z, int threads, const Places* all, Layer* L,
                            long long given) {
  void (*kernels[])(Places, Layer*, long long) = {units, clear, project, squares, pairs, measured,
#if K > 64
                                    lifted, average, average_long
#endif
  };
  body = [=] { kernels[which](*all, L, given); };
  launch(x, y, z, threads);
}
#if K <= 64
extern "C" void deviation_on_host(int x, int y, const double* left, const double* right, const double* values,
    const double* q, double* out, int n, int m, int row_blocks, double* sizes, int step, double* means,
    const long long* way, int way_step, int heads) {
  body = [=] {
    deviation(left, right, values, q, nullptr, 1.0, out, n, m, row_blocks, sizes, step, means, way, way_step, heads);
  };
  launch(x, y, 1, 128);
}
#endif
