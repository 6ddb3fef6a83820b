// SPDX-License-Identifier: Apache-2.0
#include "migrate/server_keys.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

namespace tkdc::migrate {
namespace {

using namespace std::chrono_literals;

// A key that is made just now stands at one server a moment before it does at another.
constexpr int kAttempts = 5;
constexpr auto kBetween = 1s;

KeyId id_of(const tkdc_wire_key& key) {
  KeyId id{};
  std::ranges::copy(key.key_id, id.begin());
  return id;
}

}  // namespace

Result<Bytes> list_page(AgentPipe& agent, tkdc_wire_op op, const KeyId& after,
                        const std::string& what) {
  tkdc_request request{};
  request.op = static_cast<std::uint8_t>(op);
  std::ranges::copy(after, request.key.key_id);
  Result<Bytes> page = fail("no answer");
  bool again = true;
  for (int attempt = 0; again && attempt < kAttempts; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(kBetween);
    again = false;
    agent.call(request, [&](const tkdc_reply& reply) {
      again = reply.status == TKDC_STATUS_INCONSISTENT;
      tkdc_span body{};
      if (reply.status != TKDC_STATUS_OK)
        page = fail("the servers' " + what + " cannot be listed: " + migrate::describe(reply));
      else if (!tkdc_reply_bytes(&reply, &body))
        page = fail("the agent's list of keys is malformed");
      else
        page = Bytes(body.data, body.data + body.len);
    });
  }
  return page;
}

Result<KeysHeld> list_server_keys(AgentPipe& agent) {
  KeysHeld keys;
  KeyId after{};
  for (bool more = true; more;) {
    auto body = list_page(agent, TKDC_OP_LIST, after, "keys");
    if (!body) return body.error();
    auto page = decode_key_list(*body);
    if (!page) return page.error();
    more = page->more;
    for (ListedKey& key : page->keys) {
      if (key.id <= after && after != KeyId{})
        return fail("the list of keys goes round in a circle");
      after = key.id;
      keys.emplace(key.id, std::move(key));
    }
  }
  return keys;
}

std::string describe(const ExportKey& key) {
  return key.principal + ", version " + std::to_string(key.kvno) + ": " +
         enctype_name(static_cast<std::int32_t>(key.enctype));
}

std::string describe(const ListedKey& key) {
  return describe(ExportKey{key.id, key.kvno, key.enctype, key.principal});
}

std::vector<ExportKey> dead_handles(const HandleSurvey& found, const KeysHeld& held) {
  std::vector<ExportKey> dead;
  for (const ExportKey& key : found.keys) {
    const auto it = held.find(key.id);
    const bool same = it != held.end() && it->second.kvno == key.kvno &&
                      it->second.enctype == key.enctype && it->second.principal == key.principal;
    if (!same) dead.push_back(key);
  }
  return dead;
}

std::vector<RememberedHandle> dead_remembered(const HandleSurvey& found, const KeysHeld& held) {
  std::vector<RememberedHandle> dead;
  for (const RememberedHandle& old : found.remembered)
    if (std::ranges::equal(old.key.installation, found.installation) &&
        !held.contains(id_of(old.key)))
      dead.push_back(old);
  return dead;
}

std::vector<ListedKey> orphans(const HandleSurvey& found, const KeysHeld& held,
                               const std::string& realm) {
  std::set<KeyId> named;
  for (const ExportKey& key : found.keys) named.insert(key.id);
  for (const RememberedHandle& old : found.remembered) named.insert(id_of(old.key));
  std::vector<ListedKey> out;
  for (const auto& [id, key] : held)
    if (!named.contains(id) && key.principal.ends_with("@" + realm)) out.push_back(key);
  std::ranges::sort(out, [](const ListedKey& a, const ListedKey& b) {
    return std::tie(a.principal, a.kvno, a.enctype, a.id) <
           std::tie(b.principal, b.kvno, b.enctype, b.id);
  });
  return out;
}

}  // namespace tkdc::migrate
