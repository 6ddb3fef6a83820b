// SPDX-License-Identifier: Apache-2.0
#include "service/wire/key_list.h"

namespace tkdc
{

Bytes encode(const KeyListPage &page)
{
    Bytes out;
    Writer w(out);
    w.u8(page.more ? 1 : 0);
    for (const ListedKey &key : page.keys) {
        w.raw(key.id);
        w.u32(key.kvno);
        w.u32(key.enctype);
        w.text(key.principal);
    }
    return out;
}

Result<KeyListPage> decode_key_list(ByteSpan octets)
{
    if (octets.size() > kMaxKeyListBytes)
        return fail("the list of keys is longer than a page");
    Reader r(octets);
    KeyListPage page;
    const std::uint8_t more = r.u8();
    while (!r.failed() && r.remaining() > 0) {
        ListedKey key;
        r.array(key.id);
        key.kvno = r.u32();
        key.enctype = r.u32();
        key.principal = r.text(kMaxListedNameBytes);
        if (!page.keys.empty() && !r.failed() && page.keys.back().id >= key.id)
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

} // namespace tkdc
