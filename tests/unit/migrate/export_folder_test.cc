// SPDX-License-Identifier: Apache-2.0
// What the recipient of an export takes of servers whose boxes are good: of two servers one set of
// files for each request, so that a changed one has one guess for each.
#include "migrate/export_folder.h"

#include <filesystem>
#include <fstream>

#include "service/export/derived_key.h"
#include "service/export/pair_parcel.h"
#include "service/export/sample.h"
#include "support/scratch.h"

namespace tkdc::migrate {
namespace {

using test::BoxPair, test::sample_request;

class Handed : public testing::Test {
 protected:
  Handed() {
    EXPECT_GE(sodium_init(), 0);
    directory_ = test::make_scratch("export-folder");
    ExportRequest request = sample_request(BoxPair());
    request.expires_at_s = 1;  // in 1970
    auto folder = ExportFolder::create(directory_ + "/export", request);
    EXPECT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
    for (const ExportKey& key : request.keys) {
      whole_.emplace_back(key.enctype == 17 ? 16 : 32);
      randombytes_buf(whole_.back().data(), whole_.back().size());
    }
  }
  ~Handed() override { std::filesystem::remove_all(directory_); }

  template <class One>
  std::string write(const One& parcel) {
    auto octets = pack(parcel, folder_->digest(), folder_->request().recipient,
                       servers_[static_cast<std::size_t>(parcel.party)].secret);
    EXPECT_TRUE(octets.ok());
    return write_file({reinterpret_cast<const char*>(octets->data()), octets->size()});
  }
  std::string write_file(std::string_view octets) {
    const std::string path = directory_ + "/shares." + std::to_string(++written_);
    std::ofstream(path, std::ios::binary) << octets;
    return path;
  }
  // "" if the keys are the right ones. As another run of `tkdc export restore`.
  std::string said(const std::vector<std::string>& files, std::size_t servers = 2) {
    auto folder = ExportFolder::open(directory_ + "/export");
    if (!folder) return folder.error().message;
    ServerKeys keys;
    for (std::size_t p = 0; p < servers; ++p) keys.push_back(servers_[p].public_key);
    auto opened = open_parcels(*folder, files, keys);
    if (!opened) return opened.error().message;
    for (std::size_t k = 0; k < whole_.size(); ++k)
      EXPECT_EQ(opened->at(folder->request().keys[k].id), whole_[k]);
    return "";
  }

  std::string directory_;
  const BoxPair servers_[3];
  std::optional<ExportFolder> folder_;
  std::vector<SecretVector> whole_;
  int written_ = 0;
};

class HandedByTwo : public Handed {
 protected:
  HandedByTwo() {
    for (const std::size_t p : {0, 1}) parcels_[p].party = static_cast<int>(p);
    for (std::size_t k = 0; k < whole_.size(); ++k) {
      auto derived = encryption_key_of(folder_->request().keys[k].enctype, whole_[k], 2);
      EXPECT_TRUE(derived.ok());
      HandedPart a{1, 2, whole_[k], *derived}, b = a;
      for (SecretVector HandedPart::*field : {&HandedPart::key, &HandedPart::derived}) {
        randombytes_buf((a.*field).data(), (a.*field).size());
        for (std::size_t at = 0; at < (a.*field).size(); ++at) (b.*field)[at] ^= (a.*field)[at];
      }
      parcels_[0].keys.emplace_back(std::move(a));
      parcels_[1].keys.emplace_back(std::move(b));
    }
    for (const std::size_t p : {0, 1}) good_[p] = write(parcels_[p]);
  }
  // The good files, but for another one of server p that is sealed as well.
  std::vector<std::string> lie(std::size_t p, const std::function<void(HandedPart&)>& change) {
    PairParcel lying = parcels_[p];
    change(*lying.keys[1]);
    std::vector<std::string> out(good_, good_ + 2);
    out[p] = write(lying);
    return out;
  }
  std::string note() const { return directory_ + "/export/opened"; }

