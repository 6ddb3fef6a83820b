// SPDX-License-Identifier: Apache-2.0
// What a server that sends split verdicts learns of keys, session by session
// (docs/protocols/12-verification.md): two honest servers run two jobs whose packets have one
// length, and verify together what does not belong together. Whose jobs, and what they are of, the
// server's friends know; so do they know the second account's key.
//
// This file is built three times, since two guards stand before the keys.
//   equations_test     as it is: the honest servers compare what they decided, nothing leaves.
//   equations_masked   without the comparison (without_agreement.cc): all is sent that verification
//                      opens, and no equation on keys follows, since a zero-share is on each share.
//   equations_control  without both (bare_openings.cc): linear equations, and after two or three
//                      sessions the victim's key. So what the others look at would give it away.
#include <cstdio>

#include "attack/gf2_system.h"
#include "attack/guarded.h"
#include "attack/split_model.h"
#include "base/hex.h"
#include "cipher/ghash/gf128.h"
#include "service/operation/keys.h"
#include "service/operation/operations.h"

namespace tkdc {
namespace {

using test::Gf2System;
using test::Inputs;
using test::sum;

constexpr std::uint64_t kSeals = std::uint64_t{1} << 38;
constexpr std::chrono::seconds kPatience{60};

// ---- the operations

// EQUAL: whether a bound key is a staged one (service/lifecycle/equal.h). All of the key is in
// GF(2^128)'s claims.
Task<void> equal(Rep3Protocol& ciphers, Inputs of) {
  co_await ciphers.rep3.lane.agreed();
  xor_into(of.field, of.input);
  bool same = co_await is_zero(ciphers, std::move(of.field));
  (void)same;
}

// MAC under the key's field that has this name.
Task<void> mac(Rep3Protocol& ciphers, Inputs of, std::uint32_t enctype, std::uint32_t usage,
               std::string field) {
  static const InstallationId installation = kInstallation;
  static const Bytes nothing;
  KeyRecord record;
  record.ref.enctype = enctype;
  record.fields[field] = std::move(of.field);
  JobContext context{ciphers, installation, record, {}, 1, usage, nothing};
  JobOutcome outcome = co_await run_operation(context, TKDC_OP_MAC, std::move(of.input));
  co_await ciphers.rep3.verified();
}
// The HMAC states of Kc are in claims of bits.
Task<void> login_mac(Rep3Protocol& ciphers, Inputs of) {
  return mac(ciphers, std::move(of), 18, usage::kAsReqChecksum, "u56.kc");
}
// Of a key that is older than its class's usage, Kc is derived: claims of S-boxes and of bits.
Task<void> late_mac(Rep3Protocol& ciphers, Inputs of) {
  return mac(ciphers, std::move(of), 17, usage::kCammac, "key");
}

struct Attack {
  test::Operation operation;
  tkdc_wire_op op;
  std::uint32_t enctype, usage;
  const char* field;  // of the key's record, which is to be found
  const char* lacks;  // what the record has not, if it is an old one
  int sessions;       // so many give more equations than there are unknown bits
};
// The seed and the point of the polynomials; the vectors are folded by 8 once or twice, by 32, and
// once more.
constexpr std::size_t kOfLogin = 2 + 3, kOfOldKey = 2 + 4;
const Attack kOnComparedKey = {
    {equal, Gf128Field::kBytes, 1, 2}, TKDC_OP_EQUAL, 18, 0, "key", "", 3};
const Attack kOnLoginKey = {{login_mac, Gf64Field::kBytes, 0, kOfLogin},
                            TKDC_OP_MAC,
                            18,
                            usage::kAsReqChecksum,
                            "u56.kc",
                            "",
                            3};
const Attack kOnOldKey = {{late_mac, Gf64Field::kBytes, 0, kOfOldKey},
                          TKDC_OP_MAC,
                          17,
                          usage::kCammac,
                          "key",
                          "u64.kc",
                          2};

// What server 0 and its friend, who sends the jobs, have of an input.
struct Known {
  Bytes whole;
  SharedBytes own;
  Bytes component(std::size_t k) const {
    if (k < 2) return {own.component[k].begin(), own.component[k].end()};
    return sum(sum(whole, own.component[0]), own.component[1]);
  }
};

// What server 0 has of one session.
struct Session {
  Known input[2];
  test::ComponentKeys keys;
  test::Ticks ticks;
  std::size_t sent_after_first_opening = 0;
};

// A victim's account and one whose key is known, at three servers of which 0 is corrupted.
class Realm {
 public:
  explicit Realm(const Attack& attack)
      : attack_(attack), ring_(MemoryRing::create()),
        servers_(1, 1, kSeals, 0, Security::kMalicious, ring_) {
    const char* names[] = {"host/victim@A.TEST", "host/mallory@A.TEST"};
    const std::size_t key_bytes = key_bytes_of(attack.enctype);
    for (std::size_t k = 0; k < 2; ++k) {
      key_[k] = some_bytes(key_bytes);
      account_[k] = servers_.make_key(names[k], attack.enctype, key_[k]);
      if (attack.op != TKDC_OP_EQUAL) continue;
      staged_input_[k].whole = some_bytes(key_bytes);
      staged_[k] =
          servers_.stage(attack.enctype, staged_input_[k].whole, seen_by_0(staged_input_[k]));
    }
    ring_->close("the honest session ends");
    servers_.join();
    for (int p = 0; p < 3; ++p)
      for (std::size_t k = 0; k < 2; ++k) fields(p, k).erase(attack.lacks);
    servers_.session_edit = [this](int party, tkdc::Session& session) {
      const auto p = static_cast<std::size_t>(party);
      std::ranges::copy(keys_[p], session.lanes[0].keys.mine.data());
      std::ranges::copy(keys_[(p + 1) % 3], session.lanes[0].keys.next.data());
    };
  }

