// SPDX-License-Identifier: Apache-2.0
// The servers' computers: they boot, crash, lose power, are stopped and hang; each has the
// product's whole server in it, a service manager that starts it again, and an operator.
#pragma once

#include <functional>
#include <memory>

#include "service/server/server.h"
#include "sim/disk.h"
#include "sim/world.h"

namespace tkdc::sim {

// A server, or an agent, ends without doing anything more. `power`: so does its computer.
void crash(Host& host, bool power);

// Of a server's administrator; of its CURVE key.
SecretBuffer approver_seed(int party);
std::array<std::uint8_t, 32> curve_public(int party);

// Whether keys that are removed are kept for a while in this run (dropped.h).
bool keeps_dropped();

// Of a latch whose reason a full disk, or a loss of power, did not keep.
inline constexpr const char* kUnknownLatch = "its file is empty";

class ServerHost {
 public:
  explicit ServerHost(Host& host);

  void boot();
  // An orderly stop.
  void stop() { wanted_ = false; }
  bool stopping() const { return !wanted_; }
  // Runs, or comes to its end in good order.
  bool up() const { return server_ != nullptr && !host_.dead; }
  bool ended() const { return host_.fibers == 0; }
  Server* server() { return up() ? server_.get() : nullptr; }
  Host& host() { return host_; }
  const Host& host() const { return host_; }
  const ServerConfig& config() const { return config_; }

  // An operator works on its disk: nobody else starts it.
  bool in_repair = false;

  // Its identity; with a new machine comes a new one.
  const Fingerprint& certificate() const { return certificate_; }
  void renew_certificate();
  // From its next start on it goes by this one for that peer.
  void trust(int party, const Fingerprint& certificate);
  // Why it did not start when that was last tried; empty: it did.
  const std::string& trouble() const { return trouble_; }

  // On this host's fibers.
  Result<std::unique_ptr<Store>> open_store() const;
  // Of an administrator, while it is down. He waits for the end, which may be a crash.
  void work_on_disk(const std::function<void()>& work);

  // By its operator, on this host. None: nobody answered.
  std::optional<Result<Bytes>> ask(const LocalAsk& ask);
  std::string latched() const;
  void release();

 private:
  void run();
  Host& host_;
  ServerConfig config_;
  Fingerprint certificate_;
  std::string trouble_;
  bool wanted_ = false;
  int asked_ = 0;  // of its operator's questions that are not answered yet
  std::unique_ptr<Server> server_;
};

// All there is in a realm.
struct Realm;
Realm& realm();

}  // namespace tkdc::sim
