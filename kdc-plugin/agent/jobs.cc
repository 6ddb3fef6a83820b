// SPDX-License-Identifier: Apache-2.0
#include "agent/jobs.h"

#include <algorithm>
#include <utility>

#include "agent/log.h"
#include "agent/status.h"
#include "agent/three_servers.h"
#include "agent/two_servers.h"
#include "service/wire/request_id.h"

namespace tkdc::agent {
namespace {

constexpr int kRepliesPerPass = 2048;
// Of one server; all of them and the agent's own stay below a body of the socket.
constexpr std::size_t kMaxStatusBytes = 24 * 1024;
constexpr std::size_t kJobOverheadBytes = 512;
constexpr std::size_t kMaxSessionBytes = 16;  // of the session that DEAL_AGAIN names
constexpr const char* kTooMany =
    "too many operations are pending; raise agent.max_pending or add lanes";
constexpr const char* kNoLastingSession =
    "the two servers ask again and again to be dealt for another session: theirs does not last, or "
    "they have none; see `tkdc status`";
constexpr auto kProbeAfter = std::chrono::seconds(1);
constexpr auto kTick = std::chrono::milliseconds(50);  // while jobs wait for a connection

std::uint32_t ms_left(Clock::time_point now, Clock::time_point deadline) {
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(left, 1, kMaxDeadlineMs));
}

std::size_t weight(const Operation& operation) {
  const std::size_t rest = operation.rest ? operation.rest->message.size() : 0;
  return kJobOverheadBytes + operation.secret.size() + rest + 3 * operation.max_output;
}

std::unique_ptr<Sharing> sharing_with(std::size_t servers) {
  if (servers == 2) return std::make_unique<TwoServers>();
  return std::make_unique<ThreeServers>();
}

// A head's answer is its own or, where the servers did all of it, the operation's.
bool good_length(const Pending& job, const Outcome& answer) {
  const Operation& asked = job.operation;
  return !asked.rest || answer.output.size() == asked.min_output ||
         answer.output.size() == asked.rest->head_bytes();
}

}  // namespace

Result<std::unique_ptr<Jobs>> Jobs::create(const AgentConfig& config, ServerLinks links,
                                           Deliver deliver) {
  Result<OperationsLog> log = OperationsLog::open(config.operations_log);
  if (!log) return log.error();
  return std::unique_ptr<Jobs>(
      new Jobs(config, std::move(log).value(), std::move(links), std::move(deliver)));
}

Jobs::Jobs(const AgentConfig& config, OperationsLog log, ServerLinks links, Deliver deliver)
    : config_(config), log_(std::move(log)), deliver_(std::move(deliver)), links_(std::move(links)),
      sharing_(sharing_with(links_.size())), heard_(links_.size()) {
  randombytes_buf(&run_, sizeof run_);
}

bool Jobs::all_ready() {
  return std::all_of(links_.begin(), links_.end(), [](auto& link) { return link->ready(); });
}

int Jobs::connected_servers() const {
  return static_cast<int>(
      std::count_if(links_.begin(), links_.end(), [](auto& link) { return link->connected(); }));
}

std::string Jobs::who_is_away() const {
  std::string text;
  for (const auto& link : links_) {
    if (link->connected()) continue;
    if (!text.empty()) text += "; ";
    text += link->title() + ": " +
            (link->trouble().empty() ? "no connection; is it running and reachable from here?"
                                     : link->trouble());
  }
  return text.empty() ? "a server takes no more jobs; it is overloaded or stuck" : text;
}

bool Jobs::within_grace(Clock::time_point now) const {
  return std::all_of(links_.begin(), links_.end(), [&](auto& link) {
    return link->connected() || now - link->down_since() < kConnectGrace;
  });
}

bool Jobs::has_room(const Pending& job) const {
  return pending() < config_.max_pending &&
         pending_.bytes() + waiting_bytes_ + job.bytes <= kMaxPendingBytes;
}

void Jobs::submit(const Asker& asker, Operation operation, Clock::time_point now,
                  Clock::time_point deadline) {
  Pending job;
  job.asker = asker;
  job.bytes = weight(operation);
  job.input_bytes = operation.secret.size();
  job.operation = std::move(operation);
  job.started = now;
  job.deadline = deadline;
  if (const auto refused = sharing_->fit(job.operation))
    return refuse(job, refused->status, refused->message, now);
  if (!has_room(job)) return refuse(job, TKDC_STATUS_LIMIT, kTooMany, now);
  if (waiting_.empty() && all_ready()) return ask(std::move(job), now);
  if (!within_grace(now)) return refuse(job, TKDC_STATUS_UNAVAILABLE, who_is_away(), now);
  waiting_bytes_ += job.bytes;
  waiting_.push_back(std::move(job));
}

