// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/workload.h"

#include <endian.h>

#include <algorithm>
#include <cstring>

#include "cipher/hash.h"
#include "tools/bench/reference.h"

namespace tkdc::bench {
namespace {

class CtrWorkload final : public BenchWorkload {
 public:
  CtrWorkload(Rep3& rep3, Rep3Protocol& protocol, std::size_t key_bytes, std::size_t cohort_blocks)
      : rep3_(rep3), protocol_(protocol), key_bytes_(key_bytes), jobs_(cohort_blocks / kJobBlocks) {
  }

  std::size_t jobs() const override { return jobs_; }
  std::size_t units() const override { return kJobBlocks; }

  Task<void> prepare() override {
    for (std::size_t k = 0; k < jobs_; ++k) keys_.push_back(rep3_.random(key_bytes_));
    round_keys_ = co_await aes_round_keys(rep3_, keys_);
  }

  Task<void> compute(std::size_t job, std::uint64_t counter, SharedBytes& out) override {
    SharedBytes in = std::move(out);
    in.resize(16 * kJobBlocks);
    for (SecretVector& component : in.component) std::memset(component.data(), 0, component.size());
    xor_public(in, rep3_.party(), counter_blocks(job, counter));
    out = co_await protocol_.aes.encrypt(round_keys_[job], std::move(in));
  }

  Task<void> open(std::uint64_t counter, const SharedBytes& result) override {
    counter_ = counter;
    opened_key_ = co_await rep3_.open(keys_.back());
    opened_result_ = co_await rep3_.open(result);
  }

  Result<void> check() const override {
    auto expected = openssl_encrypt(opened_key_, counter_blocks(jobs_ - 1, counter_));
    if (!expected) return expected.error();
    if (*expected != opened_result_)
      return fail("bench: the parties' result differs from OpenSSL's AES");
    return {};
  }

 private:
  static constexpr std::size_t kJobBlocks = 16;

  // Job in the upper half, cohort counter and block below.
  static std::array<std::uint8_t, 16 * kJobBlocks> counter_blocks(std::size_t job,
                                                                  std::uint64_t counter) {
    std::array<std::uint8_t, 16 * kJobBlocks> out;
    for (std::size_t b = 0; b < kJobBlocks; ++b) {
      const std::uint64_t words[2] = {htobe64(job), htobe64(counter * kJobBlocks + b)};
      std::memcpy(out.data() + 16 * b, words, sizeof words);
    }
    return out;
  }

  Rep3& rep3_;
  Rep3Protocol& protocol_;
  const std::size_t key_bytes_, jobs_;
  std::vector<SharedBytes> keys_, round_keys_;
  std::uint64_t counter_ = 0;
  Bytes opened_key_, opened_result_;
};

class Sha1Workload final : public BenchWorkload {
 public:
  Sha1Workload(Rep3& rep3, Rep3Protocol& protocol, std::size_t compressions)
      : rep3_(rep3), protocol_(protocol), jobs_(compressions) {
    protocol_.sha1.set_ripple_from(1);  // this shape is what is measured
  }

  std::size_t jobs() const override { return jobs_; }
  std::size_t units() const override { return 1; }

  Task<void> prepare() override {
    for (std::size_t k = 0; k < jobs_; ++k) messages_.push_back(rep3_.random(kMessageBytes));
    co_return;
  }

  // The job's message, with the cohort's counter added to its first octets.
  Task<void> compute(std::size_t job, std::uint64_t counter, SharedBytes& out) override {
    SharedBytes message = messages_[job];
    xor_public(message, rep3_.party(), counter_octets(counter));
    SharedBytes state = protocol_.share_public(kSha1.initial());
    out =
        co_await hash_rest(protocol_, kSha1, std::move(state), std::move(message), 0, Work::kBulk);
  }

  Task<void> open(std::uint64_t counter, const SharedBytes& result) override {
    counter_ = counter;
    opened_message_ = co_await rep3_.open(messages_.back());
    opened_result_ = co_await rep3_.open(result);
  }

  Result<void> check() const override {
    Bytes message = opened_message_;
    const auto counter = counter_octets(counter_);
    for (std::size_t k = 0; k < counter.size(); ++k) message[k] ^= counter[k];
    auto expected = openssl_sha1(message);
    if (!expected) return expected.error();
    if (*expected != opened_result_)
      return fail("bench: the parties' result differs from OpenSSL's SHA-1");
    if (protocol_.sha1.ripple_blocks() == 0 ||
        protocol_.sha1.ripple_blocks() != protocol_.sha1.blocks())
      return fail("bench: compressions took another shape than that of the fewest bits");
    return {};
  }

 private:
  static constexpr std::size_t kMessageBytes = 55;  // the most that pads to one block

  static std::array<std::uint8_t, kMessageBytes> counter_octets(std::uint64_t counter) {
    std::array<std::uint8_t, kMessageBytes> out{};
    const std::uint64_t word = htobe64(counter);
    std::memcpy(out.data(), &word, sizeof word);
    return out;
  }

  Rep3& rep3_;
  Rep3Protocol& protocol_;
  const std::size_t jobs_;
  std::vector<SharedBytes> messages_;
  std::uint64_t counter_ = 0;
  Bytes opened_message_, opened_result_;
};

}  // namespace

MakeWorkload ctr_workload(std::size_t key_bytes, std::size_t cohort_blocks) {
  return [=](Rep3& rep3, Rep3Protocol& protocol) {
    return std::make_unique<CtrWorkload>(rep3, protocol, key_bytes, cohort_blocks);
  };
}

MakeWorkload sha1_workload(std::size_t cohort_compressions) {
  return [=](Rep3& rep3, Rep3Protocol& protocol) {
    return std::make_unique<Sha1Workload>(rep3, protocol, cohort_compressions);
  };
}

}  // namespace tkdc::bench
