// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/selftest.h"

#include <algorithm>
#include <random>

#include "cuda/device/cohort.h"
#include "cuda/device/ripple.h"
#include "rep3/unit/aes/byte_cohort.h"
#include "rep3/unit/aes/plane_cohort.h"
#include "rep3/unit/sha1/sha1.h"
#include "rep3/zero_stream.h"

namespace tkdc::cuda {
namespace {

// The lane's zero-share as the CPU makes it, from a position that no unit starts at.
class Zero {
 public:
  Zero(std::mt19937_64& rng, ZeroGenerator generator) : generator_(generator) {
    for (SecretBuffer* key : {&mine_, &next_})
      for (std::uint8_t& octet : key->span()) octet = static_cast<std::uint8_t>(rng());
    const ZeroStreamKeys keys = {mine_.span(), next_.span()};
    stream_ = generator == ZeroGenerator::kChaCha20 ? zero_stream_chacha20(keys)
                                                    : zero_stream_openssl(keys);
    octets_.resize(256 * ZeroStream::kPieceBytes);
    stream_->next(octets_.data(), octets_.size());
  }
  // Adds it to a message; where() is what the device needs for the same.
  ZeroShare where(std::size_t octets) const {
    return {{stream_->key(0, at_, octets), stream_->key(1, at_, octets)}, at_, generator_};
  }
  void add(SecretVector& message) {
    assert(at_ + message.size() <= octets_.size());
    xor_bytes(message.data(), octets_.data() + at_, message.size());
    at_ += message.size() + 1;
  }

 private:
  const ZeroGenerator generator_;
  SecretBuffer mine_{32}, next_{32};
  std::unique_ptr<ZeroStream> stream_;
  SecretVector octets_;
  std::size_t at_ = 3;
};

// What has been recorded for malicious mode since the last call, row after row.
SecretVector claimed(ClaimLog& log) {
  ClaimBatch batch;
  log.take(batch);
  SecretVector all;
  for (const auto& record : batch.octets)
    record->for_each_block([&](const ClaimRows::Tile* tiles) {
      for (std::size_t t = 0; t < record->tiles_per_block(); ++t)
        for (std::size_t strand = 0; strand < record->strands(); ++strand) {
          const std::uint8_t* first = tiles[t].base + tiles[t].row[strand];
          all.insert(all.end(), first, first + ClaimRows::kLanes);
        }
    });
  return all;
}

// One cohort on the device and one on the CPU, given the same, with claims where there are any.
class Twin {
 public:
  Twin(Device& device, const Rep3Backend& cpu, ZeroGenerator generator, int party,
       std::size_t blocks, std::uint64_t seed)
      : rng_(seed), zero_(rng_, generator), on_device_(device, cpu, party, blocks),
        on_cpu_(cpu.make_cohort(party, blocks)) {
    fill(in_, 16 * blocks);
    fill(keys_, 2 * 32);
    for (SharedBytes& out : out_) out.resize(16 * blocks);
    for (std::size_t which = 0; which < 2; ++which)
      for (std::size_t b = 0; b < blocks; ++b) {
        AesBlockRef ref{};
        for (int c = 0; c < 2; ++c) {
          ref.in[c] = in_.component[c].data() + 16 * b;
          ref.out[c] = out_[which].component[c].data() + 16 * b;
          ref.round_keys[c] = keys_.component[c].data() + (b % 5 == 0 ? 0 : 32);
        }
        refs_[which].push_back(ref);
      }
  }

  // Two rounds in each direction: every linear step and layer. They end where octets differ
  // or the device has failed.
  bool encrypts() {
    start();
    key(0);
    if (!layers()) return false;
    each([](AesCohort& c) { c.sub_shift_mix(false); });
    key(1);
    if (!layers()) return false;
    each([](AesCohort& c) { c.sub_shift_mix(true); });
    key(0);
    return stores_same();
  }
  bool decrypts() {
    start();
    key(1);
    each([](AesCohort& c) { c.inv_shift_sub(); });
    if (!layers()) return false;
    each([](AesCohort& c) { c.take_inverse(); });
    key(0);
    each([](AesCohort& c) { c.inv_mix(); });
    each([](AesCohort& c) { c.inv_shift_sub(); });
    if (!layers()) return false;
    each([](AesCohort& c) { c.take_inverse(); });
    key(1);
    return stores_same();
  }

