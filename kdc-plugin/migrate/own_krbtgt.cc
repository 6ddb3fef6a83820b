// SPDX-License-Identifier: Apache-2.0
#include "migrate/own_krbtgt.h"

#include <algorithm>

#include "migrate/server_keys.h"

namespace tkdc::migrate {
namespace {

// A list begins behind an id.
KeyId before(KeyId id) {
  for (auto octet = id.rbegin(); octet != id.rend(); ++octet)
    if ((*octet)-- != 0) break;
  return id;
}

Result<bool> is_held(AgentPipe& agent, const ExportKey& key) {
  auto body = list_page(agent, TKDC_OP_LIST, before(key.id), "keys");
  if (!body) return body.error();
  auto page = decode_key_list(*body);
  if (!page) return page.error();
  return std::ranges::any_of(page->keys, [&](const ListedKey& held) {
    return held.id == key.id && held.kvno == key.kvno && held.enctype == key.enctype &&
           held.principal == key.principal;
  });
}

}  // namespace

Result<OwnKrbtgt> look_at_own_krbtgt(RealmDb& db, AgentPipe& agent) {
  const std::string name = "krbtgt/" + db.realm() + "@" + db.realm();
  auto entry = db.read(name);
  if (!entry) return entry.error();
  if (!*entry) return fail("the database has no " + name);
  if (!(*entry)->trouble.empty()) return fail(name + ": " + (*entry)->trouble);
  OwnKrbtgt out;
  for (const StoredKey& stored : (*entry)->keys) {
    if (stored.kvno != (*entry)->newest_kvno) continue;
    out.plain = !stored.is_handle;
    if (out.plain) break;
    ExportKey key{{}, stored.handle.kvno, stored.handle.enctype, name};
    std::ranges::copy(stored.handle.key_id, key.id.begin());
    const bool here = std::equal(std::begin(stored.handle.installation),
                                 std::end(stored.handle.installation), agent.installation());
    auto held = here ? is_held(agent, key) : Result<bool>(false);
    if (!held) return held.error();
    if (!*held) out.dead.push_back(std::move(key));
    break;
  }
  return out;
}

}  // namespace tkdc::migrate
