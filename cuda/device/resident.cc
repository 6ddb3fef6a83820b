// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/resident.h"

#include <cstring>

#include "cuda/device/zero_tick.h"
#include "protocol/replicated.h"

namespace tkdc::cuda {

// A slot for the state and the messages; beside it what a cohort of a session gets round by round.
struct ResidentParties::Party {
  explicit Party(Driver& driver)
      : device(driver, Arena::Where::kDevice), pinned(driver, Arena::Where::kPinned) {}

  std::unique_ptr<Slot> slot;
  Arena device, pinned;
  View view{};
  Tick *device_ticks = nullptr, *ticks = nullptr;  // of all layers
  Word* device_keys = nullptr;                     // of all rounds, as View::round_key has one's
  std::uint8_t* keys = nullptr;
  std::size_t key_octets = 0;
  std::unique_ptr<ZeroStream> zero;  // its keys; the device makes the octets
};

// ---- steps

class ResidentParties::LoadStep final : public Step {
 public:
  explicit LoadStep(const ResidentParties& all) : all_(all) {}
  void record(Recorder& to) const override {
    for (const auto& one : all_.parties_) {
      const Slot& slot = *one->slot;
      to.copy_in(one->device_keys, one->keys, one->key_octets);
      to.copy_in(const_cast<std::uint32_t*>(one->view.run_of), slot.run_of,
                 all_.o_.blocks * sizeof(std::uint32_t));
      for (int c = 0; c < 2; ++c)
        to.copy_in(all_.bytes() ? one->view.state[c] : one->view.octets[c], slot.octets[c],
                   16 * all_.o_.blocks);
      if (!all_.bytes()) to.launch(Kernel::kPlaneSlice, one->view, slot.device_tick);
      for (int layer = 0; all_.o_.exchange == ResidentExchange::kNone && layer < kLayers; ++layer)
        to.copy_in(one->view.theirs[layer], slot.theirs[0][layer], all_.octets_of(layer));
    }
  }

 private:
  const ResidentParties& all_;
};

// What the two kinds of cohorts have in common.
class ResidentParties::CohortStep : public Step {
 public:
  explicit CohortStep(const ResidentParties& all) : all_(all) {}

  void record(Recorder& to) const override {
    start(to);
    for (int round = 1; round <= all_.rounds_; ++round) {
      for (int layer = 0; layer < kLayers; ++layer) exchange(to, round, layer);
      end_round(to, round);
    }
  }

 protected:
  void start(Recorder& to) const {
    const auto layers = std::size_t{kLayers} * static_cast<std::size_t>(all_.rounds_);
    for (const auto& one : all_.parties_)
      to.copy_in(one->device_ticks, one->ticks, layers * sizeof(Tick));
    linear(to, Kernel::kOctetAddRoundKey, Kernel::kPlaneAddRoundKey, 0);
  }
  void end_round(Recorder& to, int round) const {
    if (round < all_.rounds_)
      linear(to, Kernel::kOctetEncryptRound, Kernel::kPlaneEncryptRound, round);
    else
      linear(to, Kernel::kOctetEncryptLast, Kernel::kPlaneEncryptLast, round);
  }
  // Every party's masked message.
  void terms(Recorder& to, int round, int layer) const {
    const Kernel first = all_.bytes() ? Kernel::kOctetNorm : Kernel::kPlaneNorm;
    for (const auto& one : all_.parties_) {
      const Tick* tick = one->device_ticks + kLayers * (round - 1) + layer;
      to.launch(first + layer, one->view, tick);
      to.launch(mask_kernel(all_.o_.zero_shares) + layer, one->view, tick);
    }
  }
  const ResidentParties& all_;

 private:
  // Every party's linear step, with the key of `round`.
  void linear(Recorder& to, Kernel octets, Kernel planes, int round) const {
    const std::size_t octets_of_round = 32 * all_.runs_;
    const std::size_t at = octets_of_round * static_cast<std::size_t>(round);
    for (const auto& one : all_.parties_) {
      View view = one->view;
      view.round_key = one->device_keys + at / sizeof(Word);
      if (all_.host())
        to.copy_in(const_cast<Word*>(view.round_key), one->keys + at, octets_of_round);
      to.launch(all_.bytes() ? octets : planes, view, one->device_ticks);
    }
  }
  // Every party's message, then where it goes: component i+1 of the result comes from the next.
  void exchange(Recorder& to, int round, int layer) const {
    terms(to, round, layer);
    if (all_.o_.exchange != ResidentExchange::kDevice) return;
    const auto& parties = all_.parties_;
    for (std::size_t p = 0; p < parties.size(); ++p)
      to.copy_within(parties[p]->view.theirs[layer],
                     parties[(p + 1) % parties.size()]->view.mine[layer], all_.octets_of(layer));
  }
};

// With transfers, layer `step` of a cohort: the neighbour's message of the layer before, the
// linear step that follows, this layer's message to the host. After the last layer the end.
class ResidentParties::TransferStep final : public CohortStep {
 public:
  TransferStep(const ResidentParties& all, int step) : CohortStep(all), step_(step) {}

