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

// Whether a device may be given more work. Thread-safe; reports a sentence of what an operator
// should know.
class DeviceHealth {
 public:
  explicit DeviceHealth(std::function<void(const std::string&)> report = {})
      : report_(std::move(report)) {}
  bool lost() const { return lost_; }
  // The first failure stays.
  void set_lost(const std::string& why) {
    {
      std::lock_guard lock(mutex_);
      if (lost_) return;
      why_ = why;
      lost_ = true;
    }
    report(
        "failed and is given no more work; its work goes on elsewhere, nothing is lost. "
        "Restart the server once it works again. " +
        why);
  }
  // What does not fit is the CPU's; the device goes on with the rest. Reported once.
  void out_of_memory(const std::string& why) {
    {
      std::lock_guard lock(mutex_);
      if (short_) return;
      short_ = true;
      if (!lost_) why_ = why;
    }
    report(
        "has no memory for all that it is asked to compute; the CPU computes what does not "
        "fit. " +
        why);
  }
  // Whether all work that it was given was done there.
  bool did_all() const { return !lost_ && !short_; }
  std::string why() const {
    std::lock_guard lock(mutex_);
    return why_;
  }

 private:
  void report(const std::string& what) const {
    if (report_) report_(what);
  }

  const std::function<void(const std::string&)> report_;
  mutable std::mutex mutex_;
  std::string why_;
  std::atomic<bool> lost_ = false, short_ = false;
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

  // Memory was refused, for this reason or because the device is lost.
  void no_memory(const std::string& why) {
    if (auto state = driver->state(); !state) return health.set_lost(state.error().message);
    health.out_of_memory(why);
  }

 private:
  void free_idle() {
    slots.free_idle();
    bit_slots.free_idle();
    checks.free_idle();
  }
};

}  // namespace tkdc::cuda
