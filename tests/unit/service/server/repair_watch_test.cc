// SPDX-License-Identifier: Apache-2.0
// What administrators approve of a repair: each at his own server, for one certificate, and what is
// refused from then on.
#include "service/server/repair_watch.h"

#include <filesystem>
#include <fstream>
#include <tuple>

#include "base/disk.h"
#include "base/hex.h"
#include "scratch_dir.h"
#include "service/store/refresh_table.h"
#include "service/store/repair_table.h"
#include "shares_only.h"

namespace tkdc {
namespace {

class RepairWatchTest : public ScratchDir {
 protected:
  static constexpr int kLost = 2;

  RepairWatchTest() {
    for (int p = 0; p < 3; ++p) {
      Fingerprint& mine = certificate_[static_cast<std::size_t>(p)];
      mine.fill(static_cast<std::uint8_t>(0x10 + p));
    }
    old_.fill(0x77);
    SecretBuffer key(32);
    for (int p = 0; p < 3; ++p) {
      config_[p].party = p;
      config_[p].share_macs = true;
      config_[p].installation = {1, 2, 3};
      config_[p].store_path = directory_ + "/store" + std::to_string(p);
      for (int q = 0; q < 3; ++q)
        if (q != p) config_[p].peers.push_back({q, "", certificate_[static_cast<std::size_t>(q)]});
      StoreOptions options;
      options.path = config_[p].store_path;
      options.party = p;
      options.map_bytes = 16u << 20;
      auto store = Store::open(options, key);
      EXPECT_TRUE(store.ok());
      store_[p] = std::move(*store);
      EXPECT_TRUE(start(p).ok());
    }
  }
  Result<void> start(int p) {
    const auto tell = [this](const std::string& line) { told_ += line + "\n"; };
    const auto audit = [this](const std::string& line) -> Result<void> {
      if (audit_is_full_) return fail("audit: no room");
      audited_ += line + "\n";
      return {};
    };
    watch_[p] = std::make_unique<RepairWatch>(config_[p], certificate_[static_cast<std::size_t>(p)],
                                              *store_[p], jobs_[p], tell, audit);
    return watch_[p]->load();
  }
  PeerPin& pin(int p, int of) {
    return std::ranges::find(config_[p].peers, of, &PeerEntry::party)->certificate;
  }
  std::string new_one() const { return to_hex(certificate_[kLost]); }
  std::string approval() const { return "approve 2 " + new_one(); }
  std::string why(int p, const std::string& words) {
    auto done = watch_[p]->ask(words);
    return done.ok() ? "" : done.error().message;
  }
  void expect_refused(int p, const std::string& words, const std::string& because) {
    EXPECT_NE(why(p, words).find(because), std::string::npos) << why(p, words);
    EXPECT_FALSE(watch_[p]->offer());
  }