  void record(Recorder& to) const override {
    const Party& one = *all_.parties_[0];
    const int round = step_ / kLayers + 1, layer = step_ % kLayers;
    if (step_ == 0) {
      start(to);
    } else {
      const int before = (step_ - 1) % kLayers;
      to.copy_in(one.view.theirs[before], one.slot->theirs[0][before], all_.octets_of(before));
      if (layer == 0) end_round(to, round - 1);
    }
    if (step_ + 1 == all_.steps()) return;
    terms(to, round, layer);
    to.copy_out(one.slot->mine[round % 2][layer], one.view.mine[layer], all_.octets_of(layer));
  }

 private:
  int step_;
};

class ResidentParties::ReadStep final : public Step {
 public:
  ReadStep(const ResidentParties& all, const Party& one) : all_(all), one_(one) {}
  void record(Recorder& to) const override {
    if (!all_.bytes()) to.launch(Kernel::kPlaneUnslice, one_.view, one_.slot->device_tick);
    for (int c = 0; c < 2; ++c)
      to.copy_out(one_.slot->octets[c], all_.bytes() ? one_.view.state[c] : one_.view.octets[c],
                  16 * all_.o_.blocks);
  }

 private:
  const ResidentParties& all_;
  const Party& one_;
};

// ---- making

std::size_t ResidentParties::octets_of(int layer) const {
  const auto bits = static_cast<std::size_t>(kLayerBits[layer]);
  return bytes() ? 2 * bits * o_.blocks : bits * 16 * ((o_.blocks + 7) / 8);
}

std::uint64_t ResidentParties::message_octets() const {
  std::uint64_t octets = 0;
  for (int layer = 0; layer < kLayers; ++layer) octets += octets_of(layer);
  return octets * static_cast<std::uint64_t>(rounds_);
}

ByteSpan ResidentParties::neighbours_message(int layer) const {
  return {parties_[0]->slot->theirs[0][layer], octets_of(layer)};
}

ByteSpan ResidentParties::sent_message(bool odd, int layer) const {
  return {parties_[0]->slot->mine[odd ? 1 : 0][layer], octets_of(layer)};
}

ResidentParties::Transfers ResidentParties::transfers() const {
  if (!host()) return {};
  const Party& one = *parties_[0];
  const auto layers = std::size_t{kLayers} * static_cast<std::size_t>(rounds_);
  return {message_octets() + one.key_octets + layers * sizeof(Tick), message_octets()};
}

Queue& ResidentParties::queue() { return parties_[0]->slot->queue(); }

ResidentParties::ResidentParties(Driver& driver, const ResidentOptions& options)
    : driver_(driver), o_(options) {}

ResidentParties::~ResidentParties() {
  for (auto& one : parties_) one->slot.reset();  // the first's waits for what is under way
}

Result<void> ResidentParties::add_party(int number, const ResidentInput& input) {
  auto one = std::make_unique<Party>(driver_);
  auto slot = Slot::make(driver_, o_.blocks);
  if (!slot) return slot.error();
  one->slot = std::move(*slot);
  const std::size_t tick_octets =
      std::size_t{kLayers} * static_cast<std::size_t>(rounds_) * sizeof(Tick);
  one->key_octets = 32 * runs_ * (static_cast<std::size_t>(rounds_) + 1);
  for (Arena* arena : {&one->device, &one->pinned}) {
    arena->plan(tick_octets);
    arena->plan(one->key_octets);
    if (auto done = arena->allocate(); !done) return done;
  }
  one->device_ticks = one->device.take<Tick>(tick_octets);
  one->device_keys = one->device.take<Word>(one->key_octets);
  one->ticks = one->pinned.take<Tick>(tick_octets);
  one->keys = one->pinned.take<std::uint8_t>(one->key_octets);

  View& view = one->view = one->slot->view;
  view.blocks = static_cast<std::uint32_t>(o_.blocks);
  view.group = static_cast<std::uint32_t>((o_.blocks + 7) / 8);
  view.constant = constant_component(number);
  for (int layer = 0; layer < kLayers; ++layer) {
    view.message_octets[layer] = static_cast<std::uint32_t>(octets_of(layer));
    if (o_.exchange != ResidentExchange::kDevice)
      randombytes_buf(one->slot->theirs[0][layer], octets_of(layer));
  }
  for (std::size_t b = 0; b < o_.blocks; ++b)
    one->slot->run_of[b] = static_cast<std::uint32_t>(b / o_.blocks_per_key);
  for (std::size_t c = 0; c < 2; ++c) {
    std::memcpy(one->slot->octets[c], input.blocks.component[c].data(), 16 * o_.blocks);
    for (std::size_t run = 0; run < runs_; ++run)
      for (std::size_t round = 0; round <= static_cast<std::size_t>(rounds_); ++round)
        std::memcpy(one->keys + 32 * (runs_ * round + run) + 16 * c,
                    input.round_keys[run].component[c].data() + 16 * round, 16);
  }
  one->zero =
      make_zero_stream({input.mine.span(), input.next.span(), o_.ratchet_bytes, o_.zero_shares});
  one->zero->skip(ZeroStream::kPieceBytes);  // so that another ratchet_bytes lead to the next key
  parties_.push_back(std::move(one));
  return {};
}

Result<std::unique_ptr<ResidentParties>> ResidentParties::make(
    Driver& driver, const ResidentOptions& options, const std::vector<ResidentInput>& inputs) {
  assert(inputs.size() == (options.exchange == ResidentExchange::kDevice ? 3 : 1));
  assert(options.blocks > 0);
  std::unique_ptr<ResidentParties> all(new ResidentParties(driver, options));
  all->runs_ = inputs[0].round_keys.size();
  assert(all->runs_ * options.blocks_per_key >= options.blocks);
  all->rounds_ = static_cast<int>(inputs[0].round_keys[0].size() / 16) - 1;
  if (all->message_octets() > options.ratchet_bytes)
    return fail("a cohort of " + std::to_string(options.blocks) +
                " blocks needs more zero-shares than a key makes");
  for (const ResidentInput& input : inputs)
    if (auto done = all->add_party(static_cast<int>(all->parties_.size()), input); !done)
      return done.error();
  all->queue().submit("load", LoadStep(*all));
  if (auto done = all->queue().finish(); !done) return done.error();
  return all;
}

// ---- computing

// The next cohort's, all of it under one key: where too little of a key is left for it, the next.
void ResidentParties::set_ticks() {
  if (position_ + message_octets() > o_.ratchet_bytes) {
    for (auto& one : parties_) one->zero->skip(o_.ratchet_bytes);
    ++ratchets_;
    position_ = 0;
    new_keys_ = true;
  }
  for (auto& one : parties_) {
    std::uint64_t at = position_;
    if (new_keys_) {
      const std::uint64_t first = ratchets_ * o_.ratchet_bytes;
      set_keys(one->ticks[0], o_.zero_shares,
               {one->zero->key(0, first, 1), one->zero->key(1, first, 1)});
    }
    for (int k = 0; k < kLayers * rounds_; ++k) {
      if (new_keys_ && k > 0) one->ticks[k] = one->ticks[0];
      set_position(one->ticks[k], o_.zero_shares, at);
      at += octets_of(k % kLayers);
    }
  }
  new_keys_ = false;
  position_ += message_octets();
}

void ResidentParties::begin() {
  set_ticks();
  step_ = 0;
}

Result<bool> ResidentParties::advance() {
  if (step_ > 0)
    if (auto done = queue().finish(); !done) return done.error();
  if (step_ == steps()) return false;
  if (host())
    queue().submit("layer" + std::to_string(step_), TransferStep(*this, step_));
  else
    queue().submit("cohort", CohortStep(*this));
  ++step_;
  return true;
}

Result<void> ResidentParties::encrypt() {
  begin();
  for (;;) {
    auto more = advance();
    if (!more) return more.error();
    if (!*more) return {};
  }
}

Result<SharedBytes> ResidentParties::read(std::size_t p) {
  const Party& one = *parties_[p];
  queue().submit("read" + std::to_string(p), ReadStep(*this, one));
  if (auto done = queue().finish(); !done) return done.error();
  SharedBytes out(16 * o_.blocks);
  for (std::size_t c = 0; c < 2; ++c)
    std::memcpy(out.component[c].data(), one.slot->octets[c], 16 * o_.blocks);
  return out;
}

}  // namespace tkdc::cuda
