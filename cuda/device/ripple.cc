// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/ripple.h"

#include <cstring>

#include "cuda/device/zero_tick.h"
#include "protocol/replicated.h"

namespace tkdc::cuda {
namespace {

using sha1::PlaneNumber;
using sha1::RippleSchedule;

constexpr std::size_t kOctetsIn = bits::kWordsIn * sizeof(Word);
constexpr std::size_t kOctetsOut = bits::kWordsOut * sizeof(Word);
static_assert(kOctetsIn == 64 + 20 && kOctetsOut == 20);
static_assert(BitProgram::kMostProducts >= RippleSchedule::kMostProducts);

}  // namespace

DeviceRipple::DeviceRipple(Device& device, int party, ClaimLog* claims,
                           std::vector<sha1::RippleBlock> blocks)
    : device_(device), party_(party), claims_(claims), blocks_(std::move(blocks)),
      schedule_(*this) {
  load();
}

DeviceRipple::~DeviceRipple() {
  cpu_.reset();
  if (slot_) device_.bit_slots.give_back(std::move(slot_));
}

// ---- what the schedule says, as a program

BitOp& DeviceRipple::next_op() {
  BitProgram& program = *slot_->program;
  assert(program.ops < BitProgram::kMostOps);
  BitOp& op = program.op[program.ops++];
  op = {0, {sha1::kPlaneOfZeros, sha1::kPlaneOfZeros, sha1::kPlaneOfZeros, sha1::kPlaneOfZeros}, 0};
  return op;
}

void DeviceRipple::sum(PlaneNumber to, std::initializer_list<PlaneNumber> of) {
  BitOp& op = next_op();
  op.to = to;
  std::copy(of.begin(), of.end(), op.of);
}

void DeviceRipple::product(PlaneNumber a, PlaneNumber b, PlaneNumber c, PlaneNumber d,
                           PlaneNumber to) {
  next_op() = {static_cast<PlaneNumber>(into_.size()), {a, b, c, d}, 1};
  into_.push_back(to);
}

// The next round's; the device takes the results of this one first.
bool DeviceRipple::begin_program() {
  BitProgram& program = *slot_->program;
  std::copy(into_.begin(), into_.end(), program.into);
  program.absorbs = static_cast<std::uint32_t>(into_.size());
  program.ops = 0;
  into_.clear();
  begun_ = schedule_.next();
  program.products = static_cast<std::uint32_t>(into_.size());
  view_.message_octets[0] = static_cast<std::uint32_t>((into_.size() * columns() + 7) / 8);
  return begun_;
}

// ---- steps

class DeviceRipple::LoadStep final : public Step {
 public:
  explicit LoadStep(const DeviceRipple& cohort) : cohort_(cohort) {}
  void record(Recorder& to) const override {
    const DeviceRipple& it = cohort_;
    for (int c = 0; c < 2; ++c)
      to.copy_in(it.view_.octets[c], it.slot_->octets[c], kOctetsIn * it.columns());
    to.launch(Kernel::kBitsSlice, it.view_, it.slot_->device_tick);
  }

 private:
  const DeviceRipple& cohort_;
};

class DeviceRipple::RoundStep final : public Step {
 public:
  RoundStep(const DeviceRipple& cohort, bool masked) : cohort_(cohort), masked_(masked) {}
  void record(Recorder& to) const override {
    const DeviceRipple& it = cohort_;
    it.record_program(to);
    to.launch(Kernel::kBitsPack, it.view_, it.slot_->device_tick);
    if (masked_) to.launch(it.mask_, it.view_, it.slot_->device_tick);
    to.copy_out(it.slot_->mine, it.view_.mine[0], it.bytes());
    for (int c = 0; it.claims_ != nullptr && c < 2; ++c)
      for (int side = 0; side < 2; ++side)
        to.copy_out(it.slot_->packed[c][side], it.view_.bits.packed[c][side], it.bytes());
  }

 private:
  const DeviceRipple& cohort_;
  bool masked_;
};

class DeviceRipple::StoreStep final : public Step {
 public:
  explicit StoreStep(const DeviceRipple& cohort) : cohort_(cohort) {}
  void record(Recorder& to) const override {
    const DeviceRipple& it = cohort_;
    it.record_program(to);
    to.launch(Kernel::kBitsUnslice, it.view_, it.slot_->device_tick);
    for (int c = 0; c < 2; ++c)
      to.copy_out(it.slot_->octets[c], it.view_.octets[c], kOctetsOut * it.columns());
  }

