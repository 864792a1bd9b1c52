// The host back end: streams are threads, kernels are sleeps, collectives are meetings of the
// processes followed by a sleep for as long as the transfer would take.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "activities.h"
#include "engine.h"
#include "host_meeting.h"
#include "host_names.h"
#include "host_stream.h"
#include "kinds.h"
#include "rendezvous.h"

namespace csg {

// As commscope.generator.costs has them by default: ns, and bytes in a microsecond.
struct Link {
  Ns latency;
  std::int64_t bytes_per_us;

  Ns time(std::int64_t bytes, std::int64_t numerator = 1, std::int64_t denominator = 1) const {
    const double us = static_cast<double>(bytes) * static_cast<double>(numerator) /
                      static_cast<double>(bytes_per_us * denominator);
    return latency + static_cast<Ns>(us * 1000);
  }
};
constexpr Link kNetwork{12000, 300000}, kPinned{2000, 50000}, kPageable{10000, 8000};
constexpr std::int64_t kEagerBytes = 1 << 20;

class HostEngine : public Engine {
 public:
  HostEngine(const Setting& setting, Collector* collector)
      : schedule_(setting.schedule), options_(setting.options), collector_(collector),
        events_(schedule_.events.size()), timings_(schedule_.program.size()) {}

  void prepare() override {
    for (std::size_t i = 0; i < schedule_.streams.size(); ++i) {
      streams_.push_back(std::make_unique<HostStream>());
    }
    numbers_.assign(schedule_.streams.size(), -1);
    if (options_.mock) return;
    std::map<std::string, std::size_t> times;
    for (const Operation& each : schedule_.program) {
      if (communicates(each.op)) ++times[channel(each)];
    }
    for (const Operation& each : schedule_.program) {
      if (communicates(each.op) && !meetings_.count(channel(each))) {
        make_meeting(each, times[channel(each)]);
      }
    }
  }

  void compute(std::size_t place, const Operation& o) override {
    const Activity activity = launched("kernel", kernel_of(o.name), "cudaLaunchKernel", o);
    const Ns duration = o.duration;
    run(place, o, activity, [duration](Ns begin) { sleep_until(begin + duration); });
  }

  void collective(std::size_t place, const Operation& o) override {
    const Activity activity =
        launched("kernel", host_kernel_name(o.name, options_.mock), "cudaLaunchKernelExC", o);
    if (options_.mock) return run_mock(place, o, activity);
    const std::vector<int>& members = members_of(o);
    const Ns transfer = o.duration == kUnknown ? transfer_of(o, members.size()) : o.duration;
    meet(place, o, activity, {place_of(schedule_.rank, members), needs_of(o), transfer});
  }

  void message(std::size_t place, const Operation& o) override {
    const Activity activity =
        launched("kernel", host_kernel_name(o.name, options_.mock), "cudaLaunchKernelExC", o);
    if (options_.mock) return run_mock(place, o, activity);
    const std::size_t self = sender_first(o);
    std::vector<std::size_t> needs{0};
    if (self == 1 || o.bytes > kEagerBytes) needs.push_back(1);
    meet(place, o, activity, {self, needs, kNetwork.time(o.bytes)});
  }

  void copy(std::size_t place, const Operation& o) override {
    const Link& link = o.pageable ? kPageable : kPinned;
    const Ns duration = link.time(o.bytes);
    const Ns called = realtime_ns();
    Activity activity = on_stream("memcpy", host_copy_name(o.to_device, o.pageable), o);
    activity.bytes = o.bytes;
    activity.copy = o.to_device ? "h2d" : "d2h";
    run(place, o, activity, [duration](Ns begin) { sleep_until(begin + duration); });
    if (o.pageable) stream(o).drain();
    call("cudaMemcpyAsync", called, activity.correlation);
  }

  void record(const Operation& o) override {
    const Ns called = realtime_ns();
    const std::size_t event = event_of(o);
    const long recording = events_.record(event);
    stream(o).add([this, event, recording] { events_.happen(event, recording); });
    call("cudaEventRecord", called, ++correlation_);
  }

