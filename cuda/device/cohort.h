// SPDX-License-Identifier: Apache-2.0
// An AES cohort whose state stays in device memory from load() to store(), in octets or in
// planes: the same messages as the CPU's cohort of that representation, octet for octet.
//
// In each tick one step goes to the device: what the neighbour sent, what stands between the
// S-boxes, the layer, its zero-share; the masked message comes back. The step starts when the
// protocol asks for the layer and is waited for when the packet is about to leave, so that the
// cohorts of a lane, and of all lanes, overlap.
//
// When the device fails, in whichever step, the cohort goes on on the CPU and nothing is lost:
// pinned memory holds the messages since the last whole state, the inverse of a round's S-boxes,
// and that state too. What happened is told to DeviceHealth, and no further cohort starts on
// the device. Secret: everything in device and pinned memory; both are wiped before they are
// freed. Used by one lane's thread.
#pragma once

#include "cuda/device/device.h"
#include "rep3/unit/aes/cohort.h"

namespace tkdc::cuda {

class DeviceCohort final : public AesCohort {
 public:
  // `cpu` has the representation that the session agreed on, and takes over when the device fails.
  DeviceCohort(Device& device, const Rep3Backend& cpu, int party, std::size_t blocks);
  ~DeviceCohort() override;

  void load(const std::vector<AesBlockRef>& blocks) override;
  void store(const std::vector<AesBlockRef>& blocks) override;
  void add_round_key(const std::vector<AesBlockRef>& blocks, int round) override;
  std::size_t message_bytes(int layer) const override;
  void terms(int layer, std::uint8_t* out) override;
  bool start_masked_terms(int layer, const ZeroShare& zero) override;
  void finish_masked_terms(int layer, std::uint8_t* message) override;
  void absorb(int layer, const std::uint8_t* mine, const std::uint8_t* theirs) override;
  void keep_for_claims(ClaimLog& log) override;
  bool record(ClaimLog& log) override;
  void sub_shift_mix(bool last) override;
  void inv_shift_sub() override;
  void take_inverse() override;
  void inv_mix() override;

 private:
  class LayerStep;
  class LoadStep;
  class StoreStep;

  // What was asked since the last whole state, to be asked of the CPU's cohort again.
  enum class Asked : std::uint8_t {
    kAddRoundKey,
    kSubShiftMix,
    kSubShiftLast,
    kInvShiftSub,
    kTakeInverse,
    kInvMix,
    kLayer0,
    kLayer1,
    kLayer2,
    kLayer3
  };
  struct Request {
    Asked asked;
    int round;
  };
  bool bytes() const { return cpu_backend_.representation() == Representation::kBytes; }
  Kernel kernel(Kernel octets_kernel) const;
  void ask(Asked asked, int round = 0) { requests_.push_back({asked, round}); }
  void linear(Kernel octets_kernel, Asked asked);
  void find_runs();
  void submit_layer(int layer, bool masked);
  std::string step_name(char kind, int layer, bool masked) const;
  void record_uploads(Recorder& to) const;
  void fall_back(const std::string& why);
  void take_over();

  Device& device_;
  const Rep3Backend& cpu_backend_;
  const int party_;
  const std::size_t blocks_;
  const std::vector<AesBlockRef>* refs_ = nullptr;  // load()'s, which every step gets
  std::vector<const AesBlockRef*> runs_;            // the first of each row of blocks under one key

  std::unique_ptr<Slot> slot_;
  View view_{};
  Kernel mask_ = Kernel::kMaskAes0;  // of the session's generator, for layer 0
  std::vector<Kernel> pending_;      // linear steps that go with the next layer
  int odd_ = 0;                      // layer 3's messages alternate: the last whole state stays
  int upload_ = -1;                  // layer whose result the device lacks
  bool upload_mine_ = false, upload_mine_next_ = false, upload_key_ = false;
  bool state_known_ = false;  // the messages of layer 3 at !odd_ are a whole state
  std::vector<Request> requests_;
  ClaimLog* claims_ = nullptr;
  bool keeps_ = false;              // the S-boxes' inputs come back too, for the claims
  std::unique_ptr<AesCohort> cpu_;  // after a failure
};

}  // namespace tkdc::cuda
