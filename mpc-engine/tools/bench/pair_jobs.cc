// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/pair_jobs.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "circuit/evaluate.h"
#include "circuits/catalogue.h"
#include "pair/bridge.h"
#include "pair/output_rule.h"
#include "tools/bench/stopwatch.h"

namespace tkdc::bench {
namespace {

using pair::Bits;
using pair::Side;

// What both processes have before one becomes two: the circuit, and what an agent dealt.
struct PairWork {
  explicit PairWork(const circuit::Circuit& of)
      : plain(circuit::schedule_of(of)), padded(circuit::schedule_of(pair::with_pad(of))) {
    for (const circuit::Port& port : of.inputs) {
      const bool held = port.name == "ke" || port.name == "ki" || port.name == "kc" ||
                        port.name == "key" || port.name == "base" || port.name == "prf" ||
                        port.name == "prf+" || port.name == "other";
      (held ? held_bits : port.name == "confounder" ? random_bits : dealt_bits) += port.bits;
    }
    dealt_bits += plain.output_bits.size();
  }

  circuit::Schedule plain;
  pair::PairCircuit padded;
  // Inputs stand in this order in all circuits that take a key first.
  std::size_t held_bits = 0, random_bits = 0, dealt_bits = 0;
  std::vector<Bits> secrets;  // of jobs: message, then pad
  std::vector<std::array<pair::Dealt, 2>> dealt;
};

// Only in memory: what is measured is not the disk.
class MemoryPosition : public pair::PoolPosition {
 public:
  Result<std::uint64_t> next(const garble::Label&) override { return next_; }
  Result<bool> take(const garble::Label&, std::uint64_t first, std::uint64_t blocks) override {
    next_ = first + blocks;
    return true;
  }

 private:
  std::uint64_t next_ = 0;
};

// One party's part. Each phase begins when both are there.
class PairSide {
 public:
  PairSide(const PairRun& run, PairWork& work, std::size_t party, ot::Channel& channel)
      : run_(run), work_(work), party_(party), channel_(channel) {}

  Result<nlohmann::json> measure() {
    std::unique_ptr<pair::Session> session;
    pair::Pool pool;
    pair::StoredBlocks key;
    pair::Held record;
    auto done = phase("setup", [&] { return begin(session, 1); });
    if (done) done = make_pool(pool);
    if (done) done = phase("bridge", [&] { return take_record(*session, pool, key, record); });
    for (std::size_t k = 0; done && k < run_.jobs; ++k) done = serve(*session, record, k);
    if (!done) return done.error();
    for (std::size_t k = 0; k < work_.held_bits; ++k)
      key_.push_back(static_cast<std::uint8_t>(record.bits[k].own()));
    report_["key"] = key_;
    report_["outputs"] = outputs_;
    report_["confounders"] = confounders_;
    std::sort(online_ms_.begin(), online_ms_.end());
    report_["latency_ms"] = online_ms_[online_ms_.size() / 2];
    return std::move(report_);
  }

 private:
  template <class Body>
  Result<void> phase(const char* name, Body body) {
    std::uint8_t octet = 0;
    auto met = channel_.write({&octet, 1});
    if (met) met = channel_.read({&octet, 1});
    if (!met) return met;
    const std::uint64_t before = channel_.sent();
    const Stopwatch watch;
    auto done = body();
    const double wall_ms = 1e3 * watch.wall_s();
    add(name, "wall_ms", wall_ms);
    add(name, "cpu_ms", 1e3 * watch.cpu_s());
    add(name, "octets", static_cast<double>(channel_.sent() - before));
    last_ms_ = wall_ms;
    return done;
  }
  void add(const char* name, const char* what, double much) {
    nlohmann::json& sum = report_[name][what];
    sum = (sum.is_null() ? 0.0 : sum.get<double>()) + much;
  }

  Result<void> begin(std::unique_ptr<pair::Session>& session, std::uint8_t number) {
    const Bytes context = {'b', 'e', 'n', 'c', 'h', number};
    auto made =
        pair::Session::create(channel_, party_ == 0 ? Side::kGarbler : Side::kEvaluator, context);
    if (!made) return made.error();
    session = std::move(*made);
    return {};
  }

  Result<void> make_pool(pair::Pool& pool) {
    return phase("pool", [&]() -> Result<void> {
      std::unique_ptr<pair::Session> session;
      if (auto begun = begin(session, 2); !begun) return begun;
      auto made = pair::make_pool(session, run_.pool_blocks);
      if (!made) return made.error();
      pool = std::move(*made);
      return {};
    });
  }

  Result<void> take_record(pair::Session& session, const pair::Pool& pool, pair::StoredBlocks& key,
                           pair::Held& record) {
    if (work_.held_bits == 0) return {};
    const std::size_t blocks = pair::blocks_for(work_.held_bits);
    MemoryPosition position;
    auto reserved = pair::reserve(session, pool, position, blocks + 1);
    auto taken = reserved ? reserved->take(session, blocks) : reserved.error();
    if (!taken) return taken.error();
    key = std::move(*taken);
    auto held = pair::bridge(session, *reserved, key, {});
    if (!held) return held.error();
    auto part = pair::part_of(*held, 0, work_.held_bits);
    if (!part) return part.error();
    record = std::move(*part);
    return {};
  }

