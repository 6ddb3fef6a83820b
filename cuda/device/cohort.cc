// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/cohort.h"

#include <cstring>

#include "cuda/device/zero_tick.h"
#include "protocol/replicated.h"
#include "rep3/unit/aes/sbox_claims.h"

namespace tkdc::cuda {
DeviceCohort::DeviceCohort(Device& device, const Rep3Backend& cpu, int party, std::size_t blocks)
    : device_(device), cpu_backend_(cpu), party_(party), blocks_(blocks) {}

DeviceCohort::~DeviceCohort() {
  cpu_.reset();
  if (slot_) device_.slots.give_back(std::move(slot_));
}

std::size_t DeviceCohort::message_bytes(int layer) const {
  const auto bits = static_cast<std::size_t>(kLayerBits[layer]);
  return bytes() ? 2 * bits * blocks_ : bits * 16 * ((blocks_ + 7) / 8);
}

Kernel DeviceCohort::kernel(Kernel octets_kernel) const {
  constexpr int kPlanes =
      static_cast<int>(Kernel::kPlaneNorm) - static_cast<int>(Kernel::kOctetNorm);
  return octets_kernel + (bytes() ? 0 : kPlanes);
}

void DeviceCohort::find_runs() {
  for (const AesBlockRef& block : *refs_)
    if (runs_.empty() || runs_.back()->round_keys[0] != block.round_keys[0] ||
        runs_.back()->round_keys[1] != block.round_keys[1])
      runs_.push_back(&block);
}

// ---- steps

class DeviceCohort::LoadStep final : public Step {
 public:
  explicit LoadStep(const DeviceCohort& cohort) : cohort_(cohort) {}
  void record(Recorder& to) const override {
    const DeviceCohort& it = cohort_;
    to.copy_in(const_cast<std::uint32_t*>(it.view_.run_of), it.slot_->run_of,
               it.blocks_ * sizeof(std::uint32_t));
    for (int c = 0; c < 2; ++c)
      to.copy_in(it.bytes() ? it.view_.state[c] : it.view_.octets[c], it.slot_->octets[c],
                 16 * it.blocks_);
    if (!it.bytes()) to.launch(Kernel::kPlaneSlice, it.view_, it.slot_->device_tick);
  }

 private:
  const DeviceCohort& cohort_;
};

class DeviceCohort::LayerStep final : public Step {
 public:
  LayerStep(const DeviceCohort& cohort, int layer, bool masked)
      : cohort_(cohort), layer_(layer), masked_(masked) {}
  void record(Recorder& to) const override {
    const DeviceCohort& it = cohort_;
    it.record_uploads(to);
    to.launch(it.kernel(Kernel::kOctetNorm) + layer_, it.view_, it.slot_->device_tick);
    if (masked_) to.launch(it.mask_ + layer_, it.view_, it.slot_->device_tick);
    to.copy_out(it.slot_->mine[it.odd_][layer_], it.view_.mine[layer_], it.message_bytes(layer_));
    if (layer_ == 0 && it.keeps_)
      for (int c = 0; c < 2; ++c)
        to.copy_out(it.slot_->input[c], it.view_.input[c], 16 * it.blocks_);
  }

 private:
  const DeviceCohort& cohort_;
  int layer_;
  bool masked_;
};

class DeviceCohort::StoreStep final : public Step {
 public:
  explicit StoreStep(const DeviceCohort& cohort) : cohort_(cohort) {}
  void record(Recorder& to) const override {
    const DeviceCohort& it = cohort_;
    it.record_uploads(to);
    if (!it.bytes()) to.launch(Kernel::kPlaneUnslice, it.view_, it.slot_->device_tick);
    for (int c = 0; c < 2; ++c)
      to.copy_out(it.slot_->octets[c], it.bytes() ? it.view_.state[c] : it.view_.octets[c],
                  16 * it.blocks_);
  }

