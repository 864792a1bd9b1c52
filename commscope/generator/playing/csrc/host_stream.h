// Streams and events of the host back end: a thread that does one task after the other.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "clocks.h"

namespace csg {

// What streams and host wait for. An event is a count: how often it was recorded so far.
class Events {
 public:
  explicit Events(std::size_t number) : recorded_(number), happened_(number) {}

  // Of the host: which one of the recordings is meant from now on.
  long record(std::size_t event) { return ++recorded_[event]; }
  long recorded(std::size_t event) const { return recorded_[event]; }

  void happen(std::size_t event, long recording) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      happened_[event] = std::max(happened_[event], recording);
    }
    changed_.notify_all();
  }

  bool has_happened(std::size_t event, long recording) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return happened_[event] >= recording;
  }

  void wait(std::size_t event, long recording) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return happened_[event] >= recording; });
  }

 private:
  std::vector<long> recorded_, happened_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

class HostStream {
 public:
  using Task = std::function<void()>;

  HostStream() : thread_([this] { work(); }) {}

  ~HostStream() {
    add(nullptr);
    thread_.join();
  }

  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;

  // A task that is null ends the thread.
  void add(Task task) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_all();
  }

  void drain() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return tasks_.empty(); });
  }

 private:
  void work() {
    wake_up_in_time();
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !tasks_.empty(); });
      const Task task = tasks_.front();
      if (!task) return;
      lock.unlock();
      task();
      lock.lock();
      tasks_.pop_front();  // only now: until then it is not drained
      changed_.notify_all();
    }
  }

  std::deque<Task> tasks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace csg
