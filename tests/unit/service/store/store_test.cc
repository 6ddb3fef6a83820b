// SPDX-License-Identifier: Apache-2.0
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "scratch_store.h"
#include "service/store/key_count.h"
#include "service/store/record_codec.h"

namespace tkdc {
namespace {

using StoreTest = ScratchStore;

TEST_F(StoreTest, RecordSurvivesReopening) {
  open();
  add(7);
  open();
  auto got = store_->get(id_of(7));
  ASSERT_TRUE(got.ok()) << got.error().message;
  ASSERT_NE(*got, nullptr);
  KeyRecord expected = record(7);
  EXPECT_EQ((*got)->ref, expected.ref);
  EXPECT_EQ((*got)->principal_name, expected.principal_name);
  EXPECT_EQ((*got)->fields.at("u1.ke").component[1], expected.fields.at("u1.ke").component[1]);
  EXPECT_EQ(store_->count(), 1u);
}

TEST_F(StoreTest, PreparedIsInvisibleUntilCommitted) {
  open();
  ASSERT_TRUE(store_->prepare(record(1)).ok());
  EXPECT_EQ(store_->get(id_of(1)).value(), nullptr) << "visible too early";
  EXPECT_EQ(store_->prepared().value(), std::vector<KeyId>{id_of(1)});
  EXPECT_FALSE(store_->committed(id_of(1)).value());
  ASSERT_TRUE(store_->commit(id_of(1)).ok());
  EXPECT_TRUE(store_->committed(id_of(1)).value());
  EXPECT_TRUE(store_->prepared().value().empty());
  EXPECT_TRUE(store_->commit(id_of(1)).ok()) << "committing twice is harmless";
}

TEST_F(StoreTest, CommittedKeysAreListedInOrderAPageAtATime) {
  open();
  std::vector<KeyId> all;
  for (std::uint32_t number = 1; number <= 7; ++number) {
    add(number);
    all.push_back(id_of(number));
  }
  ASSERT_TRUE(store_->prepare(record(8)).ok());
  ASSERT_TRUE(store_->destroy(id_of(3)).ok());
  std::erase(all, id_of(3));
  std::ranges::sort(all);
  for (std::size_t most : {1u, 2u, 6u, 100u}) {
    std::vector<KeyId> listed;
    for (KeyId after{};;) {
      auto page = store_->ids_behind(after, most);
      ASSERT_TRUE(page.ok()) << page.error().message;
      ASSERT_LE(page->size(), most);
      if (page->empty()) break;
      listed.insert(listed.end(), page->begin(), page->end());
      after = listed.back();
    }
    EXPECT_EQ(listed, all) << most;
  }
}

// Closed first: one process opens an environment of LMDB once, and who counts is another.
TEST_F(StoreTest, ItsKeysAreCountedWithoutItsKey) {
  open();
  const std::string folder = options_.path;
  store_.reset();
  EXPECT_EQ(count_keys(folder).value(), 0u);
  open();
  for (std::uint8_t number = 1; number <= 3; ++number) add(number);
  ASSERT_TRUE(store_->prepare(record(4)).ok());
  ASSERT_TRUE(store_->destroy(id_of(2)).ok());
  store_.reset();
  EXPECT_EQ(count_keys(folder).value(), 3u) << "two committed, one prepared, one destroyed";
  auto none = count_keys(folder + "/nowhere");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("/nowhere: No such file"), std::string::npos);
}

TEST_F(StoreTest, AbandonedCanBePreparedAgain) {
  open();
  ASSERT_TRUE(store_->prepare(record(1)).ok());
  ASSERT_TRUE(store_->abandon(id_of(1)).ok());
  EXPECT_FALSE(store_->commit(id_of(1)).ok());
  EXPECT_TRUE(store_->prepare(record(1)).ok());
}

TEST_F(StoreTest, RefusesSecondRecordOfAnId) {
  open();
  add(1);
  auto again = store_->prepare(record(1));
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().message.find("exists already"), std::string::npos);
}

TEST_F(StoreTest, DestroyedLeavesATombstone) {
  open();
  auto empty = store_->inventory().value();
  add(1);
  auto full = store_->inventory().value();
  ASSERT_TRUE(store_->get(id_of(1)).value() != nullptr);
  ASSERT_TRUE(store_->destroy(id_of(1)).ok());
  EXPECT_EQ(store_->get(id_of(1)).value(), nullptr) << "still in the cache";
  auto buried = store_->inventory().value();
  EXPECT_NE(empty, full);
  EXPECT_NE(buried, empty);
  EXPECT_NE(buried, full);
  EXPECT_FALSE(store_->prepare(record(1)).ok()) << "an id is used once";
  EXPECT_TRUE(store_->destroy(id_of(99)).ok());
  EXPECT_EQ(store_->inventory().value(), buried) << "unknown ids leave nothing";
}

