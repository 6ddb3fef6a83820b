// SPDX-License-Identifier: Apache-2.0
// Where backends on devices come from. The engine knows of none: a program that links one (cuda/)
// sets it at start, before any session, and "auto" and "cuda" then ask it.
#pragma once

#include "rep3/unit/aes/cohort.h"

namespace tkdc {

class DeviceBackends {
 public:
  virtual ~DeviceBackends() = default;
  // One on a device, for sessions of this representation; opens the device when first asked.
  // Error: why there is none, and what to do about it. Thread-safe.
  virtual Result<const Rep3Backend*> backend(Representation representation) = 0;
};

// Null takes it away again. What is set must outlive all sessions.
void set_device_backends(DeviceBackends* devices);
DeviceBackends* device_backends();

// Why choose_rep3_backend() would give what it gives, in a sentence for an operator.
std::string rep3_backend_reason(const std::string& wanted, Representation representation);

}  // namespace tkdc
