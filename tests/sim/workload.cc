// SPDX-License-Identifier: Apache-2.0
#include "sim/workload.h"

#include <algorithm>

#include "base/hex.h"
#include "service/admit/policy.h"
#include "sim/liar.h"
#include "sim/realm.h"

namespace tkdc::sim {
namespace {

constexpr std::uint32_t kAes256 = 18;
constexpr std::size_t kMostTickets = 8, kMostKeys = 40;

PrincipalDigest digest_of(const std::string& name) {
  PrincipalDigest digest;
  crypto_hash_sha256(digest.data(), reinterpret_cast<const std::uint8_t*>(name.data()),
                     name.size());
  return digest;
}

SecretVector some_plaintext(std::size_t least, std::size_t most) {
  SecretVector out(least + world().random.below(most - least + 1));
  world().secrets.fill(out.data(), out.size());
  return out;
}

Bytes use_body(const Key& key, std::uint32_t usage, ByteSpan data) {
  Bytes body;
  Writer w(body);
  put_key(w, key.ref);
  w.u32(usage);
  w.bytes(data);
  return body;
}

Agent& kdc() { return *realm().kdc; }
Agent& admin() { return *realm().admin; }

using Answer = Agent::Answer;
bool ok(const Answer& answer) { return answer.there && answer.outcome.status == TKDC_STATUS_OK; }

std::string named(const Key& key) {
  return key.principal + ", key " + to_hex(key.ref.id).substr(0, 8);
}

// What no plaintext Kerberos would say of a sound question about a key that there is: "no".
// Out of service is always an answer.
void expect_no_refusal(const Answer& answer, const Key& key, const char* what) {
  if (!answer.there || !tkdc_status_is_refusal(answer.outcome.status)) return;
  if (key.state != Key::State::kBound) return;  // it was removed meanwhile
  world().broken("answers", std::string(what) + " for " + named(key) +
                                " was refused: " + answer.outcome.message);
}

void expect_refusal(const Answer& answer, const Key& key, const char* what) {
  if (ok(answer))
    world().broken("answers", std::string(what) + " for " + named(key) + " was carried out");
}

// Clocks that were set may make a good ticket one of the future, or too old.
bool clocks_were_wrong() { return world().injected_.contains("clock set"); }

Answer seal(Key& key, std::uint32_t usage, const SecretVector& plaintext) {
  Answer answer = kdc().ask(TKDC_OP_SEAL, use_body(key, usage, plaintext));
  expect_no_refusal(answer, key, "sealing");
  if (ok(answer) && key.known >= 0) {
    const KnownKey& known = known_keys(world().plan.keys)[static_cast<std::size_t>(key.known)];
    const auto opened = open_with_krb5(known, usage, answer.outcome.output);
    // libkrb5 gives whole blocks where the enctype has them.
    if (!opened || !std::equal(plaintext.begin(), plaintext.end(), opened->begin()))
      world().broken("answers", "libkrb5 does not open what was sealed for " + named(key));
  }
  return answer;
}

// A ticket for a service, or krbtgt's own.
bool make_ticket(Key& key) {
  const SecretVector plaintext = some_plaintext(40, 300);
  Answer answer = seal(key, usage::kTicket, plaintext);
  if (!ok(answer)) return false;
  if (key.tickets.size() >= kMostTickets) key.tickets.erase(key.tickets.begin());
  key.tickets.push_back({std::move(answer.outcome.output), plaintext});
  return true;
}

bool open_ticket(Key& key) {
  if (key.tickets.empty()) return make_ticket(key);
  const Key::Ticket ticket = key.tickets[world().random.below(key.tickets.size())];
  SecretVector sealed = ticket.sealed;
  const bool forged = world().random.percent(10);
  if (forged) sealed[world().random.below(sealed.size())] ^= 1;
  const Answer answer = kdc().ask(TKDC_OP_OPEN, use_body(key, usage::kTicket, sealed));
  if (forged) {
    expect_refusal(answer, key, "opening a forged ticket");
  } else if (ok(answer)) {
    if (!std::equal(ticket.plaintext.begin(), ticket.plaintext.end(),
                    answer.outcome.output.begin()))
      world().broken("answers", "another plaintext was opened than sealed, for " + named(key));
  } else if (!clocks_were_wrong() && answer.outcome.message.find("revoked") == std::string::npos) {
    expect_no_refusal(answer, key, "opening a good ticket");
  }
  return ok(answer);
}

bool preauthenticate(Key& user) {
  const KnownKey& known = known_keys(world().plan.keys)[static_cast<std::size_t>(user.known)];
  SecretVector sealed(known.sealed_timestamp.begin(), known.sealed_timestamp.end());
  const bool wrong = world().random.percent(10);
  if (wrong) sealed[world().random.below(sealed.size())] ^= 4;
  const Answer answer = kdc().ask(TKDC_OP_OPEN, use_body(user, usage::kAsReqTimestamp, sealed));
  if (wrong) {
    expect_refusal(answer, user, "a wrong password");
    return false;
  }
  expect_no_refusal(answer, user, "a right password");
  if (ok(answer) &&
      !std::equal(known.timestamp.begin(), known.timestamp.end(), answer.outcome.output.begin()))
    world().broken("answers", "another timestamp was opened for " + named(user));
  return ok(answer);
}

bool sign(Key& key) {
  const SecretVector data = some_plaintext(30, 200);
  const Answer made = kdc().ask(TKDC_OP_MAC, use_body(key, usage::kPacSignature, data));
  expect_no_refusal(made, key, "signing");
  if (!ok(made)) return false;
  const bool forged = world().random.percent(20);
  SecretVector sum = made.outcome.output;
  if (forged) sum[world().random.below(sum.size())] ^= 2;
  Bytes body = use_body(key, usage::kPacSignature, data);
  Writer(body).bytes(sum);
  const Answer verified = kdc().ask(TKDC_OP_VERIFY, body);
  if (forged)
    expect_refusal(verified, key, "a forged signature");
  else
    expect_no_refusal(verified, key, "a good signature");
  return true;
}

// What the kdc agent may not do, whatever its program asks; and a key by another name than its own.
void try_what_is_denied(Key& key) {
  const Answer denied =
      kdc().ask(TKDC_OP_OPEN, use_body(key, usage::kAsRepEncPart, some_plaintext(64, 90)));
  if (denied.there &&
      (denied.outcome.status == TKDC_STATUS_OK || denied.outcome.status == TKDC_STATUS_INTEGRITY))
    world().broken("answers", "a reply to " + named(key) + " was opened for the kdc");
  Key other;
  other.ref = key.ref;
  other.principal = "another name of " + key.principal;
  if (world().random.percent(50))
    other.ref.kvno += 1;
  else
    other.ref.principal[world().random.below(32)] ^= 1;
  const Answer swapped =
      kdc().ask(TKDC_OP_SEAL, use_body(other, usage::kAsRepEncPart, some_plaintext(40, 50)));
  expect_refusal(swapped, other, "sealing by another name");
}

// ---- keys

// Of BIND. What was refused never comes.
void settle(Key& key, const Answer& answer) {
  using State = Key::State;
  const bool refused = answer.there && tkdc_status_is_refusal(answer.outcome.status);
  key.state = ok(answer) ? State::kBound : refused ? State::kGone : State::kUnsure;
}

Key* make_key(const std::string& principal, bool user, bool drawn) {
  Model& model = realm().model;
  Bytes body;
  Writer w(body);
  auto key = std::make_unique<Key>();
  key->is_user = user;
  key->principal = principal;
  key->ref.installation = kInstallation;
  key->ref.kvno = 1;
  if (!drawn)
    key->known = static_cast<int>(world().random.below(known_keys(world().plan.keys).size()));
  const KnownKey* known =
      drawn ? nullptr : &known_keys(world().plan.keys)[static_cast<std::size_t>(key->known)];
  key->ref.enctype = known != nullptr ? known->enctype : kAes256;
  w.u8(drawn ? TKDC_ORIGIN_DRAWN : TKDC_ORIGIN_IMPORTED);
  w.u32(key->ref.kvno);
  w.u32(key->ref.enctype);
  w.bytes(known != nullptr ? ByteSpan(known->value) : ByteSpan());
  const Answer staged = admin().ask(TKDC_OP_STAGE, body);
  if (!ok(staged)) return nullptr;
  key->ref.id = staged.key_id;
  if (drawn && !principal.starts_with("krbtgt") && world().random.percent(20)) {
    const Bytes id(key->ref.id.begin(), key->ref.id.end());
    if (ok(admin().ask(TKDC_OP_EXPORT, id)))
      expect_refusal(admin().ask(TKDC_OP_EXPORT, id), *key, "a second export");
  }
  key->ref.principal = digest_of(principal);
  Bytes bind;
  Writer b(bind);
  put_key(b, key->ref);
  b.bytes({reinterpret_cast<const std::uint8_t*>(principal.data()), principal.size()});
  key->state = Key::State::kUnsure;
  Key* out = key.get();
  model.keys.push_back(std::move(key));
  settle(*out, admin().ask(TKDC_OP_BIND, bind));
  if (out->state == Key::State::kBound) world().reached("bind: told of");
  return out->state == Key::State::kBound ? out : nullptr;
}

void destroy_key(Key& key) {
  const Key::State before = std::exchange(key.state, Key::State::kUnsure);
  Bytes body;
  Writer w(body);
  put_key(w, key.ref);
  const Answer answer = admin().ask(TKDC_OP_DESTROY, body);
  if (!ok(answer)) {
    // One that nobody is sure of may not be there, or not be there yet.
    const bool refused = answer.there && tkdc_status_is_refusal(answer.outcome.status);
    if (refused && before == Key::State::kBound)
      world().broken("answers",
                     "the removal of " + named(key) + " was refused: " + answer.outcome.message);
    return;
  }
  key.state = Key::State::kGone;
  key.buried = true;
  world().reached("destroy: told of");
}

void use_a_dead_key() {
  Key* gone = realm().model.some(Key::State::kGone, world().random.percent(50));
  if (gone != nullptr)
    expect_refusal(kdc().ask(TKDC_OP_SEAL, use_body(*gone, usage::kTicket, some_plaintext(40, 50))),
                   *gone, "sealing with a key that is gone");
}

void manage() {
  Model& model = realm().model;
  static const char* const kUsers[] = {"alice@R", "bob@R", "carol@R"};
  Random& random = world().random;
  if (model.krbtgt == nullptr) {
    model.krbtgt = make_key("krbtgt/R@R", false, true);
    return;
  }
  const auto what = random.below(10);
  const bool room = model.keys.size() < kMostKeys;
  if (room && (what < 4 || model.some(Key::State::kBound, true) == nullptr)) {
    make_key(kUsers[random.below(3)], true, false);
  } else if (room && what < 7) {
    make_key("host/h" + std::to_string(random.below(3)) + "@R", false, random.percent(50));
  } else if (what == 7) {
    if (Key* key = model.some(Key::State::kBound, random.percent(50))) destroy_key(*key);
  } else if (what == 8) {
    use_a_dead_key();
  } else if (Key* key = model.some(Key::State::kUnsure, random.percent(50))) {
    destroy_key(*key);
  }
}

void run_client() {
  while (!world().failed() && !world().quiet) {
    const Plan& plan = world().plan;
    world().sleep(
        static_cast<Us>(world().random.below(static_cast<std::uint64_t>(2 * plan.pause_ms) + 1)) *
        kMs);
    if (world().random.percent(50)) {
      log_in();
      continue;
    }
    Key* service = realm().model.some(Key::State::kBound, false);
    Key* user = realm().model.some(Key::State::kBound, true);
    switch (world().random.below(4)) {
      case 0:
        if (service != nullptr) make_ticket(*service);
        break;
      case 1:
        if (service != nullptr) open_ticket(*service);
        break;
      case 2:
        if (realm().model.krbtgt != nullptr) open_ticket(*realm().model.krbtgt);
        break;
      default:
        if (user != nullptr) try_what_is_denied(*user);
        break;
    }
  }
}

void run_administrator() {
  while (!world().failed() && !world().quiet) {
    const Us pause = realm().model.keys.size() < 6 ? kSecond : 8 * kSecond;
    world().sleep(static_cast<Us>(world().random.below(static_cast<std::uint64_t>(pause))));
    manage();
  }
}

}  // namespace

bool log_in() {
  Key* user = realm().model.some(Key::State::kBound, true);
  Key* krbtgt = realm().model.krbtgt;
  if (user == nullptr || krbtgt == nullptr) {
    // The administrator is at it, unless nothing is to be disturbed any more.
    if (world().calm) manage();
    return false;
  }
  if (!preauthenticate(*user) || !make_ticket(*krbtgt)) return false;
  if (world().random.percent(30) && !sign(*krbtgt)) return false;
  if (!ok(seal(*user, usage::kAsRepEncPart, some_plaintext(100, 250)))) return false;
  ++realm().model.logins;
  realm().model.last_login = world().now();
  return true;
}

void start_workload() {
  for (int k = 0; k < world().plan.clients; ++k) world().fibers.start(world().nature, run_client);
  world().fibers.start(world().nature, run_administrator);
}

}  // namespace tkdc::sim
