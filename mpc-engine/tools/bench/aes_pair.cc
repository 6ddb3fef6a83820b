// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/aes_pair.h"

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>

#include "circuits/catalogue.h"
#include "pair/online.h"
#include "tools/bench/reference.h"
#include "tools/bench/stopwatch.h"

namespace tkdc::bench {
namespace {

using pair::Session;
using pair::Side;

constexpr std::size_t kPairRingBytes = std::size_t{2} << 20;
constexpr const char* kPairPhases[] = {"setup",      "one_independent", "one_dependent",
                                       "one_online", "independent",     "dependent",
                                       "online"};

// One party's times, phase by phase; both begin a phase together.
class AesParty {
 public:
  AesParty(const PairRun& run, Side side, BulkWriter& out, BulkReader& in)
      : run_(run), side_(side), channel_(out, in, kPatienceMs),
        circuit_(circuit::schedule_of(circuits::record(*circuits::find_named("aes128")))) {}

  Result<nlohmann::json> measure() {
    auto made = timed("setup", [&]() -> Result<void> {
      ot::ExtensionOptions options;
      options.k = run_.k;
      auto session = Session::create(channel_, side_, Bytes{'b', 'e', 'n', 'c', 'h'}, options);
      if (!session) return session.error();
      session_ = std::move(*session);
      return {};
    });
    if (!made) return made.error();
    if (auto done = use(1, "one_"); !done) return done.error();
    const std::size_t at_once = pair::kMostAnds / circuit_.ands;
    for (std::size_t left = run_.blocks; left > 0;) {
      const std::size_t some = std::min(left, at_once);
      if (auto done = use(some, ""); !done) return done.error();
      left -= some;
    }
    report_["ands"] = circuit_.ands;
    return report_;
  }

 private:
  template <class Body>
  Result<void> timed(const std::string& phase, Body body) {
    std::uint8_t ready = 1;
    if (auto done = channel_.write({&ready, 1}); !done) return done;
    if (auto done = channel_.read({&ready, 1}); !done) return done;
    const Stopwatch watch;
    const std::uint64_t sent = channel_.sent();
    if (auto done = body(); !done) return done;
    nlohmann::json& to = report_[phase];
    if (to.is_null()) to = nlohmann::json::object();
    const auto add = [&](const char* what, auto value) {
      to[what] = to.value(what, decltype(value)()) + value;
    };
    add("wall_s", watch.wall_s());
    add("cpu_s", watch.cpu_s());
    add("octets", channel_.sent() - sent);
    return {};
  }

  // So many blocks through the three phases. A small batch is padded, a full one is not wasted:
  // it makes all the ANDs that buckets of four need.
  Result<void> use(std::size_t blocks, const std::string& prefix) {
    pair::AuthAnds ands;
    pair::AuthBits masks;
    const std::size_t wanted = blocks * circuit_.ands;
    auto made = timed(prefix + "independent", [&]() -> Result<void> {
      const bool whole = wanted + circuit_.ands > pair::kMostAnds;
      auto of = pair::make_ands(*session_, whole ? pair::kMostAnds : wanted);
      if (!of) return of.error();
      ands = std::move(*of);
      auto drawn = session_->draw(blocks * pair::masks_of(circuit_));
      if (!drawn) return drawn.error();
      masks = std::move(*drawn);
      return {};
    });
    if (!made) return made;
    std::deque<pair::Prepared> ready;
    made = timed(prefix + "dependent", [&]() -> Result<void> {
      for (std::size_t k = 0; k < blocks; ++k) {
        auto prepared = pair::prepare(
            *session_, circuit_, std::span(ands).subspan(k * circuit_.ands, circuit_.ands),
            std::span(masks).subspan(k * pair::masks_of(circuit_), pair::masks_of(circuit_)));
        if (!prepared) return prepared.error();
        ready.push_back(std::move(*prepared));
      }
      return {};
    });
    if (!made) return made;
    std::vector<Bytes> inputs, outputs;
    for (std::size_t k = 0; k < blocks; ++k) randombytes_buf(inputs.emplace_back(32).data(), 32);
    made = timed(prefix + "online", [&]() -> Result<void> {
      for (std::size_t k = 0; k < blocks; ++k) {
        const pair::Bits own =
            side_ == Side::kGarbler ? pair::unpacked(inputs[k], 256) : pair::Bits(256);
        auto bits = pair::compute(*session_, ready[k], own);
        if (!bits) return bits.error();
        outputs.push_back(pair::packed(*bits));
      }
      return {};
    });
    if (!made || side_ == Side::kEvaluator) return made;
    return compare(inputs, outputs);
  }

  static Result<void> compare(const std::vector<Bytes>& inputs, const std::vector<Bytes>& outputs) {
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const Bytes key(inputs[k].begin(), inputs[k].begin() + 16),
          block(inputs[k].begin() + 16, inputs[k].end());
      auto expected = openssl_encrypt(key, block, 1);
      if (!expected) return expected.error();
      if (*expected != outputs[k]) return fail("bench: the pair's block is not OpenSSL's");
    }
    return {};
  }

  const PairRun& run_;
  const Side side_;
  ot::Channel channel_;
  const pair::PairCircuit circuit_;
  std::unique_ptr<Session> session_;
  nlohmann::json report_;
};

Result<nlohmann::json> run_party(const PairRun& run, Side side, BulkWriter& out, BulkReader& in) {
  AesParty party(run, side, out, in);
  auto report = party.measure();
  if (!report) return report;
  out.finish();
  if (auto done = out.wait_finished(kPatienceMs); !done) return done.error();
  if (auto end = in.wait(1, kPatienceMs); !end) return end.error();
  return report;
}

}  // namespace

Result<PairReport> measure_pair(const PairRun& run) {
  StreamPair pair;
  pair.transport = run.transport;
  pair.options.ring_bytes = kPairRingBytes;
  auto both = run_duplex_pair(
      pair,
      [&](BulkWriter& out, BulkReader& in) { return run_party(run, Side::kGarbler, out, in); },
      [&](BulkWriter& out, BulkReader& in) { return run_party(run, Side::kEvaluator, out, in); });
  if (!both) return both.error();
  const auto &first = (*both)["first"], &second = (*both)["second"];
  PairReport report;
  report.ands = first["ands"];
  report.blocks = run.blocks;
  PhaseFigures* const phases[] = {
      &report.setup,       &report.one_independent, &report.one_dependent, &report.one_online,
      &report.independent, &report.dependent,       &report.online};
  for (std::size_t k = 0; k < std::size(phases); ++k) {
    const auto &one = first[kPairPhases[k]], &other = second[kPairPhases[k]];
    phases[k]->wall_s = one["wall_s"];
    phases[k]->cpu_s = one["cpu_s"].get<double>() + other["cpu_s"].get<double>();
    phases[k]->octets = one["octets"].get<std::uint64_t>() + other["octets"].get<std::uint64_t>();
  }
  return report;
}

}  // namespace tkdc::bench
