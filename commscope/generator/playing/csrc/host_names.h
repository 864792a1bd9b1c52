// What the host back end calls its kernels and calls in its traces: as NVIDIA's tools do, so that
// whoever reads those reads these. Recording and traces say that the back end is the host.
#pragma once

#include <map>
#include <string>

namespace csg {

inline std::string host_kernel_name(const std::string& op, bool mock) {
  static const std::map<std::string, std::string> known{
      {"all_reduce", "AllReduce_Sum_f32_RING_LL"},
      {"barrier", "AllReduce_Sum_f32_RING_LL"},
      {"all_gather", "AllGather_RING_LL"},
      {"reduce_scatter", "ReduceScatter_Sum_f32_RING_LL"},
      {"broadcast", "Broadcast_RING_LL"},
      {"reduce", "Reduce_Sum_f32_RING_LL"},
  };
  if (mock) return "ncclDevKernel_Mock_" + op;
  const auto found = known.find(op);
  return "ncclDevKernel_" + (found == known.end() ? "SendRecv" : found->second) +
         "(ncclDevKernelArgsStorage<4096ul>)";
}

inline std::string host_copy_name(bool to_device, bool pageable) {
  const std::string memory = pageable ? "Pageable" : "Pinned";
  return to_device ? "Memcpy HtoD (" + memory + " -> Device)"
                   : "Memcpy DtoH (Device -> " + memory + ")";
}

}  // namespace csg
