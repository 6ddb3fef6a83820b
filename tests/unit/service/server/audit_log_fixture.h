// SPDX-License-Identifier: Apache-2.0
// An audit log in a folder of its own, which tests open again and again.
#pragma once

#include "scratch_dir.h"
#include "service/server/audit_log.h"

namespace tkdc {

class AuditLogFixture : public ScratchDir {
 protected:
  void open() {
    log_.reset();
    auto opened = AuditLog::open(path());
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    log_ = std::move(*opened);
  }
  virtual std::string path() const { return directory_ + "/audit.jsonl"; }

  std::unique_ptr<AuditLog> log_;
};

}  // namespace tkdc
