// SPDX-License-Identifier: Apache-2.0
// Values under names of their owner's, beside the keys: kept over reopening and new keys, bound to
// their name, in no backup; and records whose components differ in length.
#include <algorithm>

#include "altered_tables.h"
#include "scratch_store.h"
#include "service/store/keyring.h"
#include "service/store/store_snapshot.h"
#include "service/store/value_table.h"

namespace tkdc {
namespace {

class ValuesTest : public ScratchStore {
 protected:
  static SecretVector value(std::size_t bytes, std::uint8_t fill) {
    return SecretVector(bytes, fill);
  }
  void put(const std::string& name, const SecretVector& octets) {
    auto done = store_->values()->put({{{name, octets}}});
    ASSERT_TRUE(done.ok()) << done.error().message;
  }
  SecretVector get(const std::string& name) {
    auto got = store_->values()->get(name);
    EXPECT_TRUE(got.ok()) << got.error().message;
    EXPECT_TRUE(*got) << name;
    return *got ? **got : SecretVector();
  }
  std::vector<std::string> names(const std::string& prefix) {
    return store_->values()->names(prefix).value();
  }
  void close_and(const std::function<int(Tables::Transaction&)>& change) {
    store_.reset();
    auto tables = open_lmdb_tables(options_.path, options_.map_bytes);
    ASSERT_TRUE(tables.ok()) << tables.error().message;
    Txn txn(**tables, true);
    ASSERT_EQ(change(*txn.operator->()), 0);
    ASSERT_EQ(txn->commit(), 0);
  }
};

using Names = std::vector<std::string>;

TEST_F(ValuesTest, TheyAreThereAfterReopening) {
  open();
  EXPECT_FALSE(store_->values()->get("pool").value());
  put("pool", value(kMaxValueBytes, 7));
  put("empty", {});
  open();
  EXPECT_EQ(get("pool"), value(kMaxValueBytes, 7));
  EXPECT_EQ(get("empty"), SecretVector());
  put("pool", value(3, 8));
  EXPECT_EQ(get("pool"), value(3, 8)) << "over what was there";
  EXPECT_EQ(store_->count(), 0u) << "no key";
}

TEST_F(ValuesTest, AreListedByHowTheyBeginAndErased) {
  open();
  const SecretVector one = value(1, 1);
  ASSERT_TRUE(store_->values()->put({{{"b/2", one}, {"b", one}, {"a", one}, {"b/1", one}}}).ok());
  EXPECT_EQ(names(""), (Names{"a", "b", "b/1", "b/2"}));
  EXPECT_EQ(names("b"), (Names{"b", "b/1", "b/2"}));
  EXPECT_EQ(names("b/"), (Names{"b/1", "b/2"}));
  EXPECT_EQ(names("c"), Names{});
  ASSERT_TRUE(store_->values()->erase(Names{"b/1", "never", "a"}).ok());
  open();
  EXPECT_EQ(names(""), (Names{"b", "b/2"}));
}

TEST_F(ValuesTest, BeyondTheLimitsNothingIsStored) {
  open();
  const SecretVector one = value(1, 1), long_one = value(kMaxValueBytes + 1, 1);
  const std::string longest(kMaxValueNameBytes, 'n'), too_long = longest + "n";
  put(longest, one);
  EXPECT_FALSE(store_->values()->put({{{"x", one}, {"", one}}}).ok());
  EXPECT_FALSE(store_->values()->put({{{"x", one}, {too_long, one}}}).ok());
  EXPECT_FALSE(store_->values()->put({{{"x", one}, {"y", long_one}}}).ok());
  EXPECT_FALSE(store_->values()->get("").ok());
  EXPECT_FALSE(store_->values()->get(too_long).ok());
  EXPECT_FALSE(store_->values()->erase(Names{longest, too_long}).ok());
  EXPECT_EQ(names(""), Names{longest});
}

TEST_F(ValuesTest, StandUnderTheNewKeysAfterAChange) {
  open();
  const SecretBuffer next = draw_store_key(), old = copy_of(key_);
  for (int k = 0; k < 5; ++k) put("pool/" + std::to_string(k), value(100, 5));
  ASSERT_TRUE(store_->begin_rekey(key_, next).ok());
  put("pool/3", value(50, 9));
  RekeyAt at;
  for (;;) {
    auto seen = store_->rewrite(2, at);
    ASSERT_TRUE(seen.ok()) << seen.error().message;
    if (*seen == 0) break;
  }
  ASSERT_TRUE(store_->end_rekey(next).ok());
  store_.reset();
  EXPECT_FALSE(Store::open(options_, old).ok());
  key_ = copy_of(next);
  open();
  for (int k = 0; k < 5; ++k)
    EXPECT_EQ(get("pool/" + std::to_string(k)), k == 3 ? value(50, 9) : value(100, 5)) << k;
}

TEST_F(ValuesTest, AnotherNamesValueOrAChangedOneIsRefused) {
  open();
  put("pool/1", value(40, 1));
  put("pool/2", value(40, 2));
  close_and([](Tables::Transaction& txn) {
    ByteSpan found;
    int rc = txn.find(Tables::kValues, octets("pool/2"), found);
    Bytes other(found.begin(), found.end());
    if (rc == 0) rc = txn.put(Tables::kValues, octets("pool/1"), other);
    other.back() ^= 1;
    return rc == 0 ? txn.put(Tables::kValues, octets("pool/2"), other) : rc;
  });
  open();
  for (const char* name : {"pool/1", "pool/2"}) {
    auto got = store_->values()->get(name);
    ASSERT_FALSE(got.ok()) << name;
    EXPECT_NE(got.error().message.find(name), std::string::npos) << got.error().message;
  }
  const SecretBuffer next = draw_store_key();
  ASSERT_TRUE(store_->begin_rekey(key_, next).ok());
  RekeyAt at;
  auto rewritten = store_->rewrite(100, at);
  ASSERT_FALSE(rewritten.ok());
  EXPECT_NE(rewritten.error().message.find("pool/1"), std::string::npos)
      << rewritten.error().message;
}

TEST_F(ValuesTest, AFullStoreTakesNoMoreButGoesOnCounting) {
  options_.map_bytes = 4u << 20;
  open();
  put("position", value(16, 0));
  const SecretVector chunk = value(200'000, 3);
  int stored = 0;
  for (; stored < 100; ++stored) {
    const std::string name = "pool/" + std::to_string(stored);
    auto done = store_->values()->put({{{name, chunk}}});
    if (done.ok()) continue;
    EXPECT_NE(done.error().message.find("map_size_mib"), std::string::npos) << done.error().message;
    break;
  }
  ASSERT_GT(stored, 2);
  ASSERT_LT(stored, 100);
  for (std::uint8_t k = 1; k < 100; ++k) put("position", value(16, k));
  EXPECT_EQ(get("position"), value(16, 99));
  ASSERT_TRUE(store_->values()->erase(names("pool/")).ok());
  for (std::uint8_t k = 0; k < 2; ++k) put("position", value(16, k));  // LMDB has the room then
  put("pool/new", chunk);
}

TEST_F(ValuesTest, ASnapshotLeavesOutWhatServesOnce) {
  const std::string pool = "pool/" + std::string(32, '0');
  open();
  add(1);
  for (const char* end : {"/head", "/next", "/0000"}) put(pool + end, value(25, 1));
  put("move/state", value(8, 1));
  const auto seen = [&] {
    store_.reset();
    std::vector<std::string> names;
    auto taken = StoreSnapshot::take(options_, key_);
    EXPECT_TRUE(taken.ok()) << taken.error().message;
    auto done = (*taken)->each([&](const StoredValue& one) -> Result<void> {
      if (one.kind == ValueKind::kKept) names.emplace_back(one.name.begin(), one.name.end());
      return {};
    });
    EXPECT_EQ(done.ok(), !names.empty() && names.size() == 2);
    return names;
  };
  EXPECT_EQ(seen(), (std::vector<std::string>{"move/state", pool + "/head"}));
  open();
  put("a value of a later release", value(1, 1));
  EXPECT_TRUE(seen().empty()) << "it is refused";
}

TEST_F(ValuesTest, ComponentsOfARecordMayDifferInLength) {
  open();
  KeyRecord pair = record(5);
  pair.sharing = kPairSharing;
  pair.fields["u1.ke"].component[0] = value(32, 1);
  pair.fields["u1.ke"].component[1] = value(64, 2);
  pair.fields["pool"].component[0] = value(16, 3);
  ASSERT_TRUE(store_->prepare(pair).ok());
  ASSERT_TRUE(store_->commit(id_of(5)).ok());
  open();
  auto got = store_->get(id_of(5));
  ASSERT_TRUE(got.ok() && *got) << "it is there";
  EXPECT_EQ((*got)->sharing, kPairSharing);
  ASSERT_EQ((*got)->fields.size(), pair.fields.size());
  for (const auto& [name, field] : pair.fields)
    for (int side : {0, 1})
      EXPECT_EQ((*got)->fields.at(name).component[side], field.component[side]) << name;
}

}  // namespace
}  // namespace tkdc
