// SPDX-License-Identifier: Apache-2.0
#include "service/admit/rate_limits.h"

#include <algorithm>

namespace tkdc {

bool TokenBucket::ready(const RateLimit& limit, Clock::time_point now) {
  if (now > last_) {
    const std::chrono::duration<double> passed = now - last_;
    taken_ = std::max(0.0, taken_ - limit.per_s * passed.count());
    last_ = now;
  }
  return taken_ + 1 <= limit.burst;
}

// An empty bucket stays empty: a key that another row has let through is charged here too.
void TokenBucket::take(const RateLimit& limit) { taken_ = std::min(limit.burst, taken_ + 1); }

KeyRates::KeyRates(const RateLimit& limit) : limit_(limit) {
  randombytes_buf(hash_key_.data(), hash_key_.size());
  if (limit_.any()) rows_.resize(kRows * kBuckets);
}

bool KeyRates::allow(const KeyId& id, TokenBucket::Clock::time_point now) {
  if (!limit_.any()) return true;
  std::array<std::uint8_t, crypto_shorthash_BYTES> hash{};
  crypto_shorthash(hash.data(), id.data(), id.size(), hash_key_.data());
  static_assert(crypto_shorthash_BYTES >= 2 * kRows);
  std::array<TokenBucket*, kRows> buckets{};
  bool allowed = false;
  for (std::size_t row = 0; row < kRows; ++row) {
    const std::size_t number = hash[2 * row] | std::size_t{hash[2 * row + 1]} << 8;
    buckets[row] = &rows_[row * kBuckets + number % kBuckets];
    allowed |= buckets[row]->ready(limit_, now);
  }
  if (allowed)
    for (TokenBucket* bucket : buckets) bucket->take(limit_);
  return allowed;
}

bool RateLimits::key_allowed(const KeyRecord& record, Clock::time_point now) {
  if (record.key_class == KeyClass::kKrbtgt) return true;
  KeyRates& rates = record.key_class == KeyClass::kUser ? users_ : services_;
  return rates.allow(record.ref.id, now);
}

RateVerdict RateLimits::count(std::uint64_t id, const KeyRecord* record, Clock::time_point now) {
  std::lock_guard lock(mutex_);
  Agent& agent = agents_[id];
  agent.count.agent = id;
  agent.count.asked++;
  if (options_.agent.any()) {
    if (!agent.bucket.ready(options_.agent, now)) {
      agent.count.refused++;
      agents_refused_++;
      return RateVerdict::kAgentTooOften;
    }
    agent.bucket.take(options_.agent);
  }
  if (record == nullptr || key_allowed(*record, now)) return RateVerdict::kAllowed;
  agent.count.refused++;
  keys_refused_++;
  return RateVerdict::kKeyTooOften;
}

std::vector<RateLimits::AgentCount> RateLimits::agents() const {
  std::lock_guard lock(mutex_);
  std::vector<AgentCount> out;
  for (const auto& [id, agent] : agents_) out.push_back(agent.count);
  return out;
}

}  // namespace tkdc
