// SPDX-License-Identifier: Apache-2.0
// The files that a daemon keeps while it runs, beside its store: what of a disk it asks for them.
// There is one in each process, the real one unless a program says another before anything runs:
// tests/sim has one that fails, fills up and loses its power
// (docs/adr/0029-a-realm-in-a-bottle.md).
//
// Errors are errno's, for system_error(). Any thread. What is written may be secret; no copy of it
// is made.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/secret.h"

namespace tkdc {

class Disk {
 public:
  virtual ~Disk() = default;

  class File {
   public:
    virtual ~File() = default;
    // As write(2): how much it took, or -1.
    virtual ssize_t write(ByteSpan contents) = 0;
    // What was written is on disk. The name of a new file is not yet.
    virtual bool sync() = 0;
    // Room for so many octets from octet `from` on, behind the end too, that stays the file's; its
    // length is what it was. False: the disk or a quota is full. A disk that keeps no room for
    // anybody says true: a write tells.
    virtual bool reserve(std::uint64_t /*from*/, std::uint64_t /*octets*/) { return true; }
    // Whether reserve() has only looked whether there is room, on a file system that keeps none.
    virtual bool only_looks() const { return false; }
    // Gives the room behind its end back. Nobody writes to it meanwhile.
    virtual void give_back() {}
    // Zeros take the place of all that it has, on disk, if nothing names it any more. Best effort:
    // a file system that copies on write, and a flash disk, keep more than they show.
    virtual void wipe_if_nameless() {}
  };
  // kNew: there must be none, or it is EEXIST. kOld: there must be one, whose octets stay.
  enum class How { kAppend, kOverwrite, kNew, kOld };
  // For writing; made with `mode` if there is none. Null: it cannot be opened.
  virtual std::unique_ptr<File> open(const std::string& path, How how, mode_t mode) = 0;
  // At most so many octets, from octet `from` on. None: it cannot be read, as ENOENT if it is not
  // there.
  virtual std::optional<std::string> read(const std::string& path, std::uint64_t from,
                                          std::size_t most) = 0;
  // The same from its beginning, of a file that others take the place of and wipe: as it was while
  // it had its name. None, as ESTALE: it is replaced again and again.
  virtual std::optional<std::string> read_named(const std::string& path, std::size_t most) {
    return read(path, 0, most);
  }
  virtual bool remove(const std::string& path) = 0;
  // Within a folder. `to` is then `from`'s file; after a crash it is that or what it was before.
  virtual bool rename(const std::string& from, const std::string& to) = 0;
  // The names in it are on disk.
  virtual bool sync_folder(const std::string& folder) = 0;
};

Disk& disk();
// Before anything else of the program runs.
void use_disk(Disk& other);

}  // namespace tkdc
