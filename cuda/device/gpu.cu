// SPDX-License-Identifier: Apache-2.0
// The GPU driver: memory that is wiped before it is freed, one stream for each queue, steps as
// captured graphs. Compiled by nvcc alone. Every call is checked: the first error of a queue is
// kept, everything after it is refused, and finish() reports it.
//
// No memory is allocated or freed while a lane captures: what a capture of another thread's stream
// forbids is not the same in all drivers.
#include <cuda_runtime.h>
#include <sodium.h>

#include <map>
#include <mutex>
#include <shared_mutex>
#include <type_traits>

#include "cuda/device/gpu.h"

namespace tkdc::cuda {
namespace {

constexpr int kLeastMajor = 8;           // sm_80: what the kernels are compiled for
constexpr std::size_t kMaxGraphs = 128;  // of one queue

// What to do about the errors that an administrator can meet.
const char* advice(cudaError_t error) {
  switch (error) {
    case cudaErrorInsufficientDriver:
      return "; no NVIDIA driver is loaded, or it is older than this build's CUDA 13.0 "
             "(580 or later is needed)";
    case cudaErrorNoDevice: return "; the driver sees no GPU";
    case cudaErrorMemoryAllocation:
      return "; free the GPU's memory: the CPU computes what does not fit";
    case cudaErrorDevicesUnavailable: return "; another process holds the GPU in exclusive mode";
    case cudaErrorNoKernelImageForDevice: return "; the GPU is older than compute capability 8.0";
    case cudaErrorSystemNotReady:
      return "; NVIDIA's fabric manager is not running, which this GPU needs";
    case cudaErrorOperatingSystem:
      return "; the service may see too little of /proc or of /dev (docs/operations.md, A GPU)";
    default: return "";
  }
}

Error cuda_error(const std::string& what, cudaError_t error) {
  return fail("GPU: " + what + ": " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) +
              ")" + advice(error));
}

template <class Body>
__global__ void __launch_bounds__(kThreadsPerBlock)
    body_kernel(const View view, const Tick* tick, const std::uint32_t threads) {
  __shared__ typename Body::Shared shared;
  if constexpr (!std::is_empty_v<typename Body::Shared>) {
    Body::prepare(view, *tick, threadIdx.x, shared);
    __syncthreads();
  }
  const std::uint32_t t = blockIdx.x * kThreadsPerBlock + threadIdx.x;
  if constexpr (Phased<Body>) {
    TKDC_UNROLL
    for (int phase = 0; phase < Body::kPhases; ++phase) {
      if (t < threads) Body::run(view, *tick, t, shared, phase);
      __syncthreads();
    }
  } else {
    if (t < threads) Body::run(view, *tick, t, shared);
  }
}

// A failed call also leaves a last error behind, in which the next launch would seem to have
// failed.
cudaError_t cleared(cudaError_t error) {
  if (error != cudaSuccess) static_cast<void>(cudaGetLastError());
  return error;
}
// For what has nobody to tell: a device that is lost takes its memory along.
void ignore(cudaError_t error) { static_cast<void>(cleared(error)); }

// A call's result, the first failure kept.
class FirstError {
 public:
  bool ok() const { return error_ == cudaSuccess; }
  void check(const char* what, cudaError_t error) {
    if (cleared(error) == cudaSuccess || !ok()) return;
    error_ = error;
    what_ = what;
  }
  Result<void> result() const {
    if (ok()) return {};
    return cuda_error(what_, error_);
  }

 private:
  cudaError_t error_ = cudaSuccess;
  const char* what_ = "";
};

// Puts a step's work onto a stream, which may be capturing.
class StreamRecorder final : public Recorder {
 public:
  StreamRecorder(cudaStream_t stream, FirstError& error) : stream_(stream), error_(error) {}

  void copy_in(void* device, const void* pinned, std::size_t octets) override {
    error_.check("copying to the device",
                 cudaMemcpyAsync(device, pinned, octets, cudaMemcpyHostToDevice, stream_));
  }
  void copy_out(void* pinned, const void* device, std::size_t octets) override {
    error_.check("copying from the device",
                 cudaMemcpyAsync(pinned, device, octets, cudaMemcpyDeviceToHost, stream_));
  }
  void copy_within(void* to, const void* from, std::size_t octets) override {
    error_.check("copying within the device",
                 cudaMemcpyAsync(to, from, octets, cudaMemcpyDeviceToDevice, stream_));
  }
  void zero(void* device, std::size_t octets) override {
    error_.check("wiping the device", cudaMemsetAsync(device, 0, octets, stream_));
  }
  void launch(Kernel kernel, const View& view, const Tick* tick) override {
    with_body(kernel, Launch{view, tick, stream_});
    error_.check("launching a kernel", cudaGetLastError());
  }

