// SPDX-License-Identifier: Apache-2.0
#include "service/store/keyring.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/codec.h"
#include "base/durable_file.h"
#include "base/system_error.h"

namespace tkdc {
namespace {

constexpr std::string_view kMagic = "tkdc store keys 1\n";
constexpr std::string_view kRingLabel = "tkdc store keyring 1";
constexpr std::size_t kRingNonceBytes = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t kRingTagBytes = crypto_aead_xchacha20poly1305_ietf_ABYTES;
constexpr std::size_t kMostPlainBytes = 1 + 2 * kStoreKeyBytes;
constexpr std::size_t kMostSlotBytes = kRingNonceBytes + kMostPlainBytes + kRingTagBytes;
constexpr std::size_t kMostFileBytes = kMagic.size() + 1 + kMaxKeySlots * (4 + kMostSlotBytes);
static_assert(kStoreKeyBytes == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);

}  // namespace

SecretBuffer draw_store_key() {
  SecretBuffer key(kStoreKeyBytes);
  randombytes_buf(key.data(), key.size());
  return key;
}

SecretBuffer copy_of(const SecretBuffer& key) {
  SecretBuffer out(key.size());
  std::memcpy(out.data(), key.data(), key.size());
  return out;
}

bool Keyring::exists() const { return ::access(path_.c_str(), F_OK) == 0; }

Bytes Keyring::associated_data() const {
  Bytes ad;
  Writer w(ad);
  w.text(kRingLabel);
  w.raw(owner_.installation);
  w.u8(static_cast<std::uint8_t>(owner_.party));
  return ad;
}

Bytes Keyring::encrypt(const StoreKeys& keys, const SecretBuffer& wrapping) const {
  SecretVector plain;
  plain.reserve(kMostPlainBytes);
  SecretWriter w(plain);
  w.u8(keys.previous ? 2 : 1);
  w.raw(keys.current.span());
  if (keys.previous) w.raw(keys.previous->span());
  const Bytes ad = associated_data();
  Bytes slot(kRingNonceBytes + plain.size() + kRingTagBytes);
  randombytes_buf(slot.data(), kRingNonceBytes);
  crypto_aead_xchacha20poly1305_ietf_encrypt(slot.data() + kRingNonceBytes, nullptr, plain.data(),
                                             plain.size(), ad.data(), ad.size(), nullptr,
                                             slot.data(), wrapping.data());
  return slot;
}

Result<StoreKeys> Keyring::open(const std::vector<Bytes>& slots,
                                const SecretBuffer& wrapping) const {
  const Bytes ad = associated_data();
  for (const Bytes& slot : slots) {
    SecretVector plain(slot.size() - kRingNonceBytes - kRingTagBytes);
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(
            plain.data(), nullptr, nullptr, slot.data() + kRingNonceBytes,
            slot.size() - kRingNonceBytes, ad.data(), ad.size(), slot.data(), wrapping.data()) != 0)
      continue;
    if (plain.size() != 1 + plain[0] * kStoreKeyBytes || plain[0] < 1 || plain[0] > 2) break;
    StoreKeys keys{SecretBuffer(kStoreKeyBytes), std::nullopt};
    std::memcpy(keys.current.data(), plain.data() + 1, kStoreKeyBytes);
    if (plain[0] == 2) {
      keys.previous.emplace(kStoreKeyBytes);
      std::memcpy(keys.previous->data(), plain.data() + 1 + kStoreKeyBytes, kStoreKeyBytes);
    }
    return keys;
  }
  return fail("store: the key does not open " + path_ +
              "; [store] key_file is another server's or was replaced, or that file is of another "
              "store or damaged");
}

Result<std::vector<Bytes>> Keyring::read_slots() const {
  const UniqueFd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd)
    return system_error("store: cannot open " + path_,
                        errno == ENOENT ? "without it nobody can read the store: put it back from "
                                          "the store's backup"
                                        : "");
  Bytes octets(kMostFileBytes + 1);
  const ssize_t n = ::read(fd.get(), octets.data(), octets.size());
  if (n < 0) return system_error("store: cannot read " + path_);
  octets.resize(static_cast<std::size_t>(n));
  Reader r(octets);
  const ByteSpan magic = r.raw(kMagic.size());
  const std::size_t count = r.u8();
  std::vector<Bytes> slots;
  bool good = std::equal(magic.begin(), magic.end(), kMagic.begin(), kMagic.end()) && count >= 1 &&
              count <= kMaxKeySlots;
  for (std::size_t k = 0; good && k < count; ++k) {
    const ByteSpan slot = r.bytes(kMostSlotBytes);
    good = slot.size() > kRingNonceBytes + kRingTagBytes;
    slots.emplace_back(slot.begin(), slot.end());
  }
  if (!good || !r.complete())
    return fail("store: " + path_ + " is damaged; put it back from the store's backup");
  return slots;
}

Result<void> Keyring::write_slots(const std::vector<Bytes>& slots) const {
  if (slots.empty() || slots.size() > kMaxKeySlots)
    return fail("store: " + path_ + " has room for " + std::to_string(kMaxKeySlots) +
                " wrapping keys");
  Bytes octets;
  octets.reserve(kMostFileBytes);
  octets.assign(kMagic.begin(), kMagic.end());
  Writer w(octets);
  w.u8(static_cast<std::uint8_t>(slots.size()));
  for (const Bytes& slot : slots) w.bytes(slot);
  if (!replace_durably(path_, octets, 0600, OldFile::kWiped))
    return system_error("store: cannot write " + path_);
  return {};
}

Result<StoreKeys> Keyring::read(const SecretBuffer& wrapping) const {
  auto slots = read_slots();
  if (!slots) return slots.error();
  return open(*slots, wrapping);
}

Result<void> Keyring::write(const StoreKeys& keys,
                            const std::vector<const SecretBuffer*>& wrapping) const {
  std::vector<Bytes> slots;
  for (const SecretBuffer* key : wrapping) slots.push_back(encrypt(keys, *key));
  return write_slots(slots);
}

Result<void> Keyring::add(const SecretBuffer& wrapping, const SecretBuffer& another) const {
  auto slots = read_slots();
  if (!slots) return slots.error();
  auto keys = open(*slots, wrapping);
  if (!keys) return keys.error();
  slots->push_back(encrypt(*keys, another));
  return write_slots(*slots);
}

Result<std::size_t> Keyring::slots() const {
  auto slots = read_slots();
  if (!slots) return slots.error();
  return slots->size();
}

}  // namespace tkdc
