// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/lut_pair.h"

#include <openssl/evp.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/stop.h"
#include "lut/multi_dealer.h"
#include "lut/pair_dealer.h"
#include "tools/bench/stopwatch.h"

namespace tkdc::bench {
namespace {

using lut::Side;

// Shares of inputs: whatever they are, all processes know them.
Bytes shares_of(std::size_t party, std::size_t first, std::size_t count) {
  Bytes out(count);
  for (std::size_t k = 0; k < count; ++k)
    out[k] = static_cast<std::uint8_t>((first + k) * (31 - 14 * party) >> 3 * party);
  return out;
}

Bytes clear(std::size_t parties, std::size_t first, std::size_t count) {
  Bytes out(count);
  for (std::size_t party = 0; party < parties; ++party) {
    const Bytes share = shares_of(party, first, count);
    for (std::size_t k = 0; k < count; ++k) out[k] ^= share[k];
  }
  return out;
}

constexpr std::size_t kKeyAt = 12'345;

bool is_right(const BlockCipher& cipher, std::size_t parties, std::size_t first, ByteSpan got) {
  const Bytes key = clear(parties, kKeyAt, cipher.key), block = clear(parties, first, cipher.block);
  Bytes expected(2 * cipher.block);
  int octets = 0;
  EVP_CIPHER* const known = EVP_CIPHER_fetch(nullptr, cipher.name, nullptr);
  EVP_CIPHER_CTX* const context = EVP_CIPHER_CTX_new();
  const bool done = known != nullptr &&
                    EVP_EncryptInit_ex2(context, known, key.data(), nullptr, nullptr) == 1 &&
                    EVP_EncryptUpdate(context, expected.data(), &octets, block.data(),
                                      static_cast<int>(block.size())) == 1;
  EVP_CIPHER_CTX_free(context);
  EVP_CIPHER_free(known);
  return done && std::equal(got.begin(), got.end(), expected.begin());
}

// One party's part in one thread.
class LutSide {
 public:
  LutSide(const LutRun& run, std::size_t party, bool first, lut::Dealer& dealer)
      : run_(run), party_(party), first_(first), dealer_(dealer), mode_(run.mode.make(dealer)) {}

  Result<nlohmann::json> measure() {
    if (auto done = mode_->set_key(shares_of(party_, kKeyAt, run_.mode.cipher.key)); !done)
      return done.error();
    double ahead_s = 0, ahead_cpu = 0, online_s = 0, online_cpu = 0, unexpanded_s = 0;
    std::size_t finished = 0;
    while (finished < run_.blocks) {
      const auto on = goes_on();
      if (!on) return on.error();
      if (!*on) break;
      const std::size_t blocks = std::min(run_.batch, run_.blocks - finished);
      auto made =
          phase([&] { return mode_->ahead(blocks, true); }, ahead_s, ahead_cpu, ahead_sent_);
      if (made) kept_ += mode_->kept_octets();
      if (made) made = online(blocks, online_s, online_cpu, online_sent_);
      if (!made) return made.error();
      finished += blocks;
      tell(finished, ahead_s);
    }
    if (finished == 0) return fail("stopped, as it was asked to, before a batch was there");
    const bool all = finished == run_.blocks;
    std::uint64_t unused = 0;
    double no_cpu = 0;
    if (all && run_.unexpanded > 0) {
      auto made = mode_->ahead(run_.unexpanded, false);
      if (made) made = online(run_.unexpanded, unexpanded_s, no_cpu, unused);
      if (!made) return made.error();
    }
    auto latency = all ? single_blocks() : Result<double>(0.0);
    if (!latency) return latency.error();
    return nlohmann::json{
        {"blocks", finished},          {"ahead_s", ahead_s},           {"ahead_cpu_s", ahead_cpu},
        {"ahead_sent", ahead_sent_},   {"online_s", online_s},         {"online_cpu_s", online_cpu},
        {"online_sent", online_sent_}, {"unexpanded_s", unexpanded_s}, {"kept", kept_},
        {"latency_ms", *latency}};
  }

