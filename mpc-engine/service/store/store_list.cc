// SPDX-License-Identifier: Apache-2.0
#include "service/store/store_list.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/hex.h"
#include "base/text_lines.h"
#include "service/store/meta_values.h"
#include "service/store/record_codec.h"
#include "service/store/record_store.h"

namespace tkdc {
namespace {

constexpr std::string_view kListTitle = "tkdc-store-list 1";
constexpr std::size_t kMostListed = 4'000'000;

std::string numbers_of(const Tombstone& key) {
  Reader r(key.header);
  std::string out;
  for (int k = 0; k < 3; ++k) out += " " + std::to_string(r.u32());
  return out;
}

Tombstone read_listed(TextLines& lines, std::string_view& text) {
  Tombstone out;
  lines.octets(lines.word(text), out.id);
  Bytes header;
  Writer w(header);
  w.u32(lines.number<std::uint32_t>(lines.word(text), UINT32_MAX));
  w.u32(lines.number<std::uint32_t>(lines.word(text), UINT32_MAX));
  // The last of a purged key's line ends it.
  const std::size_t blank = text.find(' ');
  const std::string_view version = text.substr(0, blank);
  text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
  w.u32(lines.number<std::uint32_t>(version, UINT32_MAX));
  std::copy_n(header.begin(), out.header.size(), out.header.begin());
  return out;
}

template <class Key>
void ascending(TextLines& lines, const std::vector<Key>& keys, const KeyId& (*id)(const Key&)) {
  if (keys.size() > 1 && id(keys[keys.size() - 2]) >= id(keys.back()))
    lines.wrong("has an id that is not above the one before");
}

const KeyId& id_of_record(const ListedRecord& one) { return one.key.id; }
const KeyId& id_of_gone(const Tombstone& one) { return one.id; }

Tombstone listed(const StoredValue& value) {
  Tombstone out;
  std::copy_n(value.name.begin(), std::min(value.name.size(), out.id.size()), out.id.begin());
  std::copy_n(value.header.begin(), std::min(value.header.size(), out.header.size()),
              out.header.begin());
  return out;
}

}  // namespace

Result<StoreList> list_store(StoreSnapshot& snapshot, const StoreOptions& options) {
  StoreList out;
  out.installation = options.installation;
  out.party = options.party;
  out.refresh_epoch = snapshot.moment().refresh_epoch;
  out.era = snapshot.moment().epochs.era;
  out.generation = snapshot.moment().generation;
  std::map<KeyId, std::uint64_t> dropped;
  auto seen = snapshot.each([&](const StoredValue& value) -> Result<void> {
    if (value.kind == ValueKind::kTombstone) out.gone.push_back(listed(value));
    if (value.kind == ValueKind::kDropped) {
      DroppedState state{};
      std::uint64_t at_s = 0;
      if (!decode_dropped(value.header, state, at_s))
        return fail("store: a dropped key is damaged");
      dropped[listed(value).id] = at_s;
    }
    if (value.kind != ValueKind::kRecord) return {};
    KeyRecord record;
    if (!decode_record(value.plain, record) || !fits_a_line(record.principal_name))
      return fail("store: a record is damaged");
    out.keys.push_back({listed(value), 0, record.principal_name});
    return {};
  });
  if (!seen.ok()) return seen.error();
  for (ListedRecord& one : out.keys)
    if (const auto it = dropped.find(one.key.id); it != dropped.end())
      one.dropped_at_s = it->second;
  return out;
}

std::string encode(const StoreList& list) {
  std::string out(kListTitle);
  out += "\ninstallation " + to_hex(list.installation);
  out += "\nparty " + std::to_string(list.party);
  out += "\nrefresh " + std::to_string(list.refresh_epoch);
  out += "\nera " + std::to_string(list.era);
  out += "\ngeneration " + std::to_string(list.generation);
  out += "\nkeys " + std::to_string(list.keys.size()) + "\n";
  for (const ListedRecord& one : list.keys)
    out += "key " + to_hex(one.key.id) + numbers_of(one.key) + " " +
           std::to_string(one.dropped_at_s) + " " + one.principal + "\n";
  out += "gone " + std::to_string(list.gone.size()) + "\n";
  for (const Tombstone& one : list.gone) out += "gone " + to_hex(one.id) + numbers_of(one) + "\n";
  return out;
}

Result<StoreList> decode_store_list(std::string_view text) {
  if (text.size() > kMaxStoreListBytes) return fail("the list is too long");
  StoreList list;
  TextLines lines(text);
  if (lines.line() != kListTitle) lines.wrong("is not \"" + std::string(kListTitle) + "\"");
  lines.octets(lines.after("installation"), list.installation);
  list.party = static_cast<int>(lines.number<std::uint32_t>(lines.after("party"), 2));
  list.refresh_epoch = lines.number<std::uint32_t>(lines.after("refresh"), UINT32_MAX);
  list.era = lines.number<std::uint32_t>(lines.after("era"), UINT32_MAX);
  list.generation = lines.number<std::uint64_t>(lines.after("generation"), INT64_MAX);
  const auto keys = lines.number<std::size_t>(lines.after("keys"), kMostListed);
  for (std::size_t k = 0; k < keys && lines.error().empty(); ++k) {
    std::string_view rest = lines.after("key");
    ListedRecord& one = list.keys.emplace_back();
    one.key = read_listed(lines, rest);
    one.dropped_at_s = lines.number<std::uint64_t>(lines.word(rest), INT64_MAX);
    if (!fits_a_line(rest)) lines.wrong("names no principal");
    one.principal = rest;
    ascending(lines, list.keys, id_of_record);
  }
  const auto gone = lines.number<std::size_t>(lines.after("gone"), kMostListed);
  for (std::size_t k = 0; k < gone && lines.error().empty(); ++k) {
    std::string_view rest = lines.after("gone");
    list.gone.push_back(read_listed(lines, rest));
    ascending(lines, list.gone, id_of_gone);
  }
  if (!lines.error().empty()) return fail("the list's " + lines.error());
  if (!lines.over()) return fail("the list goes on behind its last key");
  if (encode(list) != text) return fail("the list is not written as `tkdc store list` writes it");
  return list;
}

std::string short_digest_of_list(std::string_view text) {
  std::array<std::uint8_t, 32> digest{};
  crypto_generichash(digest.data(), digest.size(),
                     reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                     reinterpret_cast<const unsigned char*>(kListTitle.data()), kListTitle.size());
  const std::string hex = to_hex(digest).substr(0, 32);
  std::string out;
  for (std::size_t at = 0; at < hex.size(); at += 4) out += (at > 0 ? "-" : "") + hex.substr(at, 4);
  return out;
}

namespace {

Result<void> of_one_epoch(std::span<const StoreList> lists) {
  std::uint32_t newest = 0;
  for (std::size_t p = 0; p < lists.size(); ++p) {
    if (lists[p].party != static_cast<int>(p)) return fail("there must be one list of each server");
    if (lists[p].installation != lists[0].installation)
      return fail("the lists are of different installations");
    newest = std::max(newest, lists[p].refresh_epoch);
  }
  std::string current, older;
  for (std::size_t p = 0; p < lists.size(); ++p) {
    std::string& which = lists[p].refresh_epoch == newest ? current : older;
    which += (which.empty() ? "" : ", ") + std::to_string(p);
  }
  if (older.empty()) return {};
  return fail("shares of different refresh epochs make no keys: of epoch " +
              std::to_string(newest) + ", the newest, is server " + current + "; of an older one " +
              older + ". Restore backups of one epoch" +
              (lists.size() == 2 ? " at both servers"
                                 : "; where two servers are current have the third repaired from "
                                   "them (docs/operations.md, A lost server)"));
}

Result<void> of_near_eras(std::span<const StoreList> lists) {
  const auto [first, last] = std::ranges::minmax_element(lists, {}, &StoreList::era);
  if (last->era - first->era <= kMostErasApart) return {};
  return fail("the list of server " + std::to_string(last->party) + " is of era " +
              std::to_string(last->era) + ", that of server " + std::to_string(first->party) +
              " of era " + std::to_string(first->era) +
              ": restores do not come to so many. Nothing follows such a list; have its "
              "administrator say how it came about");
}

}  // namespace

Result<StoreAgreement> agree_on(std::span<const StoreList> lists) {
  if (lists.size() != 2 && lists.size() != 3) return fail("there must be one list of each server");
  if (auto one = of_one_epoch(lists); !one.ok()) return one.error();
  if (auto near = of_near_eras(lists); !near.ok()) return near.error();
  StoreAgreement out;
  std::map<KeyId, Tombstone> gone;
  const auto bury = [&](const Tombstone& one) {
    const auto [it, fresh] = gone.emplace(one.id, one);
    if (!fresh) it->second.header = std::min(it->second.header, one.header);
  };
  std::map<KeyId, LoneKey> all;
  std::map<KeyId, bool> alike;
  for (std::size_t p = 0; p < lists.size(); ++p) {
    out.era = std::max(out.era, lists[p].era);
    for (const Tombstone& one : lists[p].gone) bury(one);
    for (const ListedRecord& one : lists[p].keys) {
      const auto [it, fresh] = all.emplace(one.key.id, LoneKey{one, {}});
      LoneKey& known = it->second;
      alike.emplace(one.key.id, true);
      if (!fresh && (known.record.key != one.key || known.record.principal != one.principal))
        alike[one.key.id] = false;
      const std::uint64_t at_s = known.record.dropped_at_s;
      if (one.dropped_at_s != 0 && (at_s == 0 || one.dropped_at_s < at_s))
        known.record.dropped_at_s = one.dropped_at_s;
      known.at[p] = true;
      if (!fresh) known.record.key.header = std::min(known.record.key.header, one.key.header);
    }
  }
  const std::set<KeyId> gone_before = [&] {
    std::set<KeyId> ids;
    for (const auto& [id, one] : gone) ids.insert(id);
    return ids;
  }();
  for (const auto& [id, key] : all) {
    const bool everywhere =
        std::ranges::all_of(std::span(key.at).first(lists.size()), [](bool here) { return here; });
    const bool stays = everywhere && alike[id] && !gone.contains(id);
    const bool removed = stays && lists.size() == 2 && key.record.dropped_at_s != 0;
    if (stays && !removed) {
      ++out.kept;
      if (key.record.dropped_at_s != 0) out.dropped.push_back({id, key.record.dropped_at_s});
    } else {
      bury(key.record.key);
      out.lone.push_back(key);
      out.lone.back().versions = everywhere && !gone_before.contains(id) && !removed;
      out.lone.back().removed = removed;
    }
  }
  for (const auto& [id, one] : gone) out.gone.push_back(one);
  return out;
}

std::vector<ListedRecord> drops_of(const StoreAgreement& agreed, const StoreList& own) {
  std::map<KeyId, std::uint64_t> dropped;
  for (const DroppedKey& one : agreed.dropped) dropped.emplace(one.id, one.at_s);
  std::vector<ListedRecord> out;
  for (const ListedRecord& one : own.keys) {
    const auto it = dropped.find(one.key.id);
    if (it == dropped.end() || it->second == one.dropped_at_s) continue;
    out.push_back(one);
    out.back().dropped_at_s = it->second;
  }
  return out;
}

Result<void> keep_common(Store& store, const StoreAgreement& agreed) {
  auto* const records = dynamic_cast<RecordStore*>(&store);
  if (records == nullptr) return fail("store: this one is none on a disk");
  if (auto kept = records->keep_common(agreed.gone, agreed.dropped); !kept.ok()) return kept;
  // What moves is prepared beside the table that this has cleared.
  auto moving = records->prepared();
  if (!moving.ok()) return moving.error();
  for (const KeyId& id : *moving)
    if (auto undone = records->abandon(id); !undone.ok()) return undone;
  return {};
}

}  // namespace tkdc
