// Sizes to words that start at zero, in any order with the same result.

__device__ __forceinline__ double larger(double a, double v) { return v > a || v != v ? v : a; }  // a nan stays

__device__ __forceinline__ void raise(double* word, double v) {
  // Bits of non-negative doubles are ordered as the doubles are; a nan is above them all. One atomic a warp.
  Bits b = bits_of(fabs(v));
  for (int o = 16; o; o >>= 1) b = max(b, __shfl_xor_sync(~0u, b, o));
  if ((threadIdx.x & 31) == 0) atomicMax((Bits*)word, b);
}
