// The clocks of the host, and waiting for a time on one of them. All times are ns.
#pragma once

#include <sys/prctl.h>
#include <time.h>

#include <cerrno>
#include <cstdint>

namespace csg {

using Ns = std::int64_t;
constexpr Ns kUnknown = -1;
constexpr Ns kSecond = 1000000000;

inline Ns read_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<Ns>(now.tv_sec) * kSecond + now.tv_nsec;
}

inline Ns monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }
inline Ns realtime_ns() { return read_clock(CLOCK_REALTIME); }

// Of the calling thread, and of those that it starts: the kernel may wake it up late by this much.
inline void wake_up_in_time() { prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

inline void sleep_until(Ns end_ns) {
  timespec end{};
  end.tv_sec = static_cast<time_t>(end_ns / kSecond);
  end.tv_nsec = static_cast<long>(end_ns % kSecond);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) == EINTR) {
  }
}

struct Instant {
  Ns monotonic, realtime;
};

// Now on two clocks, each read for itself, and again where another thread came in between.
inline Instant now_on_both() {
  constexpr Ns kClose = 1000;
  constexpr int kTries = 100;
  for (int i = 0;; ++i) {
    const Instant now{monotonic_ns(), realtime_ns()};
    if (monotonic_ns() - now.monotonic < kClose || i == kTries) return now;
  }
}

// The three clocks, read as close together as they can be.
struct ClockReading {
  Ns realtime, boottime, monotonic;
};

// The middle of the two readings of the monotonic clock that lie closest together, of some.
inline ClockReading read_clocks_together() {
  ClockReading best{};
  Ns tightest = kSecond;
  for (int i = 0; i < 32; ++i) {
    const Ns before = monotonic_ns();
    const Ns realtime = realtime_ns();
    const Ns boottime = read_clock(CLOCK_BOOTTIME);
    const Ns width = monotonic_ns() - before;
    if (width < tightest) {
      tightest = width;
      best = {realtime, boottime, before + width / 2};
    }
  }
  return best;
}

}  // namespace csg
