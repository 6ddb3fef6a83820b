// SPDX-License-Identifier: Apache-2.0
#include "service/lifecycle/mac_keyring.h"

#include <algorithm>

namespace tkdc {
namespace {

constexpr std::uint8_t kKeyringFormat = 1;

}  // namespace

Result<void> MacKeyring::load() {
  auto octets = table_.keys();
  if (!octets.ok()) return octets.error();
  keys_.clear();
  if (octets->empty()) return {};
  Reader r(*octets);
  const std::uint8_t format = r.u8();
  const std::size_t count = r.u8();
  for (std::size_t k = 0; k < std::min(count, kMostKeys); ++k) {
    KeptMacKey& key = keys_.emplace_back();
    r.array(key.id);
    key.refresh_epoch = r.u32();
    for (SecretVector* pair : {&key.with_prev, &key.with_next}) {
      const ByteSpan octet = r.raw(MacKeys::kPairBytes);
      pair->assign(octet.begin(), octet.end());
    }
  }
  if (r.complete() && format == kKeyringFormat && count <= kMostKeys) return {};
  keys_.clear();
  return fail("store: the MAC keys are of a format that this release does not read");
}

const KeptMacKey* MacKeyring::find(const MacKeyId& id) const {
  const auto found = std::ranges::find(keys_, id, &KeptMacKey::id);
  return found == keys_.end() ? nullptr : &*found;
}

Result<void> MacKeyring::store(std::vector<KeptMacKey> keys) {
  SecretVector octets;
  octets.reserve(2 + kMostKeys * (sizeof(MacKeyId) + 4 + 2 * MacKeys::kPairBytes));
  SecretWriter w(octets);
  w.u8(kKeyringFormat);
  w.u8(static_cast<std::uint8_t>(keys.size()));
  for (const KeptMacKey& one : keys) {
    w.raw(one.id);
    w.u32(one.refresh_epoch);
    w.raw(one.with_prev);
    w.raw(one.with_next);
  }
  auto kept = table_.set_keys(octets);
  if (kept.ok()) keys_ = std::move(keys);
  return kept;
}

Result<void> MacKeyring::add(KeptMacKey key) {
  if (keys_.size() == kMostKeys)
    return fail("store: " + std::to_string(kMostKeys) +
                " MAC keys are kept and none of them is common to all three servers; find out why "
                "a server loses its own (docs/operations.md, \"Audit of shares\")");
  std::vector<KeptMacKey> keys{std::move(key)};
  keys.insert(keys.end(), keys_.begin(), keys_.end());
  return store(std::move(keys));
}

Result<void> MacKeyring::keep_only(const MacKeyId& id) {
  const KeptMacKey* kept = find(id);
  if (kept == nullptr || keys_.size() == 1) return {};
  return store({*kept});
}

Result<void> MacKeyring::keep_only_of(std::uint32_t refresh_epoch) {
  std::vector<KeptMacKey> keys = keys_;
  const auto gone = std::erase_if(
      keys, [&](const KeptMacKey& key) { return key.refresh_epoch != refresh_epoch; });
  return gone == 0 ? Result<void>() : store(std::move(keys));
}

}  // namespace tkdc