 private:
  void fill(SharedBytes& x, std::size_t octets) {
    x.resize(octets);
    for (SecretVector& component : x.component)
      for (std::uint8_t& octet : component) octet = static_cast<std::uint8_t>(rng_());
  }
  template <class Do>
  void each(Do what) {
    what(on_device_);
    what(*on_cpu_);
  }
  void start() {
    on_device_.load(refs_[0]);
    on_cpu_->load(refs_[1]);
  }
  void key(int round) {
    on_device_.add_round_key(refs_[0], round);
    on_cpu_->add_round_key(refs_[1], round);
  }
  bool layers() {
    bool same = true;
    on_device_.keep_for_claims(log_[0]);
    on_cpu_->keep_for_claims(log_[1]);
    for (int layer = 0; layer < AesCohort::kLayers; ++layer) {
      const std::size_t octets = on_cpu_->message_bytes(layer);
      SecretVector got(octets), theirs(octets);
      mine_.assign(octets, 0);
      for (std::uint8_t& octet : theirs) octet = static_cast<std::uint8_t>(rng_());
      if (!on_device_.start_masked_terms(layer, zero_.where(octets))) return false;
      on_cpu_->terms(layer, mine_.data());
      zero_.add(mine_);
      on_device_.finish_masked_terms(layer, got.data());
      same &= got == mine_;
      held_.push_back(std::move(mine_));
      held_.push_back(std::move(theirs));
      const std::uint8_t* views[2] = {held_[held_.size() - 2].data(), held_.back().data()};
      each([&](AesCohort& c) { c.absorb(layer, views[0], views[1]); });
    }
    if (on_device_.record(log_[0]) != on_cpu_->record(log_[1])) return false;
    return same && claimed(log_[0]) == claimed(log_[1]);
  }
  bool stores_same() {
    on_device_.store(refs_[0]);
    on_cpu_->store(refs_[1]);
    return out_[0].component[0] == out_[1].component[0] &&
           out_[0].component[1] == out_[1].component[1];
  }

  std::mt19937_64 rng_;
  Zero zero_;
  SharedBytes in_, keys_, out_[2];
  std::vector<AesBlockRef> refs_[2];
  ClaimLog log_[2];
  DeviceCohort on_device_;
  std::unique_ptr<AesCohort> on_cpu_;
  SecretVector mine_;
  std::vector<SecretVector> held_;  // what absorb() was given must stay readable
};

// Compressions on the device and on the CPU, given the same: every round.
class RippleTwin {
 public:
  RippleTwin(Device& device, ZeroGenerator generator, Security security, int party,
             std::size_t columns, std::uint64_t seed)
      : rng_(seed), zero_(rng_, generator),
        data_(columns), states_{Shares(columns), Shares(columns)},
        on_device_(device, party, log_for(security, 0), fill()),
        on_cpu_(party, log_for(security, 1), blocks(1)) {}

  bool compresses() {
    bool same = true;
    for (;;) {
      const bool more = on_cpu_.next();
      if (on_device_.next() != more || on_device_.bytes() != on_cpu_.bytes()) return false;
      if (!more) return same && same_states() && claimed(log_[0]) == claimed(log_[1]);
      const std::size_t octets = on_cpu_.bytes();
      SecretVector mine(octets), got(octets), theirs(octets);
      fill(theirs);
      if (!on_device_.start_masked(zero_.where(octets))) return false;
      on_cpu_.write(mine.data());
      zero_.add(mine);
      on_device_.finish_masked(got.data());
      same &= got == mine;
      on_device_.read(mine.data(), theirs.data());
      on_cpu_.read(mine.data(), theirs.data());
    }
  }

