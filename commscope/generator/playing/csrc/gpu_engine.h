// Plays on a GPU: streams, events, spinning kernels or matrix products, RCCL or NCCL.
#pragma once

#include <cctype>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ccl.h"
#include "engine.h"
#include "gpu_clock.h"
#include "gpu_gemm.h"
#include "gpu_kernels.h"

namespace csg {

using SpinKernel = void (*)(Stamps*, Ticks);
using MockKernel = void (*)(Stamps*, Ticks, Moved);

class GpuEngine : public Engine {
 public:
  explicit GpuEngine(const Setting& setting)
      : schedule_(setting.schedule), options_(setting.options), watchdog_(setting.watchdog),
        communicators_(setting), timers_(schedule_.program.size()) {}

  void prepare() override {
    find_device();
    watchdog_.at("tying the clocks of device and host together");
    clock_.prepare();
    watchdog_.at("making streams, events and buffers");
    make_streams();
    make_events();
    make_buffers();
    if (uses_gemm()) {
      gemm_.prepare(clock_, options_.gemm_side, cus_, streams_.empty() ? nullptr : streams_[0]);
    }
    if (uses_gemm() && options_.mock) prepare_moving();
    if (!options_.mock) communicators_.prepare();
    load_kernels();
    CSG_CHECK(hipDeviceSynchronize());
    clock_.anchor();
  }

  void compute(std::size_t place, const Operation& o) override {
    if (options_.gemm || o.name == "gemm") {
      gemm_.launch(stamps_of(place), o.duration, stream(o));
    } else {
      launch(kernel_of(o.name), cus_, place, o.duration, o);
    }
  }

  void collective(std::size_t place, const Operation& o) override {
    if (options_.mock) return mock(place, o);
    begin_timer(place, o);
    communicators_.collective(o, communication_, stream(o));
    end_timer(place, o);
  }

  void message(std::size_t place, const Operation& o) override {
    if (options_.mock) return mock(place, o);
    begin_timer(place, o);
    communicators_.message(o, communication_, stream(o));
    end_timer(place, o);
  }

  void copy(std::size_t place, const Operation& o) override {
    void* const host = o.pageable ? pageable_ : pinned_;
    const auto bytes = static_cast<std::size_t>(o.bytes);
    begin_timer(place, o);
    if (o.to_device) {
      CSG_CHECK(hipMemcpyAsync(device_, host, bytes, hipMemcpyHostToDevice, stream(o)));
    } else {
      CSG_CHECK(hipMemcpyAsync(host, device_, bytes, hipMemcpyDeviceToHost, stream(o)));
    }
    end_timer(place, o);
    // A driver may go on before the copy has ended.
    if (o.pageable) CSG_CHECK(hipStreamSynchronize(stream(o)));
  }

  void record(const Operation& o) override { CSG_CHECK(hipEventRecord(event(o), stream(o))); }
  void wait(const Operation& o) override { CSG_CHECK(hipStreamWaitEvent(stream(o), event(o), 0)); }
  void sync() override { CSG_CHECK(hipDeviceSynchronize()); }
  void sync_stream(const Operation& o) override { CSG_CHECK(hipStreamSynchronize(stream(o))); }
  void sync_event(const Operation& o) override { CSG_CHECK(hipEventSynchronize(event(o))); }

  bool has_happened(const Operation& o) override { return is_over(hipEventQuery(event(o))); }

  void allocate(const Operation& o) override {
    void* memory = nullptr;
    CSG_CHECK(hipMalloc(&memory, static_cast<std::size_t>(o.bytes)));
    allocated_.push_back(memory);
  }

  void free(const Operation&) override {
    void* const memory = allocated_.back();
    allocated_.pop_back();
    CSG_CHECK(hipFree(memory));
  }

  // Tying clocks together takes some 0.3 ms of an idle device.
  void between_steps() override {
    constexpr Ns kOften = 2 * kSecond;
    if (options_.stamps && monotonic_ns() - clock_.anchored_ns() > kOften && is_idle()) {
      clock_.anchor();
    }
  }

  void finish(std::vector<Timing>& timings) override {
    CSG_CHECK(hipDeviceSynchronize());
    if (!options_.stamps) return;
    clock_.anchor();
    std::vector<Stamps> stamps(schedule_.program.size());
    if (stamps.empty()) return;
    CSG_CHECK(hipMemcpy(stamps.data(), stamps_, stamps.size() * sizeof(Stamps),
                        hipMemcpyDeviceToHost));
    for (std::size_t i = 0; i < timings.size(); ++i) {
      if (timers_[i].begin) {
        timings[i].begin = clock_.host_time(timers_[i].begin, timers_[i].anchor);
        timings[i].end = clock_.host_time(timers_[i].end, timers_[i].anchor);
        timings[i].source = "event";
      } else if (stamps[i].end != 0) {
        timings[i].begin = clock_.host_time(stamps[i].begin);
        timings[i].end = clock_.host_time(stamps[i].end);
      }
    }
  }

