// What only a GPU has: its tensor units, copies that run meanwhile, doubles ordered as their bits.

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
