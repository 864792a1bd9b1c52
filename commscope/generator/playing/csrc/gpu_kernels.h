// The kernels. None has a barrier or shared memory, so that they compile with any headers.
#pragma once

#include "gpu_api.h"
#include "kinds.h"

namespace csg {

using Ticks = unsigned long long;

// Of one kernel: when its first block began and its last one ended.
struct Stamps {
  Ticks begin, end;
};

constexpr int kTile = 8;           // elements of a side of what a thread calculates
constexpr int kGemmThreads = 256;  // 16 * 16 of them calculate a tile of 128 * 128
constexpr int kGemmSide = 16 * kTile;
constexpr int kSpinThreads = 64;
constexpr int kMovingThreads = 512;
constexpr int kStepReads = 20000;

// A clock of constant rate that all blocks share.
__device__ inline Ticks device_ticks() {
#if defined(__CUDACC__)
  Ticks now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#elif defined(__HIP_DEVICE_COMPILE__)
  return static_cast<Ticks>(wall_clock64());
#else
  return 0;
#endif
}

// What was written before is seen by the host before what comes after. (HIP's own function for it
// does not link where headers and device libraries are of different releases.)
__device__ inline void fence_for_host() {
#if defined(__CUDACC__)
  __threadfence_system();
#elif defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
#endif
}

__device__ inline void begins(Stamps* stamps, Ticks now) {
  if (stamps) atomicMin(&stamps->begin, now);
}

__device__ inline void ends(Stamps* stamps) {
  if (stamps) atomicMax(&stamps->end, device_ticks());
}

// Every block takes as long as it is told, however late it begins.
__device__ inline void spin(Stamps* stamps, Ticks ticks) {
  const Ticks begin = device_ticks();
  if (threadIdx.x == 0) begins(stamps, begin);
  while (device_ticks() - begin < ticks) {
  }
  if (threadIdx.x == 0) ends(stamps);
}

// Memory that mocks move, as collectives do; none where they only take their time. The number of
// elements of a half is a power of two.
struct Moved {
  float4* data;
  Ticks half;
};

// Takes as long as it is told, and copies one half of the memory to the other meanwhile.
__device__ inline void spin_moving(Stamps* stamps, Ticks ticks, const Moved& moved) {
  const Ticks begin = device_ticks();
  if (threadIdx.x == 0) begins(stamps, begin);
  const Ticks stride = Ticks{gridDim.x} * blockDim.x;
  Ticks at = Ticks{blockIdx.x} * blockDim.x + threadIdx.x;
  while (device_ticks() - begin < ticks) {
#pragma unroll
    for (int i = 0; i < 4; ++i, at += stride) {
      const Ticks element = at & (moved.half - 1);
      moved.data[moved.half + element] = moved.data[element];
    }
  }
  if (threadIdx.x % 32 == 0) ends(stamps);
}

struct Matrices {
  int side;        // elements of one; a power of two
  const float* a;  // transposed
  const float* b;
  float* c;
};

// Four at a time; rows and columns of tiles are aligned to that.
__device__ inline void load(float* values, const float* from) {
#pragma unroll
  for (int i = 0; i < kTile; i += 4) {
    const float4 four = *reinterpret_cast<const float4*>(from + i);
    values[i] = four.x;
    values[i + 1] = four.y;
    values[i + 2] = four.z;
    values[i + 3] = four.w;
  }
}

// One tile of a matrix product; where `steps` is more than the matrices have, from their begin on.
__device__ inline void multiply(const Matrices& m, int steps) {
  const int side = m.side, tiles = side / kGemmSide;
  const int tile = static_cast<int>(blockIdx.x) % (tiles * tiles);
  const int thread = static_cast<int>(threadIdx.x);
  const int row = tile / tiles * kGemmSide + thread / 16 * kTile;
  const int column = tile % tiles * kGemmSide + thread % 16 * kTile;
  float sums[kTile][kTile] = {};
  for (int step = 0; step < steps; ++step) {
    const int k = step & (side - 1);
    float left[kTile], right[kTile];
    load(left, m.a + k * side + row);
    load(right, m.b + k * side + column);
#pragma unroll
    for (int i = 0; i < kTile; ++i) {
#pragma unroll
      for (int j = 0; j < kTile; ++j) sums[i][j] += left[i] * right[j];
    }
  }
#pragma unroll
  for (int i = 0; i < kTile; ++i) {
#pragma unroll
    for (int j = 0; j < kTile; ++j) m.c[(row + i) * side + column + j] = sums[i][j];
  }
}

}  // namespace csg

extern "C" {

#define CSG_KERNEL(kind)                                                        \
  __global__ void csg_##kind(csg::Stamps* stamps, csg::Ticks ticks) {           \
    csg::spin(stamps, ticks);                                                   \
  }
CSG_KINDS(CSG_KERNEL)
#undef CSG_KERNEL

// Collectives of known length, on this device alone.
#define CSG_MOCKS(EACH)                                                               \
  EACH(all_reduce) EACH(all_gather) EACH(reduce_scatter) EACH(all_to_all)             \
  EACH(barrier) EACH(broadcast) EACH(scatter) EACH(reduce) EACH(gather) EACH(send) EACH(recv)
#define CSG_KERNEL(op)                                                                     \
  __global__ void ncclDevKernel_Mock_##op(csg::Stamps* stamps, csg::Ticks ticks,           \
                                          csg::Moved moved) {                              \
    if (moved.data) csg::spin_moving(stamps, ticks, moved);                                \
    else csg::spin(stamps, ticks);                                                         \
  }
CSG_MOCKS(CSG_KERNEL)
#undef CSG_KERNEL

__global__ void csg_gemm(csg::Stamps* stamps, csg::Matrices matrices, int steps) {
  if (threadIdx.x == 0) csg::begins(stamps, csg::device_ticks());
  csg::multiply(matrices, steps);
  if (threadIdx.x % 32 == 0) csg::ends(stamps);
}

__global__ void csg_stamp(csg::Ticks* stamp) { *stamp = csg::device_ticks(); }

// The smallest step of the clock.
__global__ void csg_clock_step(csg::Ticks* smallest) {
  csg::Ticks least = ~0ULL, last = csg::device_ticks();
  for (int i = 0; i < csg::kStepReads; ++i) {
    const csg::Ticks now = csg::device_ticks();
    if (now != last && now - last < least) least = now - last;
    last = now;
  }
  *smallest = least;
}

// Answers the host's questions what time it is; without one for so many ticks it ends.
__global__ void csg_anchor(volatile csg::Ticks* asked, volatile csg::Ticks* answered,
                           volatile csg::Ticks* time, int rounds, csg::Ticks patience) {
  for (csg::Ticks round = 1; round <= static_cast<csg::Ticks>(rounds); ++round) {
    const csg::Ticks since = csg::device_ticks();
    while (*asked != round) {
      if (csg::device_ticks() - since > patience) return;
    }
    *time = csg::device_ticks();
    csg::fence_for_host();
    *answered = round;
  }
}

}  // extern "C"