  Description describe() const override {
    Description d;
    d.backend = d.vendor = CSG_BACKEND;
    d.ccl = options_.mock ? "mock" : kCcl;
    d.ccl_version = options_.mock ? 0 : CclLibrary::get().version();
    d.device_name = name_;
    d.pci = pci_;
    d.cus = cus_;
    d.ticks_per_us = clock_.ticks_per_us();
    d.tick_step_us = clock_.step_us();
    d.anchor_err_us = clock_.event_error_us();
    d.host_anchor_err_us = clock_.host_error_us();
    return d;
  }

  std::string unfinished() override {
    if (hipSetDevice(device_number_) != hipSuccess) return "";
    for (std::size_t i = 0; i < timers_.size(); ++i) {
      if (timers_[i].end && hipEventQuery(timers_[i].end) == hipErrorNotReady) {
        return "; operation " + std::to_string(i) + ", " + schedule_.program[i].text +
               ", has not ended";
      }
    }
    return "";
  }

 private:
  struct Timer {
    hipEvent_t begin{}, end{};
    std::size_t anchor = 0;
  };

  void find_device() {
    int count = 0;
    const hipError_t error = hipGetDeviceCount(&count);
    if (error != hipSuccess) {
      throw Failure(kNoGpu, std::string("no GPU (") + hipGetErrorString(error) + ")");
    }
    if (count == 0) throw Failure(kNoGpu, "no GPU");
    device_number_ = options_.device >= 0 ? options_.device : schedule_.local_rank;
    if (device_number_ >= count) {
      throw Failure(kWrongDevice, "device " + std::to_string(device_number_) + " is needed, there " +
                                      (count == 1 ? "is 1" : "are " + std::to_string(count)) +
                                      ", numbered from 0");
    }
    CSG_CHECK(hipSetDevice(device_number_));
    hipDeviceProp_t properties;
    CSG_CHECK(hipGetDeviceProperties(&properties, device_number_));
    name_ = properties.name;
    cus_ = properties.multiProcessorCount;
    char pci[32] = "";
    CSG_CHECK(hipDeviceGetPCIBusId(pci, sizeof pci, device_number_));
    for (const char each : std::string(pci)) pci_ += static_cast<char>(std::tolower(each));
  }

  // What communicates goes first: it is short, and others wait for it.
  void make_streams() {
    int least = 0, greatest = 0;
    CSG_CHECK(hipDeviceGetStreamPriorityRange(&least, &greatest));
    std::set<int> urgent;
    for (const Operation& each : schedule_.program) {
      if (communicates(each.op)) urgent.insert(each.stream);
    }
    for (int i = 0; i < static_cast<int>(schedule_.streams.size()); ++i) {
      streams_.emplace_back();
      CSG_CHECK(hipStreamCreateWithPriority(&streams_.back(), hipStreamNonBlocking,
                                            urgent.count(i) ? greatest : least));
    }
  }

  void make_events() {
    for (std::size_t i = 0; i < schedule_.events.size(); ++i) {
      events_.emplace_back();
      CSG_CHECK(hipEventCreateWithFlags(&events_.back(), hipEventDisableTiming));
    }
    for (std::size_t i = 0; i < timers_.size() && options_.stamps; ++i) {
      const Op op = schedule_.program[i].op;
      if (op != Op::kCopy && (options_.mock || !communicates(op))) continue;
      CSG_CHECK(hipEventCreate(&timers_[i].begin));
      CSG_CHECK(hipEventCreate(&timers_[i].end));
    }
  }

  void make_buffers() {
    if (options_.stamps && !schedule_.program.empty()) {
      const std::vector<Stamps> none(schedule_.program.size(), Stamps{~0ULL, 0});
      stamps_ = static_cast<Stamps*>(memory(none.size() * sizeof(Stamps)));
      CSG_CHECK(hipMemcpy(stamps_, none.data(), none.size() * sizeof(Stamps),
                          hipMemcpyHostToDevice));
    }
    const std::size_t communicated = most(communicates);
    if (!options_.mock && communicated) {
      communication_.send = static_cast<char*>(memory(communicated));
      communication_.receive = static_cast<char*>(memory(communicated));
      CSG_CHECK(hipMemset(communication_.send, 0, communicated));
    }
    const std::size_t copied = most([](Op op) { return op == Op::kCopy; });
    if (copied) {
      device_ = memory(copied);
      CSG_CHECK(hipHostMalloc(&pinned_, copied, 0));
      pageable_ = std::calloc(1, copied);
      if (!pageable_) throw failed("out of memory for copies");
    }
    const int missing = frees_without_allocation(schedule_.program);
    for (int i = 0; i < missing; ++i) allocated_.push_back(memory(1 << 20));
  }

  // Space for barriers and empty operations too.
  std::size_t most(bool (*counts)(Op)) const {
    constexpr std::int64_t kLeast = 256;
    const auto& program = schedule_.program;
    const bool is_any = std::any_of(program.begin(), program.end(),
                                    [&](const Operation& each) { return counts(each.op); });
    return is_any ? static_cast<std::size_t>(std::max(kLeast, most_bytes(program, counts))) : 0;
  }

