// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/sha1/sha1.h"

#include "protocol/replicated.h"
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
  Work work;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> h) {
    chain.awaiter = h;
    if (work == Work::kBulk)
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
  rep3_.lane.add_gatherer([this] { return gather(); });
}

Sha1::~Sha1() = default;

bool Sha1::gather() {
  choose_for_bulk();
  if (at_join_) {
    rep3_.lane.ready(std::exchange(at_join_, nullptr));
    return true;
  }
  if (at_work_ || grid_->idle()) return false;
  at_work_ = true;
  rep3_.lane.spawn(run());
  return true;
}

// All bulk work of this round that is there by now.
void Sha1::choose_for_bulk() {
  if (bulk_.size() >= ripple_from_)
    rep3_.lane.spawn(run_ripple(std::move(bulk_)));
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
  for (Chain* chain : chains) rep3_.lane.ready(chain->awaiter);
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
    for (Chain* chain : ended_) rep3_.lane.ready(chain->awaiter);
    ended_.clear();
    if (phase == Grid::kPhases - 1 && grid_->idle()) break;
  }
  at_work_ = false;
}

Task<SharedBytes> Sha1::compress(SharedBytes state, SharedBytes blocks, Work work) {
  assert(state.size() == kSha1StateBytes && blocks.size() != 0 &&
         blocks.size() % kSha1BlockBytes == 0);
  if (work == Work::kWaitedFor) {
    Submit chain = {*this, {&state, &blocks, nullptr, nullptr}, work};
    co_await chain;
    co_return state;
  }
  for (std::size_t at = 0; at < blocks.size(); at += kSha1BlockBytes) {
    const SharedBytes block = blocks.slice(at, kSha1BlockBytes);
    Submit one = {*this, {&state, &block, nullptr, nullptr}, work};
    co_await one;
  }
  co_return state;
}

Task<SharedBytes> Sha1::hmac(const SharedBytes& pads, SharedBytes blocks, Work work) {
  assert(pads.size() == 2 * kSha1StateBytes && blocks.size() != 0 &&
         blocks.size() % kSha1BlockBytes == 0);
  SharedBytes inner = pads.slice(0, kSha1StateBytes);
  SharedBytes outer = pads.slice(kSha1StateBytes, kSha1StateBytes);
  if (work == Work::kWaitedFor) {
    Submit chain = {*this, {&inner, &blocks, &outer, nullptr}, work};
    co_await chain;
    co_return inner;
  }
  SharedBytes digest = co_await compress(std::move(inner), std::move(blocks), work);
  const Bytes padding = kSha1.padding(kSha1StateBytes, kSha1BlockBytes);
  digest.resize(kSha1BlockBytes);
  xor_public(digest, rep3_.party(), padding, kSha1StateBytes);
  co_return co_await compress(std::move(outer), std::move(digest), work);
}

}  // namespace tkdc
