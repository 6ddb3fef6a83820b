// SPDX-License-Identifier: Apache-2.0
// Party to party: three processes with TLS between them on loopback, no agent. Times
// are party 0's, from the moment when it starts the operation to the one when it may use
// the result, in malicious mode with verification; masks are made between the
// operations and not counted. Each operation comes with a course of its own, as a job does.
#include "tools/bench/latency.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cipher/aes_keys.h"
#include "lane/ticker.h"
#include "rep3/unit/rep3_protocol.h"
#include "tools/bench/device.h"
#include "tools/bench/parties.h"
#include "tools/bench/reference.h"

namespace tkdc::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct LatencyArguments {
  int aes = 128;
  std::size_t count = 1000;
  BenchSetup setup;
  bool json = false;
};

constexpr std::size_t kChain = 20;
constexpr std::size_t kWarmUp = 20;
// Chains are longer: fewer of them.
constexpr std::size_t kBlocksPerChain = 5;
// Masks are made for that many blocks at once.
constexpr std::size_t kFillBlocks = 2 * kChain;

// What was measured of one kind of operation, in microseconds.
struct Latencies {
  std::vector<double> result, usable;  // the block is there; and verified
  std::uint64_t rounds = 0, rounds_in_all = 0;
};

double quantile(std::vector<double> all, double q) {
  std::ranges::sort(all);
  return all[std::min(all.size() - 1,
                      static_cast<std::size_t>(q * static_cast<double>(all.size())))];
}

class LatencyLane {
 public:
  LatencyLane(const Session& session, LaneLink& lane, const Rep3Backend& backend,
              std::size_t key_bytes)
      : key_bytes_(key_bytes), rounds_(aes_rounds(key_bytes)), link_(*lane.link),
        lane_(session.party, session.security), rep3_(lane_, session.representation, lane.keys),
        protocol_(rep3_, backend), ticker_(lane_, link_),
        pool_(rep3_, MaskPool::needed(kFillBlocks, rounds_)) {}

  Result<void> prepare() {
    protocol_.aes.use_masks(pool_, 0);
    lane_.spawn(draw());
    return ticker_.run();
  }

  // `count` operations of `blocks` blocks one after the other.
  Result<Latencies> measure(bool masked, std::size_t blocks, std::size_t count) {
    Latencies out;
    for (std::size_t k = 0; k < kWarmUp + count; ++k) {
      if (masked && !pool_.has(MaskPool::needed(blocks, rounds_))) {
        lane_.spawn(fill());
        if (auto done = ticker_.run(); !done) return done.error();
      }
      protocol_.aes.use_masks(pool_, masked ? 1 : 0);
      // As a lane's job does, whose admission is compared before its first masked value.
      const std::uint64_t operation = ++operations_;
      lane_.course().note(Course::Kind::kSaid,
                          {{reinterpret_cast<const std::uint8_t*>(&operation), sizeof operation}});
      const std::uint64_t from = lane_.rounds();
      const Clock::time_point start = Clock::now();
      lane_.spawn(chain(blocks));
      if (auto done = ticker_.run(); !done) return done.error();
      if (k < kWarmUp) continue;
      auto us = [&](Clock::time_point t) {
        return std::chrono::duration<double, std::micro>(t - start).count();
      };
      out.result.push_back(us(result_at_));
      out.usable.push_back(us(usable_at_));
      out.rounds = result_round_ - from;
      out.rounds_in_all = lane_.rounds() - from;
    }
    return out;
  }

  // The time that masks for a block take when made for many together.
  Result<double> measure_fill() {
    const Clock::time_point start = Clock::now();
    const std::uint64_t before = pool_.made();
    for (int k = 0; k < 5; ++k) {
      while (pool_.has(MaskPool::needed(1, rounds_))) (void)pool_.take(1, rounds_);
      lane_.spawn(fill());
      if (auto done = ticker_.run(); !done) return done.error();
    }
    const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    return us * rounds_ / static_cast<double>(pool_.made() - before);
  }

  Result<void> check() {
    lane_.spawn(open());
    if (auto done = ticker_.run(); !done) return done.error();
    auto expected = openssl_encrypt(opened_key_, Bytes(16), blocks_);
    if (!expected) return expected.error();
    if (*expected != opened_block_)
      return fail("bench: the parties' result differs from OpenSSL's AES");
    return {};
  }

 private:
  Task<void> draw() {
    key_ = rep3_.random(key_bytes_);
    std::vector<SharedBytes> keys(1, key_);
    keys = co_await aes_round_keys(rep3_, std::move(keys));
    round_keys_ = std::move(keys.front());
    block_ = SharedBytes(16);
    co_await rep3_.verified();
  }
  Task<void> fill() { return pool_.fill(pool_.capacity()); }
  Task<void> chain(std::size_t blocks) {
    for (std::size_t k = 0; k < blocks; ++k)
      block_ = co_await protocol_.aes.encrypt(round_keys_, std::move(block_));
    blocks_ += blocks;
    result_at_ = Clock::now();
    result_round_ = lane_.rounds();
    co_await rep3_.verified();
    usable_at_ = Clock::now();
  }
  Task<void> open() {
    opened_key_ = co_await rep3_.open(key_);
    opened_block_ = co_await rep3_.open(block_);
  }