 private:
  // All begin together.
  template <class Body>
  Result<void> phase(Body body, double& wall_s, double& cpu_s, std::uint64_t& sent) {
    std::uint8_t octet = 0;
    if (auto met = dealer_.exchange({&octet, 1}); !met) return met;
    const std::uint64_t before = sent_so_far();
    const Stopwatch watch;
    auto done = body();
    wall_s += watch.wall_s();
    cpu_s += watch.cpu_s();
    sent += sent_so_far() - before;
    return done;
  }

  // Between two batches; party 0 says so, as whoever stops it may have asked it alone.
  Result<bool> goes_on() {
    std::uint8_t octet = party_ == 0 && stop_asked() ? 1 : 0;
    if (auto met = dealer_.exchange({&octet, 1}); !met) return met.error();
    return octet == 0;
  }

  std::uint64_t sent_so_far() const {
    std::uint64_t sent = 0;
    for (pair::Session* one : dealer_.sessions()) sent += one->channel().sent();
    return sent;
  }

  Result<void> online(std::size_t blocks, double& wall_s, double& cpu_s, std::uint64_t& sent) {
    const BlockCipher& cipher = run_.mode.cipher;
    const std::size_t at = next_;
    next_ += blocks * cipher.block;
    Bytes states = shares_of(party_, at, blocks * cipher.block);
    auto done = phase([&] { return mode_->encrypt(states); }, wall_s, cpu_s, sent);
    if (!done) return done;
    const std::size_t last = (blocks - 1) * cipher.block;
    if (!is_right(cipher, run_.parties, at, ByteSpan(states).first(cipher.block)) ||
        !is_right(cipher, run_.parties, at + last, ByteSpan(states).subspan(last)))
      return fail("bench: a block is not what OpenSSL has for it");
    return {};
  }

  // The median in milliseconds.
  Result<double> single_blocks() {
    if (!first_ || run_.singles == 0) return 0.0;
    if (auto made = mode_->ahead(run_.singles, true); !made) return made.error();
    std::vector<double> all;
    for (std::size_t k = 0; k < run_.singles; ++k) {
      double wall_s = 0, cpu_s = 0;
      std::uint64_t sent = 0;
      if (auto done = online(1, wall_s, cpu_s, sent); !done) return done.error();
      all.push_back(1e3 * wall_s);
    }
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }

  // Every few seconds.
  void tell(std::size_t done, double ahead_s) {
    if (!run_.progress || party_ != 0 || !first_ || since_told_.wall_s() < 3) return;
    since_told_ = Stopwatch();
    const double rate = static_cast<double>(done) / ahead_s;
    std::cerr << "bench: " << done << " of " << run_.blocks << " blocks, " << std::lround(rate)
              << " a second ahead, " << std::lround(static_cast<double>(run_.blocks - done) / rate)
              << " s left\n";
  }

