// RCCL or NCCL, found when the program runs: without it, all but real collectives works.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "gpu_api.h"

#if !defined(__CUDACC__) && __has_include(<rccl/rccl.h>)
#include <rccl/rccl.h>
#elif defined(__CUDACC__) && __has_include(<nccl.h>)
#include <nccl.h>
#else
#include "ccl_min.h"
#endif

namespace csg {

#if defined(__CUDACC__)
constexpr const char* kCcl = "nccl";
constexpr const char* kCclNames[] = {"libnccl.so.2", "libnccl.so"};
#else
constexpr const char* kCcl = "rccl";
constexpr const char* kCclNames[] = {"librccl.so.1", "librccl.so"};
#endif

#define CSG_CCL_FUNCTIONS(EACH)                                                              \
  EACH(GetVersion) EACH(GetUniqueId) EACH(CommInitRank) EACH(GetErrorString) EACH(AllReduce) \
  EACH(ReduceScatter) EACH(AllGather) EACH(Broadcast) EACH(Reduce) EACH(Send) EACH(Recv)     \
  EACH(GroupStart) EACH(GroupEnd)

struct CclLibrary {
#define CSG_MEMBER(name) decltype(&nccl##name) name = nullptr;
  CSG_CCL_FUNCTIONS(CSG_MEMBER)
#undef CSG_MEMBER
  decltype(&ncclGetLastError) GetLastError = nullptr;  // older libraries lack it

  static const CclLibrary& get() {
    static const CclLibrary found = load();
    return found;
  }

  int version() const {
    int found = 0;
    GetVersion(&found);
    return found;
  }

  void check(ncclResult_t result, const char* call) const {
    if (result == ncclSuccess) return;
    const char* more = GetLastError ? GetLastError(nullptr) : nullptr;
    std::string said = std::string("nccl") + call + ": " + GetErrorString(result);
    if (more && *more) said += "; " + std::string(more);
    for (char& each : said) {
      if (each == '\n') each = ' ';
    }
    throw failed(said);
  }

 private:
  static CclLibrary load() {
    void* library = open();
    CclLibrary found;
#define CSG_FIND(name) found.find(library, found.name, "nccl" #name);
    CSG_CCL_FUNCTIONS(CSG_FIND)
#undef CSG_FIND
    found.GetLastError =
        reinterpret_cast<decltype(&ncclGetLastError)>(dlsym(library, "ncclGetLastError"));
    return found;
  }

  template <class Function>
  void find(void* library, Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (!function) {
      throw Failure(kNoCollectives, std::string(kCcl) + " has no function " + name);
    }
  }

  // First the one that the process has already, as under PyTorch.
  static void* open() {
    std::string tried;
    for (const char* name : kCclNames) {
      if (void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return library;
    }
    const char* given = std::getenv("COMMSCOPE_CCL_LIBRARY");
    if (given) return open_or_fail(given);
#if defined(CSG_CCL_LIBRARY)
    if (void* library = dlopen(CSG_CCL_LIBRARY, RTLD_NOW | RTLD_LOCAL)) return library;
    tried = CSG_CCL_LIBRARY ", ";
#endif
    for (const char* name : kCclNames) {
      if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
      tried += std::string(name) + ", ";
    }
    throw Failure(kNoCollectives,
                  "no collective library; looked for " + tried.substr(0, tried.size() - 2) +
                      ": install it, name its file in COMMSCOPE_CCL_LIBRARY, or use --comm mock");
  }

  static void* open_or_fail(const char* path) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      throw Failure(kNoCollectives, std::string("COMMSCOPE_CCL_LIBRARY: ") + dlerror());
    }
    return library;
  }
};

#define CSG_CCL(name, ...) \
  ::csg::CclLibrary::get().check(::csg::CclLibrary::get().name(__VA_ARGS__), #name)

}  // namespace csg
