// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/select.h"

#include <algorithm>
#include <atomic>

#include "cuda/device/selftest.h"

namespace tkdc::cuda {
namespace {

// A lane is a thread: each keeps the device that it was given first.
std::size_t lane_number() {
  static std::atomic<std::size_t> next = 0;
  thread_local const std::size_t number = next++;
  return number;
}

}  // namespace

// One backend for all lanes, which shares their cohorts out among the devices.
class Devices::LaneBackend final : public AesBackend, private sha1::RippleBackend {
 public:
  LaneBackend(std::vector<std::unique_ptr<Device>>& devices, const AesBackend& cpu,
              const LeastCohorts& least) {
    for (auto& device : devices)
      backends_.push_back(std::make_unique<CudaBackend>(*device, cpu, least));
  }
  std::string name() const override { return backends_.front()->name(); }
  Representation representation() const override { return backends_.front()->representation(); }
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
    std::unique_ptr<OctetBatch> begin(const std::vector<ClaimRecord*>& records,
                                      std::size_t products) override {
      return lanes_.mine().octet_device()->begin(records, products);
    }

   private:
    const LaneBackend& lanes_;
  };

  const CudaBackend& mine() const { return *backends_[lane_number() % backends_.size()]; }
  std::unique_ptr<sha1::RippleCohort> make(int party, ClaimLog* claims,
                                           std::vector<sha1::RippleBlock> blocks) const override {
    return mine().ripples()->make(party, claims, std::move(blocks));
  }

  std::vector<std::unique_ptr<CudaBackend>> backends_;
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
        std::move(*driver), [report = options_.report, name](const std::string& why) {
          if (report)
            report(name +
                   " failed and is given no more work; the CPU has taken over, nothing is "
                   "lost. Restart the server once it works again. " +
                   why);
        }));
    if (auto tested = self_test(*devices_.back()); !tested) return tested.error();
  }
  for (Representation representation : {Representation::kPlanes, Representation::kBytes}) {
    auto cpu = choose_aes_backend("cpu", representation);
    if (!cpu) return cpu.error();
    backends_[static_cast<std::size_t>(representation)] =
        std::make_unique<LaneBackend>(devices_, **cpu, options_.least);
  }
  return {};
}

Result<const AesBackend*> Devices::backend(Representation representation) {
  std::lock_guard lock(mutex_);
  if (!opened_) {
    opened_ = open_all();
    if (!*opened_) devices_.clear();
  }
  if (!*opened_) return opened_->error();
  for (const auto& device : devices_)
    if (device->health.lost())
      return fail(device->driver->name() + " failed: " + device->health.why());
  return backends_[static_cast<std::size_t>(representation)].get();
}

}  // namespace tkdc::cuda
