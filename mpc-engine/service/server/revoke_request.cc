// SPDX-License-Identifier: Apache-2.0
#include "service/server/revoke_request.h"

#include <sys/stat.h>

#include <cerrno>
#include <sstream>

#include "base/disk.h"
#include "base/durable_file.h"
#include "base/system_error.h"

namespace tkdc {
namespace {

constexpr std::size_t kMaxBytes = 64;

Error failed(const std::string& file, const std::string& what) {
  return system_error("revoke: " + file + " " + what);
}

std::string text_of(const RevokeRequest& request) {
  if (request.lift) return "lift\n";
  return "revoke " + std::to_string(request.window.from) + " " + std::to_string(request.window.to) +
         "\n";
}

std::optional<RevokeRequest> parse(const std::string& text) {
  RevokeRequest request;
  if (text == "lift\n") {
    request.lift = true;
    return request;
  }
  std::istringstream in(text);
  std::string word;
  // What is written otherwise than text_of() does is not ours.
  if (!(in >> word >> request.window.from >> request.window.to) || text_of(request) != text)
    return std::nullopt;
  return request;
}

}  // namespace

Result<void> write_revoke_request(const std::string& store_path, const RevokeRequest& request) {
  const std::string file = revoke_request_file(store_path);
  struct stat folder {};
  if (::stat(store_path.c_str(), &folder) != 0) return failed(store_path, "cannot be looked at");
  if (create_durably(file, text_of(request), {folder.st_uid, folder.st_gid})) return {};
  if (errno == EEXIST)
    return fail("revoke: " + file +
                " is there already: a request that this server has not taken yet; see its journal");
  return failed(file, "cannot be written");
}

Result<std::optional<RevokeRequest>> read_revoke_request(const std::string& store_path) {
  const std::string file = revoke_request_file(store_path);
  const auto text = disk().read(file, 0, kMaxBytes);
  if (!text && errno == ENOENT) return std::optional<RevokeRequest>();
  if (!text) return failed(file, "cannot be read");
  auto request = parse(*text);
  if (!request)
    return fail("revoke: " + file + " is no request of `tkdc revoke`; remove it, then ask again");
  return request;
}

Result<void> remove_revoke_request(const std::string& store_path) {
  const std::string file = revoke_request_file(store_path);
  if (!remove_durably(file) && errno != ENOENT) return failed(file, "cannot be removed");
  return {};
}

}  // namespace tkdc