void Jobs::ask(Pending entry, Clock::time_point now) {
  asked_ = now;
  const std::uint64_t number = ++number_;
  JobRequest job = entry.operation.job;
  job.name = JobName{0, run_, number};
  job.deadline_ms = ms_left(now, entry.deadline);
  job.protocol = config_.protocol;
  if (!config_.request_ids) job.request_id = 0;
  std::vector<SecretVector> frames = sharing_->share_out(std::move(job), entry.operation);
  entry.expected = static_cast<std::uint8_t>((1u << links_.size()) - 1);
  entry.answered = 0;
  entry.replies = std::vector<JobReply>(links_.size());
  pending_.add(number, std::move(entry));
  if (!send_to_all(std::move(frames)))
    finish(number, failure(TKDC_STATUS_UNAVAILABLE, who_is_away()), now);
}

// In the head's place: no limit of what is pending refuses a tail.
void Jobs::ask_tail(std::uint64_t head_number, Outcome answer, Clock::time_point now) {
  Pending head = pending_.take(head_number);
  const Rest& rest = *head.operation.rest;
  const ByteSpan output = answer.output;

  Pending tail;
  tail.asker = head.asker;
  Operation& operation = tail.operation;
  operation.job = std::move(head.operation.job);
  operation.job.public_data = encode(Part{Part::Kind::kTail, head_number});
  operation.secret = inner_digest(output.subspan(rest.ciphertext_bytes), rest);
  operation.min_output = operation.max_output = head.operation.min_output - rest.ciphertext_bytes;
  tail.input_bytes = operation.secret.size();
  tail.ciphertext.assign(output.begin(), output.begin() + std::ptrdiff_t(rest.ciphertext_bytes));
  tail.spent = answer.cost;
  tail.bytes = kJobOverheadBytes + operation.secret.size() + 2 * tail.ciphertext.size();
  tail.started = head.started;
  tail.deadline = head.deadline;
  ask(std::move(tail), now);
}

// What was dealt before is dead. Two servers that are between two sessions answer at once.
void Jobs::ask_again(std::uint64_t number, const Outcome& answer, Clock::time_point now) {
  Pending job = pending_.take(number);
  job.spent += answer.cost;
  if (++job.deals == 2 && waiting_.empty() && all_ready()) return ask(std::move(job), now);
  job.not_before = now + kDealAgainAfter;
  waiting_bytes_ += job.bytes;
  waiting_.push_back(std::move(job));
}

bool Jobs::send_to_all(std::vector<SecretVector> frames) {
  bool sent = true;
  for (std::size_t party = 0; party < links_.size(); ++party)
    sent = links_[party]->send(std::move(frames[party])) && sent;
  return sent;
}

Pending Jobs::status_question(const Asker& asker, Clock::time_point now,
                              Clock::time_point deadline) const {
  Pending entry;
  entry.asker = asker;
  entry.operation.job.op = TKDC_OP_STATUS;
  entry.operation.job.key.installation = config_.installation;
  entry.operation.max_output = kMaxStatusBytes;
  entry.bytes = weight(entry.operation);
  entry.started = now;
  entry.deadline = std::min(now + (deadline - now) * 3 / 4, now + kStatusTime);
  return entry;
}

void Jobs::submit_status(const Asker& asker, Clock::time_point now, Clock::time_point deadline) {
  Pending entry = status_question(asker, now, deadline);
  if (pending_.statuses() >= kMaxPendingStatuses)
    return refuse(entry, TKDC_STATUS_LIMIT, "too many statuses are pending; ask again in a moment",
                  now);
  ask_status(std::move(entry), now);
}

void Jobs::ask_status(Pending entry, Clock::time_point now) {
  asked_ = now;
  const std::uint64_t number = ++number_;
  JobRequest job = entry.operation.job;
  job.name = JobName{0, run_, number};
  job.deadline_ms = ms_left(now, entry.deadline);
  entry.replies = std::vector<JobReply>(links_.size());
  for (std::size_t party = 0; party < links_.size(); ++party)
    if (links_[party]->ready() && links_[party]->send(encode(job)))
      entry.expected |= static_cast<std::uint8_t>(1u << party);
  if (pending_.add(number, std::move(entry)).complete()) complete(number, now);
}

