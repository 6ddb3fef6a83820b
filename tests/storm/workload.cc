// SPDX-License-Identifier: Apache-2.0
#include "storm/workload.h"

namespace tkdc::storm {
namespace {

constexpr std::int32_t kPreauthFailed = 24, kBadIntegrity = 31;

}  // namespace

Workload::Workload(WorkloadTerms terms, std::vector<User> users)
    : terms_(std::move(terms)), users_(std::move(users)) {}

void Workload::add_service_key(const std::string& service, const RawKey& key) {
  service_keys_[service] = Key(key);
}

const Key& Workload::user_key(std::size_t user) {
  User& u = users_[user];
  if (!u.key.valid()) u.key = Key(u.raw);
  return u.key;
}

bool Workload::begin(std::uint64_t client, Attempt& attempt, Bytes& request) {
  attempt = {};
  attempt.nonce = fresh_nonce();
  attempt.sampled = collecting_ || chance(terms_.sample);
  if (!collecting_ && !tickets_.empty() && chance(terms_.tgs_share)) {
    attempt.kind = ReplyKind::kTgs;
    attempt.ticket = client % tickets_.size();
    attempt.user = tickets_[attempt.ticket].user;
    attempt.service = turn_++ % terms_.services.size();
    const Ticket& ticket = tickets_[attempt.ticket].ticket;
    attempt.subkey = random_key(ticket.session.enctype());
    build_tgs_request(terms_.request, users_[attempt.user], ticket,
                      terms_.services[attempt.service], attempt.subkey, attempt.nonce, wall_clock(),
                      request);
    return !request.empty();
  }
  attempt.user = client % users_.size();
  attempt.wrong_password = !collecting_ && chance(terms_.wrong_password_share);
  const Key* key = &user_key(attempt.user);
  if (attempt.wrong_password) {
    if (wrong_key_.enctype() != key->enctype()) wrong_key_ = Key(random_key(key->enctype()));
    key = &wrong_key_;
  }
  build_as_request(terms_.request, users_[attempt.user], *key, attempt.nonce, wall_clock(),
                   request);
  std::int32_t type = 0;
  const bool confirm = attempt.sampled && !attempt.wrong_password && terms_.request.confirmed;
  if (confirm && !key->checksum(kUsageAsRequest, request, attempt.request_checksum, type))
    request.clear();
  return !request.empty();
}

Outcome Workload::judge_error(const Attempt& attempt, std::int32_t code, Recorder& recorder) {
  bool refusal = code == kPreauthFailed || code == kBadIntegrity;
  if (attempt.wrong_password && refusal) return Outcome::kRefused;
  recorder.error(code);
  return Outcome::kError;
}

std::string Workload::check(const Attempt& attempt, const Reply& reply, Recorder& recorder) {
  Asked asked;
  asked.kind = attempt.kind;
  asked.user = &users_[attempt.user];
  asked.realm = terms_.request.realm;
  asked.nonce = attempt.nonce;
  asked.now = std::time(nullptr);
  asked.request_checksum = attempt.request_checksum;
  bool tgs = attempt.kind == ReplyKind::kTgs;
  asked.service = tgs ? terms_.services[attempt.service] : "krbtgt/" + asked.realm;
  if (std::string wrong = check_outside(reply, asked); !wrong.empty() || !attempt.sampled)
    return wrong;
  Key subkey;
  if (tgs) {
    subkey = Key(attempt.subkey);
    auto found = service_keys_.find(asked.service);
    if (found != service_keys_.end()) asked.service_key = &found->second;
  }
  asked.reply_key = tgs ? &subkey : &user_key(attempt.user);
  Ticket ticket;
  std::string wrong = check_inside(reply, asked, collecting_ ? &ticket : nullptr);
  ++recorder.counts().checked;
  if (wrong.empty() && collecting_) tickets_.push_back({attempt.user, std::move(ticket)});
  return wrong;
}

std::string Workload::check_fresh(const Reply& reply) {
  if (!terms_.fresh_tickets) return {};
  const ByteSpan nonce = ticket_nonce(reply.ticket);
  if (nonce.empty()) return "ticket is malformed";
  return nonces_.emplace(nonce.begin(), nonce.end()).second ? "" : "a nonce for the second time";
}

Outcome Workload::judge(const Attempt& attempt, ByteSpan packet, Recorder& recorder) {
  Reply reply = parse_reply(packet);
  if (reply.kind == ReplyKind::kError) return judge_error(attempt, reply.error, recorder);
  std::string wrong = attempt.wrong_password && reply.kind != ReplyKind::kMalformed
                          ? "a ticket for a wrong password"
                          : check(attempt, reply, recorder);
  if (wrong.empty()) wrong = check_fresh(reply);
  if (wrong.empty()) return Outcome::kOk;
  recorder.wrong(wrong);
  return Outcome::kWrong;
}

}  // namespace tkdc::storm
