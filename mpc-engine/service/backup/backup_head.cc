// SPDX-License-Identifier: Apache-2.0
#include "service/backup/backup_head.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/codec.h"
#include "base/system_error.h"

namespace tkdc {
namespace {

constexpr std::string_view kTitle = "tkdc backup 1\n";
constexpr std::string_view kAnyTitle = "tkdc backup ";
constexpr char kContext[crypto_kdf_CONTEXTBYTES + 1] = "tkdcback";
constexpr std::size_t kReadBytes = std::size_t{1} << 20;

// How many octets there were, at most so many; none: it cannot be read.
std::optional<std::size_t> read_at(const UniqueFd& fd, MutableByteSpan out, std::uint64_t at) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t n =
        ::pread(fd.get(), out.data() + done, out.size() - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

bool decode_fields(ByteSpan in, BackupHead& head) {
  Reader r(in);
  (void)r.raw(kTitle.size());
  r.array(head.installation);
  head.party = r.u8();
  head.refresh_epoch = r.u32();
  head.era = r.u32();
  head.generation = r.u64();
  head.made_at_s = r.u64();
  head.records = r.u64();
  r.array(head.inventory);
  r.array(head.recipient);
  head.body_bytes = r.u64();
  r.array(head.body_digest);
  return r.complete() && head.party <= 2;
}

}  // namespace

Error backup_damaged(const std::string& path, const std::string& what) {
  return fail(path + ": " + what +
              ": the file is damaged, or was cut short; take another copy of "
              "it, or another backup");
}

Bytes encode_backup_fields(const BackupHead& head) {
  Bytes out;
  out.reserve(kBackupHeadBytes);
  out.assign(kTitle.begin(), kTitle.end());
  Writer w(out);
  w.raw(head.installation);
  w.u8(static_cast<std::uint8_t>(head.party));
  w.u32(head.refresh_epoch);
  w.u32(head.era);
  w.u64(head.generation);
  w.u64(head.made_at_s);
  w.u64(head.records);
  w.raw(head.inventory);
  w.raw(head.recipient);
  w.u64(head.body_bytes);
  w.raw(head.body_digest);
  return out;
}

Result<UniqueFd> open_backup(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat st {};
  if (!fd || ::fstat(fd.get(), &st) != 0) return system_error(path);
  if (!S_ISREG(st.st_mode)) return fail(path + ": not a file");
  return fd;
}

Result<WholeHead> read_backup_head(const UniqueFd& fd, const std::string& path) {
  WholeHead out;
  out.octets.resize(kBackupHeadBytes);
  const auto got = read_at(fd, out.octets, 0);
  if (!got) return system_error(path);
  const auto begins_with = [&](std::string_view text) {
    return *got >= text.size() && std::equal(text.begin(), text.end(), out.octets.begin());
  };
  if (!begins_with(kTitle) && begins_with(kAnyTitle))
    return fail(path +
                ": a backup in a format of another release of tkdc; this one reads format 1");
  if (!begins_with(kTitle)) return fail(path + ": not a backup as `tkdc backup make` writes it");
  struct stat st {};
  if (::fstat(fd.get(), &st) != 0) return system_error(path);
  if (*got < kBackupHeadBytes ||
      !decode_fields(ByteSpan(out.octets).first(kBackupFieldBytes), out.head))
    return backup_damaged(path, "its head is not whole");
  const auto bytes = static_cast<std::uint64_t>(st.st_size);
  if (bytes - kBackupHeadBytes != out.head.body_bytes)
    return backup_damaged(path, "it has " + std::to_string(bytes) + " octets, its head says " +
                                    std::to_string(kBackupHeadBytes) + " and " +
                                    std::to_string(out.head.body_bytes));
  return out;
}

Result<void> compare_body_digest(const UniqueFd& fd, const std::string& path,
                                 const BackupHead& head) {
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, head.body_digest.size());
  Bytes octets(kReadBytes);
  for (std::uint64_t at = kBackupHeadBytes;;) {
    const auto got = read_at(fd, octets, at);
    if (!got) return system_error(path);
    if (*got == 0) break;
    crypto_generichash_update(&state, octets.data(), *got);
    at += *got;
  }
  std::array<std::uint8_t, 32> digest{};
  crypto_generichash_final(&state, digest.data(), digest.size());
  if (digest != head.body_digest) return backup_damaged(path, "its digest is another");
  return {};
}

SecretBuffer backup_subkey(const SecretBuffer& own, BackupSubkey which) {
  SecretBuffer out(crypto_secretstream_xchacha20poly1305_KEYBYTES);
  crypto_kdf_derive_from_key(out.data(), out.size(), static_cast<std::uint64_t>(which), kContext,
                             own.data());
  return out;
}

std::array<std::uint8_t, kBackupMacBytes> backup_mac(const SecretBuffer& own, ByteSpan octets) {
  const SecretBuffer key = backup_subkey(own, BackupSubkey::kHead);
  std::array<std::uint8_t, kBackupMacBytes> out{};
  crypto_generichash(out.data(), out.size(), octets.data(), octets.size(), key.data(), key.size());
  return out;
}

}  // namespace tkdc
