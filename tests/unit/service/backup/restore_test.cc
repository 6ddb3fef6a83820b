// SPDX-License-Identifier: Apache-2.0
// A store comes back from its backup as it was, and where it must not or cannot, nothing is
// changed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <set>

#include "scratch_backup.h"
#include "service/backup/backup_shelf.h"
#include "service/store/kept_values.h"
#include "service/store/keyring.h"
#include "service/store/store_filler.h"

namespace tkdc {
namespace {

using RestoreTest = ScratchBackup;
namespace fs = std::filesystem;

void expect_says(const std::string& message, const char* what) {
  EXPECT_NE(message.find(what), std::string::npos) << message;
}

// By name; but for LMDB's notes of who reads, which come and go.
std::map<std::string, Bytes> all_in(const std::string& folder) {
  std::map<std::string, Bytes> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "lock.mdb") continue;
    Bytes& octets = out[entry.path().string()];
    std::ifstream in(entry.path(), std::ios::binary);
    if (entry.is_regular_file()) octets = {std::istreambuf_iterator<char>(in), {}};
  }
  return out;
}

TEST_F(RestoreTest, AStoreComesBackAsItWas) {
  fill_store();
  const Bytes head(40, 1);  // of the audit log, which is not in the backup
  ASSERT_TRUE(store_->set_audit_head(head).ok());
  EXPECT_EQ(store_->audit_head().value(), head);
  const auto inventory = store_->inventory().value();
  const std::string path = taken();
  fs::remove_all(options_.path);
  auto restored = restore(path);
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  EXPECT_EQ(restored->former, "");
  open();
  expect_filled();
  EXPECT_EQ(store_->inventory().value(), inventory);
  EXPECT_EQ(store_->epochs().used, 9u);
  EXPECT_EQ(store_->epochs().era, 0u);
  EXPECT_FALSE((*store_->get(id_of(1)))->open_only);
  EXPECT_TRUE(store_->two_levels());
  EXPECT_TRUE(store_->audit_head().value().empty()) << "it takes any log";
}

// Of two servers: a backup has their pools' heads and no block of them, and a store that is made of
// it has none to use, whatever number the backup's had.
TEST_F(RestoreTest, ABackupHoldsNoBlockThatServesOnce) {
  fill_store();
  const std::string pool = "pool/" + std::string(32, 'a');
  const std::string head = pool + "/head", next = pool + "/next", chunk = pool + "/0001";
  Bytes of_head(1 + 8 + 16, 5), number(8), state(8);
  of_head[0] = 1;
  std::fill_n(of_head.begin() + 1, 8, 0);
  of_head[8] = 200;
  number[7] = 16;
  state[3] = 1;
  const SecretVector blocks(768, 0xb1);
  const NamedValue values[] = {{head, of_head},
                               {next, number},
                               {chunk, blocks},
                               {"move/state", state},
                               {kept::kMark, number}};
  ASSERT_TRUE(store_->values()->put(values).ok());
  const std::string path = taken();
  auto contents = check(path);
  ASSERT_TRUE(contents.ok()) << contents.error().message;
  EXPECT_EQ(contents->pools, 1u);
  for (int turn = 0; turn < 2; ++turn) {
    RestoreOptions options = restore_options();
    options.replace = true;
    auto restored = restore(path, options);
    ASSERT_TRUE(restored.ok()) << restored.error().message;
    open();
    ValueTable& now = *store_->values();
    EXPECT_EQ(now.names("").value(), (std::vector<std::string>{"move/state", head, next}));
    EXPECT_EQ(now.get(head).value().value(), SecretVector(of_head.begin(), of_head.end()));
    EXPECT_EQ(Reader(now.get(next).value().value()).u64(), 200u);
    EXPECT_EQ(kept::give_up_blocks(now).value(), 0u);
  }
  // What this release does not know it does not leave out in silence.
  ASSERT_TRUE(store_->values()->put({{{"other", state}}}).ok());
  auto refused = take(kNow + 1);
  ASSERT_FALSE(refused.ok());
  expect_says(refused.error().message, "other");
}

