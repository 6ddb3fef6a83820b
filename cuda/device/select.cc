// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/select.h"

#include <algorithm>
#include <set>

#include "cuda/device/selftest.h"

namespace tkdc::cuda {
namespace {

// Of the thread that a lane is: the lowest that no other has, for as long as it lives. Sessions
// come and go, with lanes of new threads beside one that stays.
class LaneNumber {
 public:
  LaneNumber() {
    std::lock_guard lock(mutex_);
    while (taken_.contains(value_)) ++value_;
    taken_.insert(value_);
  }
  ~LaneNumber() {
    std::lock_guard lock(mutex_);
    taken_.erase(value_);
  }
  static std::size_t mine() {
    thread_local const LaneNumber number;
    return number.value_;
  }

 private:
  static inline std::mutex mutex_;
  static inline std::set<std::size_t> taken_;
  std::size_t value_ = 0;
};

}  // namespace

// One backend for all lanes, which shares their cohorts out among the devices.
class Devices::LaneBackend final : public Rep3Backend, private sha1::RippleBackend {
 public:
  LaneBackend(std::vector<std::unique_ptr<Device>>& devices, const Rep3Backend& cpu,
              const LeastCohorts& least) {
    for (auto& device : devices)
      backends_.push_back({&device->health, std::make_unique<CudaBackend>(*device, cpu, least)});
  }
  std::string name() const override { return backends_.front().backend->name(); }
  Representation representation() const override {
    return backends_.front().backend->representation();
  }
  std::unique_ptr<AesCohort> make_cohort(int party, std::size_t blocks) const override {
    return mine().make_cohort(party, blocks);
  }
  const sha1::RippleBackend* ripples() const override { return this; }
  OctetDevice* octet_device() const override { return checks_.get(); }

 private:
  // Given to a lane when it is made, by another thread; asked by the lane's.
  class Checks final : public OctetDevice {
   public:
    explicit Checks(const LaneBackend& lanes) : lanes_(lanes) {}
    std::unique_ptr<OctetBatch> begin(const std::vector<ClaimRows*>& records,
                                      std::size_t products) override {
      return lanes_.mine().octet_device()->begin(records, products);
    }

   private:
    const LaneBackend& lanes_;
  };

  // The lane's, or the next that works; a lost one computes on the CPU.
  const CudaBackend& mine() const {
    const std::size_t first = LaneNumber::mine() % backends_.size();
    for (std::size_t k = 0; k < backends_.size(); ++k) {
      const OfDevice& one = backends_[(first + k) % backends_.size()];
      if (!one.health->lost()) return *one.backend;
    }
    return *backends_[first].backend;
  }
  std::unique_ptr<sha1::RippleCohort> make(int party, ClaimLog* claims,
                                           std::vector<sha1::RippleBlock> blocks) const override {
    return mine().ripples()->make(party, claims, std::move(blocks));
  }

  struct OfDevice {
    const DeviceHealth* health;
    std::unique_ptr<CudaBackend> backend;
  };
  std::vector<OfDevice> backends_;
  const std::unique_ptr<Checks> checks_ = std::make_unique<Checks>(*this);
};

Devices::Devices(DevicesOptions options, Open open)
    : options_(std::move(options)), open_(std::move(open)) {}

Devices::~Devices() {
  if (device_backends() == this) set_device_backends(nullptr);
}

Result<void> Devices::open_all() {
  for (int ordinal : options_.ordinals) {
    auto driver = open_({ordinal, options_.allow_shared});
    if (!driver) return driver.error();
    const std::string name = (*driver)->name();
    devices_.push_back(std::make_unique<Device>(
        std::move(*driver), [report = options_.report, name](const std::string& what) {
          if (report) report(name + " " + what);
        }));
    if (auto tested = self_test(*devices_.back()); !tested) return tested.error();
  }
  for (Representation representation : {Representation::kPlanes, Representation::kBytes}) {
    auto cpu = choose_rep3_backend("cpu", representation);
    if (!cpu) return cpu.error();
    backends_[static_cast<std::size_t>(representation)] =
        std::make_unique<LaneBackend>(devices_, **cpu, options_.least);
  }
  return {};
}

Result<const Rep3Backend*> Devices::backend(Representation representation) {
  std::lock_guard lock(mutex_);
  if (!opened_) {
    opened_ = open_all();
    if (!*opened_) devices_.clear();
  }
  if (!*opened_) return opened_->error();
  if (std::ranges::all_of(devices_, [](const auto& device) { return device->health.lost(); }))
    return fail(devices_[0]->driver->name() + " failed: " + devices_[0]->health.why());
  return backends_[static_cast<std::size_t>(representation)].get();
}

}  // namespace tkdc::cuda
