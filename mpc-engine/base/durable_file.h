// SPDX-License-Identifier: Apache-2.0
// Small files that outlive a crash: contents are synced, then the folder, which holds the name.
//
// Whoever keeps something beside the store, or makes files that are not made twice, writes them
// here. On any thread; what is written may be secret, no copy of it is made. Files are made with
// mode 0600 unless another is given. False: errno says why, for the caller's system_error(); how
// much of it is on disk is then unknown.
#pragma once

#include <sys/types.h>

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

// In the place of a file that a daemon keeps beside its store, or of none: whole, or it is what it
// was before. The draft is PATH.new, as below.
[[nodiscard]] bool replace_kept(const std::string& path, std::string_view text);

// What becomes of the octets of a file that another one takes the place of, and of a draft that
// takes none. kWiped: they are overwritten when nothing names them any more (a backup may), as far
// as the disk does so.
enum class OldFile { kLeft, kWiped };

// In the place of a file, or of none: whole, or not at all. The draft is PATH.new, also one that a
// crash has left.
[[nodiscard]] bool replace_durably(const std::string& path, ByteSpan contents, mode_t mode = 0600,
                                   OldFile old = OldFile::kLeft);
[[nodiscard]] bool replace_durably(const std::string& path, std::string_view text, mode_t mode);
// The same in two steps, for who looks at the draft between them; its folder is synced by both.
[[nodiscard]] bool write_draft(const std::string& draft, ByteSpan contents, mode_t mode = 0600,
                               OldFile old = OldFile::kLeft);
[[nodiscard]] bool put_in_place(const std::string& draft, const std::string& path, OldFile old);

// Where there is none: whole, or not at all. False where there is one, as EEXIST. The draft is
// PATH.PID: several may try at once. `owner`: whose it becomes, with his group.
struct FileOwner {
  uid_t user;
  gid_t group;
};
[[nodiscard]] bool create_durably(const std::string& path, std::string_view text,
                                  const FileOwner& owner);

// A draft, synced by whoever wrote it, gets its name, which no file has: false where one has, as
// EEXIST.
[[nodiscard]] bool put_in_free_place(const std::string& draft, const std::string& path);
// Two folders of one parent change their names, in one step. False where the file system cannot do
// that, as EINVAL.
[[nodiscard]] bool exchange_folders(const std::string& one, const std::string& other);

// At the end of a file, which is made if there is none.
[[nodiscard]] bool append_durably(const std::string& path, std::string_view text);

[[nodiscard]] bool remove_durably(const std::string& path);
// Of a file with a secret: its octets as with OldFile::kWiped.
[[nodiscard]] bool remove_wiped(const std::string& path);

}  // namespace tkdc
