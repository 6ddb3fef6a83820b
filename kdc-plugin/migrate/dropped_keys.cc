// SPDX-License-Identifier: Apache-2.0
#include "migrate/dropped_keys.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tkdc::migrate {

Result<std::vector<ListedDropped>> list_dropped_keys(AgentPipe& agent) {
  std::vector<ListedDropped> keys;
  for (bool more = true; more;) {
    auto body = list_page(agent, TKDC_OP_LIST_DROPPED, keys.empty() ? KeyId{} : keys.back().key.id,
                          "dropped keys");
    if (!body) return body.error();
    auto page = decode_dropped_list(*body);
    if (!page) return page.error();
    more = page->more;
    for (ListedDropped& one : page->keys) {
      if (!keys.empty() && one.key.id <= keys.back().key.id)
        return fail("the list of dropped keys goes round in a circle");
      keys.push_back(std::move(one));
    }
  }
  return keys;
}

Result<std::uint32_t> keep_dropped_days(AgentPipe& agent) {
  tkdc_request request{};
  request.op = TKDC_OP_STATUS;
  std::string text;
  agent.call(request, [&](const tkdc_reply& reply) {
    tkdc_span body{};
    if (reply.status == TKDC_STATUS_OK && tkdc_reply_bytes(&reply, &body))
      text.assign(reinterpret_cast<const char*>(body.data), body.len);
  });
  const nlohmann::json status = nlohmann::json::parse(text, nullptr, false);
  std::optional<std::uint32_t> most;
  if (!status.is_discarded() && status.is_structured()) {
    const nlohmann::json flat = status.flatten();
    for (const auto& [path, value] : flat.items())
      if (path.ends_with("/keep_dropped_days") && value.is_number_unsigned())
        most = std::max(most.value_or(0), value.get<std::uint32_t>());
  }
  if (!most) return fail("no server says how long it keeps dropped keys: see `tkdc status`");
  return *most;
}

std::vector<ListedDropped> recoverable(const std::vector<ExportKey>& dead,
                                       const std::vector<ListedDropped>& dropped) {
  std::vector<ListedDropped> out;
  for (const ExportKey& key : dead) {
    const auto it = std::ranges::lower_bound(
        dropped, key.id, {}, [](const ListedDropped& one) -> const KeyId& { return one.key.id; });
    if (it != dropped.end() && it->key == ListedKey{key.id, key.kvno, key.enctype, key.principal})
      out.push_back(*it);
  }
  return out;
}

tkdc_wire_key wire_key(const ListedKey& key, const InstallationId& installation) {
  return tkdc::wire_key(key_ref(installation, {key.id, key.kvno, key.enctype, key.principal}));
}

}  // namespace tkdc::migrate