 private:
  using Shares = std::vector<SharedBytes>;

  ClaimLog* log_for(Security security, std::size_t which) {
    return security == Security::kMalicious ? &log_[which] : nullptr;
  }
  void fill(SecretVector& x) {
    for (std::uint8_t& octet : x) octet = static_cast<std::uint8_t>(rng_());
  }
  std::vector<sha1::RippleBlock> fill() {
    for (std::size_t n = 0; n < data_.size(); ++n) {
      data_[n].resize(kSha1BlockBytes);
      states_[0][n].resize(kSha1StateBytes);
      for (SharedBytes* octets : {&data_[n], &states_[0][n]})
        for (SecretVector& component : octets->component) fill(component);
      states_[1][n] = states_[0][n];
    }
    return blocks(0);
  }
  std::vector<sha1::RippleBlock> blocks(std::size_t which) {
    std::vector<sha1::RippleBlock> all;
    for (std::size_t n = 0; n < data_.size(); ++n) all.push_back({&states_[which][n], &data_[n]});
    return all;
  }
  bool same_states() const {
    for (std::size_t n = 0; n < data_.size(); ++n)
      for (int c = 0; c < 2; ++c)
        if (states_[0][n].component[c] != states_[1][n].component[c]) return false;
    return true;
  }

  std::mt19937_64 rng_;
  Zero zero_;
  Shares data_, states_[2];
  ClaimLog log_[2];
  DeviceRipple on_device_;
  sha1::Ripple on_cpu_;
};

// What a twin has found. Error: how the device failed, or where it differs.
Result<void> judge(const Device& device, bool same, const std::string& what,
                   ZeroGenerator generator) {
  if (!device.health.did_all())
    return fail(device.driver->name() + " failed in its self-test: " + device.health.why());
  if (!same)
    return fail(device.driver->name() + " computes wrongly: its self-test of " + what +
                " with zero-shares by " + zero_generator_name(generator) +
                " differs from the CPU. Do not use it");
  return {};
}

// In both directions.
Result<void> twins(Device& device, const Rep3Backend& cpu, ZeroGenerator generator,
                   std::size_t blocks, std::uint64_t seed) {
  for (bool encrypt : {true, false}) {
    Twin twin(device, cpu, generator, static_cast<int>(seed % 3), blocks, seed);
    ++seed;
    const bool same = encrypt ? twin.encrypts() : twin.decrypts();
    auto judged = judge(device, same, std::to_string(blocks) + " blocks", generator);
    if (!judged) return judged;
  }
  return {};
}

}  // namespace

Result<void> self_test(Device& device) {
  const Rep3Backend* const backends[] = {&rep3_backend_scalar(), &rep3_backend_planes()};
  std::uint64_t seed = 1;
  // The most have several thread blocks, of what adds zero-shares too.
  for (const Rep3Backend* cpu : backends)
    for (ZeroGenerator generator : {ZeroGenerator::kAesCtr, ZeroGenerator::kChaCha20})
      for (std::size_t blocks : {1u, 77u, 2100u}) {
        if (auto done = twins(device, *cpu, generator, blocks, seed); !done) return done;
        seed += 2;
      }
  constexpr std::pair<ZeroGenerator, Security> kRipples[] = {
      {ZeroGenerator::kAesCtr, Security::kMalicious},
      {ZeroGenerator::kChaCha20, Security::kSemiHonest}};
  for (auto [generator, security] : kRipples) {
    RippleTwin twin(device, generator, security, static_cast<int>(seed % 3), 77, seed);
    ++seed;
    auto judged = judge(device, twin.compresses(), "77 SHA-1 compressions", generator);
    if (!judged) return judged;
  }
  return check_self_test(device);
}

}  // namespace tkdc::cuda
