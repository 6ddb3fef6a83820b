// SPDX-License-Identifier: Apache-2.0
// Stored keys in a session: blocks of the pools as they are reserved, and the bits of records that
// have been bridged, which serve while the session lasts. Those that were used longest ago go when
// they are too many; whoever needs them bridges again.
//
// Both servers call alike, in the same order, so both reserve and forget alike. One thread. Secret:
// all but ids. Error: the session's; where it still stands, both have the same error.
#pragma once

#include <array>
#include <functional>
#include <list>
#include <map>
#include <optional>

#include "lut/held_aes.h"
#include "service/pair/pair_blocks.h"
#include "service/pair/pair_pools.h"

namespace tkdc {

// Reserved blocks, of each pool some. A session's first reservation of a pool is of one block, and
// each is larger than the one before it: a session that ends soon loses few.
class PairBlocks {
 public:
  using Trouble = std::function<void(std::string)>;
  using Hear =
      std::function<void(const pair::Label& pool, std::uint64_t first, std::uint64_t blocks)>;
  // `pool`: what is made from now on is of it. `trouble`: for administrators. `reserved`: told of
  // each reservation.
  PairBlocks(pair::Session& session, PairPools& pools, const pair::Pool& pool,
             Trouble trouble = nullptr, Hear reserved = nullptr)
      : session_(session), pools_(pools), pool_(pool), trouble_(std::move(trouble)),
        reserved_(std::move(reserved)) {}

  const pair::Pool& pool() const { return pool_; }
  // So many at least, of the pool that new keys are of.
  Result<pair::Reserved*> need(std::size_t blocks) { return need(pool_, blocks); }
  // One to prove a key of that pool. What is kept for the last is for keys that move: error, where
  // only that is left.
  Result<pair::Reserved*> need_to_prove(const pair::Label& pool);
  // One to prove keys of that pool that move, also of what is kept for that.
  Result<pair::Reserved*> need_to_move(const pair::Label& pool);
  // A pool of which no block is left (PairPools::is_spent); null: it is none.
  const pair::Pool* spent(const pair::Label& pool) const;
  // Of new blocks, `blocks` of them, for a value that is to be stored.
  Result<pair::Fresh> fresh(std::size_t blocks);
  // Before a pool goes.
  void forget(const pair::Label& pool) { of_pools_.erase({pool.high, pool.low}); }

 private:
  struct OfPool {
    std::unique_ptr<pair::Reserved> reserved;
    std::size_t at_once = 1;  // blocks of the next reservation
    bool told = false;        // that it is used up
  };
  OfPool& of(const pair::Label& pool) { return of_pools_[{pool.high, pool.low}]; }
  Result<pair::Reserved*> need(const pair::Pool& pool, std::size_t blocks);
  pair::Reserved* keep(OfPool& some, pair::Reserved reserved);

  pair::Session& session_;
  PairPools& pools_;
  const pair::Pool& pool_;
  const Trouble trouble_;
  const Hear reserved_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, OfPool> of_pools_;
};

class PairRecords {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{96} << 20;

  PairRecords(pair::Session& session, PairBlocks& blocks) : session_(session), blocks_(blocks) {}

  bool holds(const KeyId& id) const { return held_.contains(id); }
  // Bridges it, whether it is held already or not.
  Result<void> bridge(const KeyRecord& record) { return bridge(std::array{&record}, true); }
  // All of them by one block: they are of one pool. `asked`: some are wanted now, else they go
  // first where room is wanted.
  Result<void> bridge(std::span<const KeyRecord* const> records, bool asked);
  std::size_t bytes() const { return bytes_; }
  // The first bits of a field of a record that is held.
  Result<pair::Held> part(const KeyRecord& record, const std::string& field,
                          std::size_t bits) const;
  void forget(const KeyId& id);
  // What has been made of a record that is held, by a name: kept while its bits are, where few are.
  bool has_made(const KeyId& id, const std::string& name) const;
  Result<pair::Held> made(const KeyId& id, const std::string& name) const;
  void keep_made(const KeyId& id, const std::string& name, pair::Held bits);
  // AES's round keys of a field, for lookup tables; as what is made.
  bool has_round_keys(const KeyId& id, const std::string& field) const;
  const lut::RoundKeys* round_keys(const KeyId& id, const std::string& field) const;
  // Those that serve: kept here, or `keys`, where there is no room.
  const lut::RoundKeys& keep_round_keys(const KeyId& id, const std::string& field,
                                        lut::RoundKeys& keys);

 private:
  static constexpr std::size_t kMostMade = 2;
  struct Entry {
    pair::Held bits;
    std::map<std::string, pair::Held> made;
    std::map<std::string, lut::RoundKeys> round_keys;
    std::uint64_t asked = 0;  // 0: not yet
  };
  void keep(const KeyId& id, pair::Held bits, bool asked);
  void make_room(std::size_t bytes);
  template <class Made>
  Made* keep_beside(std::map<std::string, Made>& all, const std::string& name, Made& one);

  pair::Session& session_;
  PairBlocks& blocks_;
  mutable std::uint64_t asked_ = 0;
  mutable std::map<KeyId, Entry> held_;
  std::size_t bytes_ = 0;
};

// All fields but the pool's, in their order.
SharedBytes blocks_of_record(const KeyRecord& record);
// What both know them by. Public.
Bytes name_of_records(std::span<const KeyRecord* const> records);

// Of one value that is not a record's: `name` is what both know it by. Public.
Result<pair::Held> bridge_value(pair::Session& session, PairBlocks& blocks, const pair::Label& pool,
                                const SharedBytes& value, ByteSpan name);

}  // namespace tkdc