  const std::size_t key_bytes_;
  const int rounds_;
  Link& link_;
  Lane lane_;
  Rep3 rep3_;
  Rep3Protocol protocol_;
  Ticker ticker_;
  MaskPool pool_;
  SharedBytes key_, round_keys_, block_;
  Bytes opened_key_, opened_block_;
  std::uint64_t operations_ = 0, result_round_ = 0;
  std::size_t blocks_ = 0;
  Clock::time_point result_at_, usable_at_;
};

Result<nlohmann::json> measure(const LatencyArguments& arguments, Session& session,
                               const Rep3Backend& backend) {
  auto lane = std::make_unique<LatencyLane>(session, session.lanes.front(), backend,
                                            static_cast<std::size_t>(arguments.aes) / 8);
  if (auto done = lane->prepare(); !done) return done.error();
  nlohmann::json report;
  for (bool masked : {false, true})
    for (std::size_t blocks : {std::size_t{1}, kChain}) {
      const std::size_t count = blocks == 1
                                    ? arguments.count
                                    : std::max<std::size_t>(arguments.count / kBlocksPerChain, 1);
      auto measured = lane->measure(masked, blocks, count);
      if (!measured) return measured.error();
      report[masked ? "masks" : "layers"][blocks == 1 ? "block" : "chain"] = {
          {"count", count},
          {"rounds", measured->rounds},
          {"rounds_verified", measured->rounds_in_all},
          {"result_us",
           {{"median", quantile(measured->result, 0.5)},
            {"p99", quantile(measured->result, 0.99)}}},
          {"usable_us",
           {{"median", quantile(measured->usable, 0.5)},
            {"p99", quantile(measured->usable, 0.99)}}}};
    }
  auto filled = lane->measure_fill();
  if (!filled) return filled.error();
  report["fill_us_per_block"] = *filled;
  if (auto done = lane->check(); !done) return done.error();
  return report;
}

void print(const LatencyArguments& arguments, const nlohmann::json& r) {
  std::cout << "AES-" << arguments.aes << ", one operation at a time, party to party over TLS on "
            << "loopback, " << arguments.setup.security << ", backend "
            << r["backend"].get<std::string>() << "\n";
  for (const char* kind : {"block", "chain"})
    for (const char* variant : {"layers", "masks"}) {
      const auto& one = r[variant][kind];
      auto us = [&](const char* what, const char* q) {
        return std::to_string(static_cast<long long>(one[what][q].get<double>())) + " us";
      };
      std::cout << "  " << (kind == std::string("block") ? "1 block,   " : "chain of 20, ")
                << variant << ": result after " << one["rounds"] << " rounds, median "
                << us("result_us", "median") << ", p99 " << us("result_us", "p99");
      if (arguments.setup.security == security_name(Security::kMalicious))
        std::cout << "; verified after " << one["rounds_verified"] << ", median "
                  << us("usable_us", "median") << ", p99 " << us("usable_us", "p99");
      std::cout << "\n";
    }
  std::cout << "  masks of a block, made for " << kFillBlocks
            << " together: " << static_cast<long long>(r["fill_us_per_block"].get<double>())
            << " us\n";
}

int bench_latency(const LatencyArguments& arguments) {
  auto reports =
      run_three_parties(arguments.setup, [&](Session& session, const Rep3Backend& backend) {
        return measure(arguments, session, backend);
      });
  if (!reports) {
    std::cerr << "tkdc bench: " << reports.error().message << "\n";
    return 1;
  }
  nlohmann::json report = (*reports)[0];
  report["aes"] = arguments.aes;
  report["security"] = arguments.setup.security;
  report["chain_blocks"] = kChain;
  report["measured"] = "party to party";
  if (arguments.json)
    std::cout << report.dump() << "\n";
  else
    print(arguments, report);
  return 0;
}

}  // namespace

void add_latency(CLI::App& bench, int& exit_status) {
  auto arguments = std::make_shared<LatencyArguments>();
  CLI::App* latency = bench.add_subcommand(
      "latency", "one AES block and a chain of 20, alone, in layers and by masks");
  latency->add_option("--aes", arguments->aes, "key bits")->check(CLI::IsMember({128, 256}));
  latency->add_option("--count", arguments->count, "blocks measured; a fifth as many chains")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 20));
  latency->add_option("--backend", arguments->setup.backend, "auto, cpu, gfni, avx2 or scalar");
  latency->add_option("--records", arguments->setup.records, "TLS records by auto or openssl")
      ->check(CLI::IsMember({"auto", "openssl"}));
  latency->add_option("--security", arguments->setup.security, "malicious or semi-honest")
      ->check(CLI::IsMember({"malicious", "semi-honest"}));
  latency->add_flag("--json", arguments->json, "one JSON object");
  latency->footer("Example: what one block takes:\n  tkdc bench latency --count 1000");
  latency->callback([arguments, &exit_status] { exit_status = bench_latency(*arguments); });
}

}  // namespace tkdc::bench
