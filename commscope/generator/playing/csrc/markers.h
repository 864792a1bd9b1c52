// Ranges with a label, for whichever profiler watches: roctx, NVTX, or a function of the caller.
#pragma once

#include <dlfcn.h>

#include <string>

#if defined(__CUDACC__) && __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define CSG_NVTX_HEADER 1
#endif

namespace csg {

// Called with 1 and a label where a range begins, and with 0 and "" where the last one ends; with 2
// and "" before them all, where clocks and kernels are ready, and with 3 and "" behind, before clocks
// are read again: what a profiler records in between belongs to the schedule.
using MarkerFunction = void (*)(int kind, const char* label);

class Markers {
 public:
  Markers(MarkerFunction function, bool wanted) {
    if (!wanted) return;
    function_ = function;
    if (!function) find_library();
  }

  void push(const std::string& label) const {
    if (function_) function_(1, label.c_str());
    if (push_) push_(label.c_str());
  }

  void pop() const {
    if (function_) function_(0, "");
    if (pop_) pop_();
  }

  void ready() const {
    if (function_) function_(2, "");
  }

  void done() const {
    if (function_) function_(3, "");
  }

  // PyTorch's profiler knows steps by this name; in our own ranges they are like the others.
  void push_step(std::int64_t number) const {
    if (number < 0) return push("csg.warmup");
    push((function_ ? "ProfilerStep#" : "csg.step#") + std::to_string(number));
  }

 private:
  using Push = int (*)(const char*);
  using Pop = int (*)();

#if defined(CSG_NVTX_HEADER)
  void find_library() {
    push_ = [](const char* label) { return nvtxRangePushA(label); };
    pop_ = [] { return nvtxRangePop(); };
  }
#elif defined(__CUDACC__)
  void find_library() { find("nvtxRangePushA", "nvtxRangePop", {"libnvToolsExt.so.1"}); }
#elif defined(__HIPCC__)
  // A profiler preloads its own library, which has to be found before any other.
  void find_library() {
    find("roctxRangePushA", "roctxRangePop",
         {"librocprofiler-sdk-roctx.so", "librocprofiler-sdk-roctx.so.1", "libroctx64.so",
          "libroctx64.so.4"});
  }
#else
  void find_library() {}
#endif

  void find(const char* push, const char* pop, std::initializer_list<const char*> libraries) {
    if (take(RTLD_DEFAULT, push, pop)) return;
    for (const char* name : libraries) {
      void* library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
      if (library && take(library, push, pop)) return;
    }
  }

  bool take(void* library, const char* push, const char* pop) {
    push_ = reinterpret_cast<Push>(dlsym(library, push));
    pop_ = reinterpret_cast<Pop>(dlsym(library, pop));
    if (push_ && pop_) return true;
    push_ = nullptr;
    pop_ = nullptr;
    return false;
  }

  MarkerFunction function_ = nullptr;
  Push push_ = nullptr;
  Pop pop_ = nullptr;
};

}  // namespace csg