  std::array<Fingerprint, 3> certificate_{};
  Fingerprint old_{};
  ServerConfig config_[3];
  std::unique_ptr<Store> store_[3];
  SharesOnly jobs_[3];
  std::string told_, audited_;
  bool audit_is_full_ = false;
  std::unique_ptr<RepairWatch> watch_[3];
};

TEST_F(RepairWatchTest, AllThreeOfferTheSameOrThereIsNone) {
  for (int p : {0, 1}) EXPECT_EQ(why(p, approval()), "");
  EXPECT_FALSE(watch_[2]->offer());
  EXPECT_EQ(why(2, "accept " + new_one()), "");
  for (int p = 0; p < 3; ++p) {
    ASSERT_TRUE(watch_[p]->offer());
    EXPECT_EQ(watch_[p]->offer()->party, kLost);
    EXPECT_EQ(watch_[p]->offer()->order, watch_[0]->offer()->order);
    ASSERT_TRUE(start(p).ok());
    EXPECT_TRUE(watch_[p]->offer()) << "over a restart";
  }
  // Two administrators' approvals for different fingerprints.
  const std::uint64_t first = watch_[0]->offer()->order;
  pin(1, kLost) = old_;
  ASSERT_TRUE(start(1).ok());
  EXPECT_FALSE(watch_[1]->offer()) << "it goes by another one than was approved";
  EXPECT_EQ(why(1, "approve 2 " + to_hex(old_)), "");
  ASSERT_TRUE(watch_[1]->offer());
  EXPECT_NE(watch_[1]->offer()->order, first);
  EXPECT_EQ(why(1, "cancel"), "");
  EXPECT_FALSE(watch_[1]->offer());
  ASSERT_TRUE(start(1).ok());
  EXPECT_FALSE(watch_[1]->offer());
}

// The control of it: but for what they are for, two approvals are alike. Servers that counted them
// would fill a machine that one of the administrators has never seen (Features,
// ASessionIsForANewcomerWhereAllThreeOfferTheSame: the comparison).
TEST_F(RepairWatchTest, OnlyWhatTheyAreForTellsTwoApprovalsApart) {
  EXPECT_EQ(why(0, approval()), "");
  pin(1, kLost) = old_;
  ASSERT_TRUE(start(1).ok());
  EXPECT_EQ(why(1, "approve 2 " + to_hex(old_)), "");
  ASSERT_TRUE(watch_[0]->offer() && watch_[1]->offer());
  const NewcomerOffer one = *watch_[0]->offer(), other = *watch_[1]->offer();
  EXPECT_EQ(std::tie(one.name, one.needs, one.party),
            std::tie(other.name, other.needs, other.party));
  EXPECT_NE(one.order, other.order);
}

TEST_F(RepairWatchTest, WhatIsNotApproved) {
  audit_is_full_ = true;
  expect_refused(0, approval(), "no room");
  audit_is_full_ = false;
  expect_refused(0, "approve 0 " + new_one(), "itself");
  expect_refused(0, "approve 7 " + new_one(), "servers 0, 1 and 2");
  expect_refused(0, "approve 2 " + to_hex(old_), "join --forget-former");
  expect_refused(0, "approve 2 abcd", "64 hexadecimal digits");
  expect_refused(0, "perhaps", "no such request");
  expect_refused(2, "accept " + to_hex(old_), "has the certificate");
  pin(0, kLost).former = old_;
  expect_refused(0, approval(), "a former one");
  pin(0, kLost).former.reset();
  jobs_[0].now.session_up = true;
  expect_refused(0, approval(), "none of them is lost");
  jobs_[0].now.session_up = false;
  config_[0].share_macs = false;
  expect_refused(0, approval(), "store.share_macs");
  config_[0].share_macs = true;
  const auto protocols = config_[0].protocols;
  config_[0].protocols.resize(kMaxProtocols - 1);
  expect_refused(0, approval(), "data.protocols");
  config_[0].protocols = protocols;
  KeyRecord record;
  record.ref.id[0] = 1;
  for (int p : {0, 2}) {
    ASSERT_TRUE(store_[p]->prepare(record).ok());
    ASSERT_TRUE(store_[p]->commit(record.ref.id).ok());
  }
  expect_refused(0, approval(), "1 keys have no MACs");
  expect_refused(2, "accept " + new_one(), "has 1 keys");
  // The control.
  EXPECT_EQ(why(1, approval()), "");
}

TEST_F(RepairWatchTest, TheOldCertificateIsRefusedForGood) {
  pin(0, kLost) = old_;
  ASSERT_TRUE(start(0).ok());
  watch_[0]->session_up();
  expect_refused(0, "approve 2 " + to_hex(old_), "had before");
  ASSERT_TRUE(start(0).ok()) << "it is refused by an approval only";
  pin(0, kLost) = certificate_[kLost];
  ASSERT_TRUE(start(0).ok());
  EXPECT_EQ(why(0, approval()), "");
  EXPECT_EQ(why(0, approval()), "") << "twice";
  EXPECT_EQ(why(0, "cancel"), "");
  for (const bool as_former : {false, true})
    for (int party : {1, 2}) {
      const PeerPin good = pin(0, party);
      pin(0, party) = as_former ? good : PeerPin(old_);
      if (as_former) pin(0, party).former = old_;
      const auto started = start(0);
      ASSERT_FALSE(started.ok());
      EXPECT_NE(started.error().message.find("refused for good"), std::string::npos);
      pin(0, party) = good;
    }
  EXPECT_TRUE(start(0).ok());
}

TEST_F(RepairWatchTest, ItIsOverWithTheCommit) {
  for (int p : {0, 1}) EXPECT_EQ(why(p, approval()), "");
  EXPECT_EQ(why(2, "accept " + new_one()), "");
  for (int p = 0; p < 3; ++p) {
    ASSERT_TRUE(watch_[p]->offer());
  }
  // The survivors are of the next refresh; the new one has keys.
  RefreshTable& refresh = *store_[0]->refresh();
  ASSERT_TRUE(refresh.begin().ok() && refresh.prepare_refresh(1).ok());
  ASSERT_TRUE(store_[0]->commit(refresh.entry()).ok());
  KeyRecord record;
  ASSERT_TRUE(store_[2]->prepare(record).ok() && store_[2]->commit(record.ref.id).ok());
  // Without its line the order stays, for the next start.
  audit_is_full_ = true;
  watch_[0]->session_up();
  EXPECT_TRUE(std::ifstream(repair_order_file(config_[0].store_path)).is_open());
  audit_is_full_ = false;
  ASSERT_TRUE(start(0).ok());
  EXPECT_EQ(audited_.find("repair over"), std::string::npos);
  for (int p : {0, 2}) {
    EXPECT_FALSE(watch_[p]->offer());
    watch_[p]->session_up();
    EXPECT_NE(audited_.find("repair over"), std::string::npos);
    EXPECT_FALSE(watch_[p]->offer());
    EXPECT_FALSE(std::ifstream(repair_order_file(config_[p].store_path)).is_open());
    EXPECT_NE(watch_[p]->ask("status").value().find("\"party\""), std::string::npos);
  }
  EXPECT_NE(told_.find("the repair of server 2 is over"), std::string::npos);
  EXPECT_TRUE(watch_[1]->offer());
}

// An ordinary handshake settles it, in which all three inventories count. A survivor that was told
// "committed" there by a server that lies keeps its shares of before, and can go back to them.
TEST_F(RepairWatchTest, NothingIsOfferedWhileItIsHalfDone) {
  for (int p : {0, 1}) EXPECT_EQ(why(p, approval()), "");
  EXPECT_EQ(why(2, "accept " + new_one()), "");
  ASSERT_TRUE(store_[2]->repair()->begin_repair(0).ok());
  ASSERT_TRUE(store_[2]->repair()->prepare_repair(1, 0).ok());
  for (int p : {0, 1}) {
    RefreshTable& refresh = *store_[p]->refresh();
    ASSERT_TRUE(refresh.begin().ok());
    EXPECT_TRUE(watch_[p]->offer()) << "the control";
    ASSERT_TRUE(refresh.prepare_refresh(1).ok());
  }
  for (int p = 0; p < 3; ++p) EXPECT_FALSE(watch_[p]->offer()) << "prepared " << p;
  // Committed by one that holds its session, and still serves what was before.
  for (int p : {0, 2}) {
    ASSERT_TRUE(store_[p]->refresh()->commit_refresh().ok());
    EXPECT_EQ(store_[p]->refresh()->state().epoch, 0u);
    EXPECT_FALSE(watch_[p]->offer()) << "committed " << p;
    EXPECT_TRUE(store_[p]->repair()->keeps_former());
  }
  // Settled by a lie: there is no offer, and the way back is there.
  ASSERT_TRUE(store_[1]->commit(store_[1]->refresh()->entry()).ok());
  EXPECT_FALSE(watch_[1]->offer());
  EXPECT_TRUE(store_[1]->repair()->keeps_former());
  ASSERT_TRUE(store_[1]->refresh()->undo_refresh().ok());
  EXPECT_FALSE(store_[1]->repair()->keeps_former());
  EXPECT_TRUE(watch_[1]->offer());
}

TEST_F(RepairWatchTest, CertificatesOfBeforeTheyWereNoted) {
  KeyRecord record;
  ASSERT_TRUE(store_[0]->prepare(record).ok() && store_[0]->commit(record.ref.id).ok());
  pin(0, kLost) = old_;
  ASSERT_TRUE(start(0).ok());
  pin(0, kLost) = certificate_[kLost];
  ASSERT_TRUE(start(0).ok());
  const auto peers = store_[0]->repair()->peers().value();
  EXPECT_EQ(std::ranges::count(peers, old_, &PeerCertificate::sha256), 1);
  EXPECT_EQ(std::ranges::count(peers, certificate_[kLost], &PeerCertificate::sha256), 0);
}

TEST_F(RepairWatchTest, AnOrderThatIsDamagedIsNotFollowed) {
  EXPECT_EQ(why(0, approval()), "");
  const std::string file = repair_order_file(config_[0].store_path);
  const std::vector<std::string> damaged = {
      "",         "2 " + new_one() + " 0",    "3 " + new_one() + " 0\n",
      "2 ab 0\n", "2 " + new_one() + " -1\n", "2 " + new_one() + " 0\n\n"};
  for (const std::string& text : damaged) {
    std::ofstream(file, std::ios::trunc) << text;
    EXPECT_FALSE(start(0).ok()) << text;
    EXPECT_FALSE(watch_[0]->offer());
  }
  std::ofstream(file, std::ios::trunc) << "2 " << new_one() << " 0\n";
  EXPECT_TRUE(start(0).ok());
  EXPECT_TRUE(watch_[0]->offer());
}

// The power goes after so many operations: the write that it meets is torn, and nothing follows.
class DyingDisk final : public Disk {
 public:
  explicit DyingDisk(int operations) : left_(operations), real_(disk()) { use_disk(*this); }
  ~DyingDisk() override { use_disk(real_); }
  bool has_died() const { return left_ < 0; }

