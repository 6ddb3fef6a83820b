// SPDX-License-Identifier: Apache-2.0
// Several parties in one process, a thread each, with sessions between all of them; and wires that
// change what one of them sends to another one.
#pragma once

#include <array>
#include <map>

#include "lut/lut_parties.h"
#include "lut/multi_dealer.h"

namespace tkdc::lut {

inline constexpr std::size_t kMostParties = 4;

// What party `from` sends to party `to`, by its changes.
using Changes = std::map<std::pair<std::size_t, std::size_t>, Change>;
using Sessions = std::vector<pair::Session*>;
using Blocks = std::array<Bytes, kMostParties>;  // what each party puts out

struct ManyOutcome {
  std::array<std::optional<std::string>, kMostParties> error;  // none where it came to its end
  bool ok() const {
    return std::none_of(error.begin(), error.end(),
                        [](const auto& one) { return one.has_value(); });
  }
  std::string first() const {
    for (const auto& one : error)
      if (one) return *one;
    return {};
  }
};

// Streams from each to each other one.
class Mesh {
 public:
  Mesh(std::size_t parties, const Changes& changes) {
    for (std::size_t a = 0; a < parties; ++a)
      for (std::size_t b = 0; b < parties; ++b)
        if (a != b) {
          const auto change = changes.find({a, b});
          links_.emplace(
              std::pair(a, b),
              std::make_unique<Link>(a, b, change == changes.end() ? Change{} : change->second));
        }
  }
  BulkWriter& out(std::size_t from, std::size_t to) {
    return *links_.at({from, to})->up.stream.writer;
  }
  BulkReader& in(std::size_t at, std::size_t from) {
    return *links_.at({from, at})->down.stream.reader;
  }

 private:
  struct Link {
    Link(std::size_t a, std::size_t b, const Change& change)
        : up("party " + std::to_string(a), "wire"), down("wire", "party " + std::to_string(b)),
          wire(*up.stream.reader, *down.stream.writer, change, hash) {}
    std::string hash;
    ot::Ends up, down;
    ot::Wire wire;
  };
  std::map<std::pair<std::size_t, std::size_t>, std::unique_ptr<Link>> links_;
};

using SessionsBody = std::function<Result<void>(const Sessions&, std::size_t own)>;
// The Δ of a party towards another one.
using DeltaOf = std::function<Label(std::size_t own, std::size_t other)>;

inline ManyOutcome with_many_sessions(std::size_t parties, const SessionsBody& body,
                                      const Changes& changes = {}, const DeltaOf& delta_of = {}) {
  ManyOutcome outcome;
  Mesh mesh(parties, changes);
  const auto run = [&](std::size_t own, std::vector<std::unique_ptr<ot::Channel>>& channels,
                       const Label& delta) -> Result<void> {
    std::vector<std::unique_ptr<pair::Session>> all;
    for (std::size_t other = 0, k = 0; other < parties; ++other) {
      if (other == own) continue;
      const Label towards = delta_of ? delta_of(own, other) : delta;
      auto session =
          pair::Session::create(*channels[k++], own < other ? Side::kGarbler : Side::kEvaluator,
                                pair::kContext, pair::small_batches(), nullptr, nullptr, &towards);
      if (!session) return session.error();
      all.push_back(std::move(*session));
    }
    Sessions sessions;
    for (const auto& one : all) sessions.push_back(one.get());
    return body(sessions, own);
  };
  std::vector<std::thread> threads;
  for (std::size_t own = 0; own < parties; ++own)
    threads.emplace_back([&, own] {
      std::vector<std::unique_ptr<ot::Channel>> channels;
      for (std::size_t other = 0; other < parties; ++other)
        if (other != own)
          channels.push_back(std::make_unique<ot::Channel>(
              mesh.out(own, other), mesh.in(own, other), ot::kTestTimeoutMs));
      auto done = run(own, channels, pair::draw_delta(Side::kGarbler));
      if (!done) outcome.error[own] = done.error().message;
      for (std::size_t other = 0; other < parties; ++other) {
        if (other == own) continue;
        if (done)
          mesh.out(own, other).finish();
        else
          mesh.out(own, other).abort("the other party has given up");
      }
      if (!done)
        for (const auto& one : channels) one->abort("the other party has given up");
    });
  for (std::thread& one : threads) one.join();
  return outcome;
}

// `at_once` of the dealers.
inline ManyOutcome with_multi_dealers(std::size_t parties,
                                      const std::function<Result<void>(Dealer&, std::size_t)>& body,
                                      const Changes& changes = {}, std::size_t at_once = kFewBits) {
  return with_many_sessions(
      parties,
      [&](const Sessions& sessions, std::size_t own) -> Result<void> {
        auto dealer = MultiDealer::create(sessions, own, at_once);
        return dealer ? body(**dealer, own) : dealer.error();
      },
      changes);
}

// A dealer that has not compared its Δ.
struct InsideMulti {
  static std::unique_ptr<MultiDealer> dealer(const Sessions& sessions, std::size_t own) {
    return std::unique_ptr<MultiDealer>(new MultiDealer(sessions, own, kFewBits));
  }
  static Result<void> compare_deltas(MultiDealer& dealer) { return dealer.compare_deltas(); }
  static Result<Label> masked_sum(MultiDealer& dealer, const Label& own) {
    return dealer.masked_sum(own);
  }
  static constexpr std::size_t kFoldedAt = MultiDealer::kFoldedAt;
};

// What all parties have of the same thing.
template <class T>
struct Each {
  std::array<T, kMostParties> of;
  std::array<Label, kMostParties> part;
  Label delta() const { return sum(part); }
  static Label sum(const std::array<Label, kMostParties>& labels) {
    Label out;
    for (const Label& one : labels) out = out ^ one;
    return out;
  }
  // Of label k of each.
  Label sum(std::size_t k) const {
    Label out;
    for (const Labels& one : of)
      if (!one.empty()) out = out ^ one[k];
    return out;
  }
};

}  // namespace tkdc::lut