// A backup of a restored store, and so on: the state is the same each time, the generation grows.
TEST_F(RestoreTest, GenerationsGrowOverRestores) {
  fill_store();
  auto first = take();
  ASSERT_TRUE(first.ok());
  open();  // what a server keeps of its audit log makes no backup older
  for (std::uint8_t n = 1; n < 4; ++n) ASSERT_TRUE(store_->set_audit_head(Bytes(40, n)).ok());
  ASSERT_TRUE(restore(first->path).ok());
  auto second = take(kNow + 1);
  ASSERT_TRUE(second.ok());
  EXPECT_GT(second->head.generation, first->head.generation);
  EXPECT_EQ(second->head.inventory, first->head.inventory);
  expect_says(why_not(first->path, restore_options()), "is newer");
  // Within one second, and the first one's former store stays.
  auto restored = restore(second->path);
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  EXPECT_EQ(restored->former, options_.path + ".before-20260921T141320Z-2");
  EXPECT_TRUE(fs::exists(options_.path + ".before-20260921T141320Z/data.mdb"));
  open();
  expect_filled();
}

TEST_F(RestoreTest, AnotherStoreKeyIsUsedAndAnotherKeyring) {
  fill_store();
  const std::string path = taken();
  const Bytes before = octets_in(options_.path + "/keys");
  fs::remove_all(options_.path);
  randombytes_buf(key_.data(), key_.size());  // another host's store.key
  ASSERT_TRUE(restore(path).ok());
  EXPECT_NE(octets_in(options_.path + "/keys"), before);
  open();
  expect_filled();
}

