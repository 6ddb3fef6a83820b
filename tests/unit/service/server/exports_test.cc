// SPDX-License-Identifier: Apache-2.0
// One server's decision about an export, with a store of its own and a clock of the test's.
#include "service/server/exports.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "scratch_dir.h"
#include "service/export/approver_key.h"
#include "service/server/local_socket.h"

#include <thread>

namespace tkdc {
namespace {

constexpr std::uint64_t kAskedAt = 1'800'000'000;

class ServersExports : public ScratchDir {
 protected:
  ServersExports() {
    SecretBuffer store_key(32);
    StoreOptions options;
    options.path = directory_ + "/store";
    options.map_bytes = std::size_t{16} << 20;
    auto store = Store::open(options, store_key);
    EXPECT_TRUE(store.ok());
    store_ = std::move(*store);
    request_.realm = "A.TEST";
    request_.expires_at_s = kAskedAt + 3600;
    request_.nonce.fill(3);
    crypto_box_keypair(request_.recipient.data(), recipient_.data());
    add("alice@A.TEST", KeyForm::kStandard);
    add("krbtgt/A.TEST@A.TEST", KeyForm::kGcm);
    start();
  }

  ExportKey list(const std::string& name) {
    ExportKey key;
    key.id.fill(++listed_);
    key.kvno = 2;
    key.enctype = 18;
    key.principal = name;
    request_.keys.push_back(key);
    return key;
  }
  KeyRecord record_of(const ExportKey& key) const {
    KeyRecord record;
    record.ref = key_ref(request_.installation, key);
    record.principal_name = key.principal;
    return record;
  }
  void store(const KeyRecord& record) {
    EXPECT_TRUE(store_->prepare(record).ok());
    EXPECT_TRUE(store_->commit(record.ref.id).ok());
  }
  void add(const std::string& name, KeyForm form, std::string_view sharing = kReplicatedSharing) {
    KeyRecord record = record_of(list(name));
    record.form = form;
    record.sharing = sharing;
    record.fields["key"] = SharedBytes(32);
    store(record);
  }

  // As after a restart.
  void start() {
    ExportsOptions options;
    options.parties = parties_;
    for (int party = 0; party < parties_; ++party)
      options.approvers.push_back({"admin" + std::to_string(party), party,
                                   approver_public_key(seeds_[static_cast<std::size_t>(party)])});
    options.used_file = used_requests_file(directory_ + "/store");
    crypto_box_keypair(public_key_.data(), options.secret.data());
    options.now_s = [this] {
      if (stop_while_checked_) exports_->stop();
      return now_s_;
    };
    options.audit = [this](const std::string& event) {
      if (!audit_works_) return Result<void>(fail("the disk is full"));
      audited_.push_back(event);
      return Result<void>();
    };
    options.audit_on_disk = [this](const std::vector<std::string>& events) {
      if (!audit_works_) return Result<void>(fail("the disk is full"));
      audited_.insert(audited_.end(), events.begin(), events.end());
      return Result<void>();
    };
    exports_ = std::make_unique<Exports>(std::move(options), *store_);
  }

  std::string approval(std::size_t who) const {
    return encode(approve(request_digest(encode(request_)), seeds_[who]));
  }
  std::string trouble() {
    auto done = exports_->hand_over(encode(request_), {approval(0), approval(2)});
    return done.ok() ? "" : done.error().message;
  }
  std::string trouble_with(ExportRequest request) {
    std::swap(request_, request);
    std::string out = trouble();
    std::swap(request_, request);
    return out;
  }

