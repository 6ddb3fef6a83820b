// SPDX-License-Identifier: Apache-2.0
// The store's keys and what they are wrapped under: two levels, changed at any moment, with a
// kill -9 at random instants; after it the old keys open nothing. TKDC_TEST_SEED repeats a run.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>

#include "scratch_store.h"
#include "service/store/keyring.h"
#include "service/store/lmdb.h"
#include "service/store/row_ciphers.h"

namespace tkdc {
namespace {

// Of a store that is in one refresh epoch.
class Ciphers {
 public:
  Ciphers(const StoreKeys& keys, const StoreOwner& owner)
      : store_(store_cipher(keys, owner)),
        rows_(keys, keys.epochs.at(0).id, keys.epochs.at(0).id, owner) {}
  bool decrypt(std::string_view table, ByteSpan name, ByteSpan value, SecretVector& plain) const {
    const auto at = std::ranges::find(Tables::kNames, table) - std::begin(Tables::kNames);
    const StoreCipher* row = rows_.of(static_cast<Tables::Table>(at), name);
    return (row != nullptr ? *row : store_).decrypt(table, name, value, plain);
  }

 private:
  StoreCipher store_;
  RowCiphers rows_;
};

class RekeyTest : public ScratchStore {
 protected:
  RekeyTest() : next_(draw_store_key()), ring_(options_.path, owner()) {}

  StoreOwner owner() const { return {options_.installation, options_.party}; }
  void fill(std::uint32_t keys) {
    for (std::uint32_t n = 1; n <= keys; ++n) add(n);
    ASSERT_TRUE(store_->prepare(record(900)).ok());
    ASSERT_TRUE(store_->destroy(id_of(2)).ok());
    ASSERT_TRUE(store_->condemn(id_of(3)).ok());
    ASSERT_TRUE(store_->set_seal_mark(id_of(1), 77).ok());
    ASSERT_TRUE(store_->set_revoked(Bytes{1, 2, 3}).ok());
    use_epochs(9);
  }
  void expect_all(std::uint32_t keys) {
    for (std::uint32_t n = 1; n <= keys; ++n) {
      auto got = store_->get(id_of(n));
      ASSERT_TRUE(got.ok()) << got.error().message;
      EXPECT_EQ(*got == nullptr, n == 2) << n;
      if (*got == nullptr) continue;
      for (int side : {0, 1})
        EXPECT_EQ((*got)->fields.at("base").component[side],
                  record(n).fields.at("base").component[side]);
    }
    EXPECT_EQ(store_->prepared().value(), std::vector<KeyId>{id_of(900)});
    EXPECT_EQ(store_->condemned().value(), std::vector<KeyId>{id_of(3)});
    EXPECT_TRUE(store_->buried(id_of(2)).value());
    EXPECT_EQ(store_->seal_mark(id_of(1)).value(), 77u);
    EXPECT_EQ(store_->revoked().value(), (Bytes{1, 2, 3}));
    EXPECT_EQ(store_->epochs().used, 9u);
  }
  void rekey(std::size_t most = 3) {
    auto done = store_->begin_rekey(key_, next_);
    ASSERT_TRUE(done.ok()) << done.error().message;
    rewrite(most);
    done = store_->end_rekey(next_);
    ASSERT_TRUE(done.ok()) << done.error().message;
    std::swap(key_, next_);
  }
  void rewrite(std::size_t most) {
    RekeyAt at;
    const auto of = store_->values_to_rewrite();
    ASSERT_TRUE(of.ok()) << of.error().message;
    for (std::size_t all = 0;;) {
      auto seen = store_->rewrite(most, at);
      ASSERT_TRUE(seen.ok()) << seen.error().message;
      ASSERT_LE(*seen, most);
      all += *seen;
      if (*seen == 0) {
        EXPECT_EQ(all, *of) << "as whoever waits for it was told";
        return;
      }
    }
  }
  bool opens_with(const SecretBuffer& key) {
    store_.reset();
    return Store::open(options_, key).ok();
  }
  StoreKeys keys() {
    auto read = ring_.read(key_);
    EXPECT_TRUE(read.ok()) << read.error().message;
    return std::move(*read);
  }

