// Ends the program where it makes no progress, and says where it was.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "clocks.h"
#include "failure.h"

namespace csg {

class Watchdog {
 public:
  Watchdog(int rank, long timeout_s) : rank_(rank), timeout_s_(timeout_s), since_(monotonic_ns()) {
    thread_ = std::thread([this] { watch(); });
  }

  ~Watchdog() { stop(); }

  void stop() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // What begins now; nothing may take longer than the time-out.
  void at(const std::string& what) {
    const std::lock_guard<std::mutex> lock(mutex_);
    what_ = what;
    since_ = monotonic_ns();
  }

  std::string where() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return what_;
  }

  // How to ask what the device has not finished; null where there is nobody to ask.
  void ask(std::function<std::string()> unfinished) {
    const std::lock_guard<std::mutex> lock(mutex_);
    unfinished_ = std::move(unfinished);
  }

 private:
  void watch() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!over_) {
      const Ns left = since_ + timeout_s_ * kSecond - monotonic_ns();
      if (left <= 0) give_up();
      changed_.wait_for(lock, std::chrono::nanoseconds(left));
    }
  }

  [[noreturn]] void give_up() {
    // Asking may hang as well.
    signal(SIGALRM, [](int) { _exit(kHangs); });
    alarm(5);
    const std::string more = unfinished_ ? unfinished_() : "";
    std::fprintf(stderr, "commscope-gen: rank %d: hangs: no progress in %ld s (%s)%s\n", rank_,
                 timeout_s_, what_.c_str(), more.c_str());
    std::fflush(stderr);
    _exit(kHangs);
  }

  const int rank_;
  const long timeout_s_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_ = "start";
  Ns since_;
  bool over_ = false;
  std::function<std::string()> unfinished_;
  std::thread thread_;
};

}  // namespace csg
