// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/sha1/sha1.h"

#include "rep3/unit/sha1/grid.h"
#include "rep3/unit/sha1/ripple.h"

namespace tkdc {

using sha1::Chain;
using sha1::Grid;
using sha1::RippleCohort;
using sha1::RippleSchedule;

static_assert(Sha1::kRippleRounds == RippleSchedule::kRounds &&
              Sha1::kRippleBits == RippleSchedule::kBits);

struct Sha1::Submit {
  Sha1& sha1;
  Chain chain;
  Sha1Work work;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> h) {
    chain.awaiter = h;
    if (work == Sha1Work::kBulk)
      sha1.bulk_.push_back(&chain);
    else
      sha1.grid_->join(&chain);
  }
  void await_resume() {}
};

// Until every protocol that can run in this round has: gather() goes on.
struct Sha1::AtJoin {
  Sha1& sha1;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> h) { sha1.at_join_ = h; }
  void await_resume() {}
};

Sha1::Sha1(Rep3& rep3, const sha1::RippleBackend* ripples)
    : rep3_(rep3), ripples_(ripples), grid_(std::make_unique<Grid>(rep3.party(), rep3.claims())),
      ripple_from_(default_ripple_from()) {
  rep3_.add_gatherer([this] { return gather(); });
}

Sha1::~Sha1() = default;

bool Sha1::gather() {
  choose_for_bulk();
  if (at_join_) {
    rep3_.ready(std::exchange(at_join_, nullptr));
    return true;
  }
  if (running_ || grid_->idle()) return false;
  running_ = true;
  rep3_.spawn(run());
  return true;
}

// All bulk work of this round that is there by now.
void Sha1::choose_for_bulk() {
  if (bulk_.size() >= ripple_from_)
    rep3_.spawn(run_ripple(std::move(bulk_)));
  else
    for (Chain* chain : bulk_) grid_->join(chain);
  bulk_.clear();
}

std::unique_ptr<RippleCohort> Sha1::make_ripple(const std::vector<Chain*>& chains) {
  std::vector<sha1::RippleBlock> blocks;
  blocks.reserve(chains.size());
  for (const Chain* chain : chains) blocks.push_back({chain->state, chain->data});
  if (ripples_ != nullptr) return ripples_->make(rep3_.party(), rep3_.claims(), std::move(blocks));
  return std::make_unique<sha1::Ripple>(rep3_.party(), rep3_.claims(), std::move(blocks));
}

namespace {

// This party's message of a round: at once, or by the cohort on its own.
void put_terms(RippleCohort& ripple, Layer& layer) {
  const std::optional<ZeroShare> zero = layer.zero_share();
  if (!zero || !ripple.start_masked(*zero)) return ripple.write(layer.mine());
  layer.fill_later([&ripple](std::uint8_t* message) { ripple.finish_masked(message); });
}

}  // namespace

Task<void> Sha1::run_ripple(std::vector<Chain*> chains) {
  std::unique_ptr<RippleCohort> ripple = make_ripple(chains);
  while (ripple->next()) {
    Layer layer = rep3_.layer(ripple->bytes());
    put_terms(*ripple, layer);
    co_await layer;
    ripple->read(layer.mine(), layer.theirs());
  }
  blocks_done_ += chains.size();
  ripple_done_ += chains.size();
  for (Chain* chain : chains) rep3_.ready(chain->awaiter);
}

// Begins where the first chains join: those before them in the frame are none.
Task<void> Sha1::run() {
  for (int phase = Grid::kJoin;; phase = (phase + 1) % Grid::kPhases) {
    if (phase == Grid::kJoin) co_await AtJoin{*this};
    grid_->prepare(phase);
    Layer layer = rep3_.layer(grid_->layer().bytes());
    grid_->layer().write(layer.mine());
    co_await layer;
    grid_->finish(phase, layer.mine(), layer.theirs(), ended_, blocks_done_);
    for (Chain* chain : ended_) rep3_.ready(chain->awaiter);
    ended_.clear();
    if (phase == Grid::kPhases - 1 && grid_->idle()) break;
  }
  running_ = false;
}

void Sha1::pad(SharedBytes& data, std::size_t hashed_before) const {
  const std::size_t bytes = data.size();
  data.resize((bytes + 9 + kSha1BlockBytes - 1) / kSha1BlockBytes * kSha1BlockBytes);
  Bytes padding(data.size() - bytes, 0);
  padding[0] = 0x80;
  const std::uint64_t bits = 8 * (std::uint64_t{hashed_before} + bytes);
  for (std::size_t k = 0; k < 8; ++k)
    padding[padding.size() - 1 - k] = static_cast<std::uint8_t>(bits >> 8 * k);
  xor_public(data, rep3_.party(), padding, bytes);
}

Task<SharedBytes> Sha1::compress(SharedBytes state, SharedBytes block, Sha1Work work) {
  assert(state.size() == kSha1StateBytes && block.size() == kSha1BlockBytes);
  Submit submit = {*this, {&state, &block, nullptr, nullptr}, work};
  co_await submit;
  co_return state;
}

Task<SharedBytes> Sha1::finish(SharedBytes state, SharedBytes data, std::size_t hashed_before,
                               Sha1Work work) {
  assert(state.size() == kSha1StateBytes);
  pad(data, hashed_before);
  if (work == Sha1Work::kBulk) {
    for (std::size_t at = 0; at < data.size(); at += kSha1BlockBytes)
      state = co_await compress(std::move(state), data.slice(at, kSha1BlockBytes), work);
    co_return state;
  }
  Submit submit = {*this, {&state, &data, nullptr, nullptr}, work};
  co_await submit;
  co_return state;
}

Task<SharedBytes> Sha1::hmac(SharedBytes inner, SharedBytes outer, SharedBytes data,
                             Sha1Work work) {
  assert(inner.size() == kSha1StateBytes && outer.size() == kSha1StateBytes);
  if (work == Sha1Work::kBulk) {
    SharedBytes digest = co_await finish(std::move(inner), std::move(data), kSha1BlockBytes, work);
    co_return co_await finish(std::move(outer), std::move(digest), kSha1BlockBytes, work);
  }
  pad(data, kSha1BlockBytes);
  Submit submit = {*this, {&inner, &data, &outer, nullptr}, work};
  co_await submit;
  co_return inner;
}

SharedBytes Sha1::initial() const {
  static constexpr std::uint8_t kInitial[kSha1StateBytes] = {
      0x67, 0x45, 0x23, 0x01, 0xef, 0xcd, 0xab, 0x89, 0x98, 0xba,
      0xdc, 0xfe, 0x10, 0x32, 0x54, 0x76, 0xc3, 0xd2, 0xe1, 0xf0};
  return share_public(rep3_.party(), kInitial);
}

}  // namespace tkdc
