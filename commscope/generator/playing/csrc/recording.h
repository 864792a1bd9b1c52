// Writes what was measured: commscope.recorded/1, a header and a line for every operation.
#pragma once

#include <unistd.h>

#include <string>
#include <vector>

#include "activities.h"
#include "engine.h"

namespace csg {

inline JsonLine header_of(const Schedule& schedule, const Description& d, const ClockReading& clock) {
  JsonLine line, clocks;
  clocks.add("realtime_ns", clock.realtime).add("boottime_ns", clock.boottime);
  clocks.add("monotonic_ns", clock.monotonic);
  line.add("schema", "commscope.recorded/1").add("backend", d.backend).add("vendor", d.vendor);
  line.add("ccl", d.ccl).add("ccl_version", d.ccl_version);
  line.add("device_name", d.device_name).add("pci", d.pci).add("cus", d.cus);
  line.add("world", schedule.world).add("rank", schedule.rank);
  line.add("pid", static_cast<std::int64_t>(getpid())).add("thread", thread_number());
  line.add("ticks_per_us", d.ticks_per_us).add("tick_step_us", d.tick_step_us);
  line.add("anchor_err_us", d.anchor_err_us).add("host_anchor_err_us", d.host_anchor_err_us);
  return line.add("clock", clocks);
}

inline JsonLine line_of(std::size_t place, const Timing& timing) {
  JsonLine line;
  line.add("i", static_cast<std::int64_t>(place));
  line.add("host_begin_ns", timing.host_begin).add("host_end_ns", timing.host_end);
  if (timing.begin != kUnknown) {
    line.add("begin_ns", timing.begin).add("end_ns", timing.end).add("src", timing.source);
  }
  return line;
}

inline void write_recording(const std::string& path, const JsonLine& header,
                            const std::vector<Timing>& timings) {
  JsonFile file(path);
  file.line(header);
  for (std::size_t place = 0; place < timings.size(); ++place) {
    file.line(line_of(place, timings[place]));
  }
  file.close();
}

}  // namespace csg