  // Both jobs wait when the session begins, so that one manifest names them.
  Session play() {
    Session out;
    for (std::size_t k = 0; k < 2; ++k) ask(k, out.input[k]);
    for (Bytes& key : keys_) key = some_bytes(32);
    auto ring =
        std::make_shared<test::SplitRing>(attack_.operation.openings(), test::kTicksOfFactors);
    servers_.start_session(ring);
    const bool came =
        kGuarded ? ring->wait_until_split(kPatience) : ring->wait_until_heard(kPatience);
    EXPECT_TRUE(came);
    if (!kGuarded || !came) ring->close("server 0 is gone");
    servers_.join();
    // As replicated sharing derives them.
    for (std::size_t p = 0; p < 3; ++p) {
      PairwiseKeys of_lane;
      std::ranges::copy(keys_[p], of_lane.mine.data());
      const PairwiseKeys own = keys_for(Rep3Protocol::kName, of_lane);
      out.keys[p].assign(own.mine.data(), own.mine.data() + own.mine.size());
    }
    out.ticks = ring->ticks();
    out.sent_after_first_opening = ring->sent_after_first_opening();
    return out;
  }

  // A component of the record's field, as server p holds it.
  Bytes field(int p, std::size_t which, int c) {
    const SecretVector& octets = fields(p, which).at(attack_.field).component[c];
    return {octets.begin(), octets.end()};
  }
  Bytes whole(std::size_t which) {
    return sum(sum(field(0, which, 0), field(1, which, 0)), field(2, which, 0));
  }
  // What is to be found: component 2 at servers 1 and 2.
  Bytes truth() { return sum(field(1, 0, 1), field(2, 1, 0)); }
  const Bytes& key(std::size_t which) const { return key_[which]; }
  bool latched(int p) { return servers_.service(p).deviation().has_value(); }

 private:
  // In the store's cache.
  std::map<std::string, SharedBytes>& fields(int p, std::size_t which) {
    auto record = servers_.store(p).get(account_[which].id);
    return const_cast<KeyRecord&>(**record).fields;
  }
  static ThreeServices::Edit seen_by_0(Known& input) {
    return [&input](int p, JobRequest& request) {
      if (p != 0 || request.component[0].empty()) return;
      for (int c = 0; c < 2; ++c) input.own.component[c] = request.component[c];
    };
  }
  void ask(std::size_t which, Known& input) {
    if (attack_.op == TKDC_OP_EQUAL) {
      input = staged_input_[which];
      const KeyId& other = staged_[which].id;
      servers_.send({attack_.op,
                     account_[which],
                     0,
                     Bytes(other.begin(), other.end()),
                     {},
                     AgentRole::kAdmin});
      return;
    }
    input.whole = some_bytes(20);
    servers_.send({attack_.op, account_[which], attack_.usage, {}, input.whole}, seen_by_0(input));
  }

