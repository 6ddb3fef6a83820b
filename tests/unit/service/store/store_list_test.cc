// SPDX-License-Identifier: Apache-2.0
// Three stores that were restored from different states: what they have in common, and that each
// comes to have exactly that.
#include "service/store/store_list.h"

#include "scratch_store.h"

namespace tkdc {
namespace {

class Agreement : public ScratchStore {
 protected:
  void SetUp() override {
    for (int p = 0; p < 3; ++p) {
      options_.party = p;
      options_.path = directory_ + "/store" + std::to_string(p);
      at_[static_cast<std::size_t>(p)] = options_;
    }
  }
  Store& store(std::size_t p) {
    if (!stores_[p]) stores_[p] = Store::open(at_[p], key_).value();
    return *stores_[p];
  }
  void add_to(std::size_t p, std::uint32_t number) {
    ASSERT_TRUE(store(p).prepare(record(number)).ok());
    ASSERT_TRUE(store(p).commit(id_of(number)).ok());
  }
  void drop_at(std::size_t p, std::uint32_t number, std::uint64_t at_s) {
    ASSERT_TRUE(store(p).dropped()->condemn_to_drop(id_of(number), at_s).ok());
    ASSERT_TRUE(store(p).destroy(id_of(number)).ok());
  }
  StoreList list(std::size_t p) {
    stores_[p].reset();
    return list_store(*StoreSnapshot::take(at_[p], key_).value(), at_[p]).value();
  }
  std::array<StoreList, 3> lists() { return {list(0), list(1), list(2)}; }

  std::array<StoreOptions, 3> at_;
  std::array<std::unique_ptr<Store>, 3> stores_;
};

TEST_F(Agreement, EachKeepsWhatAllThreeHave) {
  // 1 everywhere; 2 not at server 2; 3 at server 0 alone; 4 purged at server 1; 5 and 6 dropped at
  // some; 7 half made at two.
  for (std::size_t p = 0; p < 3; ++p)
    for (std::uint32_t number : {1u, 2u, 3u, 4u, 5u, 6u})
      if ((number != 2 || p != 2) && (number != 3 || p == 0)) add_to(p, number);
  ASSERT_TRUE(store(1).destroy(id_of(4)).ok());
  drop_at(0, 5, 200);
  drop_at(2, 5, 100);
  for (std::size_t p = 0; p < 3; ++p) drop_at(p, 6, 300);
  for (std::size_t p : {0, 1}) ASSERT_TRUE(store(p).prepare(record(7)).ok());
  ASSERT_TRUE(store(1).condemn(id_of(1)).ok());
  EXPECT_NE(store(0).inventory().value(), store(1).inventory().value());

  const auto all = lists();
  const auto agreed = agree_on(all);
  ASSERT_TRUE(agreed.ok()) << agreed.error().message;
  EXPECT_EQ(agreed->kept, 3u);
  std::vector<KeyId> lone;
  for (const LoneKey& one : agreed->lone) lone.push_back(one.record.key.id);
  EXPECT_EQ(lone, (std::vector<KeyId>{id_of(2), id_of(3), id_of(4)}));
  EXPECT_EQ(agreed->lone[0].at, (std::array<bool, 3>{true, true, false}));
  EXPECT_EQ(agreed->lone[0].record.principal, "user2@EXAMPLE.ORG");
  EXPECT_EQ(agreed->dropped, (std::vector<DroppedKey>{{id_of(5), 100}, {id_of(6), 300}}));
  for (std::size_t p = 0; p < 3; ++p) ASSERT_TRUE(keep_common(store(p), *agreed).ok());
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_EQ(store(p).inventory().value(), store(0).inventory().value()) << p;
    EXPECT_EQ(store(p).count(), 3u);
    EXPECT_NE(store(p).get(id_of(1)).value(), nullptr);
    for (std::uint32_t number : {2u, 3u, 4u}) {
      EXPECT_TRUE(store(p).buried(id_of(number)).value());
      EXPECT_FALSE(store(p).prepare(record(number)).ok()) << "it never comes back";
    }
    EXPECT_EQ(store(p).get(id_of(5)).value(), nullptr);
    EXPECT_TRUE(store(p).prepared().value().empty());
    EXPECT_TRUE(store(p).condemned().value().empty());
  }
  // Again: nothing is left to do.
  const auto after = agree_on(lists());
  EXPECT_TRUE(after->lone.empty());
}

TEST_F(Agreement, SharesOfDifferentEpochsAreRefusedAndTheNewestNamed) {
  for (std::size_t p = 0; p < 3; ++p) add_to(p, 1);
  auto all = lists();
  all[1].refresh_epoch = 2;
  const auto refused = agree_on(all);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("the newest, is server 1"), std::string::npos)
      << refused.error().message;
  EXPECT_NE(refused.error().message.find("have the third"), std::string::npos);
  const auto of_two = agree_on(std::span(all).first(2));
  ASSERT_FALSE(of_two.ok());
  EXPECT_NE(of_two.error().message.find("at both servers"), std::string::npos);
  EXPECT_EQ(of_two.error().message.find("third"), std::string::npos) << "there is none";
  all[1] = all[0];
  EXPECT_FALSE(agree_on(all).ok()) << "no list of server 1";
  all = lists();
  all[2].installation[0] ^= 1;
  EXPECT_FALSE(agree_on(all).ok());
}

