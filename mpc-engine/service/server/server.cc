// SPDX-License-Identifier: Apache-2.0
#include "service/server/server.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>

#include <nlohmann/json.hpp>

#include "base/hardening.h"
#include "base/heap.h"
#include "base/hex.h"
#include "base/log_events.h"
#include "base/machine.h"
#include "base/system_error.h"
#include "base/version.h"
#include "service/pair/pair_job_service.h"
#include "service/server/backup_watch.h"
#include "service/server/certificate_watch.h"
#include "service/server/disk_watch.h"
#include "service/server/epoch_watch.h"
#include "service/server/list_keys.h"
#include "service/server/pool_mark.h"
#include "service/server/protocols.h"
#include "service/server/revoke_request.h"
#include "service/server/revoked_json.h"
#include "service/store/value_table.h"
#include "service/wire/former_keys.h"
#include "session/backoff.h"

namespace tkdc {
namespace {

constexpr int kDrainMs = 3'000;          // LaneRunner::draining() takes less
constexpr int kSyncEveryTicks = 10;      // the audit log reaches the disk once a second
constexpr int kSealCheckTicks = 36'000;  // once an hour
constexpr int kStableSessionMs = 5'000;

// As `tkdc audit verify` reads it.
nlohmann::json peer_json(int party, const AuditHead& head) {
  return {{"party", party}, {"lines", head.lines}, {"head", to_hex(head.hash)}};
}

void notify_status(const std::string& text) { sd_notifyf(0, "STATUS=%s", text.c_str()); }

}  // namespace

Result<std::unique_ptr<Server>> Server::create(const ServerConfig& config,
                                               const std::string& program,
                                               Surroundings surroundings) {
  std::unique_ptr<Server> server(new Server(config, program));
  server->started_ms_ = monotonic_ms();
  auto protocols = offered_protocols(config);
  if (!protocols.ok()) return protocols.error();
  server->protocols_ = std::move(*protocols);
  server->store_ = std::move(surroundings.store);
  auto done = server->check_store();
  if (done.ok()) done = server->open_files();
  if (done.ok()) done = server->make_job_service(surroundings);
  if (!done.ok()) return done.error();
  server->make_control(surroundings);
  server->make_exports(std::move(surroundings.curve_secret));
  server->local_ = std::move(surroundings.local);
  server->status_socket_ = std::move(surroundings.status);
  server->certificate_end_s_ = surroundings.certificate_end_s;
  done = server->make_repair(surroundings.certificate);
  if (!done.ok()) return done.error();
  done = server->make_mesh(std::move(surroundings.network));
  if (!done.ok()) return done.error();
  return server;
}

Server::~Server() { stop(); }

// Of as many servers as this one is configured for. One key tells of all: whoever has prepared the
// first of a store was of one kind, and so were those after it.
Result<void> Server::check_store() const {
  auto first = store_->ids_behind(KeyId{}, 1);
  if (!first.ok()) return first.error();
  bool pair_keys = false, other_keys = false;
  if (!first->empty()) {
    auto record = store_->get(first->front());
    if (!record.ok()) return record.error();
    (*record && (*record)->sharing == kPairSharing ? pair_keys : other_keys) = true;
  }
  if (ValueTable* values = store_->values(); values != nullptr) {
    auto names = values->names("");
    if (!names.ok()) return names.error();
    pair_keys = pair_keys || !names->empty();
  }
  if (of_two() ? !other_keys : !pair_keys) return {};
  return fail("store: " + config_.store_path + " is of a realm on " +
              (of_two() ? "three servers" : "two servers") + ", and installation.parties says " +
              std::to_string(config_.parties) +
              ": set the number with which the realm was made, or another store.path");
}

Result<void> Server::open_files() {
  latch_.emplace(latch_file(config_.store_path));
  broken_checks_.emplace(broken_checks_file(config_.store_path));
  if (auto opened = open_audit_log(); !opened.ok()) return opened;
  if (of_two()) {
    if (auto taken = take_up_pools(*store_, *audit_); !taken.ok()) return taken;
    pools_taken_up_ = true;
  }
  return notice_restored_epochs(*store_, *audit_);
}

// What peers record of the audit log: no more than a crash leaves of it.
AuditHead Server::told_head() const { return audit_->durable_head(); }

Result<void> Server::make_job_service(const Surroundings& surroundings) {
  JobServiceOptions options;
  options.installation = config_.installation;
  options.party = config_.party;
  options.protocols = protocols_;
  options.garbling = config_.garbling;
  options.garbling_parts = surroundings.garbling_parts;
  options.max_pending_jobs = config_.agents.size() * surroundings.max_pending_per_agent;
  options.limits = config_.limits;
  options.pair_prepared_bytes = config_.pair_prepared_bytes;
  options.pair_parts = surroundings.pair_parts;
  options.pair_tables_bytes = config_.pair_tables_bytes;
  options.pair_tables_wait = config_.pair_tables_wait;
  options.audit_head = [this] { return told_head(); };
  options.lost_check = [this](const LostCheck& lost) { note_broken_check(lost); };
  options.peer_audit_head = [this](int party, const AuditHead& head) {
    nlohmann::json event = {{"event", "peers"}, {"peers", {peer_json(party, head)}}};
    audit(event.dump());
  };
  options.share_alarm = [this](const std::string& text) {
    log_line(LogLevel::kError, text);
    nlohmann::json event = {{"event", "shares differ"}, {"text", text}};
    audit(event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  };
  make_give_backs();
  options.may_give_back = [this](const KeyRecord& key) { return give_backs_->may(key); };
  options.given_back = [this](const KeyId& id) { give_backs_->done(id); };
  options.audit_works = [this] { return audit_->takes_jobs(); };
  options.trouble = [this](const std::string& text) { say_trouble(text); };
  // control_ exists before the first job is submitted.
  const auto make = of_two() ? &make_pair_job_service : &JobService::create;
  auto service = make(
      options, *store_,
      [this](const JobName& name, JobReply reply) { control_->reply(name, std::move(reply)); },
      [this](const std::string& event) { return audit_job(event); });
  if (!service.ok()) return service.error();
  jobs_ = std::move(*service);
  // What it asks for is in force from here on, written or not; one that nobody can read might
  // ask for anything.
  return take_revoke_request();
}

void Server::make_control(Surroundings& surroundings) {
  ControlOptions options;
  options.agents = config_.agents;
  options.max_pending_per_agent = surroundings.max_pending_per_agent;
  options.log = [](const std::string& line) { log_line(LogLevel::kWarning, line); };
  control_ = std::make_unique<ControlPlane>(
      std::move(surroundings.agents), std::move(options),
      [this](AgentRole role, JobRequest request) { jobs_->submit(role, std::move(request)); },
      [this] { return status_json(); });
  control_->list_keys_by([this](tkdc_wire_op op, const KeyId& after) {
    return op == TKDC_OP_LIST ? list_keys(*store_, after) : list_dropped(*store_, after);
  });
}

// A request that cannot be carried out stays, and is tried again each second. Error: it
// cannot be read.
Result<void> Server::take_revoke_request() {
  auto request = read_revoke_request(config_.store_path);
  std::string trouble;
  if (!request.ok()) {
    trouble = request.error().message;
  } else if (!request->has_value()) {
    return {};
  } else {
    const RevokeRequest& asked = **request;
    auto done = asked.lift ? jobs_->lift_revocations() : jobs_->revoke(asked.window);
    if (done.ok()) {
      audit(revoke_event(asked));
      done = remove_revoke_request(config_.store_path);
    }
    if (!done.ok()) trouble = done.error().message;
  }
  if (!trouble.empty() && trouble != revoke_trouble_) log_line(LogLevel::kError, trouble);
  revoke_trouble_ = trouble;
  if (!request.ok()) return request.error();
  return {};
}

void Server::pause(int ms) {
  const auto tick = static_cast<int>(kTick.count());
  for (int waited = 0; waited < ms && !stopping_; waited += tick)
    machine().pause(std::chrono::milliseconds(std::min(ms - waited, tick)));
}

void Server::session_failed(const std::string& reason) {
  bool news = false;
  {
    std::lock_guard lock(mutex_);
    trouble_ = reason;
    session_id_.clear();
    news = troubles_.is_news(reason, monotonic_ms());
  }
  if (news) log_event(LogLevel::kWarning, event::kNoSession, "no session: " + reason);
  notify_status("no session: " + reason);
}

void Server::session_goes_on(const Session& session) {
  const std::string id = to_hex(session.id).substr(0, 16);
  std::uint64_t times = 0;
  {
    std::lock_guard lock(mutex_);
    trouble_.clear();
    session_id_ = id;
    times = ++reconnections_;
  }
  notify_status("session " + id + " goes on");
  // Somebody who resets connections all the time fills no disk.
  if (monotonic_ms() - logged_reconnection_ms_ < Troubles::kRepeatMs) return;
  logged_reconnection_ms_ = monotonic_ms();
  log_event(LogLevel::kNotice, event::kSessionGoesOn,
            "session " + id + " goes on over new connections, the " + std::to_string(times) +
                ". time since the start",
            {"TKDC_SESSION=" + id});
  nlohmann::json event = {{"event", "reconnected"}, {"session", id}, {"times", times}};
  audit(event.dump());
}

std::string Server::session_text(const std::string& id, const Session& session) const {
  std::string text = "session " + id + " up: ";
  if (of_two())
    text += "two servers";
  else
    text += "epoch " + std::to_string(session.epoch) + ", " + std::to_string(session.lanes.size()) +
            " lanes, " + (session.representation == Representation::kBytes ? "bytes" : "planes") +
            ", zero-shares by " + zero_generator_name(session.zero_generator);
  if (session.newcomer) text += ", for the repair of server " + std::to_string(*session.newcomer);
  return text + ", records by " + tls_library().records + ", security " +
         security_name(config_.security);
}

void Server::session_up(const Session& session) {
  std::string id = to_hex(session.id).substr(0, 16);
  {
    std::lock_guard lock(mutex_);
    trouble_.clear();
    troubles_.clear();
    session_id_ = id;
    zero_shares_ = of_two() ? "" : zero_generator_name(session.zero_generator);
    two_parts_ = session.two_parts;
    epoch_ = session.epoch;
    sessions_++;
  }
  const std::string text = session_text(id, session);
  log_event(LogLevel::kNotice, event::kSessionUp, text, {"TKDC_SESSION=" + id});
  notify_status(text);
  nlohmann::json event = {{"event", "session"},
                          {"session", id},
                          {"party", session.party},
                          {"epoch", session.epoch},
                          {"era", session.era},
                          {"lanes", session.lanes.size()},
                          {"peers", nlohmann::json::array()}};
  for (int party = 0; party < config_.parties; ++party)
    if (party != session.party)
      event["peers"].push_back(
          peer_json(party, audit_head_of(session.notes[static_cast<std::size_t>(party)])));
  if (session.newcomer) event["repaired"] = *session.newcomer;
  audit(event.dump());
  if (!session.newcomer) repair_->session_up();
}

void Server::close_latch(const std::string& deviation) {
  log_event(LogLevel::kError, event::kLatched,
            "a server computed wrongly: " + deviation +
                ". Nothing that depends on it was released. " + kUntilRelease);
  nlohmann::json event = {{"event", "latched"}, {"reason", deviation}};
  audit(event.dump());
  if (auto closed = latch_->close(deviation); !closed)
    log_line(LogLevel::kError, closed.error().message);
}

// A server that looks at the challenge first and then comes back without its session does it on
// purpose; one whose machine failed does the same. Nobody can tell them apart, so it is counted.
void Server::note_broken_check(const LostCheck& lost) {
  // An orderly stop breaks it off. The neighbours count that; what had been opened before, or what
  // somebody else had broken off, counts here too.
  if (stopping_ && !lost.opened && !lost.held) return;
  std::vector<BrokenCheck> checks;
  Result<void> written;
  const auto now = wall_s();
  {
    std::lock_guard lock(mutex_);
    written = broken_checks_->add({now, lost.party, lost.opened});
    checks = broken_checks_->all();
  }
  if (!written) log_line(LogLevel::kError, written.error().message);
  const std::string text =
      "sessions given up while messages were being verified: " + describe(checks) +
      "; a restart, or a server that breaks off where it would be found "
      "(docs/operations.md, Broken checks)";
  log_event(LogLevel::kWarning, event::kCheckBroken, text);
  nlohmann::json event = {{"event", "check broken"}, {"opened", lost.opened}};
  if (lost.party) event["party"] = *lost.party;
  audit(event.dump());
  const BrokenCount count = in_the_last_day(checks, now);
  const auto reached = [&](const char* limit, std::uint32_t most) {
    close_latch("limits." + std::string(limit) + " (" + std::to_string(most) +
                ") is reached: " + describe(checks));
  };
  if (count.opened >= config_.opened_checks_per_day)
    reached("opened_checks_per_day", config_.opened_checks_per_day);
  else if (count.all >= config_.broken_checks_per_day)
    reached("broken_checks_per_day", config_.broken_checks_per_day);
}

void Server::wait_for_release() {
  bool waited = false;
  for (std::string reason = latch_->reason(); !reason.empty() && !stopping_;
       reason = latch_->reason()) {
    if (!waited) session_failed("latched: " + reason + ". " + kUntilRelease);
    waited = true;
    {
      std::lock_guard lock(mutex_);
      latched_ = reason;
    }
    pause(1000);
  }
  if (!waited || stopping_) return;
  log_event(LogLevel::kNotice, event::kReleased, "the latch was released");
  audit(R"({"event":"released"})");
  std::lock_guard lock(mutex_);
  latched_.clear();
}

void Server::serve_sessions() {
  // Two, so that a server which has waited long for another one begins its next session at once.
  Backoff failed, died_young;
  while (!stopping_) {
    wait_for_release();
    if (stopping_) break;
    auto session = mesh_->establish();
    if (!session.ok()) {
      if (!course_deviation_.empty()) {
        jobs_->give_up(std::nullopt);
        close_latch(std::exchange(course_deviation_, {}));
      }
      if (!stopping_) session_failed(session.error().message);
      pause(failed.next_ms());
      continue;
    }
    failed.reset();
    if (session->goes_on)
      session_goes_on(*session);
    else
      session_up(*session);
    const long long up_since_ms = monotonic_ms();
    std::string reason = jobs_->run_session(*session);
    if (auto deviation = jobs_->deviation()) close_latch(*deviation);
    if (!stopping_) session_failed(reason.empty() ? "the lanes stopped" : reason);
    session->lanes.clear();  // so that the peers notice at once
    // Each new session uses up a nonce epoch, so sessions that die young must not follow
    // one another at once.
    const bool stable = monotonic_ms() - up_since_ms > kStableSessionMs;
    if (stable || jobs_->held() != SessionId{}) died_young.reset();
    if (!stable && !stopping_) pause(died_young.next_ms());
  }
  jobs_->give_up(std::nullopt);
}

Result<void> Server::wait_for_signal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  UniqueFd fd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return system_error("no signalfd");
  std::uint64_t watchdog_us = 0;
  const bool watched = sd_watchdog_enabled(0, &watchdog_us) > 0;
  for (int tick = 0;; ++tick) {
    pollfd one{fd.get(), POLLIN, 0};
    signalfd_siginfo signal{};
    if (poll(&one, 1, static_cast<int>(kTick.count())) > 0 &&
        read(fd.get(), &signal, sizeof signal) == sizeof signal) {
      if (signal.ssi_signo != SIGHUP) return {};
      reload();
    }
    if (auto sound = look_after(); !sound.ok()) return sound;
    if (tick % kSyncEveryTicks == 0) keep_audit_log();
    if (watched && tick % kSyncEveryTicks == 0) sd_notify(0, "WATCHDOG=1");
  }
}

Result<void> Server::look_after() {
  if (control_failed_) return fail("the control plane failed");
  jobs_->expire();
  const int tick = ticks_++;
  if (tick % kSyncEveryTicks != 0) return {};
  if (tick % kSealCheckTicks == 0 && jobs_->status().seals_near_limit)
    log_line(LogLevel::kWarning, kSealWarning);
  alarms_->look(jobs_->status());
  alarms_->look(WhichParty(config_.party, config_.parties), jobs_->status().clocks_ahead);
  alarms_->look(mesh_->epochs());
  if (certificate_end_s_)
    alarms_->look_at_certificate(
        certificate_alarm(*certificate_end_s_, static_cast<std::int64_t>(wall_s())));
  (void)take_revoke_request();  // its troubles are in the journal
  shares_->look();
  revocations_.look(jobs_->status().revoked);
  alarms_->look(disk_rooms(config_.store_path, config_.store_map_bytes, config_.audit_file));
  const JobServiceStatus jobs = jobs_->status();
  alarms_->look_at_backups(backup_alarm(
      backups_seen(config_.path, config_.store_path, config_.parties),
      static_cast<std::int64_t>(wall_s()), {jobs.refreshing_since_s, jobs.refresh_ended_s}));
  alarms_->look_at_dropped(dropped_alarm_now());
  sync_audit_log();
  look_at_audit_mark();
  return {};
}

void Server::start() {
  alarms_.emplace(
      [](const std::string& line) { log_event(LogLevel::kWarning, event::kAlarm, line); });
  control_thread_ = machine().start([this] {
    auto ended = control_->run();
    if (ended.ok()) return;
    log_line(LogLevel::kError, ended.error().message);
    control_failed_ = true;
  });
  session_thread_ = machine().start([this] { serve_sessions(); });
  if (local_)
    local_thread_ = machine().start(
        [this] { local_->run([this](const LocalAsk& ask) { return answer_administrator(ask); }); });
  if (status_socket_) status_thread_ = machine().start([this] { answer_monitoring(); });
  log_event(LogLevel::kNotice, event::kStarted,
            std::string("tkdc-server ") + kVersionAndCommit + ": party " +
                std::to_string(config_.party) + " of " + (of_two() ? "two in " : "") +
                to_hex(config_.installation) + ", security " + security_name(config_.security) +
                ", " + std::to_string(store_->count()) + " keys, agents at " +
                config_.control_listen +
                (of_two() && config_.party == 0 ? ", its peer at " + config_.peers[0].address
                                                : ", peers at " + config_.data_listen));
  if (const std::string former =
          former_keys_warning(former_keys(config_), "tkdc-server", config_.path);
      !former.empty())
    log_event(LogLevel::kWarning, event::kAlarm, former);
  audit(R"({"event":"started"})");
}

Result<void> Server::run() {
  keep_freed_memory();
  lock_memory((config_.store_path + "/data.mdb").c_str());
  start();
  sd_notify(0, (std::string("READY=1\nSTATUS=waiting for the other ") +
                (of_two() ? "server" : "two servers"))
                   .c_str());
  auto result = wait_for_signal();
  sd_notify(0, "STOPPING=1");
  stop();
  return result;
}

void Server::stop() {
  if (stopping_.exchange(true)) return;
  if (jobs_) jobs_->stop();
  // Its lanes end their checks first: cutting the links now would break them for the others.
  for (int waited = 0; jobs_ && jobs_->status().session_up && waited < kDrainMs; waited += 10)
    machine().pause(std::chrono::milliseconds(10));
  if (mesh_) mesh_->stop();
  if (local_) local_->stop();
  if (status_socket_) status_socket_->stop();
  if (exports_) exports_->stop();
  const bool ran = session_thread_ != nullptr;
  session_thread_.reset();
  // After the session: the answers of its last jobs still go out.
  if (control_) control_->stop();
  control_thread_.reset();
  // Last: an export under way may take a while to end, and nobody else waits for it.
  local_thread_.reset();
  status_thread_.reset();
  if (ran) audit(R"({"event":"stopped"})");
  if (ran || pools_taken_up_) (void)audit_->sync().ok();
  if (ran) leave_audit_mark();
  // Also where it could not start: nothing has served then.
  if (pools_taken_up_) leave_pools(*store_, *audit_);
  if (ran) log_event(LogLevel::kNotice, event::kStopped, "stopped");
}

}  // namespace tkdc