  void wait(const Operation& o) override {
    const Ns called = realtime_ns();
    const std::size_t event = event_of(o);
    const long recording = events_.recorded(event);
    stream(o).add([this, event, recording] { events_.wait(event, recording); });
    call("cudaStreamWaitEvent", called, ++correlation_);
  }

  void sync() override {
    const Ns called = realtime_ns();
    for (const auto& each : streams_) each->drain();
    call("cudaDeviceSynchronize", called, ++correlation_);
  }

  void sync_stream(const Operation& o) override {
    const Ns called = realtime_ns();
    stream(o).drain();
    call("cudaStreamSynchronize", called, ++correlation_);
  }

  void sync_event(const Operation& o) override {
    const Ns called = realtime_ns();
    events_.wait(event_of(o), events_.recorded(event_of(o)));
    call("cudaEventSynchronize", called, ++correlation_);
  }

  bool has_happened(const Operation& o) override {
    const Ns called = realtime_ns();
    const bool has = events_.has_happened(event_of(o), events_.recorded(event_of(o)));
    call("cudaEventQuery", called, ++correlation_);
    return has;
  }

  void allocate(const Operation& o) override {
    const Ns called = realtime_ns();
    sleep_until(monotonic_ns() + o.duration);
    call("cudaMalloc", called, ++correlation_);
  }

  void free(const Operation& o) override {
    const Ns called = realtime_ns();
    for (const auto& each : streams_) each->drain();
    sleep_until(monotonic_ns() + o.duration);
    call("cudaFree", called, ++correlation_);
  }

  void finish(std::vector<Timing>& timings) override {
    for (const auto& each : streams_) each->drain();
    for (std::size_t i = 0; i < timings.size() && options_.stamps; ++i) {
      timings[i].begin = timings_[i].begin;
      timings[i].end = timings_[i].end;
    }
  }

  Description describe() const override {
    Description d;
    d.backend = d.ccl = "host";
    d.vendor = "none";
    d.device_name = "threads of the host";
    d.cus = static_cast<int>(std::thread::hardware_concurrency());
    d.tick_step_us = 0.001;
    return d;
  }

  std::string unfinished() override {
    for (std::size_t i = 0; i < timings_.size(); ++i) {
      if (timings_[i].begin != kUnknown && timings_[i].end == kUnknown) {
        return "; operation " + std::to_string(i) + ", " + schedule_.program[i].text +
               ", has not ended";
      }
    }
    return "";
  }

 private:
  struct Part {
    std::size_t member;  // who this rank is
    std::vector<std::size_t> needs;  // whose arrivals it has to wait for
    Ns transfer;
  };
  struct Span {
    std::atomic<Ns> begin{kUnknown}, end{kUnknown};
  };

  template <class Work>
  void run(std::size_t place, const Operation& o, Activity activity, Work work) {
    Span& span = timings_[place];
    stream(o).add([this, &span, activity, work]() mutable {
      const Instant begin = now_on_both();
      span.begin = begin.monotonic;
      work(begin.monotonic);
      const Instant end = now_on_both();
      span.end = end.monotonic;
      activity.begin_ns = begin.realtime;
      activity.end_ns = end.realtime;
      if (collector_) collector_->add(activity);
    });
  }

  void run_mock(std::size_t place, const Operation& o, const Activity& activity) {
    const Ns duration = o.duration == kUnknown ? options_.mock_us * 1000 : o.duration;
    run(place, o, activity, [duration](Ns begin) { sleep_until(begin + duration); });
  }

  void make_meeting(const Operation& o, std::size_t times) {
    const bool is_pair = o.op != Op::kCollective;
    const std::size_t members = is_pair ? 2 : members_of(o).size();
    const std::size_t self = is_pair ? sender_first(o) : place_of(schedule_.rank, members_of(o));
    const std::string path = options_.rendezvous + "/" + channel(o) + ".meeting";
    auto made = std::make_unique<Meeting>(path, members, times);
    if (made->was_used_by(self)) throw used_before(path);
    meetings_[channel(o)] = std::move(made);
  }

  // The place of this rank in a message's meeting.
  static std::size_t sender_first(const Operation& o) { return o.op == Op::kSend ? 0 : 1; }

