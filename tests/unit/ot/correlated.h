// SPDX-License-Identifier: Apache-2.0
// Base OTs, trees and an extension between two parties of a test.
#pragma once

#include <random>

#include "ot/base_ot.h"
#include "ot/extension.h"
#include "ot/two_parties.h"

namespace tkdc::ot {

inline const Bytes kContext = {'t', 'e', 's', 't'};

inline Label random_label(std::mt19937_64& generator) { return {generator(), generator()}; }

inline Label random_delta(std::mt19937_64& generator) {
  Label delta = random_label(generator);
  delta.low |= 1;
  return delta;
}

// Keys of base OTs as if they had been run.
struct Keys {
  explicit Keys(std::mt19937_64& generator, const Label& delta)
      : zero(kColumns), one(kColumns), chosen(kColumns) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      zero[c] = random_label(generator);
      one[c] = random_label(generator);
      chosen[c] = base_choice(delta, c) == 0 ? zero[c] : one[c];
    }
  }
  Labels zero, one, chosen;
};

struct Correlated {
  Label delta;
  Labels keys, macs;
};

// What is wrong with it: the first row that does not fit.
inline std::optional<std::size_t> misfit(const Correlated& c) {
  for (std::size_t j = 0; j < c.keys.size(); ++j)
    if (c.macs[j] != (c.keys[j] ^ c.delta.where(c.macs[j].colour())) || c.keys[j].colour() != 0)
      return j;
  return {};
}

struct CorrelatedRun {
  ExtensionOptions options;
  std::vector<std::size_t> counts = {1000};  // of calls of extend()
  int cheat = 0;
  Change change;
  std::uint64_t seed = 1;
};

// Party 0 is the sender.
inline Outcome correlate(const CorrelatedRun& run, Correlated& out) {
  std::mt19937_64 generator(run.seed);
  out = {random_delta(generator), {}, {}};
  const Keys keys(generator, out.delta);
  const auto into = [](Labels& to) {
    return [&to](std::span<Label> rows) { to.insert(to.end(), rows.begin(), rows.end()); };
  };
  return run_parties(
      [&](Channel& channel) -> Result<void> {
        auto sender =
            ExtensionSender::create(channel, kContext, out.delta, keys.chosen, run.options);
        if (!sender) return sender.error();
        for (const std::size_t rows : run.counts)
          if (auto done = (*sender)->extend(rows, into(out.keys)); !done) return done;
        return {};
      },
      [&](Channel& channel) -> Result<void> {
        auto receiver =
            ExtensionReceiver::create(channel, kContext, keys.zero, keys.one, run.options);
        if (!receiver) return receiver.error();
        for (const std::size_t rows : run.counts)
          if (auto done = (*receiver)->extend(rows, into(out.macs)); !done) return done;
        return {};
      },
      run.cheat, run.change);
}

}  // namespace tkdc::ot
