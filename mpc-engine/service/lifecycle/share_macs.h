// SPDX-License-Identifier: Apache-2.0
// MACs on the shares of records, as lane 0 of a session makes and checks them
// (docs/protocols/23-share-macs.md): which MAC key the three use, numbers of dealings, records as
// what mac/ authenticates.
//
// Every task is begun by all three servers in the same tick. Used by lane 0's thread. Secret: MAC
// keys, components, tags.
#pragma once

#include <coroutine>
#include <memory>

#include "mac/audit.h"
#include "mac/dealing.h"
#include "service/lifecycle/mac_keyring.h"
#include "session/session.h"

namespace tkdc {

// What is authenticated of a record: which key, what may be done with it, its version, and the name
// and length of each field. Equal at all three.
Bytes mac_name_of(const KeyRecord& record);
// The two components, each field padded to whole blocks.
MacSubject mac_subject(const KeyRecord& record);
// With the tags of its row. Those of another length prove nothing, which an audit then says.
void add_tags(MacSubject& subject, const MacRow& row);

class ShareMacs {
 public:
  struct Seat {
    std::array<std::uint8_t, 16> installation{};
    std::array<std::uint8_t, 32> session{};
    std::uint32_t lane = 0;
  };

  // `keys`: this lane's, for MACs alone (keys_for()).
  ShareMacs(Lane& lane, MacTable& table, const Seat& seat, PairwiseKeys keys);

  // Settles which MAC key is used: the newest that all three keep, else a new one. Once in a
  // session; others wait for it. Error: this or another server could not read or write its own.
  Task<Result<void>> ready();
  // After ready().
  MacKeys& keys() { return *keys_; }
  std::uint32_t refresh_epoch() const { return refresh_epoch_; }
  // A dealing's or an audit's.
  Dealing next() { return {seat_.session, seat_.lane, ++number_}; }

  // Deals MACs for these, and audits them. The row of each belongs to it.
  Task<MacFindings> deal(std::span<MacSubject> subjects) { return deal(*keys_, subjects); }
  Task<MacFindings> deal(MacKeys& keys, std::span<MacSubject> subjects);
  MacRow row_of(const KeyRecord& record, MacSubject subject) const;

  // For the records of the next refresh: a key of its own, kept on disk when it returns.
  Result<std::unique_ptr<MacKeys>> make_next_key();

 private:
  struct Settled {
    bool await_ready() const { return macs.settled_; }
    void await_suspend(std::coroutine_handle<> h) { macs.waiting_.push_back(h); }
    void await_resume() const {}
    ShareMacs& macs;
  };

  Task<void> settle();
  Result<void> use(const MacKeyId& id);
  Result<std::unique_ptr<MacKeys>> keys_of(const MacKeyId& id) const;
  Result<MacKeyId> make_key(std::uint32_t refresh_epoch);

  Lane& lane_;
  MacTable& table_;
  MacKeyring keyring_;
  const Seat seat_;
  PairwiseKeys pairwise_;
  bool settling_ = false, settled_ = false;
  std::optional<Error> trouble_;
  std::vector<std::coroutine_handle<>> waiting_;
  std::unique_ptr<MacKeys> keys_;
  std::uint32_t refresh_epoch_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace tkdc
