// SPDX-License-Identifier: Apache-2.0
#include "service/server/pool_mark.h"

#include "base/codec.h"
#include "base/log.h"
#include "service/job/audit_head.h"
#include "service/store/kept_values.h"

namespace tkdc {
namespace {

Bytes mark_of(const AuditHead& head) {
  Bytes out;
  Writer writer(out);
  put_audit_head(writer, head);
  return out;
}

}  // namespace

Result<void> take_up_pools(Store& store, const AuditLog& audit) {
  ValueTable* values = store.values();
  if (values == nullptr) return {};
  const Bytes own = mark_of(audit.head());
  auto marked = kept::take_mark(*values, own);
  if (!marked.ok()) return marked.error();
  if (*marked) return {};
  auto given_up = kept::give_up_blocks(*values);
  if (!given_up.ok()) return given_up.error();
  if (*given_up > 0)
    log_line(LogLevel::kWarning,
             "this server was not stopped in good order, or its store or audit log is a copy: the "
             "blocks of " +
                 std::to_string(*given_up) +
                 " pools are not used any more. The next "
                 "session makes another pool, which takes a while; nothing has to be done");
  return {};
}

void leave_pools(Store& store, const AuditLog& audit) {
  ValueTable* values = store.values();
  if (values == nullptr || audit.durable_head() != audit.head()) return;
  if (auto left = kept::put_mark(*values, mark_of(audit.head())); !left.ok())
    log_line(LogLevel::kWarning,
             "the next run cannot use this one's pools: " + left.error().message);
}

}  // namespace tkdc
