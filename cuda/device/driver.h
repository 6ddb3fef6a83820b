// SPDX-License-Identifier: Apache-2.0
// What a cohort asks of a device: memory, and work in order. Two implementations: the GPU, and
// the host, which runs the same kernel bodies in loops and checks what a GPU would not.
//
// Work of one cohort goes into one Queue. Enqueuing never fails; the first error of anything
// enqueued comes out of finish(), and after it everything else of the queue fails too. Pinned
// memory that work in the queue reads or writes must be left alone until finish(). Device and
// pinned memory hold secrets: both are wiped before they are given back. A Driver may be used by
// several threads, a Queue by one.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cuda/block/kernels.h"

namespace tkdc::cuda {

// What a Queue is told: what to do, or to capture and to do again and again.
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void copy_in(void* device, const void* pinned, std::size_t octets) = 0;
  virtual void copy_out(void* pinned, const void* device, std::size_t octets) = 0;
  // Between two places in the device's memory.
  virtual void copy_within(void* to, const void* from, std::size_t octets) = 0;
  virtual void zero(void* device, std::size_t octets) = 0;
  virtual void launch(Kernel kernel, const View& view, const Tick* device_tick) = 0;
};

class Step {
 public:
  virtual ~Step() = default;
  virtual void record(Recorder& to) const = 0;
};

class Queue {
 public:
  virtual ~Queue() = default;  // waits for what is under way
  // Enqueues the step. Steps of one name are the same work in the same memory, so that one may be
  // captured as a graph and launched for all that follow: `step` need not be called again. Without
  // a name it stands for itself.
  virtual void submit(const std::string& name, const Step& step) = 0;
  virtual Result<void> finish() = 0;
};

class Driver {
 public:
  virtual ~Driver() = default;
  virtual std::string name() const = 0;

  // Zeros, aligned to 256 octets. release() wipes; null is nothing.
  virtual Result<void*> allocate(std::size_t octets) = 0;
  virtual void release(void* memory, std::size_t octets) noexcept = 0;
  virtual Result<void*> allocate_pinned(std::size_t octets) = 0;
  virtual void release_pinned(void* memory, std::size_t octets) noexcept = 0;

  virtual Result<std::unique_ptr<Queue>> make_queue() = 0;

  // Error: the device does not work any more, why memory may have been refused.
  virtual Result<void> state() = 0;
};

}  // namespace tkdc::cuda
