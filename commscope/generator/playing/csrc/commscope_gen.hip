// Plays the program of one rank of a schedule, and writes what happened when. One source: for AMD
// GPUs (hipcc), NVIDIA GPUs (nvcc -x cu) and threads of the host (g++ -x c++).
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "activities.h"
#include "engine.h"
#include "markers.h"
#include "options.h"
#include "player.h"
#include "recording.h"
#include "schedule.h"
#include "watchdog.h"

#if defined(__HIPCC__) || defined(__HIP__) || defined(__CUDACC__)
#include "gpu_engine.h"
#else
#include "host_engine.h"
#endif

namespace csg {

#if defined(CSG_GPU)
#if defined(CSG_CUPTI)
std::unique_ptr<Collector> cupti_collector();
inline std::unique_ptr<Collector> collector() { return cupti_collector(); }
#else
// What runs on AMD is seen by a profiler around the program.
inline std::unique_ptr<Collector> collector() { return nullptr; }
#endif

inline std::unique_ptr<Engine> engine(const Setting& setting, Collector*) {
  return std::make_unique<GpuEngine>(setting);
}
#else
inline std::unique_ptr<Collector> collector() { return std::make_unique<OwnCollector>(); }

inline std::unique_ptr<Engine> engine(const Setting& setting, Collector* collector) {
  return std::make_unique<HostEngine>(setting, collector);
}
#endif

class Run {
 public:
  Run(const Options& options, MarkerFunction function)
      : options_(options), schedule_(read_schedule(options.schedule, options.rank)),
        markers_(function, options.markers), watchdog_(options.rank, options.timeout_s),
        setting_{schedule_, options_, watchdog_} {
#if defined(CSG_CUPTI)
    // Only one in a process can collect: who calls with markers does.
    if (function) return;
#endif
    if (options.collect) collector_ = collector();
  }

  void play() {
    engine_ = engine(setting_, collector_.get());
    watchdog_.at("preparing");
    engine_->prepare();
    const ClockReading clock = read_clocks_together();
    watchdog_.ask([this] { return engine_->unfinished(); });
    if (collector_) collector_->start();
    markers_.ready();
    Player player(setting_, *engine_, markers_);
    std::vector<Timing>& timings = player.play();
    engine_->sync();
    // Before the end, in which clocks are tied once more: that is no part of the schedule.
    if (collector_) collector_->stop();
    markers_.done();
    engine_->finish(timings);
    watchdog_.at("writing");
    const std::string end = "_rank" + std::to_string(options_.rank) + ".jsonl";
    write_recording(options_.out + "/recorded" + end,
                    header_of(schedule_, engine_->describe(), clock), timings);
    if (collector_) collector_->write(options_.out + "/activities" + end);
    watchdog_.ask(nullptr);
    engine_.reset();
  }

  std::string where() { return watchdog_.where(); }

  // After a failure: what was issued may never end, and whoever waits for it neither.
  void abandon() { watchdog_.stop(); }

 private:
  const Options options_;
  const Schedule schedule_;
  const Markers markers_;
  Watchdog watchdog_;
  const Setting setting_;
  std::unique_ptr<Collector> collector_;
  std::unique_ptr<Engine> engine_;
};

inline int report(int rank, const char* what, const std::string& where, int code) {
  const std::string who = rank < 0 ? "" : "rank " + std::to_string(rank) + ": ";
  const std::string more = where.empty() ? "" : " (" + where + ")";
  std::fprintf(stderr, "commscope-gen: %s%s%s\n", who.c_str(), what, more.c_str());
  return code;
}

inline int run(const Options& options, MarkerFunction function) {
  std::unique_ptr<Run> run;
  const auto where = [&run] { return run ? run->where() : std::string(); };
  int code = kFailed;
  try {
    run = std::make_unique<Run>(options, function);
    run->play();
    return 0;
  } catch (const Failure& failure) {
    code = report(options.rank, failure.what(), where(), failure.code);
  } catch (const std::exception& error) {
    report(options.rank, error.what(), where(), code);
  }
  if (run) run.release()->abandon();
  return code;
}

}  // namespace csg

// Plays as the program does; with `marker`, labels go there and not to a library. Returns the exit
// code of the program.
extern "C" int csg_run(int argc, char** argv, csg::MarkerFunction marker) {
  csg::Options options;
  try {
    options = csg::OptionReader(argc, argv).read();
  } catch (const csg::Failure& failure) {
    csg::report(-1, failure.what(), "", failure.code);
    std::fputs(csg::kUsage, stderr);
    return failure.code;
  }
  csg::wake_up_in_time();
  return csg::run(options, marker);
}

#if !defined(CSG_SHARED)
int main(int argc, char** argv) { return csg_run(argc, argv, nullptr); }
#endif
