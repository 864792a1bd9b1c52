// Where processes of the host back end meet: when each member of a communicator arrived, in a file
// that all of them map. A file that is not there yet holds zeros: nobody has arrived.
#pragma once

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>
#include <vector>

#include "clocks.h"
#include "failure.h"

namespace csg {

class Meeting {
 public:
  // Of so many members, who meet so many times.
  Meeting(const std::string& path, std::size_t members, std::size_t times) : members_(members) {
    length_ = (kHeader + members * times) * sizeof(std::atomic<Ns>);
    const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
    if (file < 0) throw problem(path, errno);
    const int error = posix_fallocate(file, 0, static_cast<off_t>(length_));
    if (error != 0) throw problem(path, error);
    map_ = mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (map_ == MAP_FAILED) throw problem(path, errno);
  }

  ~Meeting() { munmap(map_, length_); }
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  void arrive(std::size_t member, std::size_t time, Ns when) {
    cell(member, time).store(when, std::memory_order_release);
    changes().fetch_add(1, std::memory_order_acq_rel);
    syscall(SYS_futex, &changes(), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }

  // Whether a member was here before it arrived: in an earlier run.
  bool was_used_by(std::size_t member) const { return cell(member, 0).load() != 0; }

  // When the last of some members arrived; waits for it.
  Ns wait_for(const std::vector<std::size_t>& members, std::size_t time) {
    Ns last = 0;
    for (const std::size_t member : members) last = std::max(last, wait_for(member, time));
    return last;
  }

 private:
  static constexpr std::size_t kHeader = 1;

  Ns wait_for(std::size_t member, std::size_t time) {
    for (;;) {
      const std::uint32_t seen = changes().load(std::memory_order_acquire);
      const Ns when = cell(member, time).load(std::memory_order_acquire);
      if (when != 0) return when;
      syscall(SYS_futex, &changes(), FUTEX_WAIT, seen, nullptr, nullptr, 0);
    }
  }

  std::atomic<Ns>& cell(std::size_t member, std::size_t time) const {
    return static_cast<std::atomic<Ns>*>(map_)[kHeader + time * members_ + member];
  }

  std::atomic<std::uint32_t>& changes() const {
    return *static_cast<std::atomic<std::uint32_t>*>(map_);
  }

  static Failure problem(const std::string& path, int error) {
    return failed(path + " cannot be shared: " + std::strerror(error));
  }

  std::size_t members_;
  std::size_t length_ = 0;
  void* map_ = nullptr;
};

}  // namespace csg
