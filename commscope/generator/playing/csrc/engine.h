// What a program is played on: a GPU, or threads of the host.
#pragma once

#include <string>
#include <vector>

#include "options.h"
#include "schedule.h"
#include "watchdog.h"

namespace csg {

// When an operation of the program was issued, and when it ran on its stream; CLOCK_MONOTONIC.
struct Timing {
  Ns host_begin = kUnknown, host_end = kUnknown;
  Ns begin = kUnknown, end = kUnknown;
  const char* source = "device";  // of begin and end: device, or event
};

// What is played on, for the header of the recording.
struct Description {
  std::string backend, vendor, ccl, device_name, pci;
  std::int64_t ccl_version = 0;
  int cus = 0;  // compute units, or multiprocessors
  double ticks_per_us = 1000, tick_step_us = 0, anchor_err_us = 0, host_anchor_err_us = 0;
};

struct Setting {
  const Schedule& schedule;
  const Options& options;
  Watchdog& watchdog;
};

class Engine {
 public:
  virtual ~Engine() = default;

  // Makes all that the program needs, so that nothing is made while it is played.
  virtual void prepare() = 0;

  // These issue the operation with this place in the program.
  virtual void compute(std::size_t place, const Operation& operation) = 0;
  virtual void collective(std::size_t place, const Operation& operation) = 0;
  virtual void message(std::size_t place, const Operation& operation) = 0;
  virtual void copy(std::size_t place, const Operation& operation) = 0;

  virtual void record(const Operation& operation) = 0;
  virtual void wait(const Operation& operation) = 0;
  virtual void sync() = 0;
  virtual void sync_stream(const Operation& operation) = 0;
  virtual void sync_event(const Operation& operation) = 0;
  virtual bool has_happened(const Operation& operation) = 0;
  virtual void allocate(const Operation& operation) = 0;
  virtual void free(const Operation& operation) = 0;

  // Between steps, where nothing is measured.
  virtual void between_steps() {}

  // Waits for all, and fills in when operations ran on their streams.
  virtual void finish(std::vector<Timing>& timings) = 0;

  virtual Description describe() const = 0;

  // The first operation that has not ended, as words for a message; empty where unknown.
  virtual std::string unfinished() { return ""; }
};

// What ran last among equal names of the program: how many frees have nothing to free.
inline int frees_without_allocation(const std::vector<Operation>& program) {
  int held = 0, missing = 0;
  for (const Operation& each : program) {
    if (each.op == Op::kAllocate) ++held;
    if (each.op == Op::kFree && --held < 0) held = 0, ++missing;
  }
  return missing;
}

inline std::int64_t most_bytes(const std::vector<Operation>& program, bool (*counts)(Op)) {
  std::int64_t most = 0;
  for (const Operation& each : program) {
    if (counts(each.op)) most = std::max({most, each.bytes, each.most_bytes()});
  }
  return most;
}

}  // namespace csg