  const LutRun& run_;
  const std::size_t party_;
  const bool first_;
  lut::Dealer& dealer_;
  const std::unique_ptr<LutMode> mode_;
  std::uint64_t ahead_sent_ = 0, online_sent_ = 0, kept_ = 0;
  std::size_t next_ = 0;
  Stopwatch since_told_;
};

// Sessions with the others, which have one Δ of this party's.
Result<std::vector<std::unique_ptr<pair::Session>>> sessions_of(
    std::size_t party, std::size_t lane, std::vector<ot::Channel>& channels) {
  std::vector<std::unique_ptr<pair::Session>> out;
  const lut::Labels delta(1, pair::draw_delta(party == 0 ? Side::kGarbler : Side::kEvaluator));
  for (std::size_t k = 0; k < channels.size(); ++k) {
    const std::size_t other = k < party ? k : k + 1;
    const Bytes context = {'b',
                           'e',
                           'n',
                           'c',
                           'h',
                           static_cast<std::uint8_t>(lane),
                           static_cast<std::uint8_t>(std::min(party, other)),
                           static_cast<std::uint8_t>(std::max(party, other))};
    auto session =
        pair::Session::create(channels[k], party < other ? Side::kGarbler : Side::kEvaluator,
                              context, {}, nullptr, nullptr, delta.data());
    if (!session) return session.error();
    out.push_back(std::move(*session));
  }
  return out;
}

Result<std::unique_ptr<lut::Dealer>> dealer_among(
    std::size_t party, const std::vector<std::unique_ptr<pair::Session>>& sessions) {
  if (sessions.size() == 1) return std::unique_ptr<lut::Dealer>(new lut::PairDealer(*sessions[0]));
  std::vector<pair::Session*> all;
  for (const auto& one : sessions) all.push_back(one.get());
  auto dealer = lut::MultiDealer::create(std::move(all), party);
  if (!dealer) return dealer.error();
  return std::unique_ptr<lut::Dealer>(std::move(*dealer));
}

Result<nlohmann::json> run_lane(const LutRun& run, std::size_t party, std::size_t lane,
                                std::span<const Duplex> others) {
  std::vector<ot::Channel> channels;
  for (const Duplex& one : others) channels.emplace_back(*one.out, *one.in, kPatienceMs);
  const Stopwatch setup;
  auto sessions = sessions_of(party, lane, channels);
  if (!sessions) return sessions.error();
  auto dealer = dealer_among(party, *sessions);
  if (!dealer) return dealer.error();
  const double setup_s = setup.wall_s();
  LutSide side(run, party, lane == 0, **dealer);
  auto report = side.measure();
  if (report) (*report)["setup_s"] = setup_s;
  for (const Duplex& one : others) report = finished(std::move(report), *one.out, *one.in);
  return report;
}

}  // namespace

Result<LutFigures> measure_lut(const LutRun& run) {
  handle_signals();  // before children are there, which have it from here
  StreamPair pair;
  pair.options.ring_bytes = std::size_t{2} << 20;
  std::vector<MeshLane> parties;
  for (std::size_t p = 0; p < run.parties; ++p)
    parties.push_back([&run, p](std::size_t lane, std::span<const Duplex> others) {
      return run_lane(run, p, lane, others);
    });
  auto report = run_mesh_lanes(pair, run.threads, parties);
  if (!report) return report.error();
  LutFigures out;
  for (const auto& one : (*report)[0]) out.blocks += one["blocks"].get<std::size_t>();
  const double all = static_cast<double>(out.blocks);
  const bool whole = out.blocks == run.blocks * run.threads;
  for (std::size_t lane = 0; lane < run.threads; ++lane) {
    const auto longest = [&](const char* name) {
      double figure = 0;
      for (const auto& party : *report) figure = std::max(figure, party[lane][name].get<double>());
      return figure;
    };
    const auto all_of = [&](const char* name) {
      double figure = 0;
      for (const auto& party : *report) figure += party[lane][name].get<double>();
      return figure;
    };
    out.setup_ms = std::max(out.setup_ms, 1e3 * longest("setup_s"));
    const double blocks = longest("blocks");
    out.ahead_per_s += blocks / longest("ahead_s");
    out.online_per_s += blocks / longest("online_s");
    if (whole && run.unexpanded > 0)
      out.unexpanded_per_s += static_cast<double>(run.unexpanded) / longest("unexpanded_s");
    // Of the whole process, so only of one thread what it took.
    out.ahead_cpu_us += 1e6 * all_of("ahead_cpu_s") / all / static_cast<double>(run.threads);
    out.online_cpu_us += 1e6 * all_of("online_cpu_s") / all / static_cast<double>(run.threads);
    out.ahead_octets += all_of("ahead_sent") / all;
    out.online_octets += all_of("online_sent") / all;
    out.kept_octets += all_of("kept") / all;
    out.latency_ms = std::max(out.latency_ms, longest("latency_ms"));
  }
  return out;
}

}  // namespace tkdc::bench
