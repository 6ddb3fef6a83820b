// SPDX-License-Identifier: Apache-2.0
// A server's side of `tkdc repair`: what its administrator has approved, in a file beside the
// store, and which certificates it refuses for good (docs/protocols/25-repair.md).
//
//   approve  at both survivors: server N is lost, and who has this certificate comes in its place.
//            Those that N had before are refused from here on, whatever the configuration says
//   accept   at the new server, whose store is empty
//   cancel   none of it, but what is refused stays so
//
// A session is for the repair where all three offer it for the same party and certificate. None is
// offered when the store is of the next refresh, or at the new server when it has keys; nor while a
// refresh or a repair is half done. With a session of all three an approval is over. The
// administrator's socket and the session thread.
// Nothing here is secret.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "service/job/job_service.h"
#include "service/server/config.h"
#include "service/store/store.h"

namespace tkdc {

inline std::string repair_order_file(const std::string& store_path) {
  return store_path + "/repair.order";
}

struct RepairOrder {
  int party = 0;                    // that is lost
  Fingerprint certificate{};        // of the server in its place
  std::uint32_t refresh_epoch = 0;  // of this server's store, when it was approved
  bool operator==(const RepairOrder&) const = default;
};
Result<void> write_repair_order(const std::string& store_path, const RepairOrder& order);
// None: no file. Error: it cannot be read, or says something else.
Result<std::optional<RepairOrder>> read_repair_order(const std::string& store_path);

class RepairWatch {
 public:
  using Tell = std::function<void(const std::string&)>;
  // A line of the audit log, which is on disk when this returns.
  using Audit = std::function<Result<void>(const std::string&)>;

  // `certificate`: this server's own; none where servers have no certificates.
  RepairWatch(const ServerConfig& config, std::optional<Fingerprint> certificate, Store& store,
              JobService& jobs, Tell log, Audit audit)
      : config_(config), certificate_(certificate), store_(store), jobs_(jobs),
        log_(std::move(log)), audit_(std::move(audit)) {}

  // Error: the configuration has a certificate that is refused, or what was approved cannot be
  // read. The server does not start.
  Result<void> load();
  // Any thread.
  std::optional<NewcomerOffer> offer();
  // "approve PARTY SHA256", "accept SHA256", "cancel" or "status": the state as JSON. Error: not
  // understood, or not possible.
  Result<std::string> ask(const std::string& words);
  // One that serves has begun: from here on the peers' certificates are known, and no server is
  // lost.
  void session_up();

 private:
  Result<void> approve(int party, const Fingerprint& certificate);
  Result<void> accept(const Fingerprint& certificate);
  Result<void> check_approval(int party, const Fingerprint& certificate);
  Result<void> check_any() const;
  Result<void> refuse_others(int party, const Fingerprint& certificate);
  Result<void> take(const RepairOrder& order, const char* event);
  Result<void> forget();
  bool is_over() const;
  bool is_half_done() const;
  void note_certificates();
  std::uint32_t refresh_epoch() const;
  std::optional<NewcomerOffer> offer_under_lock() const;
  std::string state() const;

  const ServerConfig& config_;
  const std::optional<Fingerprint> certificate_;
  Store& store_;
  JobService& jobs_;
  const Tell log_;
  const Audit audit_;
  std::mutex mutex_;
  std::optional<RepairOrder> order_;
};

}  // namespace tkdc