 private:
  const DeviceRipple& cohort_;
};

// What the device lacks of the round before, and the program.
void DeviceRipple::record_program(Recorder& to) const {
  to.copy_in(slot_->device_tick, slot_->tick, sizeof *slot_->tick);
  to.copy_in(const_cast<BitProgram*>(view_.bits.program), slot_->program, sizeof *slot_->program);
  if (upload_octets_ > 0) {
    to.copy_in(view_.theirs[0], slot_->theirs, upload_octets_);
    if (upload_mine_) to.copy_in(view_.mine[0], slot_->mine, upload_octets_);
  }
  to.launch(Kernel::kBitsRound, view_, slot_->device_tick);
}

// Equal names, equal work: see Queue::submit(). Numbers of products say how long messages are.
std::string DeviceRipple::step_name(char kind, bool masked) const {
  std::string name = {kind, masked ? (mask_ == Kernel::kMaskAes0 ? 'm' : 'x') : '-',
                      claims_ != nullptr ? 'c' : '-', upload_mine_ ? 'b' : 't',
                      static_cast<char>('0' + party_)};
  return name + std::to_string(columns()) + '/' + std::to_string(upload_octets_) + '/' +
         std::to_string(into_.size());
}

void DeviceRipple::submit_round(bool masked) {
  slot_->queue().submit(step_name('R', masked), RoundStep(*this, masked));
  upload_octets_ = 0;
}

void DeviceRipple::fall_back(const std::string& why) {
  device_.health.set_lost(why);
  take_over();
}

// The CPU's, brought to where this one is; see the top of ripple.h.
void DeviceRipple::take_over() {
  cpu_ = std::make_unique<sha1::Ripple>(party_, claims_, blocks_);
  for (std::size_t at = 0; at < log_.size(); at += 2 * cpu_->bytes()) {
    cpu_->next();
    cpu_->replay(log_.data() + at, log_.data() + at + cpu_->bytes());
  }
  if (begun_) cpu_->next();
  log_ = SecretVector();
}

// ---- the interface

void DeviceRipple::load() {
  auto slot = device_.bit_slots.acquire(columns());
  if (!slot) {
    device_.no_memory(slot.error().message);
    return take_over();
  }
  slot_ = std::move(*slot);
  view_ = slot_->view;
  view_.blocks = static_cast<std::uint32_t>(columns());
  view_.constant = constant_component(party_);
  view_.bits.words = static_cast<std::uint32_t>((columns() + 31) / 32);
  view_.bits.stride = view_.bits.words + 1;
  for (std::size_t c = 0; c < 2; ++c) {
    if (claims_ == nullptr) view_.bits.packed[c][0] = view_.bits.packed[c][1] = nullptr;
    std::uint8_t* to = slot_->octets[c];
    for (const sha1::RippleBlock& block : blocks_)
      for (const SharedBytes* part : {block.data, static_cast<const SharedBytes*>(block.state)}) {
        std::memcpy(to, part->component[c].data(), part->size());
        to += part->size();
      }
  }
  log_.reserve(2 * (RippleSchedule::kBits * columns() / 8 + RippleSchedule::kRounds));
  slot_->queue().submit(step_name('I', false), LoadStep(*this));
}

bool DeviceRipple::next() {
  if (cpu_) return cpu_->next();
  return begin_program() || store();
}

// Always false: no round is left.
bool DeviceRipple::store() {
  slot_->queue().submit(step_name('S', false), StoreStep(*this));
  if (auto done = slot_->queue().finish(); !done) {
    fall_back(done.error().message);
    return cpu_->next();
  }
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t n = 0; n < columns(); ++n)
      std::memcpy(blocks_[n].state->component[c].data(), slot_->octets[c] + kOctetsOut * n,
                  kOctetsOut);
  return false;
}

std::size_t DeviceRipple::bytes() const { return cpu_ ? cpu_->bytes() : view_.message_octets[0]; }

void DeviceRipple::write(std::uint8_t* message) {
  upload_mine_next_ = true;
  if (!cpu_) {
    submit_round(false);
    if (auto done = slot_->queue().finish(); !done) fall_back(done.error().message);
  }
  if (cpu_) return cpu_->write(message);
  std::memcpy(message, slot_->mine, bytes());
}

bool DeviceRipple::start_masked(const ZeroShare& zero) {
  if (cpu_) return false;
  mask_ = set_zero_share(*slot_->tick, zero);
  upload_mine_next_ = false;
  submit_round(true);
  return true;
}

void DeviceRipple::finish_masked(std::uint8_t* message) {
  auto done = slot_->queue().finish();
  if (done.ok()) {
    std::memcpy(message, slot_->mine, bytes());
    return;
  }
  fall_back(done.error().message);
  SecretVector masked((bytes() + sizeof(Word) - 1) / sizeof(Word) * sizeof(Word));
  cpu_->write(masked.data());
  mask_on_host(mask_, 0, view_, *slot_->tick, masked);
  std::memcpy(message, masked.data(), bytes());
}

void DeviceRipple::read(const std::uint8_t* mine, const std::uint8_t* theirs) {
  if (cpu_) return cpu_->read(mine, theirs);
  const std::uint8_t* const messages[2] = {mine, theirs};
  for (const std::uint8_t* message : messages) {
    const std::size_t at = log_.size();
    log_.resize(at + bytes());
    std::memcpy(log_.data() + at, message, bytes());
  }
  std::memcpy(slot_->theirs, theirs, bytes());
  if (upload_mine_next_) std::memcpy(slot_->mine, mine, bytes());
  if (claims_ != nullptr) record_claims(mine, theirs);
  upload_mine_ = upload_mine_next_;
  upload_octets_ = bytes();
  begun_ = false;
}

void DeviceRipple::record_claims(const std::uint8_t* mine, const std::uint8_t* theirs) {
  ClaimRows::Rows rows{};
  for (int c = 0; c < 2; ++c) {
    for (int side = 0; side < 2; ++side) rows[c][side] = slot_->packed[c][side];
    rows[c][2] = c == 0 ? mine : theirs;
  }
  claims_->add(tkdc::bits::bit_claim_shape(1), bytes(), rows);
}

}  // namespace tkdc::cuda
