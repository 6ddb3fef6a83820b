// SPDX-License-Identifier: Apache-2.0
// GPUs for tkdc bench. Asked in a process of its own: a CUDA context does not survive the fork
// that makes the three parties.
#pragma once

#include <string>

namespace tkdc::bench {

// The exit status of --backend cuda where no GPU can be used.
inline constexpr int kNoDevice = 2;

// Says why tkdc bench ends; its exit status.
int refuse_bench(const std::string& why, int status = 1);

// For the three parties, in each of their processes: they share the GPU.
void use_devices_for_bench();
// What such a device said first that it could not do, in this process; empty: nothing.
std::string device_trouble();

// What `backend` means on this machine for sessions in bytes: the reason in words, and whether
// there is such a backend at all.
struct BackendProbe {
  bool usable = false;
  std::string reason;
};
BackendProbe probe_backend(const std::string& backend);

}  // namespace tkdc::bench
