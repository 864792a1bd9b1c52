// Ties three clocks together: that of the device, which kernels read; the events of its streams; and
// CLOCK_MONOTONIC of the host. Clocks drift, so that they are tied again from time to time, and
// times between two such anchors are interpolated.
#pragma once

#include <atomic>
#include <cmath>
#include <vector>

#include "clocks.h"
#include "gpu_kernels.h"

namespace csg {

class DeviceClock {
 public:
  void prepare() {
    int least = 0, greatest = 0;
    CSG_CHECK(hipDeviceGetStreamPriorityRange(&least, &greatest));
    CSG_CHECK(hipStreamCreateWithPriority(&stream_, hipStreamNonBlocking, greatest));
    CSG_CHECK(hipMalloc(reinterpret_cast<void**>(&stamps_), kRounds * sizeof(Ticks)));
    // Each word has a line of the cache for itself.
    void* page = nullptr;
    CSG_CHECK(hipHostMalloc(&page, 3 * kLine * sizeof(Ticks), hipHostMallocMapped));
    shared_ = static_cast<volatile Ticks*>(page);
    CSG_CHECK(hipHostGetDevicePointer(&page, page, 0));
    seen_by_device_ = static_cast<volatile Ticks*>(page);
    for (int i = 0; i < 2 * kRounds; ++i) {
      events_.emplace_back();
      CSG_CHECK(hipEventCreate(&events_.back()));
    }
    measure_step();
    measure_rate();
  }

  // The device has to be idle, or the anchor is loose.
  void anchor() {
    Anchor next = host_anchor();
    tie_events(next);
    anchors_.push_back(next);
  }

  std::size_t last_anchor() const { return anchors_.size() - 1; }
  Ns anchored_ns() const { return anchors_.back().host; }

  Ticks ticks_in(Ns duration) const {
    return static_cast<Ticks>(static_cast<double>(duration) / 1000 * ticks_per_us_);
  }
  double ticks_per_us() const { return ticks_per_us_; }
  double step_us() const { return step_ / ticks_per_us_; }

  double event_error_us() const {
    double most = 0;
    for (const Anchor& each : anchors_) most = std::max(most, each.event_error);
    return most / ticks_per_us_;
  }

  double host_error_us() const {
    Ns most = 0;
    for (const Anchor& each : anchors_) most = std::max(most, each.host_error);
    return static_cast<double>(most) / 1000;
  }

  // When an event happened that was recorded after this anchor; the device must have got there.
  Ns host_time(hipEvent_t event, std::size_t anchor) const {
    const Anchor& base = anchors_[anchor];
    float ms = 0;
    CSG_CHECK(hipEventElapsedTime(&ms, base.event, event));
    return host_time(base.event_ticks +
                     static_cast<Ticks>(std::llround(static_cast<double>(ms) * 1000 * ticks_per_us_)));
  }

  Ns host_time(Ticks ticks) const {
    std::size_t i = 0;
    while (i + 2 < anchors_.size() && anchors_[i + 1].ticks <= ticks) ++i;
    const Anchor& from = anchors_[i];
    const double passed = difference(ticks, from.ticks);
    double ns_per_tick = 1000 / ticks_per_us_;
    if (i + 1 < anchors_.size()) {
      const Anchor& to = anchors_[i + 1];
      ns_per_tick = static_cast<double>(to.host - from.host) / difference(to.ticks, from.ticks);
    }
    return from.host + std::llround(passed * ns_per_tick);
  }

 private:
  static constexpr int kRounds = 32;
  static constexpr int kLine = 32;
  static constexpr Ticks kPatience = 200000000;

  struct Anchor {
    Ticks ticks = 0;  // at this time of the host
    Ns host = 0;
    Ns host_error = kSecond;
    hipEvent_t event{};
    Ticks event_ticks = 0;
    double event_error = 0;  // in ticks
  };

  static double difference(Ticks later, Ticks earlier) {
    return static_cast<double>(static_cast<long long>(later - earlier));
  }

  volatile Ticks& asked() const { return shared_[0]; }
  volatile Ticks& answered() const { return shared_[kLine]; }
  volatile Ticks& time() const { return shared_[2 * kLine]; }

  void measure_step() {
    csg_clock_step<<<1, 1, 0, stream_>>>(stamps_);
    CSG_LAUNCHED("launch of csg_clock_step");
    Ticks step = 0;
    CSG_CHECK(hipStreamSynchronize(stream_));
    CSG_CHECK(hipMemcpy(&step, stamps_, sizeof step, hipMemcpyDeviceToHost));
    step_ = static_cast<double>(step);
  }