  const Attack& attack_;
  std::shared_ptr<MemoryRing> ring_;
  ThreeServices servers_;
  Bytes key_[2];
  KeyRef account_[2], staged_[2];
  Known staged_input_[2];
  test::ComponentKeys keys_;
};

// ---- equations

SharedBytes pair(const Bytes& first, const Bytes& second) {
  SharedBytes out;
  out.component[0].assign(first.begin(), first.end());
  out.component[1].assign(second.begin(), second.end());
  return out;
}

// X's and Y's line where values differ so: server 0 and 2 in component 0, 1 and 2 in component 2.
struct Difference {
  Bytes field0, field2, input0, input2;
};
Bytes line_of(const Attack& attack, const Difference& by, const std::vector<Bytes>& challenges) {
  static const Rep3Backend& backend = **choose_rep3_backend("auto", Representation::kBytes);
  const Bytes none(by.field0.size()), nothing(by.input0.size());
  std::array<Inputs, 3> inputs = {Inputs{pair(by.field0, none), pair(by.input0, nothing)},
                                  Inputs{pair(none, by.field2), pair(nothing, by.input2)},
                                  Inputs{pair(none, none), pair(nothing, nothing)}};
  test::Rehearsal rehearsal(attack.operation, backend, std::move(inputs), challenges);
  return rehearsal.line();
}

bool bit(const Bytes& of, std::size_t k) { return (of[k / 8] >> k % 8 & 1) != 0; }

// What X and Y of a session add up: which unknown bits, and what is known.
struct Weights {
  std::vector<Bytes> column;
  Bytes known;
};
Weights weights_of(const Attack& attack, Realm& realm, const Session& session) {
  const std::vector<Bytes> challenges =
      test::challenges(attack.operation, session.ticks, session.keys);
  const Known& a = session.input[0];
  const Known& b = session.input[1];
  const Bytes difference = sum(realm.field(0, 0, 0), realm.field(0, 1, 0));
  const Bytes none(difference.size()), nothing(a.whole.size());
  Weights out;
  out.known = line_of(
      attack,
      {difference, none, sum(a.component(0), b.component(0)), sum(a.component(2), b.component(2))},
      challenges);
  for (std::size_t k = 0; k < 8 * none.size(); ++k) {
    Bytes unit = none;
    unit[k / 8] = static_cast<std::uint8_t>(1u << k % 8);
    out.column.push_back(line_of(attack, {none, unit, nothing, nothing}, challenges));
  }
  return out;
}

// One for each bit of X and Y in which an unknown has a part.
using Equations = std::vector<Gf2System::Equation>;
void add_equations(const Weights& weights, const Bytes& seen, Equations& out) {
  const Bytes right = sum(seen, weights.known);
  for (std::size_t at = 0; at < 8 * right.size(); ++at) {
    Gf2System::Equation equation(weights.column.size());
    for (std::size_t k = 0; k < weights.column.size(); ++k)
      if (bit(weights.column[k], at)) equation.flip(k);
    equation.sum = bit(right, at);
    if (!equation.empty()) out.push_back(std::move(equation));
  }
}

// How many of them a value of the unknowns violates.
std::size_t violated(const Equations& equations, const Bytes& value) {
  std::size_t out = 0;
  for (const Gf2System::Equation& equation : equations) {
    bool left = false;
    for (std::size_t k = 0; k < 8 * value.size(); ++k) left ^= equation[k] && bit(value, k);
    out += left != equation.sum ? 1 : 0;
  }
  return out;
}

Gf2System system_of(const Equations& equations, std::size_t unknowns) {
  Gf2System system(unknowns);
  for (const Gf2System::Equation& equation : equations) system.add(equation);
  return system;
}

// Of `n` equations as many as of tosses of a coin: within six standard deviations.
void expect_as_by_chance(std::size_t wrong, std::size_t n) {
  const double off = static_cast<double>(wrong) - static_cast<double>(n) / 2;
  EXPECT_LE(off * off, 36.0 * static_cast<double>(n) / 4) << wrong << " of " << n;
}

// ---- what each program must see

// They compare: nothing that verification opens has left. (Who sees it first ends the session, and
// the other may not have come so far.)
void expect_nothing(const Attack& attack) {
  Realm realm(attack);
  const Session session = realm.play();
  EXPECT_EQ(session.sent_after_first_opening, 0u);
  EXPECT_TRUE(realm.latched(1) || realm.latched(2));
}

// Zero-shares are on the shares. Server 0 takes its own two streams off; the third, which only the
// honest two have, makes of each equation a guess. (With the third all hold: so the equations
// are the right ones.)
void expect_no_equation(const Attack& attack) {
  Realm realm(attack);
  Equations seen, without_third;
  for (int k = 0; k < attack.sessions; ++k) {
    const Session session = realm.play();
    for (int p : {1, 2}) EXPECT_FALSE(realm.latched(p)) << p;
    const Weights weights = weights_of(attack, realm, session);
    const Bytes line = test::line_of_factors(attack.operation, session.ticks);
    auto less = [&](bool third) {
      return sum(line, test::zero_shares(attack.operation, session.ticks, session.keys, third));
    };
    add_equations(weights, less(false), seen);
    add_equations(weights, less(true), without_third);
  }
  const Bytes truth = realm.truth();
  EXPECT_EQ(violated(without_third, truth), 0u) << "these are not the equations";
  expect_as_by_chance(violated(seen, truth), seen.size());
  const Gf2System system = system_of(seen, 8 * truth.size());
  EXPECT_GT(system.contradictions(), 0u);
  if (const auto solved = system.solution()) {
    EXPECT_NE(*solved, truth);
  }
  std::printf("%s: %d sessions, %zu equations, %zu wrong of the key, %zu contradict others\n",
              attack.field, attack.sessions, seen.size(), violated(seen, truth),
              system.contradictions());
}

// Shares are bare. Server 0 solves for component 2; its own two and the other account's key, which
// it knows, give the victim's.
void expect_key(const Attack& attack) {
  Realm realm(attack);
  const Bytes truth = realm.truth();
  Gf2System system(8 * truth.size());
  int sessions = 0;
  while (sessions < attack.sessions && !system.solution()) {
    const Session session = realm.play();
    ++sessions;
    for (int p : {1, 2}) EXPECT_FALSE(realm.latched(p)) << p;
    Equations seen;
    add_equations(weights_of(attack, realm, session),
                  test::line_of_factors(attack.operation, session.ticks), seen);
    EXPECT_EQ(violated(seen, truth), 0u);
    for (const Gf2System::Equation& equation : seen) system.add(equation);
  }
  EXPECT_EQ(system.contradictions(), 0u);
  const auto solved = system.solution();
  ASSERT_TRUE(solved) << "rank " << system.rank() << " of " << system.unknowns();
  Bytes victim = sum(*solved, realm.whole(1));
  for (std::size_t which : {0, 1})
    for (int c : {0, 1}) victim = sum(victim, realm.field(0, which, c));
  EXPECT_EQ(victim, realm.whole(0));
  if (attack.field == std::string("key")) {
    EXPECT_EQ(victim, realm.key(0));
  }
  std::printf("%s: %d sessions, rank %zu of %zu, the victim's: %s\n", attack.field, sessions,
              system.rank(), system.unknowns(), to_hex(victim).c_str());
}

void play(const Attack& attack) {
  if (kGuarded)
    expect_nothing(attack);
  else if (test::kBare)
    expect_key(attack);
  else
    expect_no_equation(attack);
}

TEST(Equations, OnKeysThatAreCompared) { play(kOnComparedKey); }
TEST(Equations, OnOldKeys) { play(kOnOldKey); }
TEST(Equations, OnKeysOfLogins) {
#ifdef __SANITIZE_THREAD__
  if (!kGuarded) GTEST_SKIP() << "a thousand rehearsals in one thread take a minute here";
#endif
  play(kOnLoginKey);
}

}  // namespace
}  // namespace tkdc
