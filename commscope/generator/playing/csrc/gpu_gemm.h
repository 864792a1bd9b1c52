// Matrix products that take about as long as they are told: real kernels, which compete with
// collectives for memory and for places on the device.
#pragma once

#include <algorithm>

#include "gpu_clock.h"
#include "gpu_kernels.h"

namespace csg {

class Gemm {
 public:
  void prepare(const DeviceClock& clock, int side, int cus, hipStream_t stream) {
    const std::size_t elements = static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
    const std::size_t bytes = 3 * elements * sizeof(float);
    float* memory = nullptr;
    CSG_CHECK(hipMalloc(reinterpret_cast<void**>(&memory), bytes));
    CSG_CHECK(hipMemset(memory, 0, bytes));
    matrices_ = {side, memory, memory + elements, memory + 2 * elements};
    blocks_of_wave_ = 2 * cus;
    CSG_CHECK(hipMalloc(reinterpret_cast<void**>(&stamps_), sizeof(Stamps)));
    measure(clock, stream);
  }

  // Blocks come in waves that are short, so that others find a place between them.
  void launch(Stamps* stamps, Ns duration, hipStream_t stream) const {
    const double us = static_cast<double>(duration) / 1000;
    const int waves = std::max(1, static_cast<int>(us / kWaveUs));
    const int steps = static_cast<int>((us / waves - wave_us_) / step_us_);
    launch(stamps, waves, std::max(1, steps), stream);
  }

 private:
  static constexpr double kWaveUs = 40;
  static constexpr int kWaves = 8;

  void launch(Stamps* stamps, int waves, int steps, hipStream_t stream) const {
    csg_gemm<<<static_cast<unsigned>(waves * blocks_of_wave_), kGemmThreads, 0, stream>>>(
        stamps, matrices_, steps);
    CSG_LAUNCHED("launch of csg_gemm");
  }

  // From two lengths: what a wave takes in itself, and what every step of it adds.
  void measure(const DeviceClock& clock, hipStream_t stream) {
    constexpr int kFew = 32, kMany = 160;
    const double few = wave(clock, kFew, stream), many = wave(clock, kMany, stream);
    step_us_ = std::max((many - few) / (kMany - kFew), 1e-3);
    wave_us_ = std::max(few - kFew * step_us_, 0.0);
  }

  double wave(const DeviceClock& clock, int steps, hipStream_t stream) const {
    double shortest = 1e9;
    for (int round = 0; round < 8; ++round) {
      Stamps stamps{~0ULL, 0};
      CSG_CHECK(hipMemcpy(stamps_, &stamps, sizeof stamps, hipMemcpyHostToDevice));
      launch(stamps_, kWaves, steps, stream);
      CSG_CHECK(hipStreamSynchronize(stream));
      CSG_CHECK(hipMemcpy(&stamps, stamps_, sizeof stamps, hipMemcpyDeviceToHost));
      const auto ticks = static_cast<double>(stamps.end - stamps.begin);
      shortest = std::min(shortest, ticks / clock.ticks_per_us() / kWaves);
    }
    return shortest;
  }

  Matrices matrices_{};
  Stamps* stamps_ = nullptr;
  int blocks_of_wave_ = 1;
  double wave_us_ = 0, step_us_ = 1;
};

}  // namespace csg
