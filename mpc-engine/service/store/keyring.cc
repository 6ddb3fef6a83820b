// SPDX-License-Identifier: Apache-2.0
#include "service/store/keyring.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/codec.h"
#include "base/disk.h"
#include "base/durable_file.h"
#include "base/system_error.h"
#include "service/store/tables.h"

namespace tkdc {
namespace {

constexpr std::string_view kMagic = "tkdc store keys 1\n", kMagicEpochs = "tkdc store keys 2\n";
constexpr std::string_view kRingLabel = "tkdc store keyring 1",
                           kEpochsLabel = "tkdc store epoch keys 1",
                           kRowLabel = "tkdc store row key 1";
constexpr std::size_t kRingNonceBytes = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t kRingTagBytes = crypto_aead_xchacha20poly1305_ietf_ABYTES;
constexpr std::size_t kMostPlainBytes = 1 + 2 * kStoreKeyBytes;
constexpr std::size_t kMostSlotBytes = kRingNonceBytes + kMostPlainBytes + kRingTagBytes;
constexpr std::size_t kEpochKeyBytes = sizeof(EpochKeyId) + kStoreKeyBytes;
constexpr std::size_t kEpochsHeadBytes = 1 + 1;
constexpr std::size_t kMostEpochsPlain = kEpochsHeadBytes + kMaxEpochKeys * kEpochKeyBytes;
constexpr std::size_t kMostEpochsBytes = kRingNonceBytes + kMostEpochsPlain + kRingTagBytes;
constexpr std::size_t kMostFileBytes =
    kMagic.size() + 1 + kMaxKeySlots * (4 + kMostSlotBytes) + 4 + kMostEpochsBytes;
static_assert(kMagic.size() == kMagicEpochs.size());
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

EpochKey draw_epoch_key() {
  EpochKey out{{}, draw_store_key()};
  randombytes_buf(out.id.data(), out.id.size());
  return out;
}

StoreKeys copy_of(const StoreKeys& keys) {
  StoreKeys out{copy_of(keys.current), std::nullopt, {}};
  if (keys.previous) out.previous = copy_of(*keys.previous);
  for (const EpochKey& one : keys.epochs) out.epochs.push_back({one.id, copy_of(one.key)});
  out.bare_rows = keys.bare_rows;
  return out;
}

const EpochKey* find_epoch_key(const StoreKeys& keys, const EpochKeyId& id) {
  const auto found = std::ranges::find(keys.epochs, id, &EpochKey::id);
  return found == keys.epochs.end() ? nullptr : &*found;
}

SecretBuffer row_key(const SecretBuffer& store_key, const EpochKey& epoch) {
  SecretVector input;
  input.reserve(kRowLabel.size() + 4 + kStoreKeyBytes);
  SecretWriter w(input);
  w.text(kRowLabel);
  w.raw(epoch.key.span());
  SecretBuffer out(kStoreKeyBytes);
  crypto_generichash(out.data(), out.size(), input.data(), input.size(), store_key.data(),
                     store_key.size());
  return out;
}

Result<bool> Keyring::exists() const {
  if (disk().read(path_, 0, 0)) return true;
  if (errno == ENOENT) return false;
  return system_error("store: cannot read " + path_);
}

Bytes Keyring::seal(ByteSpan plain, std::string_view label, const SecretBuffer& key) const {
  const Bytes ad = associated_data(label);
  Bytes out(kRingNonceBytes + plain.size() + kRingTagBytes);
  randombytes_buf(out.data(), kRingNonceBytes);
  crypto_aead_xchacha20poly1305_ietf_encrypt(out.data() + kRingNonceBytes, nullptr, plain.data(),
                                             plain.size(), ad.data(), ad.size(), nullptr,
                                             out.data(), key.data());
  return out;
}

bool Keyring::opens(ByteSpan sealed, std::string_view label, const SecretBuffer& key,
                    SecretVector& plain) const {
  const Bytes ad = associated_data(label);
  plain.resize(sealed.size() - kRingNonceBytes - kRingTagBytes);
  return crypto_aead_xchacha20poly1305_ietf_decrypt(
             plain.data(), nullptr, nullptr, sealed.data() + kRingNonceBytes,
             sealed.size() - kRingNonceBytes, ad.data(), ad.size(), sealed.data(), key.data()) == 0;
}

Bytes Keyring::associated_data(std::string_view label) const {
  Bytes ad;
  Writer w(ad);
  w.text(label);
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
  return seal(plain, kRingLabel, wrapping);
}

Bytes Keyring::encrypt_epochs(const StoreKeys& keys) const {
  if (keys.epochs.empty()) return {};
  SecretVector plain;
  plain.reserve(kMostEpochsPlain);
  SecretWriter w(plain);
  w.u8(keys.bare_rows ? 1 : 0);
  w.u8(static_cast<std::uint8_t>(keys.epochs.size()));
  for (const EpochKey& one : keys.epochs) {
    w.raw(one.id);
    w.raw(one.key.span());
  }
  return seal(plain, kEpochsLabel, keys.current);
}

Result<StoreKeys> Keyring::open(const File& file, const SecretBuffer& wrapping) const {
  SecretVector plain;
  for (const Bytes& slot : file.slots) {
    if (!opens(slot, kRingLabel, wrapping, plain)) continue;
    if (plain.size() != 1 + plain[0] * kStoreKeyBytes || plain[0] < 1 || plain[0] > 2) break;
    StoreKeys keys{SecretBuffer(kStoreKeyBytes), std::nullopt, {}};
    std::memcpy(keys.current.data(), plain.data() + 1, kStoreKeyBytes);
    if (plain[0] == 2) {
      keys.previous.emplace(kStoreKeyBytes);
      std::memcpy(keys.previous->data(), plain.data() + 1 + kStoreKeyBytes, kStoreKeyBytes);
    }
    if (auto opened = open_epochs(file.epochs, keys); !opened) return opened.error();
    return keys;
  }
  return fail("store: the key does not open " + path_ +
              "; [store] key_file is another server's or was replaced, or that file is of another "
              "store or damaged");
}

Result<void> Keyring::open_epochs(const Bytes& sealed, StoreKeys& keys) const {
  if (sealed.empty()) return {};
  SecretVector plain;
  bool good = opens(sealed, kEpochsLabel, keys.current, plain);
  Reader r(plain);
  const std::uint8_t bare = r.u8();
  const std::size_t count = r.u8();
  good = good && bare <= 1 && count >= 1 && count <= kMaxEpochKeys &&
         plain.size() == kEpochsHeadBytes + count * kEpochKeyBytes;
  keys.bare_rows = bare == 1;
  for (std::size_t k = 0; good && k < count; ++k) {
    EpochKey& one = keys.epochs.emplace_back(EpochKey{{}, SecretBuffer(kStoreKeyBytes)});
    r.array(one.id);
    std::memcpy(one.key.data(), r.raw(kStoreKeyBytes).data(), kStoreKeyBytes);
    good = one.id != EpochKeyId{};
  }
  if (good) return {};
  return fail("store: " + path_ + " is damaged; " + kPutKeysBack);
}

// Who replaces the file overwrites the old one: what was read while it had its name is whole.
Result<Keyring::File> Keyring::read_file() const {
  const auto text = disk().read_named(path_, kMostFileBytes + 1);
  if (text) return parse(octets(*text));
  if (errno == ESTALE)
    return fail("store: " + path_ + " is replaced again and again; run this again");
  return system_error("store: cannot open " + path_, errno == ENOENT ? kPutKeysBack : "");
}

Result<Keyring::File> Keyring::parse(ByteSpan text) const {
  Reader r(text);
  const ByteSpan magic = r.raw(kMagic.size());
  const std::size_t count = r.u8();
  const auto is = [&](std::string_view line) {
    return std::equal(magic.begin(), magic.end(), line.begin(), line.end());
  };
  const bool epochs = is(kMagicEpochs);
  File file;
  bool good = (epochs || is(kMagic)) && count >= 1 && count <= kMaxKeySlots;
  for (std::size_t k = 0; good && k < count; ++k) {
    const ByteSpan slot = r.bytes(kMostSlotBytes);
    good = slot.size() > kRingNonceBytes + kRingTagBytes;
    file.slots.emplace_back(slot.begin(), slot.end());
  }
  if (good && epochs) {
    const ByteSpan sealed = r.bytes(kMostEpochsBytes);
    good = sealed.size() > kRingNonceBytes + kRingTagBytes;
    file.epochs.assign(sealed.begin(), sealed.end());
  }
  if (!good || !r.complete()) return fail("store: " + path_ + " is damaged; " + kPutKeysBack);
  return file;
}

Result<void> Keyring::write_file(const File& file) const {
  if (file.slots.empty() || file.slots.size() > kMaxKeySlots)
    return fail("store: " + path_ + " has room for " + std::to_string(kMaxKeySlots) +
                " wrapping keys");
  if (file.epochs.size() > kMostEpochsBytes)
    return fail("store: " + path_ + " has room for " + std::to_string(kMaxEpochKeys) +
                " keys of refresh epochs");
  const std::string_view magic = file.epochs.empty() ? kMagic : kMagicEpochs;
  Bytes octets;
  octets.reserve(kMostFileBytes);
  octets.assign(magic.begin(), magic.end());
  Writer w(octets);
  w.u8(static_cast<std::uint8_t>(file.slots.size()));
  for (const Bytes& slot : file.slots) w.bytes(slot);
  if (!file.epochs.empty()) w.bytes(file.epochs);
  if (!replace_durably(path_, octets, 0600, OldFile::kWiped))
    return system_error("store: cannot write " + path_);
  known_slots_ = file.slots;
  return {};
}

Result<StoreKeys> Keyring::read(const SecretBuffer& wrapping) const {
  auto file = read_file();
  if (!file) return file.error();
  auto keys = open(*file, wrapping);
  if (keys.ok()) known_slots_ = file->slots;
  return keys;
}

Result<StoreKeys> Keyring::read(ByteSpan text, const SecretBuffer& wrapping) const {
  auto file = parse(text);
  if (!file) return file.error();
  return open(*file, wrapping);
}

Result<void> Keyring::write(const StoreKeys& keys,
                            const std::vector<const SecretBuffer*>& wrapping) const {
  File file{{}, encrypt_epochs(keys)};
  for (const SecretBuffer* key : wrapping) file.slots.push_back(encrypt(keys, *key));
  return write_file(file);
}

Result<void> Keyring::write_epochs(const StoreKeys& keys) const {
  auto file = read_file();
  if (!file) return file.error();
  SecretVector plain;
  if (file->slots != known_slots_ &&
      (file->epochs.empty() || !opens(file->epochs, kEpochsLabel, keys.current, plain)))
    return fail(
        "store: " + path_ +
        " is another one than that which the store was opened with, and this process may be "
        "all that has its keys. Do not stop it before you have found that file; " +
        kPutKeysBack);
  file->epochs = encrypt_epochs(keys);
  return write_file(*file);
}

Result<void> Keyring::add(const SecretBuffer& wrapping, const SecretBuffer& another) const {
  auto file = read_file();
  if (!file) return file.error();
  auto keys = open(*file, wrapping);
  if (!keys) return keys.error();
  file->slots.push_back(encrypt(*keys, another));
  return write_file(*file);
}

// Best effort: writing the file does it, too.
void Keyring::remove_draft() const { (void)remove_wiped(path_ + ".new"); }

Result<std::size_t> Keyring::slots() const {
  auto file = read_file();
  if (!file) return file.error();
  return file->slots.size();
}

}  // namespace tkdc