TEST_F(RestoreTest, AfterARefreshTheOtherPairServes) {
  open();
  for (std::uint32_t n = 1; n <= 3; ++n) add(n);
  add_all(3);
  ASSERT_TRUE(store_->refresh()->prepare_refresh(1'800'000'000).ok());
  ASSERT_TRUE(store_->refresh()->commit_refresh().ok());
  // Both may serve yet.
  auto waits = take();
  ASSERT_FALSE(waits.ok());
  expect_says(waits.error().message, "no session has begun");
  EXPECT_TRUE(fs::is_empty(folder_));
  open();
  ASSERT_TRUE(store_->refresh()->begun_with().ok());
  auto backup = take();
  ASSERT_TRUE(backup.ok()) << backup.error().message;
  EXPECT_EQ(backup->head.refresh_epoch, 1u);
  auto contents = check(backup->path);
  ASSERT_TRUE(contents.ok()) << contents.error().message;
  EXPECT_EQ(contents->refreshed_at_s, 1'800'000'000u);
  fs::remove_all(options_.path);
  ASSERT_TRUE(restore(backup->path).ok());
  open();
  expect(1, 2, 3);
  EXPECT_EQ(store_format(), 12);
}

// Of an attempt that is under way a backup has nothing.
TEST_F(RestoreTest, NewSharesThatGrowAreLeftOut) {
  open();
  for (std::uint32_t n = 1; n <= 3; ++n) add(n);
  add_all(3);
  const std::string path = taken();
  ASSERT_TRUE(restore(path).ok());
  open();
  expect(0, 1, 0);
}

TEST_F(RestoreTest, AnOldStoreGetsTwoLevels) {
  without_keyring();
  fill_store();
  ASSERT_FALSE(store_->two_levels());
  const std::string path = taken();
  fs::remove_all(options_.path);
  ASSERT_TRUE(restore(path).ok());
  open();
  expect_filled();
  EXPECT_TRUE(store_->two_levels());
}

TEST_F(RestoreTest, AStoreWhoseKeysAreBeingChangedIsBackedUp) {
  fill_store();
  SecretBuffer next = draw_store_key();
  ASSERT_TRUE(store_->begin_rekey(key_, next).ok());
  RekeyAt at;
  ASSERT_TRUE(store_->rewrite(3, at).ok());
  const std::string path = taken();
  ASSERT_TRUE(restore(path).ok());
  open();
  expect_filled();
}

TEST_F(RestoreTest, WhereAllThreeAreRestoredKeysOfBeforeOnlyOpen) {
  fill_store();
  const std::string path = taken();
  RestoreOptions options = restore_options();
  options.all_three = true;
  auto restored = restore(path, options);
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  EXPECT_EQ(restored->era, 1u);
  open();
  expect_filled();
  EXPECT_EQ(store_->epochs().era, 1u);
  EXPECT_EQ(store_->epochs().used, 0u);
  EXPECT_TRUE((*store_->get(id_of(1)))->open_only);
  add(7);
  EXPECT_FALSE((*store_->get(id_of(7)))->open_only);
}

// What is made after a restore is kept before what was made of the store that it replaced.
TEST_F(RestoreTest, BackupsOfTheStoreThatWasReplacedAreTheOlder) {
  fill_store();
  const std::string early = taken();
  open();
  for (std::uint32_t n = 10; n < 20; ++n) add(n);
  const std::string left = taken(kNow + 1);
  RestoreOptions told = restore_options();
  told.replace = true;
  auto restored = restore(early, told);
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  const std::string present = taken(kNow + 2);
  auto shelf = look_at_backups(folder_);
  ASSERT_TRUE(shelf.ok() && shelf->size() == 3);
  EXPECT_EQ((*shelf)[0].path, present);
  EXPECT_EQ((*shelf)[1].path, left);
  for (const ShelvedBackup& one : to_remove(*shelf, {1, 0}, kNow + 3)) EXPECT_NE(one.path, present);
}

// Also where the store was lost, so that generations began at the backup's.
TEST_F(RestoreTest, BackupsOfTheEraBeforeAreTheOlder) {
  fill_store();
  const std::string early = taken();
  open();
  for (std::uint32_t n = 10; n < 20; ++n) add(n);
  auto left = take(kNow + 1);
  ASSERT_TRUE(left.ok());
  fs::remove_all(options_.path);
  RestoreOptions options = restore_options();
  options.all_three = true;
  ASSERT_TRUE(restore(early, options).ok());
  auto present = take(kNow + 2);
  ASSERT_TRUE(present.ok());
  ASSERT_LT(present->head.generation, left->head.generation);
  EXPECT_EQ(look_at_backups(folder_).value()[0].path, present->path);
  expect_says(why_not(left->path, restore_options()), "is newer");
  EXPECT_EQ(why_not(present->path, restore_options()), "restored");
}

// Its writer has the public key too, and waits for the check to be over.
TEST_F(RestoreTest, AnotherBackupThanTheCheckedOneIsRefused) {
  fill_store();
  const std::string path = taken(), other = taken(kNow + 1);
  const Bytes checked = octets_in(path);
  store_.reset();
  auto fd = open_backup(path);
  auto reader = BackupReader::open(*fd, path, secret_);
  ASSERT_TRUE(reader.ok() && check_backup(**reader).ok());
  const auto before = all_in(options_.path);
  auto begun = Restore::begin(restore_options(), (*reader)->whole_head(), key_);
  ASSERT_TRUE(begun.ok()) << begun.error().message;
  write_octets(path, octets_in(other));
  auto again = BackupReader::open(*fd, path, secret_);
  ASSERT_TRUE(again.ok());
  auto refused = (*begun)->run(**again);
  ASSERT_FALSE(refused.ok());
  expect_says(refused.error().message, "another backup than the one that was checked");
  EXPECT_EQ(all_in(options_.path), before);
  write_octets(path, checked);
  again = BackupReader::open(*fd, path, secret_);
  ASSERT_TRUE(again.ok());
  auto restored = (*begun)->run(**again);
  EXPECT_TRUE(restored.ok()) << restored.error().message;
}

TEST_F(RestoreTest, AKindThatIsUnknownIsNotStored) {
  StoreOptions at = options_;
  at.path = directory_ + "/filled";
  auto filler = StoreFiller::create(at, key_, {});
  ASSERT_TRUE(filler.ok()) << filler.error().message;
  for (int kind : {0, 10, 31, 254}) {
    auto put = (*filler)->put({static_cast<ValueKind>(kind), octets("name"), {}, octets("value")});
    ASSERT_FALSE(put.ok()) << kind;
    expect_says(put.error().message, "no such kind");
  }
}

TEST_F(RestoreTest, ThereIsNoEraAfterTheLast) {
  open();
  Epochs last = store_->epochs();
  last.era = 0xffffffff;
  ASSERT_TRUE(store_->set_epochs(last).ok());
  const std::string path = taken();
  RestoreOptions options = restore_options();
  options.replace = true;
  EXPECT_EQ(why_not(path, options), "restored");
  options.all_three = true;
  expect_says(why_not(path, options), "no era");
}

TEST_F(RestoreTest, TheServersNotesStayAndTheFormerStoreIsKept) {
  fill_store();
  write_octets(options_.path + "/latched", octets("a deviation"));
  const std::string path = taken();
  const Bytes former = octets_in(options_.path + "/data.mdb");
  auto restored = restore(path);
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  EXPECT_EQ(restored->former, options_.path + ".before-20260921T141320Z");
  EXPECT_EQ(octets_in(options_.path + "/latched").size(), 11u);
  EXPECT_EQ(octets_in(restored->former + "/data.mdb"), former);
  EXPECT_FALSE(fs::exists(restored->former + "/latched"));
  EXPECT_FALSE(fs::exists(options_.path + ".restoring"));
}

TEST_F(RestoreTest, WhatMustNotBeChangesNothing) {
  fill_store();
  const std::string path = taken();
  open();
  add(8);
  store_.reset();
  const auto before = all_in(directory_);
  expect_says(why_not(path, restore_options()), "is newer");
  RestoreOptions other = restore_options();
  other.store.party = 2;
  expect_says(why_not(path, other), "is of party 1");
  other = restore_options();
  other.store.installation.fill(0x12);
  expect_says(why_not(path, other), "of installation 1111");
  SecretBuffer right = copy_of(key_);
  key_.data()[0] ^= 1;
  expect_says(why_not(path, restore_options()), "--replace");
  key_ = std::move(right);
  EXPECT_EQ(all_in(directory_), before);
  RestoreOptions told = restore_options();
  told.replace = true;
  auto restored = restore(path, told);
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  open();
  expect_filled();
}

TEST_F(RestoreTest, AFolderThatIsNoStoresIsLeft) {
  fill_store();
  const std::string path = taken();
  fs::remove_all(options_.path);
  fs::create_directories(options_.path + "/somebody's/own");
  write_octets(options_.path + "/file", octets("kept"));
  const auto before = all_in(directory_);
  RestoreOptions told = restore_options();
  told.replace = true;
  expect_says(why_not(path, told), "holds somebody's");
  EXPECT_EQ(all_in(directory_), before);
  fs::remove_all(options_.path + "/somebody's");
  auto restored = restore(path);
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  EXPECT_EQ(restored->former, "");
  EXPECT_EQ(octets_in(options_.path + "/file").size(), 4u);
  open();
  expect_filled();
}

TEST_F(RestoreTest, AStoreThatIsInUseIsLeft) {
  fill_store();
  const std::string path = taken();
  open();
  auto fd = open_backup(path);
  auto reader = BackupReader::open(*fd, path, secret_);
  ASSERT_TRUE(reader.ok());
  RestoreOptions options = restore_options();
  options.replace = true;
  auto begun = Restore::begin(options, (*reader)->whole_head(), key_);
  ASSERT_FALSE(begun.ok());
  expect_says(begun.error().message, "in use");
}

// The second would take away what the first one makes.
TEST_F(RestoreTest, WhereThereIsNoStoreOneRestoresIt) {
  fill_store();
  const std::string path = taken();
  fs::remove_all(options_.path);
  auto fd = open_backup(path);
  auto reader = BackupReader::open(*fd, path, secret_);
  ASSERT_TRUE(reader.ok());
  RestoreOptions linked = restore_options();  // the folder around it is elsewhere
  fs::create_directory_symlink(directory_, directory_ + "/link");
  linked.store.path = directory_ + "/link/" + fs::path(options_.path).filename().string();
  auto first = Restore::begin(linked, (*reader)->whole_head(), key_);
  ASSERT_TRUE(first.ok()) << first.error().message;
  expect_says(why_not(path, restore_options()), "in use");
  auto again = BackupReader::open(*fd, path, secret_);
  auto restored = (*first)->run(**again);
  EXPECT_TRUE(restored.ok()) << restored.error().message;
}

TEST_F(RestoreTest, AStoreThatCannotBeReadIsReplacedWhenTold) {
  fill_store();
  const std::string path = taken();
  write_octets(options_.path + "/keys", octets("damaged"));
  expect_says(why_not(path, restore_options()), "--replace");
  RestoreOptions told = restore_options();
  told.replace = true;
  ASSERT_TRUE(restore(path, told).ok());
  open();
  expect_filled();
}

// In a process that cannot write files longer than `octets`: what a full disk does.
template <class Work>
bool fails_with_room_for(rlim_t octets, const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{octets, octets};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(work() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

TEST_F(RestoreTest, AFullDiskChangesNothing) {
  fill_store();
  const std::string path = taken();
  store_.reset();
  const auto before = all_in(directory_);
  const auto needed = static_cast<rlim_t>(fs::file_size(path));
  for (rlim_t room : {rlim_t{0}, rlim_t{279}, rlim_t{300}, needed - 1})
    EXPECT_TRUE(fails_with_room_for(room, [&] { return take(kNow + 1).ok(); })) << room;
  EXPECT_EQ(all_in(directory_), before);
  const auto whole = static_cast<rlim_t>(fs::file_size(options_.path + "/data.mdb"));
  for (rlim_t room : {rlim_t{0}, rlim_t{40}, rlim_t{8192}, rlim_t{16384}, whole / 2})
    EXPECT_TRUE(fails_with_room_for(room, [&] { return restore(path).ok(); })) << room;
  EXPECT_EQ(all_in(directory_), before);
  open();
  expect_filled();
  // Control: with room it is done.
  EXPECT_FALSE(fails_with_room_for(RLIM_INFINITY, [&] { return take(kNow + 1).ok(); }));
}

// What a run left that was killed is cleared, and does not serve.
TEST_F(RestoreTest, AKilledRunLeavesTheStore) {
  fill_store();
  const std::string path = taken();
  fs::create_directory(options_.path + ".restoring");
  write_octets(options_.path + ".restoring/data.mdb", octets("half"));
  open();
  expect_filled();
  ASSERT_TRUE(restore(path).ok());
  open();
  expect_filled();
}

// Two in one second: the first one stays.
TEST_F(RestoreTest, NoBackupIsOverwritten) {
  fill_store();
  const std::string path = taken();
  const Bytes first = octets_in(path);
  EXPECT_FALSE(take().ok());
  EXPECT_EQ(octets_in(path), first);
}

// Beside a server that goes on making keys, in a process of its own: one moment, whichever.
TEST_F(RestoreTest, ItIsOfOneMoment) {
  open();
  add(1);
  store_.reset();
  const pid_t server = ::fork();
  if (server == 0) {
    auto store = Store::open(options_, key_);
    for (std::uint32_t n = 2; store.ok() && n < 20'000; ++n)
      if (!(*store)->prepare(record(n)).ok() || !(*store)->commit(id_of(n)).ok()) ::_exit(1);
    ::_exit(0);
  }
  std::set<std::uint64_t> counts;
  int status = 0;
  for (std::uint64_t at = kNow; counts.size() < 4; ++at) {
    auto backup = take(at);
    ASSERT_TRUE(backup.ok()) << backup.error().message;
    counts.insert(backup->head.records);
    auto contents = check(backup->path);
    ASSERT_TRUE(contents.ok()) << contents.error().message;
    fs::remove(backup->path);
    if (::waitpid(server, &status, WNOHANG) == server) break;
  }
  ::kill(server, SIGKILL);
  ::waitpid(server, &status, 0);
  EXPECT_GE(counts.size(), 4u) << "they were all of one moment";
}

}  // namespace
}  // namespace tkdc