 private:
  const DeviceCohort& cohort_;
};

// What the device lacks of the last layer's result, and the linear steps since.
void DeviceCohort::record_uploads(Recorder& to) const {
  to.copy_in(slot_->device_tick, slot_->tick, sizeof *slot_->tick);
  if (upload_ >= 0) {
    const int odd = upload_ == 3 ? 1 - odd_ : odd_;
    const std::size_t octets = message_bytes(upload_);
    to.copy_in(view_.theirs[upload_], slot_->theirs[odd][upload_], octets);
    if (upload_mine_) to.copy_in(view_.mine[upload_], slot_->mine[odd][upload_], octets);
  }
  if (upload_key_) to.copy_in(const_cast<Word*>(view_.round_key), slot_->key, 32 * runs_.size());
  for (Kernel step : pending_) to.launch(step, view_, slot_->device_tick);
}

// Equal names, equal work: see Queue::submit().
std::string DeviceCohort::step_name(char kind, int layer, bool masked) const {
  const char direction = view_.input[0] == view_.state[0] ? 'e' : 'd';
  std::string name = {kind,
                      direction,
                      static_cast<char>('0' + layer),
                      masked ? (mask_ == Kernel::kMaskAes0 ? 'm' : 'x') : '-',
                      keeps_ ? 'c' : '-',
                      static_cast<char>('0' + odd_),
                      static_cast<char>('1' + upload_),
                      upload_mine_ ? 'b' : 't',
                      upload_key_ ? 'k' : '-'};
  name += bytes() ? 'o' : 'p';
  name += static_cast<char>('0' + party_);
  for (Kernel step : pending_) name += static_cast<char>('A' + static_cast<int>(step));
  return name + std::to_string(blocks_) + '/' + std::to_string(runs_.size());
}

void DeviceCohort::submit_layer(int layer, bool masked) {
  slot_->queue().submit(step_name('L', layer, masked), LayerStep(*this, layer, masked));
  pending_.clear();
  upload_ = -1;
  upload_key_ = false;
}

void DeviceCohort::fall_back(const std::string& why) {
  device_.health.set_lost(why);
  take_over();
}

// The CPU's cohort, brought to where this one is; see the top of cohort.h.
void DeviceCohort::take_over() {
  cpu_ = cpu_backend_.make_cohort(party_, blocks_);
  cpu_->load(*refs_);
  if (keeps_) cpu_->keep_for_claims(*claims_);
  if (state_known_) cpu_->absorb(3, slot_->mine[1 - odd_][3], slot_->theirs[1 - odd_][3]);
  SecretVector unused(message_bytes(3));
  for (const Request& request : requests_) switch (request.asked) {
      case Asked::kAddRoundKey: cpu_->add_round_key(*refs_, request.round); break;
      case Asked::kSubShiftMix: cpu_->sub_shift_mix(false); break;
      case Asked::kSubShiftLast: cpu_->sub_shift_mix(true); break;
      case Asked::kInvShiftSub: cpu_->inv_shift_sub(); break;
      case Asked::kTakeInverse: cpu_->take_inverse(); break;
      case Asked::kInvMix: cpu_->inv_mix(); break;
      default:
        const int layer = static_cast<int>(request.asked) - static_cast<int>(Asked::kLayer0);
        cpu_->terms(layer, unused.data());
        cpu_->absorb(layer, slot_->mine[odd_][layer], slot_->theirs[odd_][layer]);
    }
}

// ---- the interface

void DeviceCohort::load(const std::vector<AesBlockRef>& blocks) {
  assert(blocks.size() == blocks_ && slot_ == nullptr);
  refs_ = &blocks;
  find_runs();
  auto slot = device_.slots.acquire(blocks_);
  if (!slot) {
    device_.no_memory(slot.error().message);
    return take_over();
  }
  slot_ = std::move(*slot);
  view_ = slot_->view;
  view_.blocks = static_cast<std::uint32_t>(blocks_);
  view_.group = static_cast<std::uint32_t>((blocks_ + 7) / 8);
  view_.constant = constant_component(party_);
  for (int layer = 0; layer < kLayers; ++layer)
    view_.message_octets[layer] = static_cast<std::uint32_t>(message_bytes(layer));
  std::uint32_t run = 0;
  for (std::size_t b = 0; b < blocks_; ++b) {
    for (int c = 0; c < 2; ++c) std::memcpy(slot_->octets[c] + 16 * b, blocks[b].in[c], 16);
    if (run + 1 < runs_.size() && &blocks[b] == runs_[run + 1]) ++run;
    slot_->run_of[b] = run;
  }
  slot_->queue().submit(step_name('I', 0, false), LoadStep(*this));
}

void DeviceCohort::store(const std::vector<AesBlockRef>& blocks) {
  if (!cpu_) {
    slot_->queue().submit(step_name('S', 0, false), StoreStep(*this));
    if (auto done = slot_->queue().finish(); !done) fall_back(done.error().message);
  }
  if (cpu_) return cpu_->store(blocks);
  for (int c = 0; c < 2; ++c)
    for (std::size_t b = 0; b < blocks_; ++b)
      std::memcpy(blocks[b].out[c], slot_->octets[c] + 16 * b, 16);
}

// A linear step waits for the layer that follows.
void DeviceCohort::linear(Kernel octets_kernel, Asked asked) {
  pending_.push_back(kernel(octets_kernel));
  ask(asked);
}

void DeviceCohort::add_round_key(const std::vector<AesBlockRef>& blocks, int round) {
  if (cpu_) return cpu_->add_round_key(blocks, round);
  for (std::size_t run = 0; run < runs_.size(); ++run)
    for (std::size_t c = 0; c < 2; ++c)
      std::memcpy(slot_->key + 32 * run + 16 * c, runs_[run]->round_keys[c] + 16 * round, 16);
  upload_key_ = true;
  // Steps that end a round add the key themselves.
  if (pending_.empty()) pending_.push_back(kernel(Kernel::kOctetAddRoundKey));
  ask(Asked::kAddRoundKey, round);
}

void DeviceCohort::sub_shift_mix(bool last) {
  if (cpu_) return cpu_->sub_shift_mix(last);
  linear(last ? Kernel::kOctetEncryptLast : Kernel::kOctetEncryptRound,
         last ? Asked::kSubShiftLast : Asked::kSubShiftMix);
}

void DeviceCohort::inv_shift_sub() {
  if (cpu_) return cpu_->inv_shift_sub();
  for (int c = 0; c < 2; ++c) view_.input[c] = slot_->spare[c];
  linear(Kernel::kOctetInvShiftSub, Asked::kInvShiftSub);
}

void DeviceCohort::take_inverse() {
  if (cpu_) return cpu_->take_inverse();
  linear(Kernel::kOctetTakeInverse, Asked::kTakeInverse);
}

void DeviceCohort::inv_mix() {
  if (cpu_) return cpu_->inv_mix();
  linear(Kernel::kOctetInvMix, Asked::kInvMix);
}

void DeviceCohort::terms(int layer, std::uint8_t* out) {
  upload_mine_next_ = true;
  if (!cpu_) {
    submit_layer(layer, false);
    if (auto done = slot_->queue().finish(); !done) fall_back(done.error().message);
  }
  if (cpu_) return cpu_->terms(layer, out);
  std::memcpy(out, slot_->mine[odd_][layer], message_bytes(layer));
}

bool DeviceCohort::start_masked_terms(int layer, const ZeroShare& zero) {
  if (cpu_) return false;
  mask_ = set_zero_share(*slot_->tick, zero);
  upload_mine_next_ = false;
  submit_layer(layer, true);
  return true;
}

void DeviceCohort::finish_masked_terms(int layer, std::uint8_t* message) {
  auto done = slot_->queue().finish();
  if (done.ok()) {
    std::memcpy(message, slot_->mine[odd_][layer], message_bytes(layer));
    return;
  }
  fall_back(done.error().message);
  SecretVector masked(message_bytes(layer));
  cpu_->terms(layer, masked.data());
  mask_on_host(mask_, layer, view_, *slot_->tick, masked);
  std::memcpy(message, masked.data(), masked.size());
}

void DeviceCohort::absorb(int layer, const std::uint8_t* mine, const std::uint8_t* theirs) {
  if (cpu_) return cpu_->absorb(layer, mine, theirs);
  // What the device has masked itself stands there.
  if (upload_mine_next_) std::memcpy(slot_->mine[odd_][layer], mine, message_bytes(layer));
  std::memcpy(slot_->theirs[odd_][layer], theirs, message_bytes(layer));
  upload_ = layer;
  upload_mine_ = upload_mine_next_;
  ask(static_cast<Asked>(static_cast<int>(Asked::kLayer0) + layer));
  if (layer != 3) return;
  requests_.clear();
  state_known_ = true;
  odd_ = 1 - odd_;
}

void DeviceCohort::keep_for_claims(ClaimLog& log) {
  if (cpu_) return cpu_->keep_for_claims(log);
  claims_ = &log;
  keeps_ = bytes();
}

// All of it stands in pinned memory after the last absorb(), which changed sides.
bool DeviceCohort::record(ClaimLog& log) {
  if (cpu_) return cpu_->record(log);
  if (!keeps_) return false;
  const Slot& slot = *slot_;
  std::uint8_t* const(&mine)[kLayers] = slot.mine[1 - odd_];
  std::uint8_t* const(&theirs)[kLayers] = slot.theirs[1 - odd_];
  record_claims(log, {16 * blocks_,
                      {slot.input[0], slot.input[1]},
                      {mine[0], theirs[0]},
                      {mine[1], theirs[1]},
                      {mine[2], theirs[2]},
                      {mine[3], theirs[3]}});
  return true;
}

}  // namespace tkdc::cuda
