// SPDX-License-Identifier: Apache-2.0
// A run of a protocol in which one party may deviate, and what came of it: for the
// deviation tests. Everything follows from the seed.
#pragma once

#include <map>

#include "rep3/unit/rep3_protocol.h"
#include "support/parties_with_ciphers.h"
#include "support/setting.h"

namespace tkdc::test {

struct Deviation {
  int party = 0;
  bool to_prev = true;
  std::size_t tick = 0, offset = 0;
  std::uint8_t mask = 1;
};

inline std::ostream& operator<<(std::ostream& out, const Deviation& d) {
  return out << "party " << d.party << " to its " << (d.to_prev ? "previous" : "next") << ", tick "
             << d.tick << ", octet " << d.offset << ", mask " << int{d.mask};
}

enum class Outcome : std::uint8_t { kRight, kWrong, kAborted };

struct MessageSize {
  std::size_t to_prev, to_next;
};

// A protocol whose result is released after verification, and what it must be.
struct CheckedProtocol {
  const char* name;
  std::size_t secret_bytes;
  std::function<Task<SharedBytes>(Rep3Protocol&, SharedBytes secret)> run;
};

// Runs it with a deviation, or records the sizes of its messages.
class Trial {
 public:
  using Shares = PartiesWithCiphers::Shares;
  // Called for each party's packets of a tick, in the parties' order: party 2 may
  // look at what the others send in the same tick before it sends its own.
  using Tamper = std::function<void(std::size_t tick, int party, SecretVector& to_prev,
                                    SecretVector& to_next)>;

  Trial(const CheckedProtocol& protocol, std::uint64_t seed) : protocol_(protocol), seed_(seed) {}

  Outcome run(const std::optional<Deviation>& deviation) {
    if (!deviation) return run(-1, nullptr);
    return run(deviation->party,
               [&](std::size_t tick, int p, SecretVector& to_prev, SecretVector& to_next) {
                 if (p != deviation->party || tick != deviation->tick) return;
                 SecretVector& message = deviation->to_prev ? to_prev : to_next;
                 if (deviation->offset < message.size())
                   message[deviation->offset] ^= deviation->mask;
               });
  }

  // `cheat`: who tampers, or -1.
  Outcome run(int cheat, const Tamper& tamper) {
    PartiesWithCiphers s(seed_, rep3_backend_scalar(), Security::kMalicious);
    Shares in = s.net.share(random_bytes(s.net.rng(), protocol_.secret_bytes));
    std::size_t tick = 0;
    s.net.tamper = [&](int p, SecretVector& to_prev, SecretVector& to_next) {
      if (p == 0) sizes_.push_back({to_prev.size(), to_next.size()});
      if (tamper) tamper(tick, p, to_prev, to_next);
      tick += p == 2 ? 1 : 0;
    };
    bool released[3] = {};
    auto ran =
        s.net.run([&](int p) { return release(*s.ciphers[p], in[p], shares_[p], released[p]); });
    return judge(s, released, ran.ok(), cheat);
  }

  const std::vector<MessageSize>& sizes() const { return sizes_; }
  // What party p found wrong.
  const std::optional<std::string>& found(int p) const { return found_[p]; }
  // The run of the same seed in which all are honest.
  void expect(const Trial& honest) {
    right_ = honest.result_;
    right_shares_ = honest.shares_;
  }

 private:
  Task<void> release(Rep3Protocol& c, SharedBytes in, SharedBytes& out, bool& released) {
    out = co_await protocol_.run(c, std::move(in));
    co_await c.rep3.verified();
    released = true;
  }

  // An honest party that released has the right shares: both honest parties' and, for
  // the component that only the cheat and one of them hold, that one's. One that released
  // alone: with the component that it lacks as the honest run has it.
  Outcome judge(PartiesWithCiphers& s, const bool released[3], bool ran, int cheat) {
    int honest_deviations = 0;
    for (int p = 0; p < 3; ++p) {
      found_[p] = s.net.party[p]->lane.deviation();
      honest_deviations += p != cheat && found_[p] ? 1 : 0;
    }
    const int a = cheat < 0 ? 0 : (cheat + 1) % 3, b = (a + 1) % 3;
    if (!released[a] && !released[b]) {
      EXPECT_TRUE(honest_deviations > 0 || cheat < 0) << "nobody but the cheat has noticed";
      return Outcome::kAborted;
    }
    if (!released[a] || !released[b])
      return alone_is_right(released[a] ? a : b) ? Outcome::kAborted : Outcome::kWrong;
    EXPECT_TRUE(ran || honest_deviations == 0);
    result_ = value_of(shares_[a].component[0], shares_[a].component[1], shares_[b].component[1]);
    if (shares_[a].component[1] != shares_[b].component[0]) return Outcome::kWrong;
    return result_ == right_ || cheat < 0 ? Outcome::kRight : Outcome::kWrong;
  }

  bool alone_is_right(int p) const {
    const SharedBytes& held = shares_[p];
    return value_of(held.component[0], held.component[1],
                    right_shares_[(p + 1) % 3].component[1]) == right_;
  }
  static Bytes value_of(const SecretVector& x, const SecretVector& y, const SecretVector& z) {
    Bytes value(x.begin(), x.end());
    if (y.size() != x.size() || z.size() != x.size()) return {};
    xor_bytes(value.data(), y.data(), value.size());
    xor_bytes(value.data(), z.data(), value.size());
    return value;
  }

  const CheckedProtocol& protocol_;
  std::uint64_t seed_;
  std::vector<MessageSize> sizes_;
  Bytes right_, result_;
  std::optional<std::string> found_[3];
  Shares shares_, right_shares_;
};

// One protocol over many secrets: those of the seeds 1, 2, and so on.
class Trials {
 public:
  explicit Trials(const CheckedProtocol& protocol) : protocol_(protocol) {}

  Outcome run(std::uint64_t seed, int cheat, const Trial::Tamper& tamper) {
    Trial cheated(protocol_, seed);
    cheated.expect(honest(seed));
    return cheated.run(cheat, tamper);
  }
  Outcome run(std::uint64_t seed, const Deviation& deviation) {
    Trial cheated(protocol_, seed);
    cheated.expect(honest(seed));
    return cheated.run(deviation);
  }
  // How many of the secrets' runs were aborted. None may release a wrong result.
  std::size_t aborts(const Deviation& deviation, std::size_t secrets) {
    std::size_t aborted = 0;
    for (std::uint64_t seed = 1; seed <= secrets; ++seed) {
      const Outcome outcome = run(seed, deviation);
      EXPECT_NE(outcome, Outcome::kWrong) << protocol_.name << ": " << deviation;
      aborted += outcome == Outcome::kAborted ? 1 : 0;
    }
    return aborted;
  }

 private:
  const Trial& honest(std::uint64_t seed) {
    const auto [at, fresh] = honest_.try_emplace(seed, protocol_, seed);
    if (fresh) {
      EXPECT_EQ(at->second.run(std::nullopt), Outcome::kRight) << protocol_.name;
    }
    return at->second;
  }

  const CheckedProtocol& protocol_;
  std::map<std::uint64_t, Trial> honest_;
};

// Sizes of party 0's messages in each tick of an honest run.
inline std::vector<MessageSize> sizes_of(const CheckedProtocol& protocol) {
  Trial trial(protocol, 1);
  EXPECT_EQ(trial.run(std::nullopt), Outcome::kRight);
  return trial.sizes();
}

}  // namespace tkdc::test