// Whose list says that everything was removed, and long ago, takes nothing away unseen.
TEST_F(Agreement, WhatBecomesDroppedIsShown) {
  for (std::size_t p = 0; p < 3; ++p)
    for (std::uint32_t number : {1u, 2u, 3u, 4u}) add_to(p, number);
  for (std::size_t p = 0; p < 3; ++p) drop_at(p, 3, 300);
  for (std::size_t p = 0; p < 3; ++p) drop_at(p, 4, 400);
  auto all = lists();
  for (ListedRecord& one : all[1].keys)
    if (one.key.id != id_of(2) && one.key.id != id_of(4)) one.dropped_at_s = 1;
  const auto agreed = agree_on(all);
  ASSERT_TRUE(agreed.ok()) << agreed.error().message;
  EXPECT_TRUE(agreed->lone.empty());
  const auto drops = drops_of(*agreed, all[0]);
  ASSERT_EQ(drops.size(), 2u);
  EXPECT_EQ(drops[0].key.id, id_of(1));
  EXPECT_EQ(drops[0].principal, "user1@EXAMPLE.ORG");
  EXPECT_EQ(drops[1].key.id, id_of(3)) << "it would be purged earlier";
  for (const ListedRecord& one : drops) EXPECT_EQ(one.dropped_at_s, 1u);
  EXPECT_TRUE(drops_of(*agreed, all[1]).empty());
}

// A record that stays could neither be moved by a refresh, nor purged: with two servers it goes.
TEST_F(Agreement, OfTwoServersNoDroppedKeyStays) {
  for (std::size_t p : {0, 1})
    for (std::uint32_t number : {1u, 2u, 3u}) add_to(p, number);
  drop_at(0, 2, 200);
  for (std::size_t p : {0, 1}) drop_at(p, 3, 300);  // by an agreement of before
  const std::vector<StoreList> both{list(0), list(1)};
  const auto agreed = agree_on(both);
  ASSERT_TRUE(agreed.ok()) << agreed.error().message;
  EXPECT_EQ(agreed->kept, 1u);
  EXPECT_TRUE(agreed->dropped.empty());
  ASSERT_EQ(agreed->lone.size(), 2u) << "they are named";
  for (const LoneKey& one : agreed->lone) EXPECT_TRUE(one.removed && !one.versions);
  for (std::size_t p : {0, 1}) {
    ASSERT_TRUE(keep_common(store(p), *agreed).ok());
    EXPECT_EQ(store(p).inventory().value(), store(0).inventory().value());
    EXPECT_EQ(store(p).dropped()->dropped_count(), 0u);
    EXPECT_EQ(store(p).count(), 1u);
    for (std::uint32_t number : {2u, 3u}) {
      EXPECT_TRUE(store(p).buried(id_of(number)).value());
      EXPECT_FALSE(store(p).prepare(record(number)).ok()) << "it never comes back";
    }
  }
}

TEST_F(Agreement, AnEraIsNotRaisedWithoutEnd) {
  for (std::size_t p = 0; p < 3; ++p) add_to(p, 1);
  auto all = lists();
  all[2].era = kMostErasApart;
  EXPECT_EQ(agree_on(all)->era, kMostErasApart);
  for (const std::uint32_t era : {kMostErasApart + 1, UINT32_MAX}) {
    all[2].era = era;
    const auto refused = agree_on(all);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("server 2 is of era"), std::string::npos);
    const auto of_two = agree_on(std::vector{all[0], [&] {
                                               StoreList one = all[1];
                                               one.era = era;
                                               return one;
                                             }()});
    EXPECT_FALSE(of_two.ok());
  }
}

TEST_F(Agreement, OneVersionIsNotAnother) {
  for (std::size_t p = 0; p < 3; ++p) add_to(p, 1);
  auto all = lists();
  all[2].keys[0].key.header[11] ^= 1;
  EXPECT_EQ(agree_on(all)->kept, 0u);
  all = lists();
  all[2].keys[0].principal = "root@EXAMPLE.ORG";
  EXPECT_EQ(agree_on(all)->kept, 0u);
}

TEST_F(Agreement, AListIsWrittenInOneWay) {
  for (std::uint32_t number : {1u, 2u}) add_to(0, number);
  ASSERT_TRUE(store(0).destroy(id_of(2)).ok());
  const std::string text = encode(list(0));
  EXPECT_EQ(encode(decode_store_list(text).value()), text);
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(decode_store_list(text.substr(0, length)).ok()) << length;
  for (const auto& [from, to] : std::map<std::string, std::string>{{"party 0", "party 3"},
                                                                   {"keys 1", "keys 01"},
                                                                   {"gone 1", "gone 2"},
                                                                   {"era 0", "era -1"}})
    EXPECT_FALSE(
        decode_store_list(std::string(text).replace(text.find(from), from.size(), to)).ok())
        << from;
  EXPECT_FALSE(decode_store_list(text + "\n").ok());
}

}  // namespace
}  // namespace tkdc
