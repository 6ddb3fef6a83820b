// SPDX-License-Identifier: Apache-2.0
#include "server/server.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "net/hex.h"
#include "server/hardening.h"
#include "server/log.h"
#include "server/secret_file.h"

namespace tkdc {
namespace {

constexpr int kTickMs = 100;        // deadlines of jobs while there is no session
constexpr int kSyncEveryTicks = 10;  // the audit log reaches the disk once a second
constexpr std::size_t kMaxPemBytes = 64 * 1024;
constexpr int kStableSessionMs = 5'000;
constexpr int kRepeatTroubleMs = 60'000;

void notify_status(const std::string& text) { sd_notifyf(0, "STATUS=%s", text.c_str()); }

}  // namespace

Result<std::unique_ptr<Server>> Server::create(const ServerConfig& config) {
  std::unique_ptr<Server> server(new Server(config));
  server->started_ms_ = monotonic_ms();
  auto done = server->open_store();
  if (done.ok()) done = server->make_engine();
  if (done.ok()) done = server->make_control();
  if (done.ok()) done = server->make_mesh();
  if (!done.ok()) return done.error();
  return server;
}

Server::~Server() { stop(); }

Result<void> Server::open_store() {
  auto key = read_store_key(config_.store_key_file);
  if (!key.ok()) return key.error();
  StoreOptions options;
  options.path = config_.store_path;
  options.installation = config_.installation;
  options.party = config_.party;
  options.map_bytes = config_.store_map_bytes;
  auto store = Store::open(options, *key);
  if (!store.ok()) return store.error();
  store_ = std::move(*store);
  auto audit = AuditLog::open(config_.audit_file);
  if (!audit.ok()) return audit.error();
  audit_ = std::move(*audit);
  return {};
}

Result<void> Server::make_engine() {
  EngineOptions options;
  options.installation = config_.installation;
  options.party = config_.party;
  options.backend = config_.backend;
  // control_ exists before the first job is submitted.
  auto engine = Engine::create(
      options, *store_,
      [this](const JobName& name, JobReply reply) { control_->reply(name, std::move(reply)); },
      [this](const std::string& event) { audit(event); });
  if (!engine.ok()) return engine.error();
  engine_ = std::move(*engine);
  return {};
}

Result<void> Server::make_control() {
  auto secret = read_curve_secret(config_.curve_secret_key_file);
  if (!secret.ok()) return secret.error();
  ControlOptions options;
  options.listen = config_.control_listen;
  options.curve_secret_key = std::move(*secret);
  options.agents = config_.agents;
  options.log = [](const std::string& line) { log_line(LogLevel::kWarning, line); };
  auto control = ControlPlane::create(
      std::move(options),
      [this](AgentRole role, JobRequest request) { engine_->submit(role, std::move(request)); },
      [this] { return status_json(); });
  if (!control.ok()) return control.error();
  control_ = std::move(*control);
  return {};
}

Result<void> Server::make_mesh() {
  auto certificate = read_text_file(config_.certificate_file, kMaxPemBytes);
  if (!certificate.ok()) return certificate.error();
  auto key = read_secret_file(config_.private_key_file, kMaxPemBytes);
  if (!key.ok()) return key.error();
  MeshOptions options;
  options.installation = config_.installation;
  options.party = config_.party;
  options.lanes = config_.lanes;
  options.security = config_.security;
  options.representation = Engine::preferred_representation(config_.backend);
  options.circuit_hash = circuit_hash();
  options.listen_address = config_.data_listen;
  options.certificate_pem = std::move(*certificate);
  options.private_key_pem = std::move(*key);
  for (const PeerEntry& peer : config_.peers)
    options.peers.push_back({peer.party, peer.address, peer.certificate_sha256});
  options.log = [](const std::string& line) { log_line(LogLevel::kWarning, line); };
  auto mesh = Mesh::create(std::move(options), *store_);
  if (!mesh.ok()) return mesh.error();
  mesh_ = std::move(*mesh);
  return {};
}

void Server::audit(const std::string& event) {
  auto written = audit_->append(event);
  if (written.ok()) return;
  log_line(LogLevel::kError, written.error().message);
  std::lock_guard lock(mutex_);
  audit_failures_++;
}

void Server::pause(int ms) {
  for (int waited = 0; waited < ms && !stopping_; waited += kTickMs)
    usleep(static_cast<useconds_t>(std::min(ms - waited, kTickMs)) * 1000);
}

void Server::session_failed(const std::string& reason) {
  bool news = false;
  {
    std::lock_guard lock(mutex_);
    news = reason != trouble_ || monotonic_ms() - logged_trouble_ms_ > kRepeatTroubleMs;
    trouble_ = reason;
    session_id_.clear();
    if (news) logged_trouble_ms_ = monotonic_ms();
  }
  if (news) log_line(LogLevel::kWarning, "no session: " + reason);
  notify_status("no session: " + reason);
}

void Server::session_up(const Session& session) {
  std::string id = to_hex(session.id).substr(0, 16);
  {
    std::lock_guard lock(mutex_);
    trouble_.clear();
    session_id_ = id;
    epoch_ = session.epoch;
    sessions_++;
  }
  std::string text = "session " + id + " up: epoch " + std::to_string(session.epoch) + ", " +
                     std::to_string(session.lanes.size()) + " lanes, " +
                     (session.representation == Representation::kBytes ? "bytes" : "planes") +
                     ", security " + config_.security;
  log_line(LogLevel::kNotice, text);
  notify_status(text);
  nlohmann::json event = {{"event", "session"},
                          {"session", id},
                          {"epoch", session.epoch},
                          {"lanes", session.lanes.size()}};
  audit(event.dump());
}

void Server::serve_sessions() {
  Backoff backoff;
  while (!stopping_) {
    auto session = mesh_->establish();
    if (!session.ok()) {
      if (!stopping_) session_failed(session.error().message);
      pause(backoff.next_ms());
      continue;
    }
    session_up(*session);
    const long long up_since_ms = monotonic_ms();
    std::string reason = engine_->run_session(*session);
    if (!stopping_) session_failed(reason.empty() ? "the engine stopped" : reason);
    // Each session uses up a nonce epoch, so sessions that die young must not follow
    // one another at once.
    if (monotonic_ms() - up_since_ms > kStableSessionMs) backoff.reset();
    else if (!stopping_) pause(backoff.next_ms());
    // The links close here, so that the peers notice at once.
  }
}

std::string Server::status_json() {
  EngineStatus engine = engine_->status();
  ControlCounters control = control_->counters();
  nlohmann::json json = {{"party", config_.party},
                         {"installation", to_hex(config_.installation)},
                         {"security", config_.security},
                         {"version", TKDC_VERSION},
                         {"uptime_s", (monotonic_ms() - started_ms_) / 1000},
                         {"session_up", engine.session_up},
                         {"lanes", engine.lanes},
                         {"backend", engine.backend},
                         {"pending_jobs", engine.pending_jobs},
                         {"jobs_done", engine.jobs_done},
                         {"jobs_failed", engine.jobs_failed},
                         {"message_bytes_sent", engine.message_bytes_sent},
                         {"aes_blocks", engine.aes_blocks},
                         {"sha1_blocks", engine.sha1_blocks},
                         {"rounds", engine.rounds},
                         {"keys", store_->count()},
                         {"requests", control.requests},
                         {"requests_malformed", control.malformed},
                         {"requests_replayed", control.replayed},
                         {"requests_refused", control.refused},
                         {"replies_undelivered", control.undelivered},
                         {"audit_lines", audit_->lines()},
                         {"audit_head", to_hex(audit_->head())}};
  std::lock_guard lock(mutex_);
  json["session"] = session_id_;
  json["epoch"] = epoch_;
  json["sessions"] = sessions_;
  json["audit_failures"] = audit_failures_;
  if (!trouble_.empty()) json["trouble"] = trouble_;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<void> Server::wait_for_signal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  UniqueFd fd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return fail(std::string("no signalfd: ") + std::strerror(errno));
  std::uint64_t watchdog_us = 0;
  bool watched = sd_watchdog_enabled(0, &watchdog_us) > 0;
  std::string sync_trouble;
  for (int tick = 0;; ++tick) {
    pollfd one{fd.get(), POLLIN, 0};
    if (poll(&one, 1, kTickMs) > 0) return {};
    if (control_failed_) return fail("the control plane failed");
    engine_->expire();
    if (tick % kSyncEveryTicks != 0) continue;
    auto synced = audit_->sync();
    std::string trouble = synced.ok() ? "" : synced.error().message;
    if (!trouble.empty() && trouble != sync_trouble) log_line(LogLevel::kError, trouble);
    sync_trouble = trouble;
    if (watched) sd_notify(0, "WATCHDOG=1");
  }
}

Result<void> Server::run() {
  lock_memory((config_.store_path + "/data.mdb").c_str());
  control_thread_ = std::thread([this] {
    auto ended = control_->run();
    if (ended.ok()) return;
    log_line(LogLevel::kError, ended.error().message);
    control_failed_ = true;
  });
  session_thread_ = std::thread([this] { serve_sessions(); });
  log_line(LogLevel::kNotice,
           "tkdc-server " TKDC_VERSION ": party " + std::to_string(config_.party) + " of " +
               to_hex(config_.installation) + ", security " + config_.security + ", " +
               std::to_string(store_->count()) + " keys, agents at " + config_.control_listen +
               ", peers at " + config_.data_listen);
  audit(R"({"event":"started"})");
  sd_notify(0, "READY=1\nSTATUS=waiting for the other two servers");
  auto result = wait_for_signal();
  sd_notify(0, "STOPPING=1");
  stop();
  audit(R"({"event":"stopped"})");
  (void)audit_->sync().ok();
  log_line(LogLevel::kNotice, "stopped");
  return result;
}

void Server::stop() {
  stopping_ = true;
  if (mesh_) mesh_->stop();
  if (engine_) engine_->stop();
  if (session_thread_.joinable()) session_thread_.join();
  // After the session: the answers of its last jobs still go out.
  if (control_) control_->stop();
  if (control_thread_.joinable()) control_thread_.join();
}

}  // namespace tkdc
