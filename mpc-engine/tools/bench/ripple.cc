// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/ripple.h"

#include <algorithm>
#include <chrono>

#include "rep3/unit/sha1/ripple.h"
#include "rep3/unit/sha1/sha1.h"
#include "tools/bench/turns.h"

namespace tkdc::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kParty = 0;
constexpr std::size_t kDigestBytes = 32;

// What a lane starts from: party 0's random shares, its keys, and what its neighbour sends.
struct RippleStart {
  explicit RippleStart(const RippleBench& bench)
      : theirs(sha1::RippleSchedule::kMostProducts * bench.compressions / 8 + 1) {
    for (std::size_t k = 0; k < bench.compressions; ++k)
      for (auto [list, bytes] : {std::pair{&states, kSha1StateBytes}, {&data, kSha1BlockBytes}}) {
        list->emplace_back(bytes);
        for (SecretVector& component : list->back().component)
          randombytes_buf(component.data(), bytes);
      }
    randombytes_buf(keys.mine.data(), keys.mine.size());
    randombytes_buf(keys.next.data(), keys.next.size());
    keys.zero_generator = bench.zero_shares;
    randombytes_buf(theirs.data(), theirs.size());
  }
  std::vector<SharedBytes> states, data;
  PairwiseKeys keys;
  SecretVector theirs;
};

class RippleLane {
 public:
  RippleLane(const sha1::RippleBackend* backend, const RippleStart& start)
      : backend_(backend), start_(start), states_(start.states), prss_(start.keys),
        message_(start.theirs.size()) {
    crypto_generichash_init(&digest_, nullptr, 0, kDigestBytes);
  }

  // A cohort over the last one's states.
  void begin() {
    std::vector<sha1::RippleBlock> blocks;
    for (std::size_t k = 0; k < states_.size(); ++k)
      blocks.push_back({&states_[k], &start_.data[k]});
    if (backend_ != nullptr)
      cohort_ = backend_->make(kParty, nullptr, std::move(blocks));
    else
      cohort_ = std::make_unique<sha1::Ripple>(kParty, nullptr, std::move(blocks));
  }
  // The next round's message is under way; false: the cohort is over.
  bool start_round() {
    if (!cohort_->next()) {
      cohort_.reset();
      return false;
    }
    bytes_ = cohort_->bytes();
    const ZeroShare zero = {
        {prss_.zero_key(0, position_, bytes_), prss_.zero_key(1, position_, bytes_)},
        position_ % kRatchetBytes,
        prss_.zero_generator()};
    masked_ = zero.key[0] != nullptr && zero.key[1] != nullptr && cohort_->start_masked(zero);
    if (!masked_) {
      std::fill_n(message_.data(), bytes_, 0);
      cohort_->write(message_.data());
    }
    return true;
  }
  // It is there, and so is the neighbour's.
  void finish_round() {
    if (masked_) {
      cohort_->finish_masked(message_.data());
      prss_.skip(bytes_);
    } else {
      prss_.add_zero_share(message_.data(), bytes_);
    }
    position_ += bytes_;
    if (digesting_) crypto_generichash_update(&digest_, message_.data(), bytes_);
    cohort_->read(message_.data(), start_.theirs.data());
  }
  // One cohort; what it sent and what came of it.
  Bytes first_cohort() {
    begin();
    while (start_round()) finish_round();
    digesting_ = false;
    for (const SharedBytes& state : states_)
      for (const SecretVector& component : state.component)
        crypto_generichash_update(&digest_, component.data(), component.size());
    Bytes out(kDigestBytes);
    crypto_generichash_final(&digest_, out.data(), out.size());
    return out;
  }

 private:
  const sha1::RippleBackend* const backend_;
  const RippleStart& start_;
  std::vector<SharedBytes> states_;
  Prss prss_;
  SecretVector message_;
  std::unique_ptr<sha1::RippleCohort> cohort_;
  std::uint64_t position_ = 0;
  std::size_t bytes_ = 0;
  bool masked_ = false, digesting_ = true;
  crypto_generichash_state digest_;
};

using RippleLanes = std::vector<std::unique_ptr<RippleLane>>;

// Rounds of all lanes in turn, as in a lane's tick, until the time is over. How many cohorts ended.
std::size_t run_rounds(RippleLanes& lanes, double seconds) {
  Turns turns(lanes.size(), seconds);
  for (auto& lane : lanes) lane->begin();
  while (turns.running()) {
    for (std::size_t k = 0; k < lanes.size(); ++k) {
      if (turns.over(k) || lanes[k]->start_round() || !turns.another(k)) continue;
      lanes[k]->begin();
      lanes[k]->start_round();
    }
    for (std::size_t k = 0; k < lanes.size(); ++k)
      if (!turns.over(k)) lanes[k]->finish_round();
  }
  return turns.cohorts();
}

}  // namespace

Result<nlohmann::json> measure_ripples(const sha1::RippleBackend* backend,
                                       const RippleBench& bench) {
  std::vector<std::unique_ptr<RippleStart>> starts;
  RippleLanes lanes;
  for (std::size_t k = 0; k < bench.lanes; ++k) {
    starts.push_back(std::make_unique<RippleStart>(bench));
    lanes.push_back(std::make_unique<RippleLane>(backend, *starts.back()));
    RippleLane cpu(nullptr, *starts.back());
    if (lanes.back()->first_cohort() != cpu.first_cohort())
      return fail("bench: the device's compressions differ from the CPU's");
  }
  const auto begin = Clock::now();
  const std::size_t cohorts = run_rounds(lanes, bench.seconds);
  const double wall = std::chrono::duration<double>(Clock::now() - begin).count();
  const std::size_t compressions = cohorts * bench.compressions;
  return nlohmann::json{
      {"mode", "host"},
      {"parties", 1},
      {"threads", 1},
      {"compressions_per_s", static_cast<double>(compressions) / wall},
      {"compressions", compressions},
      {"seconds", wall},
      {"cohort_compressions", bench.compressions},
      {"lanes", bench.lanes},
      {"rounds", Sha1::kRippleRounds},
      {"bytes_per_compression_per_party", static_cast<double>(Sha1::kRippleBits) / 8},
      {"zero_shares", zero_generator_name(bench.zero_shares)},
      {"security", security_name(Security::kSemiHonest)},
      {"checked", true}};
}

}  // namespace tkdc::bench
