// SPDX-License-Identifier: Apache-2.0
// The messages of a repair: what the two survivors send to the server that has lost its store, and
// what that one takes (docs/protocols/25-repair.md).
//
//   P = k-1 has x_k, N = k+1 has x_{k+1}; the new server k' lacks both, N lacks x_k, P lacks
//   x_{k+1}.
//
//   1  all          what the stores are: refresh epoch, numbers of keys and tombstones, MAC keys
//   2  P, N -> k'   the pair key that each shared with k
//   3  pages        tombstones; then records: what is public, P's x_k with its tags towards N,
//                   N's x_{k+1} with its tags towards P
//
// P proves x_k by tags that k dealt it, under a Delta that k had with N: P does not know it. k'
// gets it from N, and checks each block. So no lie of P about x_k passes but by guessing Delta, and
// the other way round. Nothing is sent to a survivor but k's word that it goes on.
//
// Every step is taken by all three in the same ticks. What a step returns is this server's own; the
// caller has the three agree on it. Used by lane 0's thread. Secret: components, tags, MAC keys.
#pragma once

#include <map>
#include <memory>

#include "service/lifecycle/repair_page.h"
#include "service/lifecycle/share_alarm.h"
#include "service/store/refresh_table.h"
#include "service/store/repair_table.h"
#include "service/store/store.h"

namespace tkdc {

class RepairTalk {
 public:
  static constexpr std::size_t kPageKeys = 64;
  static constexpr std::size_t kPageTombstones = 4096;

  RepairTalk(Lane& lane, ShareMacs& macs, Store& store, ShareAlarm& alarm, int lost)
      : lane_(lane), macs_(macs), store_(store), alarm_(alarm), lost_(lost) {}

  bool newcomer() const { return lane_.party() == lost_; }
  std::uint64_t keys() const { return keys_; }  // after compare_stores()

  // Then all three stores are ready to take new records.
  Task<Result<void>> compare_stores();
  Task<Result<void>> hand_keys();
  // A page of them; there may be more until over() says no.
  Task<Result<void>> tombstones();
  Task<Result<void>> records(std::vector<std::shared_ptr<const KeyRecord>>& out);
  bool over() const { return over_; }
  void from_the_first() { over_ = false, at_.reset(); }
  // Whether the stores will be alike.
  Task<Result<void>> compare_inventories();

 private:
  // Of a survivor's page, what it says before the page itself.
  struct Page {
    Result<void> sound;
    bool last = false;
    std::uint16_t count = 0;
    std::array<std::uint8_t, 32> digest{};  // of what both survivors have alike
    SecretVector octets;
  };
  struct Got {
    Result<void> alike;
    std::uint16_t count = 0;
    FromEach pages;  // the newcomer's: P's and N's
  };

  int survivor(std::size_t side) const { return mac_neighbour(lost_, side); }  // P, N
  Task<FromEach> transfer(const SecretVector& mine, std::size_t prev_bytes, std::size_t next_bytes);
  Task<Got> send_page(Page mine);
  Bytes my_state();
  Result<void> take_states(const std::array<Bytes, 3>& states);
  Result<void> begin();
  SecretVector my_pair_keys() const;
  Result<void> take_pair_keys(const FromEach& keys);
  Page tombstone_page();
  Result<void> take_tombstones(const Got& got);
  Page record_page(std::vector<std::shared_ptr<const KeyRecord>>& out);
  Result<void> put_record(const StoredKey& key, Page& page, crypto_generichash_state* state);
  Result<void> take_records(const Got& got, std::vector<std::shared_ptr<const KeyRecord>>& out);
  Result<std::shared_ptr<const KeyRecord>> take_record(const RepairHalf& prev,
                                                       const RepairHalf& next);
  Result<void> raise(const std::string& text, const KeyRecord* record);

  Lane& lane_;
  ShareMacs& macs_;
  Store& store_;
  ShareAlarm& alarm_;
  const int lost_;
  std::uint32_t refresh_epoch_ = 0;
  std::uint64_t keys_ = 0;
  std::vector<MacKeyId> common_;                           // MAC keys that both survivors keep
  std::map<MacKeyId, std::unique_ptr<MacKeys>> checking_;  // the newcomer's
  std::optional<KeyId> at_;
  bool over_ = false;
};

}  // namespace tkdc
