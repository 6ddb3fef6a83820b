// SPDX-License-Identifier: Apache-2.0
// Which keys a server holds, a page at a time: what `tkdc reconcile` compares with the database.
// Names and numbers of keys, nothing of the keys themselves. A page tells ids, so only agents with
// the role admin get one: whoever has an id can ask for what his role may do with that key.
//
// LIST tells those in use, LIST_DROPPED those that are dropped.
//
// A page: u8, 1 when more follow; then for each key, ids ascending, id[16], kvno u32, enctype u32,
// principal's name as bytes; of a dropped one also u64, Unix time since when.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "service/wire/key_ref.h"

namespace tkdc
{

inline constexpr std::size_t kMaxKeyListBytes = 32 * 1024;
inline constexpr std::size_t kMaxListedNameBytes = 4096;

struct ListedKey {
    KeyId id{};
    std::uint32_t kvno = 0, enctype = 0;
    std::string principal;
    bool operator==(const ListedKey &) const = default;
};

struct KeyListPage {
    std::vector<ListedKey> keys;
    bool more = false;
};

// Whether one more fits into a page that has so many octets so far.
inline bool fits_in_page(std::size_t bytes, const ListedKey &key)
{
    return bytes + 28 + key.principal.size() <= kMaxKeyListBytes;
}

Bytes encode(const KeyListPage &page);
// Error: malformed, or not in order.
Result<KeyListPage> decode_key_list(ByteSpan octets);

struct ListedDropped {
    ListedKey key;
    std::uint64_t at_s = 0;
    bool operator==(const ListedDropped &) const = default;
};
inline constexpr std::size_t kDroppedAtBytes = 8;

struct DroppedListPage {
    std::vector<ListedDropped> keys;
    bool more = false;
};

Bytes encode(const DroppedListPage &page);
Result<DroppedListPage> decode_dropped_list(ByteSpan octets);

} // namespace tkdc
