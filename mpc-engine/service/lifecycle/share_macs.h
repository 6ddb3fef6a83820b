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

#include "mac/dealing.h"
#include "mac/mac_check.h"
#include "service/lifecycle/mac_keyring.h"
#include "service/lifecycle/share_alarm.h"
#include "session/session.h"

namespace tkdc {

// What is authenticated of a record: which key, what may be done with it, its version, and the name
// and length of each field. Equal at all three.
Bytes mac_name_of(const KeyRecord& record);
// The two components, each field padded to whole blocks.
// Its name is mac_name_of() it, where that is known already.
MacSubject mac_subject(const KeyRecord& record, Bytes name);
inline MacSubject mac_subject(const KeyRecord& record) {
  return mac_subject(record, mac_name_of(record));
}
// With the tags of its row. Those of another length prove nothing, which an audit then says.
void add_tags(MacSubject& subject, MacRow row);

// What each server said, by party.
std::array<Bytes, 3> by_party(int party, Bytes mine, FromBoth others);
// What each says to both others, in a message of one length. In malicious mode nobody goes on where
// one told the two others different things.
Task<std::array<Bytes, 3>> say_to_all(Lane& lane, Bytes mine);
// Whether all three say yes, told in that way.
Task<bool> all_say_yes(Lane& lane, bool mine);

class ShareMacs {
 public:
  struct Seat {
    std::array<std::uint8_t, 16> installation{};
    std::array<std::uint8_t, 32> session{};
    std::uint32_t lane = 0;
  };

  // `keys`: this lane's, for MACs alone (keys_for()).
  ShareMacs(Lane& lane, MacTable& table, ShareAlarm& alarm, const Seat& seat, PairwiseKeys keys);

  // Settles which MAC key is used: the newest that all three keep, else a new one, which is an
  // alarm where this server keeps others. Once in a session; others wait for it. Error: this or
  // another server could not read or write its own; who asks next has all three try again.
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
  // Once all records have MACs under the key in use.
  Result<void> forget_other_keys() { return keyring_.keep_only(keys_->id()); }
  // For a repair, in which no key is settled: of the store's refresh epoch, those that it keeps.
  Result<void> load_kept();
  const MacKeyring& kept() const { return keyring_; }
  const Seat& seat() const { return seat_; }
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
  void tell_who_lost_keys(const std::array<Bytes, 3>& lists);

  Lane& lane_;
  MacTable& table_;
  MacKeyring keyring_;
  ShareAlarm& alarm_;
  const Seat seat_;
  PairwiseKeys pairwise_;
  bool settling_ = false, settled_ = false;
  std::optional<Error> trouble_;
  bool told_who_lost_keys_ = false;
  std::vector<std::coroutine_handle<>> waiting_;
  std::unique_ptr<MacKeys> keys_;
  std::uint32_t refresh_epoch_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace tkdc
