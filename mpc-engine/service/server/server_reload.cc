// SPDX-License-Identifier: Apache-2.0
// `systemctl reload` while a server runs: the configuration is read again. What can be taken over
// at work is; of the rest the journal says that it wants a restart. A configuration with a mistake
// changes nothing.
#include <systemd/sd-daemon.h>

#include "base/log_events.h"
#include "service/server/config_changes.h"
#include "service/server/disk_watch.h"
#include "service/server/server.h"

namespace tkdc {

void Server::reload() {
  sd_notify(0, "RELOADING=1");
  auto read = load_server_config(config_.path);
  if (read.ok()) {
    AuditRotation rotation = read->audit_rotation;
    rotation.room_bytes = audit_room(config_.audit_file, rotation.room_bytes);
    audit_->keep_as(rotation);
    std::string waits;
    for (const std::string& table : changes_for_restart(config_, *read))
      waits += (waits.empty() ? "" : ", ") + table;
    log_event(LogLevel::kNotice, event::kReloaded,
              "configuration read again: how the audit log is kept" +
                  (waits.empty() ? std::string(", all of it is in force")
                                 : "; RESTART for what changed in " + waits));
  } else {
    log_event(LogLevel::kError, event::kReloaded,
              "not reloaded, all stays as it was: " + read.error().message);
  }
  sd_notify(0, "READY=1");
}

}  // namespace tkdc