  std::unique_ptr<File> open(const std::string& path, How how, mode_t mode) override {
    if (dies()) return std::make_unique<DyingFile>(*this, nullptr);
    return std::make_unique<DyingFile>(*this, real_.open(path, how, mode));
  }
  std::optional<std::string> read(const std::string& path, std::uint64_t from,
                                  std::size_t most) override {
    return real_.read(path, from, most);
  }
  bool remove(const std::string& path) override { return dies() || real_.remove(path); }
  bool rename(const std::string& from, const std::string& to) override {
    return dies() || real_.rename(from, to);
  }
  bool sync_folder(const std::string& folder) override {
    return dies() || real_.sync_folder(folder);
  }

 private:
  class DyingFile final : public File {
   public:
    DyingFile(DyingDisk& disk, std::unique_ptr<File> file) : disk_(disk), file_(std::move(file)) {}
    ssize_t write(ByteSpan contents) override {
      const bool was_dead = disk_.has_died();
      if (!disk_.dies()) return file_->write(contents);
      if (!was_dead && file_) (void)file_->write(contents.first(contents.size() / 2));
      return static_cast<ssize_t>(contents.size());
    }
    bool sync() override { return disk_.dies() || file_->sync(); }

   private:
    DyingDisk& disk_;
    std::unique_ptr<File> file_;
  };
  bool dies() {
    if (left_ >= 0) --left_;
    return left_ < 0;
  }
  int left_;
  Disk& real_;
};

// Whenever it goes, the server starts, and has the order of before or the new one.
TEST_F(RepairWatchTest, NoLossOfPowerTearsAnOrder) {
  const RepairOrder before{2, old_, 0}, after{2, certificate_[kLost], 0};
  const std::string& store = config_[0].store_path;
  // open, write, sync, sync of the folder, rename; sync of the folder
  constexpr int kRenamed = 5, kOperations = 6;
  for (const bool had_one : {false, true})
    for (int k = 0; k <= kOperations; ++k) {
      std::filesystem::remove(repair_order_file(store));
      ASSERT_TRUE(!had_one || write_repair_order(store, before).ok());
      {
        const DyingDisk dying(k);
        ASSERT_TRUE(write_repair_order(store, after).ok()) << "the dead say that it is done";
        EXPECT_EQ(dying.has_died(), k < kOperations) << k;
      }
      const auto order = read_repair_order(store);
      ASSERT_TRUE(order.ok()) << k << ": " << order.error().message;
      EXPECT_EQ(order->has_value(), had_one || k >= kRenamed) << k;
      const Fingerprint expected = k >= kRenamed ? after.certificate : before.certificate;
      EXPECT_TRUE(!*order || (*order)->certificate == expected) << k;
      EXPECT_TRUE(start(0).ok()) << k;
    }
}

}  // namespace
}  // namespace tkdc
