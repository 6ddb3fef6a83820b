// SPDX-License-Identifier: Apache-2.0
#include "job/management.h"

#include "admit/policy.h"
#include "job/keys.h"

namespace tkdc {
namespace {

std::string bound_name(const JobRequest& request) {
  return {request.public_data.begin(), request.public_data.end()};
}

tkdc_status check_stage(StagedKeys& staged, Store& store, const JobRequest& request) {
  const std::size_t key_bytes = key_bytes_of(request.key.enctype);
  if (key_bytes == 0 || request.public_data.size() != 1) return TKDC_STATUS_BAD_REQUEST;
  const bool drawn = request.public_data[0] == TKDC_ORIGIN_DRAWN;
  if (!drawn && request.public_data[0] != TKDC_ORIGIN_IMPORTED) return TKDC_STATUS_BAD_REQUEST;
  if (request.component[0].size() != (drawn ? 0 : key_bytes)) return TKDC_STATUS_BAD_REQUEST;
  if (staged.full()) return TKDC_STATUS_LIMIT;
  auto existing = store.get(request.key.id);
  if (!existing) return TKDC_STATUS_INTERNAL;
  const bool taken = staged.find(request.key.id) != nullptr || *existing != nullptr;
  return taken ? TKDC_STATUS_BAD_REQUEST : TKDC_STATUS_OK;
}

tkdc_status check_bind(const StagedKey& key, const JobRequest& request) {
  const std::string name = bound_name(request);
  auto key_class = classify_principal(name);
  if (!key_class) return TKDC_STATUS_BAD_REQUEST;
  PrincipalDigest digest;
  crypto_hash_sha256(digest.data(), request.public_data.data(), request.public_data.size());
  if (digest != request.key.principal || request.key.enctype != key.enctype)
    return TKDC_STATUS_BAD_REQUEST;
  const bool guarded = *key_class == KeyClass::kKrbtgt || *key_class == KeyClass::kCrossRealm ||
                       *key_class == KeyClass::kKadmin;
  return guarded && key.exported ? TKDC_STATUS_DENIED : TKDC_STATUS_OK;
}

JobOutcome refuse(tkdc_status status, std::string message) {
  return JobOutcome(status, std::move(message));
}

// Every party says whether it succeeded; true only if all three did.
Task<bool> all_succeeded(Rep3& rep3, bool mine) {
  const std::uint8_t vote = mine ? 1 : 0;
  FromBoth others = co_await rep3.exchange(ByteSpan(&vote, 1));
  co_return mine && others.prev[0] == 1 && others.next[0] == 1;
}

Task<JobOutcome> stage(ManagementContext context, const JobRequest& request, SharedBytes input) {
  StagedKey key;
  key.origin = request.public_data[0];
  key.kvno = request.key.kvno;
  key.enctype = request.key.enctype;
  key.agent = request.name.agent;
  key.key = key.origin == TKDC_ORIGIN_DRAWN
                ? context.ciphers.rep3.random(key_bytes_of(key.enctype))
                : std::move(input);
  context.staged.put(request.key.id, std::move(key));
  co_return JobOutcome();
}

Task<JobOutcome> export_once(ManagementContext context, const JobRequest& request) {
  StagedKey* key = context.staged.find(request.key.id);
  key->exported = true;
  co_return JobOutcome(key->key);
}

Task<JobOutcome> bind(ManagementContext context, const JobRequest& request) {
  StagedKey staged = std::move(*context.staged.find(request.key.id));
  context.staged.erase(request.key.id);
  KeyRecord record;
  record.ref = request.key;
  record.principal_name = bound_name(request);
  record.key_class = *classify_principal(record.principal_name);
  record.origin = staged.origin;
  record.exported = staged.exported;
  record.created_at_s = context.created_at_s;
  co_await derive_fields(context.ciphers, record, std::move(staged.key));

  auto prepared = context.store.prepare(record);
  bool everywhere = co_await all_succeeded(context.ciphers.rep3, prepared.ok());
  if (!everywhere) {
    if (prepared) (void)context.store.abandon(record.ref.id);
    co_return refuse(TKDC_STATUS_INTERNAL,
                     prepared ? "another server could not store the key; nothing was stored"
                              : "this server could not store the key: " + prepared.error().message);
  }
  auto committed = context.store.commit(record.ref.id);
  everywhere = co_await all_succeeded(context.ciphers.rep3, committed.ok());
  if (!everywhere)
    co_return refuse(TKDC_STATUS_INTERNAL,
                     committed
                         ? "another server could not commit the key; it will when the next "
                           "session starts"
                         : "this server could not commit the key: " + committed.error().message);
  co_return JobOutcome();
}

Task<JobOutcome> destroy(ManagementContext context, const JobRequest& request) {
  auto condemned = context.store.condemn(request.key.id);
  bool everywhere = co_await all_succeeded(context.ciphers.rep3, condemned.ok());
  if (!everywhere) {
    if (condemned) (void)context.store.pardon(request.key.id);
    co_return refuse(TKDC_STATUS_INTERNAL,
                     condemned
                         ? "another server could not remove the key; nothing was removed"
                         : "this server could not remove the key: " + condemned.error().message);
  }
  auto destroyed = context.store.destroy(request.key.id);
  everywhere = co_await all_succeeded(context.ciphers.rep3, destroyed.ok());
  if (!everywhere)
    co_return refuse(TKDC_STATUS_INTERNAL,
                     destroyed
                         ? "another server could not remove the key yet; it will when the "
                           "next session starts"
                         : "this server could not remove the key: " + destroyed.error().message);
  co_return JobOutcome();
}

}  // namespace

tkdc_status check_management(StagedKeys& staged, Store& store, AgentRole role,
                             const JobRequest& request) {
  if (!may_manage(role, request.op)) return TKDC_STATUS_DENIED;
  if (request.op == TKDC_OP_STAGE) return check_stage(staged, store, request);
  if (!request.component[0].empty()) return TKDC_STATUS_BAD_REQUEST;
  if (request.op == TKDC_OP_DESTROY) {
    auto record = store.get(request.key.id);
    if (!record) return TKDC_STATUS_INTERNAL;
    if (*record == nullptr) return TKDC_STATUS_UNKNOWN_KEY;
    return (*record)->ref == request.key ? TKDC_STATUS_OK : TKDC_STATUS_UNKNOWN_KEY;
  }
  StagedKey* key = staged.find(request.key.id);
  if (key == nullptr || key->agent != request.name.agent) return TKDC_STATUS_UNKNOWN_KEY;
  if (request.op == TKDC_OP_BIND) return check_bind(*key, request);
  const bool in_time = StagedKey::Clock::now() - key->since <= StagedKey::kExportWindow;
  const bool may_export = key->origin == TKDC_ORIGIN_DRAWN && !key->exported && in_time;
  return may_export ? TKDC_STATUS_OK : TKDC_STATUS_DENIED;
}

Task<JobOutcome> run_management(ManagementContext context, const JobRequest& request,
                                SharedBytes input) {
  switch (request.op) {
    case TKDC_OP_STAGE: return stage(context, request, std::move(input));
    case TKDC_OP_EXPORT: return export_once(context, request);
    case TKDC_OP_BIND: return bind(context, request);
    default: return destroy(context, request);
  }
}

}  // namespace tkdc
