// SPDX-License-Identifier: Apache-2.0
#include "service/wire/recipe.h"

#include "enctype.h"

namespace tkdc
{

Bytes encode_derivation(const Derivation &by)
{
    Bytes out;
    Writer w(out);
    w.u8(by.kind);
    w.u32(by.enctype);
    out.insert(out.end(), by.pepper.begin(), by.pepper.end());
    return out;
}

std::optional<Derivation> decode_derivation(ByteSpan public_data)
{
    Reader r(public_data);
    Derivation by;
    by.kind = r.u8();
    by.enctype = r.u32();
    const ByteSpan pepper = r.raw(r.remaining());
    by.pepper.assign(pepper.begin(), pepper.end());
    const bool known = by.kind == TKDC_DERIVE_CF2 || by.kind == TKDC_DERIVE_PRFPLUS;
    if (!known || !tkdc_enctype_of(by.enctype) || by.pepper.empty() ||
        by.pepper.size() > TKDC_DERIVED_PEPPER_MAX_BYTES)
        return std::nullopt;
    return by;
}

std::size_t known_half_bytes(const Derivation &by)
{
    const tkdc_enctype *served = tkdc_enctype_of(by.enctype);
    return by.kind == TKDC_DERIVE_CF2 && served ? served->key_bytes : 0;
}

} // namespace tkdc
