// What runs on an NVIDIA GPU, as CUPTI sees it, for where no profiler is around the program.
#include <cupti.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "activities.h"
#include "clocks.h"
#include "failure.h"

namespace csg {
namespace {

#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
using CopyRecord = CUpti_ActivityMemcpy6;
#else
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
#endif
using FillRecord = CUpti_ActivityMemset4;

void check(CUptiResult result, const char* call) {
  if (result == CUPTI_SUCCESS) return;
  const char* said = nullptr;
  cuptiGetResultString(result, &said);
  throw failed(std::string(call) + ": " + (said ? said : "unknown error"));
}
#define CSG_CUPTI_CHECK(...) check((__VA_ARGS__), #__VA_ARGS__)

const char* direction(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD: return "h2d";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH: return "d2h";
    default: return "d2d";
  }
}

std::string memory_name(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE: return "Pageable";
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED: return "Pinned";
    default: return "Device";
  }
}

// As PyTorch's profiler calls copies.
std::string copy_name(const CopyRecord& record) {
  const std::string way = direction(record.copyKind);
  const char* word = way == "h2d" ? "HtoD" : way == "d2h" ? "DtoH" : "DtoD";
  return std::string("Memcpy ") + word + " (" + memory_name(record.srcKind) + " -> " +
         memory_name(record.dstKind) + ")";
}

class CuptiCollector : public Collector {
 public:
  void start() override {
    self_ = this;
    // The clock first: what was enabled before would keep another one.
    CSG_CUPTI_CHECK(cuptiActivityRegisterTimestampCallback(
        [] { return static_cast<std::uint64_t>(realtime_ns()); }));
    CSG_CUPTI_CHECK(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
    CSG_CUPTI_CHECK(cuptiActivityRegisterCallbacks(give_buffer, take_buffer));
    for (const CUpti_ActivityKind kind : kKinds) CSG_CUPTI_CHECK(cuptiActivityEnable(kind));
    run(true);
  }

  void stop() override {
    CSG_CUPTI_CHECK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    for (const CUpti_ActivityKind kind : kKinds) CSG_CUPTI_CHECK(cuptiActivityDisable(kind));
    run(false);
    if (dropped_) throw failed("CUPTI dropped " + std::to_string(dropped_) + " records");
  }

 private:
  // Never CUPTI_ACTIVITY_KIND_KERNEL: it lets kernels run one after the other.
  static constexpr CUpti_ActivityKind kKinds[] = {
      CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
      CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER};
  static constexpr std::size_t kBufferBytes = 8 << 20;

  static void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
    *size = *buffer ? kBufferBytes : 0;
    *records = 0;
  }

  static void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                   std::size_t, std::size_t valid) {
    CUpti_Activity* record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
      self_->take(*record);
    }
    std::size_t dropped = 0;
    cuptiActivityGetNumDroppedRecords(context, stream, &dropped);
    self_->dropped_ += dropped;
    std::free(buffer);
  }

  void take(const CUpti_Activity& record) {
    switch (record.kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return take_kernel(reinterpret_cast<const KernelRecord&>(record));
      case CUPTI_ACTIVITY_KIND_MEMCPY:
        return take_copy(reinterpret_cast<const CopyRecord&>(record));
      case CUPTI_ACTIVITY_KIND_MEMSET:
        return take_fill(reinterpret_cast<const FillRecord&>(record));
      case CUPTI_ACTIVITY_KIND_RUNTIME:
        return take_call(reinterpret_cast<const CUpti_ActivityAPI&>(record),
                         CUPTI_CB_DOMAIN_RUNTIME_API);
      case CUPTI_ACTIVITY_KIND_DRIVER:
        return take_call(reinterpret_cast<const CUpti_ActivityAPI&>(record),
                         CUPTI_CB_DOMAIN_DRIVER_API);
      default: return;
    }
  }

  template <class Record>
  static Activity on_device(const Record& record, const char* kind) {
    Activity activity;
    activity.kind = kind;
    activity.begin_ns = static_cast<std::int64_t>(record.start);
    activity.end_ns = static_cast<std::int64_t>(record.end);
    activity.correlation = record.correlationId;
    activity.device = static_cast<int>(record.deviceId);
    activity.stream = static_cast<int>(record.streamId);
    return activity;
  }

  void take_kernel(const KernelRecord& record) {
    Activity activity = on_device(record, "kernel");
    activity.name = record.name ? record.name : "";
    activity.blocks = std::int64_t{record.gridX} * record.gridY * record.gridZ;
    activity.threads = std::int64_t{record.blockX} * record.blockY * record.blockZ;
    keep(activity);
  }

  void take_copy(const CopyRecord& record) {
    Activity activity = on_device(record, "memcpy");
    activity.name = copy_name(record);
    activity.bytes = static_cast<std::int64_t>(record.bytes);
    activity.copy = direction(record.copyKind);
    keep(activity);
  }

  void take_fill(const FillRecord& record) {
    Activity activity = on_device(record, "memset");
    activity.name = "Memset (Device)";
    activity.bytes = static_cast<std::int64_t>(record.bytes);
    keep(activity);
  }

  // Of the driver's calls only launches: NCCL launches so, and all others come twice.
  void take_call(const CUpti_ActivityAPI& record, CUpti_CallbackDomain domain) {
    const char* found = nullptr;
    cuptiGetCallbackName(domain, record.cbid, &found);
    const std::string name = found ? found : "";
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && name.rfind("cuLaunchKernel", 0) != 0) return;
    Activity activity;
    activity.kind = "runtime";
    activity.name = name.substr(0, name.find("_v"));
    activity.begin_ns = static_cast<std::int64_t>(record.start);
    activity.end_ns = static_cast<std::int64_t>(record.end);
    activity.correlation = record.correlationId;
    activity.thread = record.threadId;
    keep(activity);
  }

  // What has not ended when the buffers are emptied has a time of 0.
  void keep(const Activity& activity) {
    if (activity.begin_ns > 0 && activity.end_ns > 0) add(activity);
  }

  inline static CuptiCollector* self_ = nullptr;  // callbacks of CUPTI know nobody
  std::size_t dropped_ = 0;
};

}  // namespace

std::unique_ptr<Collector> cupti_collector() { return std::make_unique<CuptiCollector>(); }

}  // namespace csg