void Jobs::handle_reply(std::size_t party, ByteSpan frame, Clock::time_point now) {
  Result<JobReply> reply = decode_reply(frame);
  if (!reply) {
    ++counters_.malformed_replies;
    log(Level::kError, links_[party]->title() + ": " + reply.error().message);
    return;
  }
  heard_[party] = now;
  auto bit = static_cast<std::uint8_t>(1u << party);
  Pending* job = reply->run == run_ ? pending_.find(reply->number) : nullptr;
  if (job == nullptr || (job->answered & bit) != 0 || (job->expected & bit) == 0) {
    ++counters_.late_replies;
    return;
  }
  std::uint64_t number = reply->number;
  const bool deal_again = reply->status == TKDC_STATUS_DEAL_AGAIN;
  if (reply->output.size() > (deal_again ? kMaxSessionBytes : job->operation.max_output)) {
    reply->output = SecretVector();
    reply->status = TKDC_STATUS_INTERNAL;
    reply->message = "the output is longer than this operation's";
  }
  job->replies[party] = std::move(reply).value();
  job->answered |= bit;
  if (job->complete()) complete(number, now);
}

void Jobs::complete(std::uint64_t number, Clock::time_point now) {
  Pending& job = *pending_.find(number);
  if (job.op() == TKDC_OP_STATUS) return finish(number, status_outcome(job), now);
  if (job.op() == TKDC_OP_LIST || job.op() == TKDC_OP_LIST_DROPPED)
    return finish(number, combine_lists(job.replies), now);
  const LogField about(request_field(job.operation.job.request_id));
  Outcome outcome = sharing_->put_together(job.replies, job.operation);
  if (outcome.status == TKDC_STATUS_DEAL_AGAIN) {
    if (job.deals < kMostDeals) return ask_again(number, outcome, now);
    outcome.status = TKDC_STATUS_UNAVAILABLE;
    outcome.message = kNoLastingSession;
  }
  if (outcome.status == TKDC_STATUS_OK && !good_length(job, outcome))
    outcome =
        failure(TKDC_STATUS_INCONSISTENT,
                "the servers answered with an output of " + std::to_string(outcome.output.size()) +
                    " octets; are agent and servers of the same version?");
  if (outcome.fault || outcome.status == TKDC_STATUS_INCONSISTENT)
    log(Level::kError, std::string(tkdc_wire_op_name(job.op())) + ", job " +
                           std::to_string(number) + ": " + outcome.message);
  const bool head = outcome.status == TKDC_STATUS_OK && job.operation.rest &&
                    outcome.output.size() == job.operation.rest->head_bytes();
  if (head) return ask_tail(number, std::move(outcome), now);
  finish(number, std::move(outcome), now);
}

Outcome Jobs::status_outcome(const Pending& job) const {
  std::vector<ServerStatus> servers(links_.size());
  for (std::size_t party = 0; party < links_.size(); ++party) {
    const JobReply& reply = job.replies[party];
    servers[party].reachable = links_[party]->connected();
    servers[party].trouble = links_[party]->trouble();
    if ((job.answered >> party & 1) == 0) {
      if (servers[party].reachable) servers[party].trouble = "connected, but does not answer";
      continue;
    }
    if (reply.status != TKDC_STATUS_OK) servers[party].trouble = reply.message;
    servers[party].json = reply.output.empty()
                              ? reply.message
                              : std::string(reply.output.begin(), reply.output.end());
  }
  std::string text = status_json(config_, servers, counters_, pending() - 1);
  Outcome outcome;
  outcome.output.assign(text.begin(), text.end());
  return outcome;
}

void Jobs::finish(std::uint64_t number, Outcome outcome, Clock::time_point now) {
  Pending job = pending_.take(number);
  outcome.cost += job.spent;
  if (outcome.status == TKDC_STATUS_OK && !job.ciphertext.empty()) {
    job.ciphertext.insert(job.ciphertext.end(), outcome.output.begin(), outcome.output.end());
    outcome.output = std::move(job.ciphertext);
  }
  count(job, outcome, now);
  if (job.op() != TKDC_OP_STATUS)
    counters_.times.add(static_cast<std::uint8_t>(job.op()), now - job.started, outcome.cost.rounds,
                        outcome.cost.message_bytes);
  deliver_(job.asker, job.op(), job.key().id, std::move(outcome));
}

void Jobs::count(const Pending& job, const Outcome& outcome, Clock::time_point now) {
  if (job.op() == TKDC_OP_STATUS) return;
  ++counters_.finished[outcome.status];
  log_.record(job, outcome, now);
}

void Jobs::refuse(const Pending& job, tkdc_status status, const std::string& why,
                  Clock::time_point now) {
  Outcome outcome = failure(status, why);
  count(job, outcome, now);
  deliver_(job.asker, job.op(), job.key().id, std::move(outcome));
}

