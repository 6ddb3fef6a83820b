// SPDX-License-Identifier: Apache-2.0
#include "storm/users.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <unordered_map>

#include "base/system_error.h"

namespace tkdc::storm {
namespace {

std::string without_realm(krb5_const_principal principal) {
  char* text = nullptr;
  if (krb5_unparse_name_flags(context(), principal, KRB5_PRINCIPAL_UNPARSE_NO_REALM, &text) != 0)
    return {};
  std::string name = text;
  krb5_free_unparsed_name(context(), text);
  return name;
}

void put(Bytes& out, std::uint64_t v, int width) {
  for (int shift = 8 * (width - 1); shift >= 0; shift -= 8)
    out.push_back(static_cast<std::uint8_t>(v >> shift));
}

void put_counted(Bytes& out, ByteSpan text) {
  put(out, text.size(), 2);
  out.insert(out.end(), text.begin(), text.end());
}

// One record of MIT's keytab file format.
Bytes keytab_entry(const User& user, const std::string& realm, std::uint32_t now) {
  Bytes entry;
  std::vector<std::string_view> parts = components(user.name);
  put(entry, parts.size(), 2);
  put_counted(entry, octets_of(realm));
  for (std::string_view part : parts) put_counted(entry, octets_of(part));
  put(entry, KRB5_NT_PRINCIPAL, 4);
  put(entry, now, 4);
  put(entry, 1, 1);  // kvno
  put(entry, static_cast<std::uint16_t>(user.raw.enctype), 2);
  put_counted(entry, user.raw.octets);
  return entry;
}

// Keeps the newer key, and of one kvno the first, which is the strongest in what kadmin writes.
void take_entry(const krb5_keytab_entry& entry, const std::string& realm, std::vector<User>& users,
                std::unordered_map<std::string, std::pair<std::size_t, krb5_kvno>>& seen) {
  const krb5_data& its = entry.principal->realm;
  if (std::string_view(its.data, its.length) != realm) return;
  User user;
  user.name = without_realm(entry.principal);
  user.raw = {entry.key.enctype, Bytes(entry.key.contents, entry.key.contents + entry.key.length)};
  auto [place, fresh] = seen.try_emplace(user.name, users.size(), entry.vno);
  if (fresh) {
    users.push_back(std::move(user));
  } else if (entry.vno > place->second.second) {
    place->second.second = entry.vno;
    users[place->second.first] = std::move(user);
  }
}

Result<void> derive_range(std::vector<User>& users, const Pattern& pattern,
                          const std::string& realm, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    auto name = pattern_name(pattern.text, pattern.first + i);
    if (!name) return name.error();
    std::string salt = realm;
    for (std::string_view part : components(*name)) salt += part;
    auto raw = string_to_key(pattern.enctype, pattern.password, salt);
    if (!raw) return raw.error();
    users[i].name = *name;
    users[i].raw = *raw;
  }
  return {};
}

struct CloseKeytab {
  void operator()(krb5_keytab keytab) const { krb5_kt_close(context(), keytab); }
};
using Keytab = std::unique_ptr<std::remove_pointer_t<krb5_keytab>, CloseKeytab>;

}  // namespace

std::vector<std::string_view> components(std::string_view name) {
  std::vector<std::string_view> parts;
  for (;;) {
    std::size_t slash = name.find('/');
    parts.push_back(name.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    name.remove_prefix(slash + 1);
  }
}

Result<std::string> pattern_name(const std::string& pattern, std::uint64_t number) {
  std::size_t percent = pattern.find('%');
  if (percent == std::string::npos) return pattern;
  std::size_t at = percent + 1, width = 0;
  if (at + 1 < pattern.size() && pattern[at] == '0' && pattern[at + 1] >= '1' &&
      pattern[at + 1] <= '9') {
    width = static_cast<std::size_t>(pattern[at + 1] - '0');
    at += 2;
  }
  if (at >= pattern.size() || pattern[at] != 'd' || pattern.find('%', at) != std::string::npos)
    return fail("pattern " + pattern + ": one %d or %0Nd, N from 1 to 9, and no other %");
  std::string digits = std::to_string(number);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return pattern.substr(0, percent) + digits + pattern.substr(at + 1);
}

Result<std::vector<User>> derive_users(const Pattern& pattern, const std::string& realm) {
  if (pattern.count == 0 || pattern.count > kMaxUsers)
    return fail("between 1 and " + std::to_string(kMaxUsers) + " users");
  if (pattern.count > 1 && pattern.text.find('%') == std::string::npos)
    return fail("pattern " + pattern.text + " names one user only: it has no %d");
  std::vector<User> users(pattern.count);
  std::size_t workers = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 64);
  // libk5crypto's own derivation is used from one thread: the context is shared.
  bool by_openssl = pattern.enctype == ENCTYPE_AES256_CTS_HMAC_SHA1_96 ||
                    pattern.enctype == ENCTYPE_AES128_CTS_HMAC_SHA1_96;
  workers = by_openssl ? std::min<std::size_t>(workers, users.size()) : 1;
  std::vector<Result<void>> results(workers);
  std::vector<std::jthread> threads;
  for (std::size_t w = 0; w < workers; ++w)
    threads.emplace_back([&, w] {
      results[w] = derive_range(users, pattern, realm, users.size() * w / workers,
                                users.size() * (w + 1) / workers);
    });
  threads.clear();  // joins
  for (const auto& result : results)
    if (!result) return result.error();
  return users;
}

Result<std::vector<User>> read_keytab(const std::string& path, const std::string& realm) {
  krb5_keytab opened = nullptr;
  krb5_error_code code = krb5_kt_resolve(context(), ("FILE:" + path).c_str(), &opened);
  if (code != 0) return fail("keytab " + path + ": " + krb5_message(code));
  const Keytab owner(opened);
  krb5_kt_cursor cursor = nullptr;
  code = krb5_kt_start_seq_get(context(), opened, &cursor);
  if (code != 0) return fail("keytab " + path + ": " + krb5_message(code));
  std::vector<User> users;
  std::unordered_map<std::string, std::pair<std::size_t, krb5_kvno>> seen;
  krb5_keytab_entry entry{};
  while ((code = krb5_kt_next_entry(context(), opened, &entry, &cursor)) == 0) {
    take_entry(entry, realm, users, seen);
    krb5_free_keytab_entry_contents(context(), &entry);
  }
  krb5_kt_end_seq_get(context(), opened, &cursor);
  if (code != KRB5_KT_END) return fail("keytab " + path + ": " + krb5_message(code));
  if (users.empty()) return fail("keytab " + path + " has no principal of realm " + realm);
  return users;
}

Result<void> write_keytab(const std::string& path, const std::string& realm,
                          const std::vector<User>& users) {
  Bytes file = {0x05, 0x02};
  auto now = static_cast<std::uint32_t>(std::time(nullptr));
  for (const User& user : users) {
    Bytes entry = keytab_entry(user, realm, now);
    put(file, entry.size(), 4);
    file.insert(file.end(), entry.begin(), entry.end());
  }
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return system_error("cannot make " + path);
  std::size_t done = 0;
  while (done < file.size()) {
    ssize_t n = write(fd, file.data() + done, file.size() - done);
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  if (close(fd) != 0 || done != file.size()) return fail("cannot write " + path);
  return {};
}

}  // namespace tkdc::storm
