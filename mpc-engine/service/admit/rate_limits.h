// SPDX-License-Identifier: Apache-2.0
// How often an agent may ask, and how often a key may be used: token buckets that
// refill at `per_s` and hold `burst`. Each server counts by its own clock and refuses
// by itself; where they differ the worst verdict drops that one job at all three.
//
// Memory is fixed. Agents are those of the configuration. Keys share buckets: a key has
// one in each of four rows, chosen by a keyed hash that nobody outside can aim, and
// may go on while one of the four lets it. Each bucket has paid at least what each of
// its keys has, so no key ever gets more than its limit; and a key is only refused
// within its limit when keys beyond theirs lie on it in all four rows.
//
// Thread-safe. Holds no secrets.
#pragma once

#include <sodium.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "base/machine.h"
#include "service/store/record.h"

namespace tkdc {

struct RateLimit {
  double per_s = 0;  // 0: no limit
  double burst = 0;
  bool any() const { return per_s > 0; }
};

struct RateLimitOptions {
  RateLimit agent;        // each
  RateLimit user_key;     // each key of class user
  RateLimit service_key;  // of all others but krbtgt's, which every operation of a realm needs
};

// One bucket: what was taken and has not come back yet. Zero is a full bucket.
class TokenBucket {
 public:
  using Clock = SteadyClock;

  // Brings it up to now; whether it has one left.
  bool ready(const RateLimit& limit, Clock::time_point now);
  void take(const RateLimit& limit);

 private:
  double taken_ = 0;
  Clock::time_point last_{};
};

// A limit for each key of one kind.
class KeyRates {
 public:
  static constexpr std::size_t kRows = 4;
  static constexpr std::size_t kBuckets = std::size_t{1} << 14;  // of a row

  explicit KeyRates(const RateLimit& limit);
  bool allow(const KeyId& id, TokenBucket::Clock::time_point now);

 private:
  const RateLimit limit_;
  std::array<std::uint8_t, crypto_shorthash_KEYBYTES> hash_key_{};
  std::vector<TokenBucket> rows_;  // kRows of kBuckets, none without a limit
};

enum class RateVerdict : std::uint8_t { kAllowed, kAgentTooOften, kKeyTooOften };

class RateLimits {
 public:
  using Clock = TokenBucket::Clock;
  struct AgentCount {
    std::uint64_t agent = 0, asked = 0, refused = 0;
  };

  explicit RateLimits(const RateLimitOptions& options)
      : options_(options), users_(options.user_key), services_(options.service_key) {}

  // Once for each job. `record`: of the key that it uses, null when it makes or ends one.
  RateVerdict count(std::uint64_t agent, const KeyRecord* record,
                    Clock::time_point now = Clock::now());

  std::vector<AgentCount> agents() const;
  std::uint64_t keys_refused() const { return keys_refused_; }
  std::uint64_t agents_refused() const { return agents_refused_; }

 private:
  struct Agent {
    TokenBucket bucket;
    AgentCount count;
  };
  bool key_allowed(const KeyRecord& record, Clock::time_point now);

  const RateLimitOptions options_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Agent> agents_;  // as many as the configuration lists
  KeyRates users_, services_;
  std::atomic<std::uint64_t> keys_refused_{0}, agents_refused_{0};
};

}  // namespace tkdc
