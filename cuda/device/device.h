// SPDX-License-Identifier: Apache-2.0
// A device that cohorts run on: its driver, the memory kept for it, and whether it still works.
// Used by all lanes; outlives every cohort.
#pragma once

#include <atomic>
#include <functional>

#include "cuda/device/bit_slot.h"
#include "cuda/device/check_memory.h"
#include "cuda/device/slot.h"

namespace tkdc::cuda {

// Whether a device may be given more work. Thread-safe.
class DeviceHealth {
 public:
  explicit DeviceHealth(std::function<void(const std::string&)> report = {})
      : report_(std::move(report)) {}
  bool lost() const { return lost_; }
  // The first failure stays, and is reported.
  void set_lost(const std::string& why) {
    {
      std::lock_guard lock(mutex_);
      if (lost_) return;
      why_ = why;
      lost_ = true;
    }
    if (report_) report_(why);
  }
  std::string why() const {
    std::lock_guard lock(mutex_);
    return why_;
  }

 private:
  std::function<void(const std::string&)> report_;
  mutable std::mutex mutex_;
  std::string why_;
  std::atomic<bool> lost_ = false;
};

struct Device {
  explicit Device(std::unique_ptr<Driver> its_driver,
                  std::function<void(const std::string&)> report = {})
      : driver(std::move(its_driver)), health(std::move(report)),
        slots(*driver, [this] { return free_idle(); }),
        bit_slots(*driver, [this] { return free_idle(); }),
        checks(*driver, [this] { return free_idle(); }) {}

  std::unique_ptr<Driver> driver;
  DeviceHealth health;
  SlotPool slots;
  BitSlotPool bit_slots;
  CheckPool checks;

 private:
  bool free_idle() {
    const bool any[] = {slots.free_idle(), bit_slots.free_idle(), checks.free_idle()};
    return any[0] || any[1] || any[2];
  }
};

}  // namespace tkdc::cuda