  static void* memory(std::size_t bytes) {
    void* found = nullptr;
    CSG_CHECK(hipMalloc(&found, bytes));
    return found;
  }

  bool uses_gemm() const {
    const auto& program = schedule_.program;
    return std::any_of(program.begin(), program.end(), [this](const Operation& each) {
      return each.op == Op::kCompute && (options_.gemm || each.name == "gemm");
    });
  }

  // A kernel's first launch loads it, which takes long.
  void load_kernels() {
    std::set<SpinKernel> used;
    std::set<MockKernel> mocks;
    for (const Operation& each : schedule_.program) {
      if (each.op == Op::kCompute) used.insert(kernel_of(each.name));
      if (options_.mock && communicates(each.op)) mocks.insert(mock_of(each.name));
    }
    for (const SpinKernel each : used) {
      each<<<1, kSpinThreads, 0, streams_[0]>>>(nullptr, 0);
      CSG_LAUNCHED("first launch of a kernel");
    }
    for (const MockKernel each : mocks) {
      each<<<1, kSpinThreads, 0, streams_[0]>>>(nullptr, 0, moved_);
      CSG_LAUNCHED("first launch of a mock");
    }
  }

  static SpinKernel kernel_of(const std::string& kind) {
#define CSG_ENTRY(kind) {#kind, csg_##kind},
    static const std::map<std::string, SpinKernel> known{CSG_KINDS(CSG_ENTRY)};
#undef CSG_ENTRY
    const auto found = known.find(kind);
    return found == known.end() ? csg_other : found->second;
  }

  static MockKernel mock_of(const std::string& op) {
#define CSG_ENTRY(op) {#op, ncclDevKernel_Mock_##op},
    static const std::map<std::string, MockKernel> known{CSG_MOCKS(CSG_ENTRY)};
#undef CSG_ENTRY
    return known.at(op);
  }

  void mock(std::size_t place, const Operation& o) {
    const Ns duration = o.duration == kUnknown ? options_.mock_us * 1000 : o.duration;
    const int threads = moved_.data ? kMovingThreads : kSpinThreads;
    const auto blocks = static_cast<unsigned>(options_.mock_blocks);
    mock_of(o.name)<<<blocks, static_cast<unsigned>(threads), 0, stream(o)>>>(
        stamps_of(place), clock_.ticks_in(duration), moved_);
    CSG_LAUNCHED("launch of a mock");
  }

  // Beside matrix products a mock moves memory, as a collective does: they slow each other down.
  void prepare_moving() {
    constexpr Ticks kHalf = Ticks{1} << 22;
    constexpr std::size_t kBytes = 2 * kHalf * sizeof(float4);
    moved_ = {static_cast<float4*>(memory(kBytes)), kHalf};
    CSG_CHECK(hipMemset(moved_.data, 0, kBytes));
  }

  // One small block on each unit: the kernels of a collective find place beside it.
  void launch(SpinKernel kernel, int blocks, std::size_t place, Ns duration, const Operation& o) {
    kernel<<<static_cast<unsigned>(blocks), kSpinThreads, 0, stream(o)>>>(stamps_of(place),
                                                                         clock_.ticks_in(duration));
    CSG_LAUNCHED("launch of a kernel");
  }

  void begin_timer(std::size_t place, const Operation& o) {
    if (!timers_[place].begin) return;
    timers_[place].anchor = clock_.last_anchor();
    CSG_CHECK(hipEventRecord(timers_[place].begin, stream(o)));
  }

  void end_timer(std::size_t place, const Operation& o) {
    if (timers_[place].end) CSG_CHECK(hipEventRecord(timers_[place].end, stream(o)));
  }

  // Of a query: that it is not over yet is no error.
  static bool is_over(hipError_t error) {
    if (error == hipErrorNotReady) {
      static_cast<void>(hipGetLastError());
      return false;
    }
    check_gpu(error, "query");
    return true;
  }

  bool is_idle() const {
    return std::all_of(streams_.begin(), streams_.end(),
                       [](hipStream_t each) { return is_over(hipStreamQuery(each)); });
  }

  Stamps* stamps_of(std::size_t place) const { return stamps_ ? stamps_ + place : nullptr; }
  hipStream_t stream(const Operation& o) const { return streams_[static_cast<std::size_t>(o.stream)]; }
  hipEvent_t event(const Operation& o) const { return events_[static_cast<std::size_t>(o.event)]; }

  const Schedule& schedule_;
  const Options& options_;
  Watchdog& watchdog_;
  Communicators communicators_;
  std::vector<Timer> timers_;  // of operations that events measure
  DeviceClock clock_;
  Gemm gemm_;
  Moved moved_{nullptr, 0};
  int device_number_ = 0, cus_ = 0;
  std::string name_, pci_;
  std::vector<hipStream_t> streams_;
  std::vector<hipEvent_t> events_;
  Stamps* stamps_ = nullptr;
  CommunicationBuffers communication_;
  void *device_ = nullptr, *pinned_ = nullptr, *pageable_ = nullptr;
  std::vector<void*> allocated_;
};

}  // namespace csg
