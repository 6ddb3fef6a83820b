// SPDX-License-Identifier: Apache-2.0
#include "service/server/list_keys.h"

#include "service/store/dropped_table.h"
#include "service/wire/key_list.h"

namespace tkdc {
namespace {

constexpr std::size_t kMostInPage = 256;

}  // namespace

Result<Bytes> list_keys(Store& store, const KeyId& after) {
  auto ids = store.ids_behind(after, kMostInPage + 1);
  if (!ids) return ids.error();
  KeyListPage page;
  std::size_t bytes = 1;
  for (const KeyId& id : *ids) {
    auto record = store.get(id);
    if (!record) return record.error();
    if (*record == nullptr) continue;  // removed since
    ListedKey key{id, (*record)->ref.kvno, (*record)->ref.enctype, (*record)->principal_name};
    page.more = page.keys.size() == kMostInPage || !fits_in_page(bytes, key);
    if (page.more) break;
    bytes += 28 + key.principal.size();
    page.keys.push_back(std::move(key));
  }
  page.more = page.more || ids->size() > kMostInPage;
  if (page.more && page.keys.empty())
    return fail("keys are being removed just now: list them again");
  return encode(page);
}

Result<Bytes> list_dropped(Store& store, const KeyId& after) {
  DroppedTable* const dropped = store.dropped();
  DroppedListPage page;
  if (dropped == nullptr) return encode(page);
  auto ids = dropped->dropped_behind(after, kMostInPage + 1);
  if (!ids) return ids.error();
  std::size_t bytes = 1;
  for (const DroppedKey& one : *ids) {
    auto record = dropped->dropped_record(one.id);
    if (!record) return record.error();
    if (*record == nullptr) continue;  // changed since
    ListedKey key{one.id, (*record)->ref.kvno, (*record)->ref.enctype, (*record)->principal_name};
    bytes += kDroppedAtBytes;
    page.more = page.keys.size() == kMostInPage || !fits_in_page(bytes, key);
    if (page.more) break;
    bytes += 28 + key.principal.size();
    page.keys.push_back({std::move(key), one.at_s});
  }
  page.more = page.more || ids->size() > kMostInPage;
  if (page.more && page.keys.empty())
    return fail("dropped keys are being changed just now: list them again");
  return encode(page);
}

}  // namespace tkdc