  Result<void> serve(pair::Session& session, const pair::Held& record, std::size_t job) {
    pair::Prepared prepared;
    auto done = phase("ahead", [&]() -> Result<void> {
      auto ands = pair::make_ands(session, work_.padded.ands);
      if (!ands) return ands.error();
      auto masks = session.draw(pair::masks_of(work_.padded));
      if (!masks) return masks.error();
      auto made = pair::prepare(session, work_.padded, *ands, *masks);
      if (!made) return made.error();
      prepared = std::move(*made);
      return {};
    });
    if (!done) return done;
    std::vector<int> confounder;
    for (std::size_t k = 0; k < work_.random_bits; ++k)
      confounder.push_back(static_cast<int>(prepared.inputs[work_.held_bits + k].own()));
    confounders_.push_back(std::move(confounder));
    // An agent deals when there is a session.
    work_.dealt[job][party_].session = session.id();
    pair::Inputs inputs(std::move(work_.dealt[job][party_]));
    inputs.held(record).random(work_.random_bits).dealt(work_.dealt_bits);
    done = phase("online", [&]() -> Result<void> {
      auto computed = pair::compute(session, prepared, inputs);
      if (!computed) return computed.error();
      outputs_.emplace_back(computed->begin(), computed->end());
      return {};
    });
    online_ms_.push_back(last_ms_);
    return done;
  }

  const PairRun& run_;
  PairWork& work_;
  const std::size_t party_;
  ot::Channel& channel_;
  nlohmann::json report_;
  std::vector<int> key_;
  std::vector<std::vector<int>> outputs_, confounders_;
  std::vector<double> online_ms_;
  double last_ms_ = 0;
};

Bits bits_of(const nlohmann::json& numbers) {
  Bits out;
  for (const auto& one : numbers) out.push_back(one.get<std::uint8_t>());
  return out;
}

// What the agent takes of a job is what the circuit gives in the clear.
Result<void> is_right(const PairWork& work, const nlohmann::json& report, std::size_t job) {
  const auto& first = report["first"];
  const auto& second = report["second"];
  const auto both = [&](Bits a, const Bits& b) {
    for (std::size_t k = 0; k < a.size(); ++k) a[k] ^= b[k];
    return a;
  };
  Bits inputs = both(bits_of(first["key"]), bits_of(second["key"]));
  const Bits confounder =
      both(bits_of(first["confounders"][job]), bits_of(second["confounders"][job]));
  inputs.insert(inputs.end(), confounder.begin(), confounder.end());
  const Bits& secret = work.secrets[job];
  const auto pad = std::span(secret).last(work.plain.output_bits.size());
  inputs.insert(inputs.end(), secret.begin(),
                secret.end() - static_cast<std::ptrdiff_t>(pad.size()));
  circuit::SecretSlices slots(work.plain.slots);
  for (std::size_t k = 0; k < inputs.size(); ++k)
    slots[k] = 0 - static_cast<circuit::Slice>(inputs[k]);
  circuit::execute(work.plain, slots);
  auto taken =
      pair::output_of_both(bits_of(first["outputs"][job]), bits_of(second["outputs"][job]), pad);
  if (!taken) return taken.error();
  for (std::size_t k = 0; k < taken->size(); ++k)
    if ((*taken)[k] != (circuit::output_slice(work.plain, slots, k) & 1))
      return fail("bench: what the agent took is not what the circuit gives");
  return {};
}

PairPhase phase_of(const nlohmann::json& report, const char* name, double jobs) {
  const auto &first = report["first"][name], &second = report["second"][name];
  const auto of = [](const nlohmann::json& one, const char* what) {
    return one[what].get<double>();
  };
  return {std::max(of(first, "wall_ms"), of(second, "wall_ms")) / jobs,
          (of(first, "cpu_ms") + of(second, "cpu_ms")) / jobs,
          (of(first, "octets") + of(second, "octets")) / jobs};
}

}  // namespace

Result<PairFigures> measure_pair(const PairRun& run) {
  const auto named = circuits::find_named(run.operation);
  if (!named) return named.error();
  PairWork work(circuits::record(*named));
  for (std::size_t k = 0; k < run.jobs; ++k) {
    Bits secret(work.dealt_bits);
    randombytes_buf(secret.data(), secret.size());
    for (std::uint8_t& bit : secret) bit &= 1;
    work.dealt.push_back(pair::deal_input(secret, {}, pair::draw_coin()));
    work.secrets.push_back(std::move(secret));
  }
  StreamPair streams;
  streams.options.ring_bytes = std::size_t{2} << 20;
  const auto party = [&](std::size_t p) -> DuplexEnd {
    return [&, p](BulkWriter& out, BulkReader& in) {
      ot::Channel channel(out, in, kPatienceMs);
      return finished(PairSide(run, work, p, channel).measure(), out, in);
    };
  };
  auto report = run_duplex_pair(streams, party(0), party(1));
  if (!report) return report.error();
  for (std::size_t k = 0; k < run.jobs; ++k)
    if (auto right = is_right(work, *report, k); !right) return right.error();
  PairFigures out;
  const auto jobs = static_cast<double>(run.jobs);
  out.ands = work.padded.ands;
  out.record_bits = work.held_bits;
  out.dealt_bytes = pair::dealt_bytes(work.dealt_bits);
  out.setup = phase_of(*report, "setup", 1);
  out.pool = phase_of(*report, "pool", 1);
  out.bridge = phase_of(*report, "bridge", 1);
  out.ahead = phase_of(*report, "ahead", jobs);
  out.online = phase_of(*report, "online", jobs);
  out.latency_ms = std::max((*report)["first"]["latency_ms"].get<double>(),
                            (*report)["second"]["latency_ms"].get<double>());
  return out;
}

}  // namespace tkdc::bench
