// SPDX-License-Identifier: Apache-2.0
// How much room the disks of a server's store and audit log have, for its status and journal. Asked
// anew each time: one call to the kernel for each.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tkdc {

struct DiskRoom {
  std::string what, path;  // "store", its folder; "store map", its file
  std::uint64_t free_bytes = 0, total_bytes = 0;
};

// What lies on no file system that can be asked is left out. The map: how much longer the store's
// file may become; its free pages are used again before.
std::vector<DiskRoom> disk_rooms(const std::string& store_path, std::uint64_t map_bytes,
                                 const std::string& audit_file);

// What the administrator has to know; empty: there is room. A tenth of the disk, or a GiB,
// whichever is less, is little.
std::string disk_alarm(const std::vector<DiskRoom>& rooms);

// How much of its disk an audit log keeps for itself where `wanted` is asked for: none, where that
// is more than a sixteenth of the disk, or the disk cannot be asked.
std::uint64_t audit_room(const std::string& audit_file, std::uint64_t wanted);

// "disks", and "disk_warning" where there is one.
void tell_disks(nlohmann::json& json, const std::vector<DiskRoom>& rooms);

}  // namespace tkdc
