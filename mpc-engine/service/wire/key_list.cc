// SPDX-License-Identifier: Apache-2.0
#include "service/wire/key_list.h"

namespace tkdc
{

namespace
{

void put(Writer &w, const ListedKey &key)
{
    w.raw(key.id);
    w.u32(key.kvno);
    w.u32(key.enctype);
    w.text(key.principal);
}

ListedKey get(Reader &r)
{
    ListedKey key;
    r.array(key.id);
    key.kvno = r.u32();
    key.enctype = r.u32();
    key.principal = r.text(kMaxListedNameBytes);
    return key;
}

const KeyId &id_of(const ListedKey &key)
{
    return key.id;
}
const KeyId &id_of(const ListedDropped &key)
{
    return key.key.id;
}

template <class Page, class GetOne> Result<Page> decode(ByteSpan octets, const GetOne &get_one)
{
    if (octets.size() > kMaxKeyListBytes)
        return fail("the list of keys is longer than a page");
    Reader r(octets);
    Page page;
    const std::uint8_t more = r.u8();
    while (!r.failed() && r.remaining() > 0) {
        auto key = get_one(r);
        if (!page.keys.empty() && !r.failed() && id_of(page.keys.back()) >= id_of(key))
            return fail("the list of keys is not in order");
        page.keys.push_back(std::move(key));
    }
    if (!r.complete() || more > 1)
        return fail("the list of keys is malformed");
    page.more = more == 1;
    if (page.more && page.keys.empty())
        return fail("the list of keys has an empty page before its end");
    return page;
}

} // namespace

Bytes encode(const KeyListPage &page)
{
    Bytes out;
    Writer w(out);
    w.u8(page.more ? 1 : 0);
    for (const ListedKey &key : page.keys)
        put(w, key);
    return out;
}

Bytes encode(const DroppedListPage &page)
{
    Bytes out;
    Writer w(out);
    w.u8(page.more ? 1 : 0);
    for (const ListedDropped &one : page.keys) {
        put(w, one.key);
        w.u64(one.at_s);
    }
    return out;
}

Result<KeyListPage> decode_key_list(ByteSpan octets)
{
    return decode<KeyListPage>(octets, get);
}

Result<DroppedListPage> decode_dropped_list(ByteSpan octets)
{
    return decode<DroppedListPage>(octets, [](Reader &r) {
        ListedDropped one;
        one.key = get(r);
        one.at_s = r.u64();
        return one;
    });
}

} // namespace tkdc