TEST_F(StoreTest, CondemnedIsUsableUntilDestroyed) {
  open();
  EXPECT_FALSE(store_->condemn(id_of(1)).ok()) << "nothing to remove";
  add(1);
  auto inventory = store_->inventory().value();
  ASSERT_TRUE(store_->condemn(id_of(1)).ok());
  open();
  EXPECT_EQ(store_->condemned().value(), std::vector<KeyId>{id_of(1)});
  EXPECT_NE(store_->get(id_of(1)).value(), nullptr);
  EXPECT_EQ(store_->inventory().value(), inventory);
  ASSERT_TRUE(store_->pardon(id_of(1)).ok());
  EXPECT_TRUE(store_->condemned().value().empty());
  ASSERT_TRUE(store_->condemn(id_of(1)).ok());
  ASSERT_TRUE(store_->destroy(id_of(1)).ok());
  EXPECT_TRUE(store_->condemned().value().empty());
  EXPECT_TRUE(store_->buried(id_of(1)).value());
}

TEST_F(StoreTest, InventoryIsTheSameAtAllParties) {
  open();
  add(1);
  add(2);
  auto here = store_->inventory().value();
  options_.party = 2;
  options_.path = directory_ + "/other";
  randombytes_buf(key_.data(), key_.size());
  open();
  add(2);
  add(1);
  EXPECT_EQ(store_->inventory().value(), here);
}

TEST_F(StoreTest, EpochGrowsAndPersists) {
  open();
  EXPECT_EQ(store_->epochs(), Epochs());
  const Epochs five{0, 5, 4, 777, 1'800'000'000};
  ASSERT_TRUE(store_->set_epochs(five).ok());
  EXPECT_FALSE(store_->set_epochs({0, 4, 4}).ok()) << "reserved falls";
  EXPECT_FALSE(store_->set_epochs({0, 5, 3}).ok()) << "used falls";
  EXPECT_FALSE(store_->set_epochs({0, 5, 6}).ok()) << "used, but not reserved";
  EXPECT_FALSE(store_->set_epochs({0, kMaxEpoch + 1, 5}).ok());
  open();
  EXPECT_EQ(store_->epochs(), five);
}

TEST_F(StoreTest, AnEraCountsFromZeroAndOlderRecordsOnlyOpen) {
  open();
  add(1);
  ASSERT_TRUE(store_->prepare(record(2)).ok());
  ASSERT_TRUE(store_->set_epochs({0, 9, 9}).ok());
  EXPECT_FALSE(store_->get(id_of(1)).value()->open_only);
  ASSERT_TRUE(store_->set_epochs({1, 0, 0}).ok());
  EXPECT_FALSE(store_->set_epochs({0, 10, 10}).ok()) << "back to the era before";
  open();
  EXPECT_EQ(store_->epochs().era, 1u);
  // What was half made before the change is of before it.
  ASSERT_TRUE(store_->commit(id_of(2)).ok());
  add(3);
  EXPECT_TRUE(store_->get(id_of(1)).value()->open_only);
  EXPECT_TRUE(store_->get(id_of(2)).value()->open_only);
  EXPECT_FALSE(store_->get(id_of(3)).value()->open_only);
}

// Its name is written only where it is another one, so that older releases read the rest.
TEST(RecordCodec, TheSharingIsKeptAndReplicatedSharingHasTheFormatBefore) {
  KeyRecord record, again;
  const SecretVector plain = encode_record(record);
  EXPECT_EQ(plain[0], 2);
  ASSERT_TRUE(decode_record(plain, again));
  EXPECT_EQ(again.sharing, kReplicatedSharing);
  record.sharing = "authenticated-2";
  const SecretVector named = encode_record(record);
  ASSERT_TRUE(decode_record(named, again));
  EXPECT_EQ(again.sharing, "authenticated-2");
  EXPECT_EQ(encode_record(again), named);
  SecretVector unknown = named;
  unknown[0] = 4;
  EXPECT_FALSE(decode_record(unknown, again));
  unknown[0] = 0;
  EXPECT_FALSE(decode_record(unknown, again));
}

TEST(RecordCodec, ARecordOfTheFormatBeforeIsOfEraZero) {
  KeyRecord record;
  record.principal_name = "krbtgt/A@A";
  SecretVector encoded = encode_record(record, 0);
  // Format 1 had no era, which stands behind the version.
  const std::size_t era = encoded.size() - 4 - 4;
  encoded.erase(encoded.begin() + static_cast<std::ptrdiff_t>(era),
                encoded.begin() + static_cast<std::ptrdiff_t>(era + 4));
  encoded[0] = 1;
  KeyRecord again;
  ASSERT_TRUE(decode_record(encoded, again));
  EXPECT_EQ(again.era, 0u);
  EXPECT_EQ(again.principal_name, record.principal_name);
}

TEST_F(StoreTest, OneProcessAtATime) {
  open();
  auto second = Store::open(options_, key_);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("in use"), std::string::npos);
}

