// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/resident.h"

#include <algorithm>
#include <chrono>

#include "tools/bench/cpu_party.h"
#include "tools/bench/reference.h"
#include "tools/bench/turns.h"

namespace tkdc::bench {
namespace {

using Clock = std::chrono::steady_clock;
using cuda::ResidentExchange;
using cuda::ResidentParties;
using Lanes = std::vector<std::unique_ptr<ResidentParties>>;
using Messages = std::array<ByteSpan, AesCohort::kLayers>;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The first and the last key's blocks against OpenSSL, all others' components against each other.
Result<void> check_three(ResidentParties& parties, const BenchStart& start, std::size_t cohorts) {
  Components result;
  SecretVector second[3];
  for (std::size_t p = 0; p < 3; ++p) {
    auto share = parties.read(p);
    if (!share) return share.error();
    result[p] = std::move(share->component[0]);
    second[p] = std::move(share->component[1]);
  }
  for (std::size_t p = 0; p < 3; ++p)
    if (second[p] != result[(p + 1) % 3]) return fail("bench: the parties' components differ");
  const std::size_t total = result[0].size(), key_octets = start.keys[0][0].size();
  for (std::size_t k : {std::size_t{0}, start.keys.size() - 1}) {
    const std::size_t at = 16 * kBlocksPerKey * k;
    const std::size_t octets = std::min(16 * kBlocksPerKey, total - at);
    auto expected = openssl_encrypt(opened(start.keys[k], 0, key_octets),
                                    opened(start.blocks, at, octets), cohorts);
    if (!expected) return expected.error();
    if (*expected != opened(result, at, octets))
      return fail("bench: the parties' result differs from OpenSSL's AES");
  }
  return {};
}

Messages neighbours_messages(const ResidentParties& parties) {
  Messages all;
  for (int layer = 0; layer < AesCohort::kLayers; ++layer)
    all[static_cast<std::size_t>(layer)] = parties.neighbours_message(layer);
  return all;
}

bool same(ByteSpan a, ByteSpan b) { return std::ranges::equal(a, b); }

// One cohort of party 0 on the device beside the CPU's, hearing the same.
Result<void> check_one(ResidentParties& device, const BenchStart& start,
                       const ResidentBench& bench) {
  auto cpu = choose_rep3_backend("cpu", Representation::kBytes);
  if (!cpu) return cpu.error();
  CpuParty party(**cpu, start, bench.zero_shares, neighbours_messages(device));
  party.encrypt();
  auto got = device.read(0);
  if (!got) return got.error();
  for (int c = 0; c < 2; ++c)
    if (got->component[c] != party.result().component[c])
      return fail("bench: the device's cohort differs from the CPU's");
  for (int layer = 0; bench.exchange == ResidentExchange::kHost && layer < AesCohort::kLayers;
       ++layer)
    for (bool odd : {false, true})
      if (!same(device.sent_message(odd, layer), party.sent_message(odd, layer)))
        return fail("bench: the device's messages differ from the CPU's");
  return {};
}

// The lanes and their first cohorts, which are not timed: graphs are made in the second.
constexpr std::size_t kUntimed = 2;
Result<Lanes> make_lanes(cuda::Driver& driver, const ResidentBench& bench, BenchStart& start) {
  cuda::ResidentOptions options;
  options.zero_shares = bench.zero_shares;
  options.blocks = bench.cohort_blocks;
  options.blocks_per_key = kBlocksPerKey;
  options.exchange = bench.exchange;
  if (bench.exchange != ResidentExchange::kDevice) start.inputs.resize(1);
  Lanes lanes;
  for (std::size_t lane = 0; lane < bench.lanes; ++lane) {
    if (lane > 0) draw_component_keys(start);
    auto parties = ResidentParties::make(driver, options, start.inputs);
    if (!parties) return parties.error();
    if (auto done = (*parties)->encrypt(); !done) return done.error();
    if (bench.exchange != ResidentExchange::kDevice)
      if (auto done = check_one(**parties, start, bench); !done) return done.error();
    if (auto done = (*parties)->encrypt(); !done) return done.error();
    lanes.push_back(std::move(*parties));
  }
  return lanes;
}

// Cohort after cohort in all lanes, in turn: a lane that has its layer starts the next, and the
// device has the other lanes' to do meanwhile. How many cohorts ended.
Result<std::size_t> run(Lanes& lanes, double seconds) {
  Turns turns(lanes.size(), seconds);
  for (auto& lane : lanes) lane->begin();
  while (turns.running())
    for (std::size_t k = 0; k < lanes.size(); ++k) {
      if (turns.over(k)) continue;
      auto more = lanes[k]->advance();
      if (!more) return more.error();
      if (*more || !turns.another(k)) continue;
      lanes[k]->begin();
      if (auto started = lanes[k]->advance(); !started) return started.error();
    }
  return turns.cohorts();
}

void add_transfers(nlohmann::json& report, const ResidentBench& bench,
                   const ResidentParties& parties) {
  const double rate = report["blocks_per_s"], blocks = static_cast<double>(bench.cohort_blocks);
  const double each_way = report["bytes_per_block_per_party"];
  const ResidentParties::Transfers transfers = parties.transfers();
  report["message_bytes_per_s_each_way"] = rate * each_way;
  report["bytes_to_device_per_block"] = static_cast<double>(transfers.to_device) / blocks;
  report["bytes_from_device_per_block"] = static_cast<double>(transfers.from_device) / blocks;
  if (!bench.bandwidth) return;
  const double limit = bench.bandwidth->both_each_way / each_way;
  report["pcie"] = {{"to_device_bytes_per_s", bench.bandwidth->to_device},
                    {"from_device_bytes_per_s", bench.bandwidth->from_device},
                    {"both_bytes_per_s_each_way", bench.bandwidth->both_each_way}};
  report["pcie_limit_blocks_per_s"] = limit;
  report["of_pcie_limit"] = rate / limit;
}

nlohmann::json common_report(const ResidentBench& bench, std::size_t cohorts, double wall) {
  const std::size_t blocks = cohorts * bench.cohort_blocks;
  return {{"aes", bench.aes},
          {"blocks_per_s", static_cast<double>(blocks) / wall},
          {"blocks", blocks},
          {"seconds", wall},
          {"cohort_blocks", bench.cohort_blocks},
          {"lanes", bench.lanes},
          {"zero_shares", zero_generator_name(bench.zero_shares)},
          {"security", security_name(Security::kSemiHonest)},
          {"checked", true}};
}

}  // namespace

const char* exchange_name(ResidentExchange exchange) {
  switch (exchange) {
    case ResidentExchange::kDevice: return "device";
    case ResidentExchange::kNone: return "none";
    case ResidentExchange::kHost: return "host";
  }
  return "";
}

Result<nlohmann::json> measure_resident(cuda::Driver& driver, const ResidentBench& bench) {
  auto start = make_start(bench.aes, bench.cohort_blocks);
  if (!start) return start.error();
  auto lanes = make_lanes(driver, bench, *start);
  if (!lanes) return lanes.error();
  ResidentParties& first = *lanes->front();

  const auto begin = Clock::now();
  auto cohorts = run(*lanes, bench.seconds);
  if (!cohorts) return cohorts.error();
  const double wall = seconds_since(begin);
  const bool three = bench.exchange == ResidentExchange::kDevice;
  if (three)
    if (auto done = check_three(first, *start, *cohorts + kUntimed); !done) return done.error();

  nlohmann::json report = common_report(bench, *cohorts, wall);
  report["mode"] = exchange_name(bench.exchange);
  report["parties"] = three ? 3 : 1;
  report["backend"] = "cuda";
  report["driver"] = driver.name();
  report["bytes_per_block_per_party"] =
      static_cast<double>(first.message_octets()) / static_cast<double>(bench.cohort_blocks);
  report["rounds"] = AesCohort::kLayers * first.rounds();
  if (bench.exchange == ResidentExchange::kHost) add_transfers(report, bench, first);
  return report;
}

Result<nlohmann::json> measure_cpu_party(const Rep3Backend& cpu, const ResidentBench& bench) {
  auto start = make_start(bench.aes, bench.cohort_blocks);
  if (!start) return start.error();
  auto scalar = choose_rep3_backend("scalar", Representation::kBytes);
  if (!scalar) return scalar.error();
  Messages theirs;
  SecretVector messages(16 * bench.cohort_blocks);  // layer 3's, the longest
  randombytes_buf(messages.data(), messages.size());
  theirs.fill(messages);
  CpuParty party(cpu, *start, bench.zero_shares, theirs);
  CpuParty reference(**scalar, *start, bench.zero_shares, theirs);
  party.encrypt();
  reference.encrypt();
  for (int c = 0; c < 2; ++c)
    if (party.result().component[c] != reference.result().component[c])
      return fail("bench: the backends' cohorts differ");
  const auto begin = Clock::now();
  std::size_t cohorts = 0;
  do {
    party.encrypt();
    ++cohorts;
  } while (seconds_since(begin) < bench.seconds);
  nlohmann::json report = common_report(bench, cohorts, seconds_since(begin));
  report["mode"] = exchange_name(ResidentExchange::kNone);
  report["parties"] = 1;
  report["threads"] = 1;
  report["backend"] = cpu.name();
  return report;
}

}  // namespace tkdc::bench