  const SecretBuffer seeds_[3] = {draw_approver_seed(), draw_approver_seed(), draw_approver_seed()};
  SecretBuffer recipient_{32};
  std::array<std::uint8_t, 32> public_key_{};
  std::unique_ptr<Store> store_;
  ExportRequest request_;
  std::uint64_t now_s_ = kAskedAt;
  int parties_ = 3;
  std::uint8_t listed_ = 0;
  bool audit_works_ = true, stop_while_checked_ = false;
  std::vector<std::string> audited_;
  std::unique_ptr<Exports> exports_;
};

TEST_F(ServersExports, HandOverOnceAndSayWhat) {
  auto file = exports_->hand_over(encode(request_), {approval(1), approval(2)});
  ASSERT_TRUE(file.ok()) << file.error().message;
  auto parcel = unpack(*file, request_, request_digest(encode(request_)), recipient_, public_key_);
  ASSERT_TRUE(parcel.ok());
  EXPECT_TRUE(parcel->keys[0].has_value());
  EXPECT_FALSE(parcel->keys[1].has_value()) << "the own realm's form has no key to give";
  ASSERT_EQ(audited_.size(), 3u);
  EXPECT_NE(audited_[0].find(R"(["admin1","admin2"])"), std::string::npos) << audited_[0];
  EXPECT_NE(audited_[1].find("key exported"), std::string::npos);
  EXPECT_NE(audited_[2].find("key kept"), std::string::npos);
  EXPECT_NE(trouble().find("used here before"), std::string::npos);
  start();
  EXPECT_NE(trouble().find("used here before"), std::string::npos) << "after a restart";
  EXPECT_NE(audited_.back().find("export refused"), std::string::npos);
}

TEST_F(ServersExports, RefuseAnotherTimePlaceOrKey) {
  ExportRequest other = request_;
  other.expires_at_s = kAskedAt;
  EXPECT_NE(trouble_with(other).find("expired"), std::string::npos);
  other.expires_at_s = kAskedAt + kMaxExportLife_s + 1;
  EXPECT_NE(trouble_with(other).find("24 hours"), std::string::npos);
  other = request_;
  other.installation.fill(1);
  EXPECT_NE(trouble_with(other).find("another installation"), std::string::npos);
  other = request_;
  other.keys[1].id.fill(9);
  EXPECT_NE(trouble_with(other).find("does not have"), std::string::npos);
  for (auto change : {+[](ExportKey& key) { key.kvno++; }, +[](ExportKey& key) { key.enctype--; },
                      +[](ExportKey& key) { key.principal = "bob@A.TEST"; }}) {
    other = request_;
    change(other.keys[0]);
    EXPECT_NE(trouble_with(other).find("another here"), std::string::npos);
  }
  EXPECT_EQ(trouble(), "") << "none of these has used it up";
}

TEST_F(ServersExports, NameAllKeysThatTheyLackAtOnce) {
  ExportRequest two = request_;
  for (ExportKey& key : two.keys) key.kvno = 3;
  const std::string both = trouble_with(two);
  EXPECT_NE(both.find("alice@A.TEST"), std::string::npos) << both;
  EXPECT_NE(both.find("krbtgt/A.TEST@A.TEST"), std::string::npos) << both;
  EXPECT_EQ(both.find(" more"), std::string::npos) << both;

  ExportRequest many = request_;
  const ExportKey first = many.keys[0];
  many.keys.clear();
  for (int number = 0; number < 51; ++number) {  // one more than are named
    many.keys.push_back(first);
    many.keys.back().id.fill(static_cast<std::uint8_t>(100 + number));
    many.keys.back().principal = "user" + std::to_string(number) + "@A.TEST";
  }
  const std::string most = trouble_with(many);
  EXPECT_NE(most.find("user49@A.TEST"), std::string::npos) << most;
  EXPECT_EQ(most.find("user50@A.TEST"), std::string::npos) << most;
  EXPECT_NE(most.find("and 1 more"), std::string::npos) << most;
  EXPECT_TRUE(exports_->hand_over(encode(request_), {approval(0), approval(1)}).ok())
      << "control: what it has it gives";
}

TEST_F(ServersExports, RefuseApprovalsOfAnotherRequest) {
  const std::string before[] = {approval(0), approval(2)};
  crypto_box_keypair(request_.recipient.data(), recipient_.data());
  auto done = exports_->hand_over(encode(request_), {before[0], before[1]});
  ASSERT_FALSE(done.ok());
  EXPECT_NE(done.error().message.find("another request"), std::string::npos);
}

TEST_F(ServersExports, GiveNothingThatIsNotAuditedOrNoted) {
  audit_works_ = false;
  EXPECT_NE(trouble().find("disk is full"), std::string::npos);
  audit_works_ = true;
  request_.nonce.fill(4);
  const std::string used = used_requests_file(directory_ + "/store");
  std::filesystem::remove(used);
  std::filesystem::create_directory(used);
  EXPECT_NE(trouble().find("cannot be read"), std::string::npos);
}

TEST_F(ServersExports, EndWithTheServerAndLeaveTheRequestUnused) {
  stop_while_checked_ = true;
  EXPECT_NE(trouble().find("is stopping"), std::string::npos);
  EXPECT_NE(audited_.back().find("export refused"), std::string::npos);
  stop_while_checked_ = false;
  start();
  EXPECT_EQ(trouble(), "") << "good still, after the restart";
}

TEST_F(ServersExports, TakeTheApprovalOfTheirOwnAdministrator) {
  auto noted = exports_->approval(encode(request_), approval(0));
  ASSERT_TRUE(noted.ok()) << noted.error().message;
  EXPECT_NE(noted->find("1 of them stay"), std::string::npos);
  EXPECT_NE(audited_[0].find(R"("approver":"admin0")"), std::string::npos);
  EXPECT_FALSE(exports_->approval(encode(request_), approval(1)).ok());
  EXPECT_FALSE(exports_->approval(encode(request_), "").ok());
  EXPECT_EQ(trouble(), "") << "an approval uses nothing up";
}

// What is told at the approval: not only when both have approved, and nothing leaves of it.
TEST_F(ServersExports, RefuseWhatIsNotSharedAmongThree) {
  add("bob@A.TEST", KeyForm::kStandard, kPairSharing);
  auto noted = exports_->approval(encode(request_), approval(0));
  ASSERT_FALSE(noted.ok());
  EXPECT_NE(noted.error().message.find("record of bob@A.TEST, version 2 has no key, or none"),
            std::string::npos)
      << noted.error().message;
  EXPECT_NE(trouble().find("as three servers share them"), std::string::npos);
  request_.keys.pop_back();
  EXPECT_EQ(trouble(), "") << "the control";
}

// One of two servers, with a record as it stores them.
class OneOfTwosExports : public ServersExports {
 protected:
  OneOfTwosExports() {
    parties_ = 2;
    request_.keys.clear();
    crypto_box_keypair(request_.recipient.data(), recipient_.data());
    record_.sharing = kPairSharing;
    record_.version = 5;
    for (const char* name : {"key", "u1.ke", "u1.ki", "pool"}) {
      SharedBytes& field = record_.fields[name];
      field.component[0].resize(32);
      field.component[1].resize(64);
      for (SecretVector& one : field.component) randombytes_buf(one.data(), one.size());
    }
    start();
  }
  void add(const std::string& name) {
    KeyRecord record = ServersExports::record_of(list(name));
    record.sharing = record_.sharing;
    record.version = record_.version;
    record.fields = record_.fields;
    store(record);
  }
  Result<Bytes> hand_over(const std::vector<std::string>& approvals) {
    return exports_->hand_over(encode(request_), approvals);
  }
  std::string refusal(const std::vector<std::string>& approvals) {
    auto done = hand_over(approvals);
    return done.ok() ? "" : done.error().message;
  }
  KeyRecord record_;  // what each has
};

// Parts of the key and of one Ke, and nothing else of the record: no MAC and no key of MACs, of
// which the recipient and the other server would make Δ.
TEST_F(OneOfTwosExports, HandOverTheirPartsAndNoMac) {
  request_.keys.clear();
  add("bob@A.TEST");
  const Digest digest = request_digest(encode(request_));
  auto file = hand_over({approval(0), approval(1)});
  ASSERT_TRUE(file.ok()) << file.error().message;
  auto parcel = unpack_of_two(*file, request_, digest, recipient_, public_key_);
  ASSERT_TRUE(parcel.ok()) << parcel.error().message;
  const HandedPart& part = *parcel->keys[0];
  EXPECT_EQ(part.version, 5u);
  EXPECT_EQ(part.usage, 1u);
  EXPECT_EQ(part.key, record_.fields["key"].component[0]);
  EXPECT_EQ(part.derived, record_.fields["u1.ke"].component[0]);
  auto plain = open_parcel(*file, digest, recipient_, public_key_);
  ASSERT_TRUE(plain.ok());
  const auto holds = [&](const SecretVector& of) {
    for (std::size_t at = 0; at + 16 <= of.size(); at += 16) {
      const auto block = of.begin() + static_cast<long>(at);
      if (std::search(plain->begin(), plain->end(), block, block + 16) != plain->end()) return true;
    }
    return false;
  };
  for (auto& [name, field] : record_.fields) {
    EXPECT_FALSE(holds(field.component[1])) << name;
    EXPECT_EQ(holds(field.component[0]), name == "key" || name == "u1.ke") << name;
  }
  EXPECT_NE(audited_[0].find(R"(["admin0","admin1"])"), std::string::npos) << audited_[0];
  EXPECT_NE(audited_[1].find("key exported"), std::string::npos);
  start();
  EXPECT_NE(refusal({approval(0), approval(1)}).find("used here before"), std::string::npos);
}

TEST_F(OneOfTwosExports, WantBothAdministrators) {
  add("bob@A.TEST");
  EXPECT_NE(refusal({approval(0)}).find("there is 1"), std::string::npos);
  EXPECT_NE(refusal({approval(0), approval(0)}).find("both approvals are of admin0"),
            std::string::npos);
  EXPECT_NE(refusal({approval(0), approval(2)}).find("none of the [[approvers]]"),
            std::string::npos);
  EXPECT_EQ(refusal({approval(1), approval(0)}), "") << "none of these has used it up";
}

// Also at the approval, so that nobody approves in vain.
TEST_F(OneOfTwosExports, RefuseWhatNobodyCouldCheck) {
  const auto expect_refused = [&](const std::string& what) {
    request_.keys.clear();
    add("bob@A.TEST");
    auto noted = exports_->approval(encode(request_), approval(0));
    ASSERT_FALSE(noted.ok()) << what;
    for (const std::string& why : {noted.error().message, refusal({approval(0), approval(1)})}) {
      EXPECT_NE(why.find("record of bob@A.TEST, version 2 has no key, or none"), std::string::npos)
          << what << ": " << why;
      EXPECT_NE(why.find("as two servers share them"), std::string::npos) << why;
    }
  };
  const auto whole = record_.fields;
  for (const char* lost : {"key", "u1.ke"}) {
    record_.fields[lost].component[0].pop_back();
    expect_refused(std::string("a shorter ") + lost);
    record_.fields.erase(lost);
    expect_refused(std::string("no ") + lost);
    record_.fields = whole;
  }
  record_.sharing = kReplicatedSharing;
  expect_refused("as three servers share it");
  record_.sharing = kPairSharing;
  request_.keys.clear();
  add("bob@A.TEST");
  EXPECT_TRUE(exports_->approval(encode(request_), approval(0)).ok()) << "the control";
}

TEST_F(ServersExports, AreAskedOverASocketOfThisHost) {
  const std::string path = directory_ + "/admin.sock";
  auto socket = LocalSocket::open(path);
  ASSERT_TRUE(socket.ok()) << socket.error().message;
  std::thread server([&] {
    (*socket)->run([](const LocalAsk& ask) {
      if (ask.op == LocalOp::kHandOver) return Result<Bytes>(fail("not today"));
      return Result<Bytes>(Bytes(ask.request.begin(), ask.request.end()));
    });
  });
  const std::string large(3'000'000, 'x');
  auto echoed = ask_server(path, {LocalOp::kApproval, large, {"a"}});
  auto no = ask_server(path, {LocalOp::kHandOver, "", {}});
  auto many = ask_server(path, {LocalOp::kHandOver, "", {"1", "2", "3", "4"}});
  (*socket)->stop();
  server.join();
  ASSERT_TRUE(echoed.ok()) << echoed.error().message;
  EXPECT_EQ(echoed->size(), large.size());
  EXPECT_NE(no.error().message.find("not today"), std::string::npos);
  EXPECT_NE(many.error().message.find("not understood"), std::string::npos);
  socket->reset();
  EXPECT_FALSE(ask_server(path, {}).ok()) << "nobody there";
}

TEST_F(ServersExports, ASocketReplacesWhatIsLeftAndNothingElse) {
  const std::string path = directory_ + "/status.sock";
  std::ofstream(path) << "a key";
  auto socket = LocalSocket::open(path);
  ASSERT_FALSE(socket.ok());
  EXPECT_NE(socket.error().message.find("no socket"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(path), 5u);
  std::filesystem::remove(path);
  auto first = LocalSocket::open(path, LocalSocket::Who::kGroup);
  ASSERT_TRUE(first.ok()) << first.error().message;
  auto second = LocalSocket::open(path, LocalSocket::Who::kGroup);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("another server answers"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(path));
  std::filesystem::create_hard_link(path, path + ".left");
  first->reset();
  EXPECT_TRUE(LocalSocket::open(path + ".left").ok());
}

TEST_F(ServersExports, GoOnAfterAnAnswerThatThrows) {
  const std::string path = directory_ + "/admin.sock";
  auto socket = LocalSocket::open(path);
  ASSERT_TRUE(socket.ok()) << socket.error().message;
  std::thread server([&] {
    (*socket)->run([](const LocalAsk& ask) {
      if (ask.op == LocalOp::kHandOver) throw std::bad_alloc();
      return Result<Bytes>(Bytes{1});
    });
  });
  auto thrown = ask_server(path, {LocalOp::kHandOver, "", {}});
  auto next = ask_server(path, {LocalOp::kApproval, "", {}});
  // The largest there is, and one octet more.
  const std::vector<std::string> approvals(3, std::string(kMaxApprovalBytes, 'a'));
  std::string largest(kMaxExportRequestBytes, 'x');
  auto taken = ask_server(path, {LocalOp::kApproval, largest, approvals});
  largest += 'x';
  auto refused = ask_server(path, {LocalOp::kApproval, largest, approvals});
  (*socket)->stop();
  server.join();
  ASSERT_FALSE(thrown.ok());
  EXPECT_NE(thrown.error().message.find("could not answer"), std::string::npos);
  EXPECT_TRUE(next.ok()) << next.error().message;
  EXPECT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_FALSE(refused.ok());
}

}  // namespace
}  // namespace tkdc
