// SPDX-License-Identifier: Apache-2.0
// The place of a server's store, held while another store is made beside it: no server runs there
// meanwhile, and the new one takes its place in one step or not at all.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace tkdc {

struct PlacedStore {
  std::string former;    // where the store of before is now; empty where there was none
  std::string unsynced;  // why a loss of power may undo it; empty: it is on disk
};

class StorePlace {
 public:
  // `path`: the store's folder, which may be absent. Error: a server runs on it.
  static Result<StorePlace> hold(const std::string& path);
  StorePlace(StorePlace&& other) noexcept;
  StorePlace& operator=(StorePlace&&) = delete;
  ~StorePlace();  // the draft goes, if it did not become the store

  // Where the new one is to be made. What an earlier run left there is gone.
  const std::string& draft() const { return draft_; }
  // There is a store now.
  bool occupied() const { return occupied_; }
  // What else lies in the store's folder, orders and notes of its server, goes along. Error:
  // nothing was changed.
  Result<PlacedStore> replace(const std::string& former);

 private:
  StorePlace(std::string path, UniqueFd lock, bool there);
  Result<void> carry_over() const;
  bool is_held(const std::string& path) const;

  std::string path_, draft_;  // no draft: it is the store
  UniqueFd lock_;
  bool there_ = false;  // a folder; else the lock is on the one around it
  bool occupied_ = false;
};

}  // namespace tkdc
