// SPDX-License-Identifier: Apache-2.0
// One running party: store, jobs, mesh and control plane put together.
//
// Threads: the caller's, which looks after it; the control thread; the
// administrator's socket's; the session thread, in a loop { establish, run until a link fails, log
// why }; and those of the parts.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "service/job/job_service.h"
#include "service/server/alarms.h"
#include "service/server/audit_log.h"
#include "service/server/audit_mark.h"
#include "service/server/broken_checks.h"
#include "service/server/config.h"
#include "service/server/control_plane.h"
#include "service/server/dropped_watch.h"
#include "service/server/exports.h"
#include "service/server/give_backs.h"
#include "service/server/latch.h"
#include "service/server/local_socket.h"
#include "service/server/repair_watch.h"
#include "service/server/revocation_watch.h"
#include "service/server/share_watch.h"
#include "service/server/surroundings.h"
#include "service/server/troubles.h"
#include "session/mesh_options.h"
#include "session/sessions.h"

namespace tkdc {

inline constexpr const char* kSealWarning =
    "a krbtgt key has sealed more than 2^37 tickets and stops at 2^38: draw a new one with "
    "kadmin.local cpw -randkey -keepold krbtgt/REALM";

inline constexpr const char* kUntilRelease =
    "This server starts no session before `tkdc release`: see docs/operations.md, section "
    "Deviations";

class Server {
 public:
  static constexpr std::chrono::milliseconds kTick{100};  // deadlines of jobs without a session

  // Listens to its peers; nothing runs yet. `program`: base/program_digest.h.
  static Result<std::unique_ptr<Server>> create(const ServerConfig& config,
                                                const std::string& program,
                                                Surroundings surroundings);
  ~Server();

  // Until SIGTERM or SIGINT, which the caller has blocked in all threads, as SIGHUP, which has it
  // read its configuration again (server_reload.cc).
  Result<void> run();

  // ---- run() by its parts
  void start();
  // What the main thread looks after, each kTick.
  Result<void> look_after();
  void stop();

  // As its socket is asked (service/server/local_socket.h).
  Result<Bytes> answer_administrator(const LocalAsk& ask);
  std::string status_json();

 private:
  void answer_monitoring();
  Server(const ServerConfig& config, const std::string& program)
      : config_(config), program_(program) {}
  AuditHead told_head() const;
  static const char* refusal_of_two(LocalOp op);
  Result<void> check_store() const;
  bool of_two() const { return config_.parties == 2; }
  Result<void> open_files();
  Result<void> make_job_service(const Surroundings& surroundings);
  Result<void> make_mesh(std::shared_ptr<Network> network);
  MeshOptions mesh_options(std::shared_ptr<Network> network);
  void add_options_of_three(MeshOptions& options);
  void make_control(Surroundings& surroundings);
  void make_give_backs();
  void make_exports(SecretBuffer secret);
  Result<void> make_repair(std::optional<Fingerprint> certificate);

  void serve_sessions();
  // Waits while the latch is closed.
  void wait_for_release();
  void note_broken_check(const LostCheck& lost);
  void close_latch(const std::string& deviation);
  void session_failed(const std::string& reason);
  void session_up(const Session& session);
  std::string session_text(const std::string& id, const Session& session) const;
  void session_goes_on(const Session& session);
  void pause(int ms);
  // Does what `tkdc revoke` asked for, if it did.
  [[nodiscard]] Result<void> take_revoke_request();
  void audit(const std::string& event);
  bool audit_job(const std::string& event);
  void sync_audit_log();
  void say_trouble(const std::string& text);
  void tell_agents(nlohmann::json& json, const JobServiceStatus& jobs) const;
  std::string dropped_alarm_now();
  Result<void> wait_for_signal();
  void reload();
  void keep_audit_log();
  Result<void> open_audit_log();
  void look_at_audit_mark();
  void leave_audit_mark();

  ServerConfig config_;
  const std::string program_;  // its digest
  ProtocolOffers protocols_;
  long long started_ms_ = 0;
  std::optional<std::int64_t> certificate_end_s_;

  // Destroyed from the last to the first: the jobs answers into the control
  // plane and writes to the audit log until it is gone.
  std::unique_ptr<Store> store_;
  std::optional<Latch> latch_;
  std::unique_ptr<AuditLog> audit_;
  std::optional<AuditMark> audit_mark_;
  std::unique_ptr<ControlPlane> control_;
  std::unique_ptr<GiveBacks> give_backs_;
  std::unique_ptr<JobService> jobs_;
  std::unique_ptr<Sessions> mesh_;
  std::unique_ptr<Exports> exports_;
  std::unique_ptr<ShareWatch> shares_;
  std::unique_ptr<RepairWatch> repair_;
  DroppedWatch dropped_;
  bool pools_taken_up_ = false;                 // of two servers: to be left again
  std::unique_ptr<LocalSocket> status_socket_;  // null: there is none
  std::unique_ptr<LocalSocket> local_;          // null: could not be opened, which the log says

  std::atomic<bool> stopping_{false};
  std::atomic<bool> control_failed_{false};
  std::unique_ptr<Machine::Thread> control_thread_, session_thread_, local_thread_, status_thread_;

  std::mutex mutex_;
  std::string trouble_ = "starting";  // why there is no session; empty with one
  std::string latched_;               // why no session may start; empty if one may
  std::string session_id_;
  const char* zero_shares_ = "";  // what makes them in this session
  bool two_parts_ = false;        // of this session
  std::uint32_t epoch_ = 0;
  std::uint64_t sessions_ = 0;
  std::uint64_t reconnections_ = 0;            // of sessions that went on
  std::optional<BrokenChecks> broken_checks_;  // under mutex_
  std::string course_deviation_;               // found in a handshake; the session thread's
  // Main thread only.
  std::string revoke_trouble_, keep_trouble_;
  int ticks_ = 0;
  std::optional<Alarms> alarms_;
  RevocationWatch revocations_{[this](const std::string& line, const std::string& event) {
    log_line(LogLevel::kNotice, line);
    audit(event);
  }};
  Troubles troubles_;       // why there is no session; under mutex_
  Troubles work_troubles_;  // what jobs meet; under mutex_
  long long logged_reconnection_ms_ = -Troubles::kRepeatMs;
};

}  // namespace tkdc
