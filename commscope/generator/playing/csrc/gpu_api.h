// The runtime of the GPU under one set of names: HIP's, which on NVIDIA are a map to CUDA's.
#pragma once

#define CSG_GPU 1

#if defined(__CUDACC__)
#include <cuda_runtime.h>

#define CSG_BACKEND "nvidia"

#define hipDeviceGetPCIBusId cudaDeviceGetPCIBusId
#define hipDeviceGetStreamPriorityRange cudaDeviceGetStreamPriorityRange
#define hipDeviceProp_t cudaDeviceProp
#define hipDeviceSynchronize cudaDeviceSynchronize
#define hipErrorInvalidDeviceFunction cudaErrorInvalidDeviceFunction
#define hipErrorNoBinaryForGpu cudaErrorNoKernelImageForDevice
#define hipErrorNotReady cudaErrorNotReady
#define hipError_t cudaError_t
#define hipEventCreate cudaEventCreate
#define hipEventCreateWithFlags cudaEventCreateWithFlags
#define hipEventDisableTiming cudaEventDisableTiming
#define hipEventElapsedTime cudaEventElapsedTime
#define hipEventQuery cudaEventQuery
#define hipEventRecord cudaEventRecord
#define hipEventSynchronize cudaEventSynchronize
#define hipEvent_t cudaEvent_t
#define hipFree cudaFree
#define hipGetDeviceCount cudaGetDeviceCount
#define hipGetDeviceProperties cudaGetDeviceProperties
#define hipGetErrorString cudaGetErrorString
#define hipGetLastError cudaGetLastError
#define hipHostGetDevicePointer cudaHostGetDevicePointer
#define hipHostMalloc cudaHostAlloc
#define hipHostMallocMapped cudaHostAllocMapped
#define hipMalloc cudaMalloc
#define hipMemcpy cudaMemcpy
#define hipMemcpyAsync cudaMemcpyAsync
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemset cudaMemset
#define hipSetDevice cudaSetDevice
#define hipStreamCreateWithPriority cudaStreamCreateWithPriority
#define hipStreamNonBlocking cudaStreamNonBlocking
#define hipStreamQuery cudaStreamQuery
#define hipStreamSynchronize cudaStreamSynchronize
#define hipStreamWaitEvent cudaStreamWaitEvent
#define hipStream_t cudaStream_t
#define hipSuccess cudaSuccess
#else
#include <hip/hip_runtime.h>

#define CSG_BACKEND "amd"
#endif

#include <string>

#include "failure.h"

namespace csg {

// A kernel for another architecture is the mistake that is easiest to make.
inline void check_gpu(hipError_t error, const char* call) {
  if (error == hipSuccess) return;
  const std::string said = std::string(call) + ": " + hipGetErrorString(error);
  if (error == hipErrorNoBinaryForGpu || error == hipErrorInvalidDeviceFunction) {
    throw Failure(kWrongDevice, said + "; it was compiled for another architecture (see --arch)");
  }
  throw failed(said);
}

}  // namespace csg

#define CSG_TEXT_OF(...) #__VA_ARGS__
#define CSG_TEXT(...) CSG_TEXT_OF(__VA_ARGS__)
#define CSG_CHECK(...) ::csg::check_gpu((__VA_ARGS__), CSG_TEXT(__VA_ARGS__))
// After a launch, which itself gives nothing back.
#define CSG_LAUNCHED(name) ::csg::check_gpu(hipGetLastError(), name)
