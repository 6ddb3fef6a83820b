// SPDX-License-Identifier: Apache-2.0
// Small files that outlive a crash: contents are synced, then the folder, which holds the name.
//
// Whoever keeps something beside the store, or makes files that are not made twice, writes them
// here. On any thread; what is written may be secret, no copy of it is made. Files are made with
// mode 0600. False: errno says why, for the caller's system_error(); how much of it is on disk is
// then unknown.
#pragma once

#include <string>
#include <string_view>

#include "base/secret.h"
#include "base/unique_fd.h"

namespace tkdc {

// A file that was not there; none if it was, as EEXIST, or if it cannot be made. What the caller
// does not finish is his to remove.
UniqueFd create_file(const std::string& path);

// Behind what `fd` was given before; all of it is on disk, but not yet the name of a new file.
[[nodiscard]] bool write_synced(int fd, ByteSpan contents);
[[nodiscard]] bool write_synced(int fd, std::string_view text);

// The names in it are on disk.
[[nodiscard]] bool sync_folder(const std::string& folder);
// The same of the folder that `path` is in.
[[nodiscard]] bool sync_folder_of(const std::string& path);

// In place of the contents of a file, which is made if there is none. A crash meanwhile, or
// a full disk, leaves a file, if only an empty one: for files that say something by being there.
[[nodiscard]] bool overwrite_durably(const std::string& path, std::string_view text);

// At the end of a file, which is made if there is none.
[[nodiscard]] bool append_durably(const std::string& path, std::string_view text);

[[nodiscard]] bool remove_durably(const std::string& path);

}  // namespace tkdc
