// SPDX-License-Identifier: Apache-2.0
#include "sim/workload.h"

#include <algorithm>

#include "service/sealing/nonce.h"
#include "sim/administrators.h"
#include "sim/asking.h"
#include "sim/operators.h"
#include "sim/upkeep.h"

namespace tkdc::sim {
namespace {

constexpr std::size_t kMostTickets = 8;

// Clocks that were set may make a good ticket one of the future, or too old.
bool clocks_were_wrong() { return world().injected_.contains("clock set"); }

Answer seal(Agent& by, Key& key, std::uint32_t usage, const SecretVector& plaintext) {
  Answer answer = by.ask(TKDC_OP_SEAL, use_body(key, usage, plaintext));
  expect_no_refusal(answer, key, "sealing");
  if (ok(answer) && key.known >= 0) {
    const KnownKey& known = known_of(key);
    const auto opened = open_with_krb5(known, usage, answer.outcome.output);
    // libkrb5 gives whole blocks where the enctype has them.
    if (!opened || !std::equal(plaintext.begin(), plaintext.end(), opened->begin()))
      world().broken("answers", "libkrb5 does not open what was sealed for " + named(key));
  }
  return answer;
}

// Where a ticket says so: one of the own realm's krbtgt.
std::optional<std::uint32_t> sealed_at_of_ticket(const Key& key, ByteSpan sealed) {
  GcmNonce nonce;
  if (world().plan.of_two()) return std::nullopt;  // no tickets in the GCM form
  if (!key.principal.starts_with("krbtgt/") || sealed.size() < nonce.size()) return std::nullopt;
  std::copy_n(sealed.begin(), nonce.size(), nonce.begin());
  return decode_nonce(nonce).sealed_at;
}

// What is revoked is told by it alone.
void judge_time_of_sealing(const Key& key, ByteSpan sealed) {
  constexpr std::uint32_t kMost = 100;  // units, of a job that waited for a hung server
  const auto at = sealed_at_of_ticket(key, sealed);
  const std::uint32_t now = sealed_at_now();
  if (at && !clocks_were_wrong() && (*at + kMost < now || *at > now + kMost))
    world().broken("answers", "a ticket of " + named(key) + " says that it was sealed at " +
                                  std::to_string(*at) + ", at " + std::to_string(now));
}

// A ticket for a service, or krbtgt's own.
bool make_ticket(Agent& by, Key& key) {
  const SecretVector plaintext = some_plaintext(40, 300);
  Answer answer = seal(by, key, usage::kTicket, plaintext);
  if (!ok(answer)) return false;
  judge_time_of_sealing(key, answer.outcome.output);
  if (key.tickets.size() >= kMostTickets) key.tickets.erase(key.tickets.begin());
  key.tickets.push_back({std::move(answer.outcome.output), plaintext});
  return true;
}

bool open_ticket(Agent& by, Key& key) {
  if (key.tickets.empty()) return make_ticket(by, key);
  const Key::Ticket ticket = key.tickets[world().random.below(key.tickets.size())];
  SecretVector sealed = ticket.sealed;
  const bool forged = world().random.percent(10);
  if (forged) sealed[world().random.below(sealed.size())] ^= 1;
  const auto at = sealed_at_of_ticket(key, ticket.sealed);
  const bool revoked = at && is_revoked(*at);
  const Answer answer = by.ask(TKDC_OP_OPEN, use_body(key, usage::kTicket, sealed));
  if (forged) {
    expect_refusal(answer, key, "opening a forged ticket");
  } else if (ok(answer)) {
    if (!std::equal(ticket.plaintext.begin(), ticket.plaintext.end(),
                    answer.outcome.output.begin()))
      world().broken("answers", "another plaintext was opened than sealed, for " + named(key));
    if (revoked && is_revoked(*at)) expect_refusal(answer, key, "opening a revoked ticket");
  } else if (refused(answer) && answer.outcome.message.find("revoked") != std::string::npos) {
    if (!at || !may_be_revoked(*at))
      world().broken("answers", "a ticket for " + named(key) +
                                    " was refused as revoked, of a time "
                                    "that nobody revoked");
    world().reached("revocation: a ticket refused");
  } else if (!clocks_were_wrong()) {
    expect_no_refusal(answer, key, "opening a good ticket");
  }
  return ok(answer);
}

bool preauthenticate(Agent& by, Key& user) {
  const KnownKey& known = known_of(user);
  SecretVector sealed(known.sealed_timestamp.begin(), known.sealed_timestamp.end());
  const bool wrong = world().random.percent(10);
  if (wrong) sealed[world().random.below(sealed.size())] ^= 4;
  const Answer answer = by.ask(TKDC_OP_OPEN, use_body(user, usage::kAsReqTimestamp, sealed));
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

bool sign(Agent& by, Key& key) {
  const SecretVector data = some_plaintext(30, 200);
  const Answer made = by.ask(TKDC_OP_MAC, use_body(key, usage::kPacSignature, data));
  expect_no_refusal(made, key, "signing");
  if (!ok(made)) return false;
  const bool forged = world().random.percent(20);
  SecretVector sum = made.outcome.output;
  if (forged) sum[world().random.below(sum.size())] ^= 2;
  Bytes body = use_body(key, usage::kPacSignature, data);
  Writer(body).bytes(sum);
  const Answer verified = by.ask(TKDC_OP_VERIFY, body);
  if (forged)
    expect_refusal(verified, key, "a forged signature");
  else
    expect_no_refusal(verified, key, "a good signature");
  return true;
}

// What the kdc agent may not do, whatever its program asks; and a key by another name than its own.
void try_what_is_denied(Agent& by, Key& key) {
  const Answer denied =
      by.ask(TKDC_OP_OPEN, use_body(key, usage::kAsRepEncPart, some_plaintext(64, 90)));
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
      by.ask(TKDC_OP_SEAL, use_body(other, usage::kAsRepEncPart, some_plaintext(40, 50)));
  expect_refusal(swapped, other, "sealing by another name");
}

void run_client() {
  while (!world().failed() && !world().quiet && !world().idle) {
    const Plan& plan = world().plan;
    world().sleep(
        static_cast<Us>(world().random.below(static_cast<std::uint64_t>(2 * plan.pause_ms) + 1)) *
        kMs);
    if (world().random.percent(50)) {
      log_in(kdc());
      continue;
    }
    Key* service = realm().model.some(Key::State::kBound, false);
    Key* user = realm().model.some(Key::State::kBound, true);
    switch (world().random.below(4)) {
      case 0:
        if (service != nullptr) make_ticket(kdc(), *service);
        break;
      case 1:
        if (service != nullptr) open_ticket(kdc(), *service);
        break;
      case 2:
        if (realm().model.krbtgt != nullptr) open_ticket(kdc(), *realm().model.krbtgt);
        break;
      default:
        if (user != nullptr) try_what_is_denied(kdc(), *user);
        break;
    }
  }
}

}  // namespace

bool log_in(Agent& by) {
  Key* user = realm().model.some(Key::State::kBound, true);
  Key* krbtgt = realm().model.krbtgt;
  if (user == nullptr || krbtgt == nullptr) {
    // The administrator is at it, unless nothing is to be disturbed any more.
    if (world().calm) manage();
    return false;
  }
  if (!preauthenticate(by, *user) || !make_ticket(by, *krbtgt)) return false;
  if (world().random.percent(30) && !sign(by, *krbtgt)) return false;
  if (!ok(seal(by, *user, usage::kAsRepEncPart, some_plaintext(100, 250)))) return false;
  ++realm().model.logins;
  realm().model.last_login = world().now();
  return true;
}

void start_workload() {
  for (int k = 0; k < world().plan.clients; ++k) world().fibers.start(world().nature, run_client);
  start_administrators();
  if (!world().plan.of_two()) start_operators();
  start_upkeep();
}

}  // namespace tkdc::sim