  SecretBuffer next_;
  Keyring ring_;
};

TEST_F(RekeyTest, TheWrappingKeyEncryptsNoValue) {
  open();
  add(1);
  store_.reset();
  EXPECT_NE(std::memcmp(keys().current.data(), key_.data(), kStoreKeyBytes), 0);
  EXPECT_EQ(std::filesystem::status(options_.path + "/keys").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(RekeyTest, EverythingIsThereAfterwardsAndTheOldKeyOpensNothing) {
  open();
  fill(12);
  const Digest before = store_->inventory().value();
  const SecretBuffer old = copy_of(key_);
  rekey();
  expect_all(12);
  EXPECT_EQ(store_->inventory().value(), before) << "the three servers still agree";
  add(50);
  open();
  expect_all(12);
  EXPECT_FALSE(opens_with(old));
  EXPECT_EQ(ring_.slots().value(), 1u);
  EXPECT_FALSE(keys().previous);
}

TEST_F(RekeyTest, NoValueIsLeftUnderTheOldKey) {
  open();
  fill(5);
  store_.reset();
  const Ciphers before(keys(), owner());
  open();
  rekey();
  store_.reset();
  const Ciphers after(keys(), owner());
  MDB_env* env = nullptr;
  ASSERT_EQ(mdb_env_create(&env), 0);
  mdb_env_set_maxdbs(env, 8);
  ASSERT_EQ(mdb_env_open(env, options_.path.c_str(), MDB_RDONLY, 0600), 0);
  std::size_t values = 0;
  {
    LmdbTxn txn(env, MDB_RDONLY);
    for (const char* table :
         {"committed", "prepared", "tombstones", "meta", "condemned", "seals"}) {
      MDB_dbi dbi = 0;
      MDB_cursor* cursor = nullptr;
      ASSERT_EQ(mdb_dbi_open(txn.get(), table, 0, &dbi), 0);
      ASSERT_EQ(mdb_cursor_open(txn.get(), dbi, &cursor), 0);
      MDB_val k{}, v{};
      while (mdb_cursor_get(cursor, &k, &v, MDB_NEXT) == 0) {
        if (lmdb_span(k).size() == 5 && std::memcmp(k.mv_data, "owner", 5) == 0) continue;
        SecretVector plain;
        EXPECT_FALSE(before.decrypt(table, lmdb_span(k), lmdb_span(v), plain)) << table;
        EXPECT_TRUE(after.decrypt(table, lmdb_span(k), lmdb_span(v), plain)) << table;
        values++;
      }
      mdb_cursor_close(cursor);
    }
  }
  mdb_env_close(env);
  EXPECT_EQ(values, 4u + 1 + 1 + 4 + 1 + 1) << "one of each table at least";
}

TEST_F(RekeyTest, AStoreOfBeforeGetsTwoLevels) {
  without_keyring();
  open();
  EXPECT_FALSE(store_->two_levels());
  fill(4);
  open();
  EXPECT_FALSE(store_->two_levels()) << "by itself it stays as it is";
  const SecretBuffer old = copy_of(key_);
  rekey();
  EXPECT_TRUE(store_->two_levels());
  open();
  expect_all(4);
  EXPECT_FALSE(opens_with(old));
}

// The keys are on disk, what the store says of its format is not: a loss of power between the two.
TEST_F(RekeyTest, StoppedBetweenTheKeysAndTheFormat) {
  namespace fs = std::filesystem;
  const std::string data = options_.path + "/data.mdb", keys = options_.path + "/keys";
  without_keyring();
  open();
  fill(6);
  store_.reset();
  const std::string before = options_.path + "/data.before";
  fs::copy_file(data, before);
  const SecretBuffer old = copy_of(key_);
  for (const bool with_old : {true, false}) {
    key_ = copy_of(old);
    open();
    ASSERT_TRUE(store_->begin_rekey(key_, next_).ok());
    store_.reset();
    fs::copy_file(before, data, fs::copy_options::overwrite_existing);
    key_ = copy_of(with_old ? old : next_);
    open();
    EXPECT_TRUE(store_->rekey_is_under_way());
    expect_all(6);
    add(70);  // under a key that a release of before has not
    store_.reset();
    fs::rename(keys, keys + ".aside");
    auto opened = Store::open(options_, old);
    ASSERT_FALSE(opened.ok());
    EXPECT_NE(opened.error().message.find("keys is missing"), std::string::npos)
        << "it says its format, by which a release of before refuses it: "
        << opened.error().message;
    fs::rename(keys + ".aside", keys);
    open();
    expect_all(6);
    EXPECT_NE(store_->get(id_of(70)).value(), nullptr);
    store_.reset();
    fs::remove(keys);
    fs::copy_file(before, data, fs::copy_options::overwrite_existing);
  }
  key_ = copy_of(old);
  open();
  rekey();
  expect_all(6);
  EXPECT_FALSE(opens_with(old));
}

TEST_F(RekeyTest, TheServerWorksInTheMiddleOfIt) {
  open();
  fill(8);
  const SecretBuffer old = copy_of(key_);
  ASSERT_TRUE(store_->begin_rekey(key_, next_).ok());
  RekeyAt at;
  ASSERT_EQ(store_->rewrite(4, at).value(), 4u);
  for (const bool with_old : {true, false}) {
    key_ = copy_of(with_old ? old : next_);
    open();
    EXPECT_TRUE(store_->rekey_is_under_way());
    expect_all(8);
  }
  add(60);  // under the new key
  ASSERT_TRUE(store_->commit(id_of(900)).ok());
  ASSERT_TRUE(store_->destroy(id_of(900)).ok());
  ASSERT_TRUE(store_->prepare(record(901)).ok());
  ASSERT_TRUE(store_->abandon(id_of(901)).ok());
  rekey();
  EXPECT_FALSE(store_->rekey_is_under_way());
  open();
  EXPECT_NE(store_->get(id_of(60)).value(), nullptr);
}

TEST_F(RekeyTest, AnotherKeyForRecoveryOpensUntilTheNextChange) {
  open();
  add(1);
  store_.reset();
  const SecretBuffer recovery = draw_store_key();
  ASSERT_TRUE(ring_.add(key_, recovery).ok());
  EXPECT_EQ(ring_.slots().value(), 2u);
  EXPECT_TRUE(opens_with(recovery));
  EXPECT_TRUE(opens_with(key_));
  open();
  rekey();
  EXPECT_FALSE(opens_with(recovery));
}

TEST_F(RekeyTest, TheKeysAreMissingOrDamaged) {
  open();
  add(1);
  store_.reset();
  const std::string file = options_.path + "/keys", aside = options_.path + "/aside";
  std::filesystem::rename(file, aside);
  auto opened = Store::open(options_, key_);
  ASSERT_FALSE(opened.ok());
  for (const char* said : {"keys is missing", "of the same moment as data.mdb"})
    EXPECT_NE(opened.error().message.find(said), std::string::npos) << opened.error().message;
  std::ifstream in(aside, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  for (std::size_t k = 0; k < whole.size(); ++k) {
    std::string changed = whole;
    changed[k] = static_cast<char>(changed[k] ^ 1);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << changed;
    EXPECT_FALSE(Store::open(options_, key_).ok()) << "octet " << k;
    std::ofstream(file, std::ios::binary | std::ios::trunc) << whole.substr(0, k);
    EXPECT_FALSE(Store::open(options_, key_).ok()) << "cut at " << k;
  }
  std::ofstream(file, std::ios::binary | std::ios::trunc) << whole << "x";
  EXPECT_FALSE(Store::open(options_, key_).ok());
  std::ofstream(file, std::ios::binary | std::ios::trunc) << whole;
  open();
}

TEST_F(RekeyTest, AnotherPartysKeysAreRefused) {
  open();
  store_.reset();
  for (const StoreOwner& other :
       {StoreOwner{options_.installation, 2}, StoreOwner{InstallationId{9}, options_.party}})
    EXPECT_FALSE(Keyring(options_.path, other).read(key_).ok());
}

// For docs/operations.md, by hand: store_test --gtest_also_run_disabled_tests
// --gtest_filter='*HowLong*'
TEST_F(RekeyTest, DISABLED_HowLongItTakes) {
  constexpr std::uint32_t kKeys = 20'000;
  options_.map_bytes = std::size_t{1} << 30;
  open();
  for (std::uint32_t n = 1; n <= kKeys; ++n) {
    ASSERT_TRUE(store_->prepare(record(n, 800)).ok());
    ASSERT_TRUE(store_->commit(id_of(n)).ok());
  }
  const auto start = std::chrono::steady_clock::now();
  rekey(1'000);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%u keys in %.2f s\n", kKeys, took.count());
}

// A child changes keys for ever; wherever it is killed, one of the two wrapping keys opens a whole
// store, and the change can be taken up again.
TEST_F(RekeyTest, KilledAtAnyMoment) {
  open();
  fill(30);
  store_.reset();
  const char* given = std::getenv("TKDC_TEST_SEED");
  const unsigned seed =
      given != nullptr ? static_cast<unsigned>(std::atoi(given)) : std::random_device()();
  SCOPED_TRACE("TKDC_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  // Shared with the children: how many changes they have brought to their end.
  void* shared = mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& ended = *new (shared) std::atomic<int>(0);
  std::size_t under_way = 0;
  for (int round = 0; round < 24; ++round) {
    store_.reset();  // else the child could not lock it
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      while (!HasFailure()) {
        open();
        rekey(2);  // back and forth between the same two
        ended++;
      }
      _exit(9);
    }
    usleep(std::uniform_int_distribution<useconds_t>(1'000, 60'000)(random));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it failed by itself";
    if (!opens_with(key_)) std::swap(key_, next_);
    open();
    expect_all(30);
    under_way += store_->rekey_is_under_way() ? 1 : 0;
    rekey();
    expect_all(30);
  }
  EXPECT_GT(ended + static_cast<int>(under_way), 0) << "the children did nothing";
  munmap(shared, sizeof(std::atomic<int>));
}

}  // namespace
}  // namespace tkdc