 private:
  struct Launch {
    const View& view;
    const Tick* tick;
    cudaStream_t stream;
    template <class Body>
    void run() const {
      const std::uint32_t threads = Body::threads(view);
      body_kernel<Body>
          <<<(threads + kThreadsPerBlock - 1) / kThreadsPerBlock, kThreadsPerBlock, 0, stream>>>(
              view, tick, threads);
    }
  };

  cudaStream_t stream_;
  FirstError& error_;
};

class GpuQueue final : public Queue {
 public:
  GpuQueue(int ordinal, std::shared_mutex& captures) : ordinal_(ordinal), captures_(captures) {
    error_.check("choosing the device", cudaSetDevice(ordinal_));
    error_.check("making a stream", cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~GpuQueue() override {
    ignore(cudaSetDevice(ordinal_));
    if (stream_ != nullptr) ignore(cudaStreamSynchronize(stream_));
    drop_graphs();
    if (stream_ != nullptr) ignore(cudaStreamDestroy(stream_));
  }

  // A graph is worth its making for what comes again: the first of a name goes as it is.
  void submit(const std::string& name, const Step& step) override {
    if (!error_.ok()) return;
    error_.check("choosing the device", cudaSetDevice(ordinal_));
    auto known = graphs_.find(name);
    if (known != graphs_.end() && known->second == nullptr) known->second = capture(step);
    if (!error_.ok()) return;
    if (known != graphs_.end() && known->second != nullptr)
      return error_.check("launching a graph", cudaGraphLaunch(known->second, stream_));
    if (known == graphs_.end() && !name.empty()) remember(name);
    StreamRecorder recorder(stream_, error_);
    step.record(recorder);
  }

  Result<void> finish() override {
    if (error_.ok()) error_.check("choosing the device", cudaSetDevice(ordinal_));
    if (error_.ok()) error_.check("waiting for the device", cudaStreamSynchronize(stream_));
    return error_.result();
  }

  Result<void> state() const { return error_.result(); }

 private:
  void remember(const std::string& name) {
    if (graphs_.size() == kMaxGraphs) {
      error_.check("waiting", cudaStreamSynchronize(stream_));
      drop_graphs();
    }
    graphs_.emplace(name, nullptr);
  }
  // Null: there is no memory for it, which a step can do without.
  cudaGraphExec_t capture(const Step& step) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    std::shared_lock lock(captures_);
    error_.check("capturing", cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    if (!error_.ok()) return nullptr;
    StreamRecorder recorder(stream_, error_);
    step.record(recorder);
    error_.check("ending a capture", cudaStreamEndCapture(stream_, &graph));
    if (error_.ok()) {
      const cudaError_t made = cleared(cudaGraphInstantiate(&executable, graph, 0));
      if (made != cudaErrorMemoryAllocation) error_.check("making a graph", made);
    }
    if (graph != nullptr) ignore(cudaGraphDestroy(graph));
    return executable;
  }
  void drop_graphs() {
    for (auto& [name, graph] : graphs_)
      if (graph != nullptr) ignore(cudaGraphExecDestroy(graph));
    graphs_.clear();
  }

  const int ordinal_;
  std::shared_mutex& captures_;
  cudaStream_t stream_ = nullptr;
  FirstError error_;
  std::map<std::string, cudaGraphExec_t> graphs_;  // null: of what was asked for once
};

class GpuDriver final : public Driver {
 public:
  GpuDriver(int ordinal, std::string name) : ordinal_(ordinal), name_(std::move(name)) {
    error_.check("choosing the device", cudaSetDevice(ordinal_));
    error_.check("making a stream", cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~GpuDriver() override {
    ignore(cudaSetDevice(ordinal_));
    if (stream_ != nullptr) ignore(cudaStreamDestroy(stream_));
  }

  std::string name() const override { return name_; }

  Result<void*> allocate(std::size_t octets) override {
    std::unique_lock lock(captures_);
    void* memory = nullptr;
    FirstError error;
    error.check("choosing the device", cudaSetDevice(ordinal_));
    if (error.ok()) error.check("allocating device memory", cudaMalloc(&memory, octets));
    if (error.ok()) error.check("zeroing device memory", wiped(memory, octets));
    if (error.ok()) return memory;
    if (memory != nullptr) ignore(cudaFree(memory));
    return error.result().error();
  }

  // A device that is lost cannot be wiped any more: its memory went with the context.
  void release(void* memory, std::size_t octets) noexcept override {
    if (memory == nullptr) return;
    std::unique_lock lock(captures_);
    ignore(cudaSetDevice(ordinal_));
    ignore(wiped(memory, octets));
    ignore(cudaFree(memory));
  }

  Result<void*> allocate_pinned(std::size_t octets) override {
    std::unique_lock lock(captures_);
    void* memory = nullptr;
    FirstError error;
    error.check("choosing the device", cudaSetDevice(ordinal_));
    if (error.ok())
      error.check("allocating pinned memory",
                  cudaHostAlloc(&memory, octets, cudaHostAllocPortable));
    if (!error.ok()) return error.result().error();
    sodium_memzero(memory, octets);
    return memory;
  }

  void release_pinned(void* memory, std::size_t octets) noexcept override {
    if (memory == nullptr) return;
    sodium_memzero(memory, octets);
    std::unique_lock lock(captures_);
    ignore(cudaFreeHost(memory));
  }

  Result<std::unique_ptr<Queue>> make_queue() override {
    auto queue = std::make_unique<GpuQueue>(ordinal_, captures_);
    if (auto state = queue->state(); !state) return state.error();
    return std::unique_ptr<Queue>(std::move(queue));
  }

  // Whatever a device is lost by comes out of each call that follows.
  Result<void> state() override {
    if (error_.ok()) error_.check("choosing the device", cudaSetDevice(ordinal_));
    if (error_.ok()) error_.check("waiting for the device", cudaStreamSynchronize(stream_));
    return error_.result();
  }

 private:
  // Waits for it, and not for what lanes have under way.
  cudaError_t wiped(void* memory, std::size_t octets) {
    const cudaError_t error = cudaMemsetAsync(memory, 0, octets, stream_);
    return error == cudaSuccess ? cudaStreamSynchronize(stream_) : error;
  }

  const int ordinal_;
  const std::string name_;
  std::shared_mutex captures_;  // shared: by who captures
  cudaStream_t stream_ = nullptr;
  FirstError error_;
};

Result<int> count_gpus() {
  int count = 0;
  if (cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess)
    return cuda_error("looking for GPUs", cleared(error));
  if (count == 0) return cuda_error("looking for GPUs", cudaErrorNoDevice);
  return count;
}

// Error: others can compute there too.
Result<void> exclusive(int ordinal, const std::string& which) {
  int mode = 0, shared_by_mps = 0;
  for (auto [value, attribute] :
       {std::pair(&mode, cudaDevAttrComputeMode), std::pair(&shared_by_mps, cudaDevAttrMpsEnabled)})
    if (cudaError_t error = cudaDeviceGetAttribute(value, attribute, ordinal); error != cudaSuccess)
      return cuda_error("asking " + which + " who may use it", cleared(error));
  if (mode != cudaComputeModeExclusiveProcess)
    return fail(which +
                " may be shared with other processes. Give it to tkdc alone "
                "(nvidia-smi -c EXCLUSIVE_PROCESS), or set cuda.allow_shared = true");
  if (shared_by_mps != 0)
    return fail(which +
                " is shared with other processes by NVIDIA's MPS. Stop nvidia-cuda-mps-control, or "
                "set cuda.allow_shared = true");
  return {};
}

}  // namespace

Result<std::unique_ptr<Driver>> open_gpu(const GpuOptions& options) {
  auto count = count_gpus();
  if (!count) return count.error();
  const std::string number = "GPU " + std::to_string(options.ordinal);
  if (options.ordinal < 0 || options.ordinal >= *count)
    return fail(number + " does not exist; the driver sees " + std::to_string(*count) +
                ", counted from 0");
  cudaDeviceProp properties{};
  if (cudaError_t error = cudaGetDeviceProperties(&properties, options.ordinal);
      error != cudaSuccess)
    return cuda_error("asking " + number, cleared(error));
  const std::string which = number + " (" + properties.name + ")";
  if (properties.major < kLeastMajor)
    return fail(which + " has compute capability " + std::to_string(properties.major) + "." +
                std::to_string(properties.minor) + "; 8.0 or later is needed");
  if (!options.allow_shared)
    if (auto alone = exclusive(options.ordinal, which); !alone) return alone.error();
  // The context is made here, so that a held GPU shows now and not in the first cohort.
  for (cudaError_t error : {cudaSetDevice(options.ordinal), cudaFree(nullptr)})
    if (error != cudaSuccess) return cuda_error("opening " + which, cleared(error));
  auto driver = std::make_unique<GpuDriver>(options.ordinal, number + ", " + properties.name);
  if (auto state = driver->state(); !state) return state.error();
  return std::unique_ptr<Driver>(std::move(driver));
}

}  // namespace tkdc::cuda
