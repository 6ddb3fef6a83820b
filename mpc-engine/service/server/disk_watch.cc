// SPDX-License-Identifier: Apache-2.0
#include "service/server/disk_watch.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace tkdc {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;
constexpr const char* kMap = "store map";
constexpr std::uint64_t kLittleBytes = 1024 * kMiB;

bool is_little(const DiskRoom& room) {
  return room.free_bytes < std::min(room.total_bytes / 10, kLittleBytes);
}

}  // namespace

std::vector<DiskRoom> disk_rooms(const std::string& store_path, std::uint64_t map_bytes,
                                 const std::string& audit_file) {
  std::vector<DiskRoom> rooms;
  const std::string audit_folder = std::filesystem::path(audit_file).parent_path().string();
  for (const auto& [what, path] :
       {std::pair("store", store_path), std::pair("audit log", audit_folder)}) {
    struct statvfs disk {};
    if (statvfs(path.c_str(), &disk) != 0) continue;
    rooms.push_back({what, path, std::uint64_t{disk.f_bavail} * disk.f_frsize,
                     std::uint64_t{disk.f_blocks} * disk.f_frsize});
  }
  std::error_code error;
  const std::string file = store_path + "/data.mdb";
  const std::uint64_t taken = std::filesystem::file_size(file, error);
  if (!error) rooms.push_back({kMap, file, map_bytes - std::min(taken, map_bytes), map_bytes});
  return rooms;
}

std::string disk_alarm(const std::vector<DiskRoom>& rooms) {
  std::string text;
  for (const DiskRoom& room : rooms) {
    if (!is_little(room)) continue;
    const std::string left = " has " + std::to_string(room.free_bytes / kMiB) + " of " +
                             std::to_string(room.total_bytes / kMiB) +
                             " MiB left: when it is full ";
    text += text.empty() ? "" : "; ";
    text += room.what == kMap ? "the store's map ([store] map_size_mib)" + left + "no key is made"
                              : "the disk of its " + room.what + " (" + room.path + ")" + left +
                                    "no ticket is issued";
  }
  return text;
}

std::uint64_t audit_room(const std::string& audit_file, std::uint64_t wanted) {
  struct statvfs disk {};
  const std::string folder = std::filesystem::path(audit_file).parent_path().string();
  if (statvfs(folder.c_str(), &disk) != 0) return 0;
  return wanted <= std::uint64_t{disk.f_blocks} * disk.f_frsize / 16 ? wanted : 0;
}

void tell_disks(nlohmann::json& json, const std::vector<DiskRoom>& rooms) {
  json["disks"] = nlohmann::json::array();
  for (const DiskRoom& room : rooms)
    json["disks"].push_back({{"of", room.what},
                             {"free_mib", room.free_bytes / kMiB},
                             {"total_mib", room.total_bytes / kMiB}});
  if (const std::string alarm = disk_alarm(rooms); !alarm.empty()) json["disk_warning"] = alarm;
}

}  // namespace tkdc