void Jobs::handle_loss(std::size_t party, Clock::time_point now) {
  auto bit = static_cast<std::uint8_t>(1u << party);
  for (std::uint64_t number : pending_.numbers()) {
    Pending* job = pending_.find(number);
    if (job == nullptr || (job->expected & bit) == 0 || (job->answered & bit) != 0) continue;
    if (job->op() != TKDC_OP_STATUS) {
      finish(number,
             failure(TKDC_STATUS_UNAVAILABLE,
                     links_[party]->title() + ": the connection was lost during the operation"),
             now);
      continue;
    }
    job->expected &= static_cast<std::uint8_t>(~bit);
    if (job->complete()) complete(number, now);
  }
}

void Jobs::pump_waiting(Clock::time_point now) {
  if (waiting_.empty()) return;
  bool ready = all_ready();
  bool hope = within_grace(now);
  std::deque<Pending> jobs;
  jobs.swap(waiting_);
  waiting_bytes_ = 0;
  for (Pending& job : jobs) {
    if (job.deadline <= now || (!ready && !hope)) {
      refuse(job, TKDC_STATUS_UNAVAILABLE, who_is_away(), now);
    } else if (ready && job.not_before <= now) {
      ask(std::move(job), now);
    } else {
      waiting_bytes_ += job.bytes;
      waiting_.push_back(std::move(job));
    }
  }
}

std::optional<Clock::time_point> Jobs::probe_due() const {
  const auto since = pending_.oldest_start();
  if (!since) return std::nullopt;
  return std::max(*since, probed_) + kProbeAfter;
}

void Jobs::speak(Clock::time_point now) {
  const bool all = std::cmp_equal(connected_servers(), links_.size());
  if (now - asked_ >= kSpeakAfter && (all || !within_grace(now)))
    ask_status(status_question(Asker(), now, now + kStatusTime), now);
}

// A job that one server does not work on stays unanswered at all three. So before it is given up
// all are asked how they are, which each answers by itself. Nobody waits for the outcome, and no
// limit of what is pending refuses it: there is one at a time.
void Jobs::probe(Clock::time_point now) {
  const auto due = probe_due();
  if (!due || now < *due) return;
  probed_ = now;
  ask_status(status_question(Asker(), now, now + kStatusTime), now);
}

std::string Jobs::who_is_silent(const Pending& job) const {
  std::string silent, late;
  for (std::size_t party = 0; party < links_.size(); ++party) {
    if ((job.answered >> party & 1) != 0) continue;
    std::string& list = heard_[party] < job.started ? silent : late;
    list += (list.empty() ? "" : ", ") + links_[party]->title();
  }
  if (!silent.empty()) return silent + " does not answer: it hangs, is overloaded or cut off";
  return "not finished in time by " + late + ", which does answer: see `tkdc status`";
}

void Jobs::expire(Clock::time_point now) {
  while (auto number = pending_.expired(now)) {
    Pending& job = *pending_.find(*number);
    if (job.op() == TKDC_OP_STATUS) {
      complete(*number, now);
      continue;
    }
    finish(*number, failure(TKDC_STATUS_UNAVAILABLE, who_is_silent(job)), now);
  }
}

void Jobs::pump(Clock::time_point now) {
  for (std::size_t party = 0; party < links_.size(); ++party) {
    bool lost = links_[party]->update(now);
    links_[party]->receive([&](ByteSpan frame) { handle_reply(party, frame, now); },
                           kRepliesPerPass);
    if (lost) handle_loss(party, now);
  }
  pump_waiting(now);
  probe(now);
  expire(now);
  log_.flush();
}

bool Jobs::input_waits() {
  return std::any_of(links_.begin(), links_.end(), [](auto& link) { return link->readable(); });
}

Clock::time_point Jobs::next_due(Clock::time_point now) const {
  Clock::time_point due = now + std::chrono::seconds(1);
  if (auto first = pending_.first_deadline()) due = std::min(due, *first);
  if (!waiting_.empty()) due = std::min<Clock::time_point>(due, now + kTick);
  return due;
}

void Jobs::abandon(const std::string& why, Clock::time_point now) {
  for (std::uint64_t number : pending_.numbers())
    finish(number, failure(TKDC_STATUS_UNAVAILABLE, why), now);
  std::deque<Pending> jobs;
  jobs.swap(waiting_);
  waiting_bytes_ = 0;
  for (const Pending& job : jobs) refuse(job, TKDC_STATUS_UNAVAILABLE, why, now);
  log_.flush();
}

}  // namespace tkdc::agent