  // Rates are round numbers, which a measurement of some ms only finds nearly.
  void measure_rate() {
    const Anchor first = host_anchor();
    sleep_until(monotonic_ns() + kSecond / 20);
    const Anchor second = host_anchor();
    ticks_per_us_ = difference(second.ticks, first.ticks) * 1000 /
                    static_cast<double>(second.host - first.host);
    for (const double round : {25.0, 100.0, 1000.0}) {
      if (std::fabs(ticks_per_us_ / round - 1) < 0.005) ticks_per_us_ = round;
    }
  }

  Anchor host_anchor() {
    Anchor found;
    if (!ask_kernel(found)) time_kernels(found);
    return found;
  }

  static void keep_tighter(Anchor& best, Ns begin, Ns end, Ticks ticks) {
    if ((end - begin) / 2 >= best.host_error) return;
    best.host = begin + (end - begin) / 2;
    best.host_error = (end - begin) / 2;
    best.ticks = ticks;
  }

  // One kernel answers all rounds; where it cannot see the host's memory meanwhile, it gives up.
  bool ask_kernel(Anchor& best) {
    asked() = 0;
    answered() = 0;
    csg_anchor<<<1, 1, 0, stream_>>>(seen_by_device_, seen_by_device_ + kLine,
                                     seen_by_device_ + 2 * kLine, kRounds, kPatience);
    CSG_LAUNCHED("launch of csg_anchor");
    bool has_answered = true;
    for (Ticks round = 1; has_answered && round <= kRounds; ++round) {
      std::atomic_thread_fence(std::memory_order_seq_cst);
      const Ns begin = monotonic_ns();
      asked() = round;
      while (answered() != round && has_answered) has_answered = monotonic_ns() - begin < kSecond;
      const Ns end = monotonic_ns();
      std::atomic_thread_fence(std::memory_order_seq_cst);
      if (has_answered) keep_tighter(best, begin, end, time());
    }
    CSG_CHECK(hipStreamSynchronize(stream_));
    return has_answered;
  }

  void time_kernels(Anchor& best) {
    for (int round = 0; round < kRounds; ++round) {
      const Ns begin = monotonic_ns();
      csg_stamp<<<1, 1, 0, stream_>>>(stamps_);
      CSG_CHECK(hipStreamSynchronize(stream_));
      const Ns end = monotonic_ns();
      Ticks ticks = 0;
      CSG_CHECK(hipMemcpy(&ticks, stamps_, sizeof ticks, hipMemcpyDeviceToHost));
      keep_tighter(best, begin, end, ticks);
    }
  }

  // Of pairs of events with a stamp between them, the one that is closest together counts.
  void tie_events(Anchor& anchor) {
    for (int i = 0; i < kRounds; ++i) {
      CSG_CHECK(hipEventRecord(events_[at(2 * i)], stream_));
      csg_stamp<<<1, 1, 0, stream_>>>(stamps_ + i);
      CSG_CHECK(hipEventRecord(events_[at(2 * i + 1)], stream_));
    }
    CSG_CHECK(hipStreamSynchronize(stream_));
    Ticks stamps[kRounds];
    CSG_CHECK(hipMemcpy(stamps, stamps_, sizeof stamps, hipMemcpyDeviceToHost));
    int tightest = 0;
    float least = 0;
    for (int i = 0; i < kRounds; ++i) {
      float ms = 0;
      CSG_CHECK(hipEventElapsedTime(&ms, events_[at(2 * i)], events_[at(2 * i + 1)]));
      if (i == 0 || ms < least) {
        least = ms;
        tightest = i;
      }
    }
    anchor.event_error = static_cast<double>(least) * 1000 * ticks_per_us_ / 2;
    anchor.event_ticks = stamps[tightest] - static_cast<Ticks>(anchor.event_error);
    std::swap(anchor.event, events_[at(2 * tightest)]);
    CSG_CHECK(hipEventCreate(&events_[at(2 * tightest)]));
  }

  static std::size_t at(int place) { return static_cast<std::size_t>(place); }

  hipStream_t stream_{};
  Ticks* stamps_ = nullptr;
  volatile Ticks* shared_ = nullptr;
  volatile Ticks* seen_by_device_ = nullptr;
  std::vector<hipEvent_t> events_;
  std::vector<Anchor> anchors_;
  double ticks_per_us_ = 1000;
  double step_ = 0;
};

}  // namespace csg
