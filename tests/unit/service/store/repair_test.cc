// SPDX-License-Identifier: Apache-2.0
// A store that takes the place of a lost one: it is filled once, as a whole, and only while it is
// empty. And the certificates that a store remembers.
#include "service/store/repair_table.h"

#include "refreshed_store.h"

namespace tkdc {
namespace {

class Repair : public Refresh {
 protected:
  RepairTable& table() { return *store_->repair(); }
  void fill(std::uint32_t keys) {
    std::vector<RefreshedKey> all;
    for (std::uint32_t n = 1; n <= keys; ++n) all.push_back(refreshed(n));
    ASSERT_TRUE(store_->refresh()->add(all).ok());
  }
  static Tombstone tombstone(std::uint32_t number) {
    Tombstone one;
    one.id = id_of(number);
    one.header[3] = static_cast<std::uint8_t>(number);
    return one;
  }
};

TEST_F(Repair, AnEmptyStoreBecomesLikeTheOthers) {
  open();
  EXPECT_TRUE(table().blank());
  ASSERT_TRUE(table().begin_repair(4).ok());
  EXPECT_EQ(store_->refresh()->state().epoch, 4u);
  const std::vector<Tombstone> destroyed{tombstone(7), tombstone(8), tombstone(9)};
  ASSERT_TRUE(table().add_tombstones(destroyed).ok());
  fill(3);
  const Digest expected = table().next_inventory().value();
  const EntryId entry = store_->refresh()->entry();
  EXPECT_FALSE(table().prepare_repair(1234, 2).ok());
  ASSERT_TRUE(table().prepare_repair(1234, 3).ok());
  // A crash between the two steps: it is settled by the next handshake.
  open();
  EXPECT_EQ(store_->refresh()->state().epoch, 4u);
  EXPECT_TRUE(table().blank());
  EXPECT_FALSE(table().begin_repair(4).ok());
  EXPECT_EQ(store_->prepared().value(), std::vector<EntryId>{entry});
  ASSERT_TRUE(store_->commit(entry).ok());
  expect(5, 2, 3);
  EXPECT_EQ(store_->refresh()->state().at_s, 1234u);
  EXPECT_EQ(store_->inventory().value(), expected);
  EXPECT_FALSE(table().blank());
  open();
  expect(5, 2, 3);
  EXPECT_EQ(table().tombstones(std::nullopt, 2).value(),
            (std::vector<Tombstone>{destroyed[0], destroyed[1]}));
  EXPECT_EQ(table().tombstones(destroyed[1].id, 2).value(), std::vector<Tombstone>{destroyed[2]});
  EXPECT_TRUE(store_->buried(id_of(8)).value());
  // Not again.
  EXPECT_FALSE(table().begin_repair(5).ok());
  expect(5, 2, 3);
}

TEST_F(Repair, WhatWasBegunBeforeIsGone) {
  open();
  ASSERT_TRUE(table().begin_repair(2).ok());
  const Tombstone one = tombstone(7);
  ASSERT_TRUE(table().add_tombstones({&one, 1}).ok());
  ASSERT_TRUE(store_->set_seal_mark(id_of(1), 5).ok());
  fill(3);
  ASSERT_TRUE(table().prepare_repair(1, 3).ok());
  ASSERT_TRUE(store_->abandon(store_->refresh()->entry()).ok());
  ASSERT_TRUE(table().begin_repair(0).ok());
  EXPECT_EQ(table().tombstone_count(), 0u);
  EXPECT_EQ(store_->seal_mark(id_of(1)).value(), 0u);
  EXPECT_EQ(store_->refresh()->state().epoch, 0u);
  fill(1);
  ASSERT_TRUE(table().prepare_repair(1, 1).ok());
  ASSERT_TRUE(store_->commit(store_->refresh()->entry()).ok());
  EXPECT_EQ(store_->count(), 1u);
  EXPECT_EQ(store_format(), 12u);
}

TEST_F(Repair, AStoreWithKeysIsNotFilled) {
  open();
  ASSERT_TRUE(store_->prepare(record(1)).ok());
  ASSERT_TRUE(store_->commit(id_of(1)).ok());
  EXPECT_FALSE(table().blank());
  const auto refused = table().begin_repair(0);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("has keys"), std::string::npos);
  EXPECT_EQ(store_->count(), 1u);
}

TEST_F(Repair, CertificatesAreRemembered) {
  open();
  EXPECT_TRUE(table().peers().value().empty());
  std::vector<PeerCertificate> peers{{0, false, {1}}, {2, true, {2}}};
  ASSERT_TRUE(table().set_peers(peers).ok());
  open();
  EXPECT_EQ(table().peers().value(), peers);
  ASSERT_TRUE(table().begin_repair(0).ok());
  EXPECT_EQ(table().peers().value(), peers);
  peers.resize(kMostPeerCertificates + 1);
  EXPECT_FALSE(table().set_peers(peers).ok());
  store_.reset();
  auto tables = open_lmdb_tables(options_.path, options_.map_bytes);
  ASSERT_TRUE(tables.ok());
  {
    Txn txn(**tables, true);
    ASSERT_EQ(txn->put(Tables::kMeta, octets("peers"), Bytes(80, 1)), 0);
    ASSERT_EQ(txn->commit(), 0);
  }
  tables->reset();
  open();
  EXPECT_FALSE(table().peers().ok());
}

}  // namespace
}  // namespace tkdc
