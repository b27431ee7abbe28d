// expm1 to 1.1 times a unit in its last place plus what half a unit of x makes of it, in the fewest operations: they
// and the tensor units share one pipe, and shuffles have another. POWERS_OF_TWO is written by `cuda.py`.

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