TEST_F(StoreTest, FilesAreForTheOwnerOnly) {
  open();
  struct stat st {};
  ASSERT_EQ(stat(options_.path.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0700u);
  ASSERT_EQ(stat((options_.path + "/data.mdb").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0077, 0u);
}

TEST_F(StoreTest, FullMapIsRefusedAndHarmless) {
  options_.map_bytes = 1u << 20;
  open();
  std::uint32_t n = 0;
  Result<void> last;
  while (n < 1000 && (last = store_->prepare(record(n, 8000))).ok()) ++n;
  ASSERT_FALSE(last.ok());
  EXPECT_NE(last.error().message.find("map_size_mib"), std::string::npos) << last.error().message;
  ASSERT_GT(n, 3u);
  EXPECT_EQ(store_->prepared().value().size(), n);
  ASSERT_TRUE(store_->abandon(id_of(0)).ok()) << "making room is possible";
  open();
  EXPECT_EQ(store_->prepared().value().size(), n - 1);
}

class FullMap : public ScratchStore, public testing::WithParamInterface<std::size_t> {
 protected:
  // Adds keys, of two sizes, `at_once` prepared before the first of them is committed, until one is
  // refused.
  void fill(std::uint32_t at_once) {
    for (bool full = false; !full;) {
      ASSERT_LT(keys_.size(), 3'000u);
      std::vector<std::uint32_t> prepared;
      while (!full && prepared.size() < at_once) {
        full = !store_->prepare(record(next_, next_ % 3 == 0 ? 32 : GetParam())).ok();
        if (!full) prepared.push_back(next_++);
      }
      for (std::uint32_t key : prepared) {
        auto done = store_->commit(id_of(key));
        ASSERT_TRUE(done.ok()) << done.error().message;
        keys_.push_back(key);
      }
    }
  }

  void remove_every(std::size_t nth) {
    std::vector<std::uint32_t> kept;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (i % nth != 0) {
        kept.push_back(keys_[i]);
        continue;
      }
      ASSERT_TRUE(store_->condemn(id_of(keys_[i])).ok());
      ASSERT_TRUE(store_->destroy(id_of(keys_[i])).ok());
    }
    keys_ = kept;
  }

  std::uint32_t next_ = 0;
  std::vector<std::uint32_t> keys_;
};

// Else one server would lack what the others have committed, or could begin no session.
TEST_P(FullMap, RefusesKeysAndNothingElse) {
  options_.map_bytes = 1u << 20;
  open();
  for (std::uint32_t at_once : {3u, 1u, 2u, 1u}) {
    ASSERT_NO_FATAL_FAILURE(fill(at_once));
    open();
    for (int i = 0; i < 20; ++i) use_epochs(store_->epochs().used + 1);
    ASSERT_NO_FATAL_FAILURE(remove_every(at_once + 1));
  }
  ASSERT_NO_FATAL_FAILURE(remove_every(1));
  EXPECT_TRUE(store_->prepare(record(next_, GetParam())).ok()) << "removing keys makes room";
}

INSTANTIATE_TEST_SUITE_P(FieldOctets, FullMap, testing::Values(32, 400, 1'000, 2'500, 8'000));

TEST_F(StoreTest, FullDiskIsRefusedAndHarmless) {
  std::string disk = directory_ + "/disk";
  ASSERT_EQ(mkdir(disk.c_str(), 0700), 0);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=1m") != 0)
    GTEST_SKIP() << "no right to mount a small file system";
  options_.path = disk + "/store";
  open();
  std::uint32_t n = 0;
  Result<void> last;
  while (n < 1000 && (last = store_->prepare(record(n, 8000))).ok()) ++n;
  EXPECT_FALSE(last.ok());
  if (!last.ok()) {
    EXPECT_NE(last.error().message.find("free space"), std::string::npos) << last.error().message;
  }
  EXPECT_EQ(store_->prepared().value().size(), n);
  open();
  EXPECT_EQ(store_->prepared().value().size(), n);
  store_.reset();
  umount(disk.c_str());
}

TEST_F(StoreTest, ReadersAndWritersTogether) {
  open();
  for (std::uint32_t n = 0; n < 8; ++n) add(n);
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t)
    readers.emplace_back([&] {
      for (std::uint32_t n = 0; !stop; n = (n + 1) % 16) {
        auto got = store_->get(id_of(n));
        ASSERT_TRUE(got.ok());
        if (*got != nullptr) {
          EXPECT_EQ((*got)->ref.kvno, n);
        }
      }
    });
  for (std::uint32_t n = 8; n < 16; ++n) add(n);
  for (std::uint32_t n = 0; n < 8; ++n) ASSERT_TRUE(store_->destroy(id_of(n)).ok());
  stop = true;
  for (auto& reader : readers) reader.join();
  for (std::uint32_t n = 0; n < 8; ++n) EXPECT_EQ(store_->get(id_of(n)).value(), nullptr);
}

}  // namespace
}  // namespace tkdc
