// What a collector inside the program sees: activities of the device, calls of the host.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "json.h"

namespace csg {

struct Activity {
  std::string kind;  // kernel, memcpy, memset, runtime
  std::string name;
  std::int64_t begin_ns = 0, end_ns = 0;  // CLOCK_REALTIME
  std::int64_t correlation = 0;
  int device = -1, stream = -1;  // -1: of the host
  std::int64_t bytes = -1;
  std::int64_t blocks = -1, threads = -1;  // of kernels: work-groups, and work-items of each
  std::string copy;         // h2d, d2h, d2d
  std::int64_t thread = -1;  // of calls
};

class Collector {
 public:
  virtual ~Collector() = default;
  virtual void start() = 0;
  virtual void stop() = 0;

  void add(const Activity& activity) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (running_) seen_.push_back(activity);
  }

  void write(const std::string& path) const {
    JsonFile file(path);
    for (const Activity& each : seen_) file.line(line_of(each));
    file.close();
  }

 protected:
  void run(bool running) {
    const std::lock_guard<std::mutex> lock(mutex_);
    running_ = running;
  }

 private:
  static JsonLine line_of(const Activity& a) {
    JsonLine line;
    line.add("kind", a.kind).add("name", a.name);
    line.add("begin_ns", a.begin_ns).add("end_ns", a.end_ns).add("correlation", a.correlation);
    if (a.stream >= 0) line.add("device", a.device).add("stream", a.stream);
    if (a.bytes >= 0) line.add("bytes", a.bytes);
    if (a.blocks >= 0) line.add("blocks", a.blocks).add("threads", a.threads);
    if (!a.copy.empty()) line.add("copy", a.copy);
    if (a.thread >= 0) line.add("thread", a.thread);
    return line;
  }

  std::mutex mutex_;
  bool running_ = false;
  std::vector<Activity> seen_;
};

// Of the calls and activities that its user adds.
class OwnCollector : public Collector {
 public:
  void start() override { run(true); }
  void stop() override { run(false); }
};

inline std::int64_t thread_number() { return static_cast<std::int64_t>(syscall(SYS_gettid)); }

}  // namespace csg