  std::array<PairParcel, 2> parcels_;
  std::string good_[2];
};

// Also after the request has expired: the servers looked at that when they handed over.
TEST_F(HandedByTwo, IsOpenedAsOftenAsItIsNeeded) {
  EXPECT_EQ(said({good_[0], good_[1]}), "");
  EXPECT_EQ(said({good_[1], good_[0]}), "");
}

// Whatever did not fit, and whether it fitted: what comes behind it is not compared.
TEST_F(HandedByTwo, IsOneSetOfFilesForEachRequest) {
  const std::string other = "Make another request";
  for (const std::size_t p : {0, 1}) {
    const auto wrong_key = lie(p, [](HandedPart& part) { part.key[7] ^= 4; });
    const auto wrong_version = lie(p, [](HandedPart& part) { ++part.version; });
    const auto wrong_usage = lie(p, [](HandedPart& part) { ++part.usage; });
    for (const auto& [set, why] : {std::pair{wrong_key, "do not belong together"},
                                   {wrong_version, "different versions"},
                                   {wrong_usage, "different key usages"}}) {
      EXPECT_NE(said(set).find(why), std::string::npos);
      EXPECT_NE(said({good_[0], good_[1]}).find(other), std::string::npos) << why;
      EXPECT_NE(said(set).find(why), std::string::npos) << "the same files say the same";
      ASSERT_TRUE(std::filesystem::remove(note()));
      EXPECT_EQ(said({good_[0], good_[1]}), "") << "the control: it is this note";
      const std::string late = said(set);
      EXPECT_NE(late.find(other), std::string::npos) << late;
      EXPECT_EQ(late.find("odd\\ name"), std::string::npos) << "names no key";
      ASSERT_TRUE(std::filesystem::remove(note()));
    }
  }
}

// What only a carrier has changed, or is not all there, is brought again.
TEST_F(HandedByTwo, IsNotBoundByFilesThatDoNotOpen) {
  std::ifstream in(good_[1], std::ios::binary);
  std::string octets{std::istreambuf_iterator<char>(in), {}};
  octets.back() ^= 1;
  EXPECT_NE(said({good_[0], write_file(octets)}).find("not made by server 1"), std::string::npos);
  EXPECT_NE(said({good_[0]}).find("shares of server 1 are missing: a key takes"),
            std::string::npos);
  EXPECT_NE(said({good_[0], good_[0]}).find("a second file of server 0"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(note()));
  EXPECT_EQ(said({good_[0], good_[1]}), "");
}

TEST_F(HandedByTwo, IsNotComparedWhereTheNoteCannotBeMadeOrRead) {
  const auto lied = lie(0, [](HandedPart& part) { part.key[7] ^= 4; });
  std::filesystem::create_directory(note());
  EXPECT_NE(said({good_[0], good_[1]}), "");
  EXPECT_EQ(said(lied).find("do not belong together"), std::string::npos);
  std::filesystem::remove(note());
  std::ofstream(note()).flush();
  EXPECT_NE(said({good_[0], good_[1]}).find("Make another request"), std::string::npos);
}

// Each component is at two of three: a lie is no guess, and the third server's word stands.
TEST_F(Handed, ByThreeIsOpenedAnewWhereOneLied) {
  std::array<Parcel, 3> parcels;
  for (int p = 0; p < 3; ++p) parcels[static_cast<std::size_t>(p)].party = p;
  for (const SecretVector& key : whole_) {
    std::array<SecretVector, 3> x = {key, SecretVector(key.size(), 5), SecretVector(key.size(), 5)};
    for (std::size_t p = 0; p < 3; ++p) {
      SharedBytes own;
      own.component[0] = x[p];
      own.component[1] = x[(p + 1) % 3];
      parcels[p].keys.emplace_back(std::move(own));
    }
  }
  std::vector<std::string> good;
  for (const Parcel& parcel : parcels) good.push_back(write(parcel));
  parcels[2].keys[1]->component[0][3] ^= 1;
  const std::string lied = said({good[0], good[1], write(parcels[2])}, 3);
  EXPECT_NE(lied.find("servers 1 and 2 hand over different shares"), std::string::npos) << lied;
  EXPECT_EQ(said(good, 3), "");
  EXPECT_NE(said({good[0], good[1]}, 3).find("compared with a second server's"), std::string::npos);
  EXPECT_NE(said(good, 2).find("not shares of a realm on two servers"), std::string::npos);
}

}  // namespace
}  // namespace tkdc::migrate