  void meet(std::size_t place, const Operation& o, const Activity& activity, const Part& part) {
    Meeting* meeting = meetings_.at(channel(o)).get();
    const std::size_t time = counts_[channel(o)]++;
    run(place, o, activity, [meeting, time, part](Ns begin) {
      meeting->arrive(part.member, time, begin);
      sleep_until(meeting->wait_for(part.needs, time) + part.transfer);
    });
  }

  std::vector<std::size_t> needs_of(const Operation& o) const {
    const std::vector<int>& members = members_of(o);
    const std::size_t self = place_of(schedule_.rank, members);
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < members.size(); ++i) all.push_back(i);
    if (synchronises(o.name) || o.bytes > kEagerBytes) return all;
    const std::size_t root = place_of(o.other, members);
    if (is_from_root(o.name)) return {self, root};
    return self == root ? all : std::vector<std::size_t>{self};
  }

  static Ns transfer_of(const Operation& o, std::size_t members) {
    const auto n = static_cast<std::int64_t>(members);
    if (o.name == "all_reduce") return kNetwork.time(o.bytes, 2 * (n - 1), n);
    const bool shares = o.name == "all_gather" || o.name == "reduce_scatter" || o.name == "all_to_all";
    return shares ? kNetwork.time(o.most_bytes(), n - 1, n) : kNetwork.time(o.bytes);
  }

  // The name of where the members of an operation meet.
  std::string channel(const Operation& o) const {
    const std::string name = "communicator" + std::to_string(o.communicator);
    if (o.op == Op::kCollective) return name;
    const int self = schedule_.rank;
    const bool sends = o.op == Op::kSend;
    return name + "_" + std::to_string(sends ? self : o.other) + "_to_" +
           std::to_string(sends ? o.other : self);
  }

  static std::string kernel_of(const std::string& kind) {
#define CSG_NAME(kind) #kind,
    static const std::set<std::string> known{CSG_KINDS(CSG_NAME) "gemm"};
#undef CSG_NAME
    return "csg_" + (known.count(kind) ? kind : "other");
  }

  Activity launched(const char* kind, const std::string& name, const char* call_name,
                    const Operation& o) {
    const Ns called = realtime_ns();
    const Activity activity = on_stream(kind, name, o);
    call(call_name, called, activity.correlation);
    return activity;
  }

  Activity on_stream(const char* kind, const std::string& name, const Operation& o) {
    Activity activity;
    activity.kind = kind;
    activity.name = name;
    activity.correlation = ++correlation_;
    activity.device = schedule_.local_rank;
    int& number = numbers_[static_cast<std::size_t>(o.stream)];
    if (number < 0) number = used_streams_++;
    activity.stream = number;
    return activity;
  }

  void call(const char* name, Ns begin, std::int64_t correlation) {
    if (!collector_) return;
    Activity activity;
    activity.kind = "runtime";
    activity.name = name;
    activity.begin_ns = begin;
    activity.end_ns = realtime_ns();
    activity.correlation = correlation;
    activity.thread = thread_number();
    collector_->add(activity);
  }

  HostStream& stream(const Operation& o) const { return *streams_[static_cast<std::size_t>(o.stream)]; }
  static std::size_t event_of(const Operation& o) { return static_cast<std::size_t>(o.event); }

  const std::vector<int>& members_of(const Operation& o) const {
    return schedule_.communicators[static_cast<std::size_t>(o.communicator)].members;
  }

  static std::size_t place_of(int rank, const std::vector<int>& members) {
    return static_cast<std::size_t>(std::find(members.begin(), members.end(), rank) - members.begin());
  }

  const Schedule& schedule_;
  const Options& options_;
  Collector* const collector_;
  Events events_;
  std::vector<Span> timings_;
  std::map<std::string, std::unique_ptr<Meeting>> meetings_;
  std::map<std::string, std::size_t> counts_;  // of meetings so far
  std::vector<int> numbers_;                   // of streams, by order of use
  int used_streams_ = 0;
  std::int64_t correlation_ = 0;
  // Last, so that their threads end before what they use goes.
  std::vector<std::unique_ptr<HostStream>> streams_;
};

}  // namespace csg
