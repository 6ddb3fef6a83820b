// SPDX-License-Identifier: Apache-2.0
#include "service/store/mac_table.h"

#include "base/assign_octets.h"

namespace tkdc {
namespace {

constexpr std::uint8_t kMacRowFormat = 1;

}  // namespace

SecretVector encode_mac_row(const MacRow& row) {
  SecretVector out;
  out.reserve(128 + row.tag[0].size() + row.tag[1].size());
  SecretWriter w(out);
  w.u8(kMacRowFormat);
  w.raw(row.key);
  w.u32(row.refresh_epoch);
  w.u32(row.version);
  put_dealing(w, row.dealing);
  for (const SecretVector& tag : row.tag) w.bytes(tag);
  return out;
}

bool decode_mac_row(ByteSpan in, MacRow& row) {
  Reader r(in);
  const std::uint8_t format = r.u8();
  r.array(row.key);
  row.refresh_epoch = r.u32();
  row.version = r.u32();
  row.dealing = get_dealing(r);
  for (SecretVector& tag : row.tag) assign_octets(tag, r.bytes(kMaxMacTagBytes));
  return r.complete() && format == kMacRowFormat && row.tag[0].size() == row.tag[1].size();
}

}  // namespace tkdc
