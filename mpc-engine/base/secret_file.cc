// SPDX-License-Identifier: Apache-2.0
#include "base/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/curve_key.h"
#include "base/system_error.h"
#include "base/unique_fd.h"

namespace tkdc {
namespace {

Result<UniqueFd> open_regular(const std::string& path, struct stat& st) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return system_error("config: cannot open " + path);
  if (fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode))
    return fail("config: " + path + " is not a regular file");
  return fd;
}

// systemd guards its credentials directory as a whole; the ACL of a file in it shows as 0440.
bool is_credential(const std::string& path, const struct stat& st) {
  const char* directory = std::getenv("CREDENTIALS_DIRECTORY");
  return directory != nullptr && directory[0] == '/' && (st.st_mode & 0777) == 0440 &&
         path.rfind(std::string(directory) + "/", 0) == 0 && path.find("/../") == std::string::npos;
}

Result<SecretVector> read_all(int fd, const std::string& path, std::size_t max_bytes) {
  SecretVector out(max_bytes + 1);
  std::size_t got = 0;
  while (got < out.size()) {
    ssize_t n = read(fd, out.data() + got, out.size() - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("config: cannot read " + path);
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  if (got > max_bytes)
    return fail("config: " + path + " is longer than " + std::to_string(max_bytes) + " octets");
  out.resize(got);
  return out;
}

// This process's user's, root's, or, for root who looks at a service's files, those of whose folder
// it is in: who has the folder has the file.
bool has_right_owner(const std::string& path, const struct stat& st) {
  if (st.st_uid == geteuid() || st.st_uid == 0) return true;
  struct stat folder {};
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return geteuid() == 0 && stat(parent.empty() ? "." : parent.c_str(), &folder) == 0 &&
         folder.st_uid == st.st_uid;
}

}  // namespace

Result<SecretVector> read_secret_file(const std::string& path, std::size_t max_bytes,
                                      const char* advice) {
  struct stat st {};
  auto fd = open_regular(path, st);
  if (!fd.ok()) return fd.error();
  if (!has_right_owner(path, st))
    return fail("config: " + path + " belongs to another user (uid " + std::to_string(st.st_uid) +
                "); make this service's user its owner");
  if ((st.st_mode & 0177) != 0 && !is_credential(path, st))
    return fail("config: " + path + " is open to others: " + advice);
  return read_all(fd->get(), path, max_bytes);
}

Result<std::string> read_text_file(const std::string& path, std::size_t max_bytes) {
  struct stat st {};
  auto fd = open_regular(path, st);
  if (!fd.ok()) return fd.error();
  // Limits are far above what files have, and memory may be locked.
  const auto size = static_cast<std::size_t>(st.st_size);
  auto octets = read_all(fd->get(), path, std::min(max_bytes, size));
  if (!octets.ok()) return octets.error();
  return std::string(octets->begin(), octets->end());
}

Result<SecretVector> read_curve_secret(const std::string& path) {
  auto text = read_secret_file(path, kCurveTextBytes + 8);
  if (!text.ok()) return text;
  while (!text->empty() && std::isspace(text->back()) != 0) text->pop_back();
  std::uint8_t key[kCurveKeyBytes];
  const bool ok = decode_curve_secret(*text, key);
  sodium_memzero(key, sizeof key);
  if (!ok) return fail("config: " + path + " is not a CURVE secret key (40 characters of Z85)");
  return text;
}

}  // namespace tkdc
