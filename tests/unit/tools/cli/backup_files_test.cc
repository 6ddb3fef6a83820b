// SPDX-License-Identifier: Apache-2.0
// What a backup takes of a server's folder, by the names that its configuration has for them.
#include "tools/cli/backup_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "support/scratch.h"

namespace tkdc::cli {
namespace {

namespace fs = std::filesystem;

const std::string kCredentials = "/run/credentials/none/";  // %d, where no unit says one

class MemberFiles : public testing::Test {
 protected:
  MemberFiles() : at_(test::make_scratch("files")), pair_(make_certificate("server").value()) {
    fs::create_directory(at_ + "/etc");
    config_.path = at_ + "/etc/tkdc.toml";
    config_.certificate_file = at_ + "/etc/tls.crt";
    config_.private_key_file = at_ + "/etc/tls.key";
    config_.curve_secret_key_file = at_ + "/etc/curve.key";
    write(config_.path, "x");
    write(config_.certificate_file, pair_.certificate_pem);
    write(config_.private_key_file, key_of(pair_));
    write(config_.curve_secret_key_file, "c");
  }
  ~MemberFiles() override { fs::remove_all(at_); }

  static std::string key_of(const Certificate& pair) {
    return {pair.private_key_pem.begin(), pair.private_key_pem.end()};
  }
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
    ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  }
  std::string read(std::vector<BackupFile> opened = {}) {
    auto missing = read_member_files(config_, opened);
    if (!missing) return missing.error().message;
    std::string out;
    for (const BackupFile& file : opened) out += file.name + " ";
    for (const std::string& path : *missing) out += "without " + path + " ";
    return out;
  }

  const std::string at_;
  const Certificate pair_;
  ServerConfig config_;
};

TEST_F(MemberFiles, HaveTheNamesOfTheConfiguration) {
  write(at_ + "/etc/identity.key", "i");
  EXPECT_EQ(read(), "tkdc.toml tls.key curve.key tls.crt identity.key ");
}

TEST_F(MemberFiles, ThoseThatAreElsewhereAreNamed) {
  const std::string key = at_ + "/tls.key";
  fs::rename(config_.private_key_file, key);
  config_.private_key_file = key;
  EXPECT_EQ(read(), "tkdc.toml curve.key tls.crt without " + key + " ");
  config_.private_key_file = at_ + "/etc/none.key";
  EXPECT_EQ(read(), "tkdc.toml curve.key tls.crt without " + at_ + "/etc/none.key ");
  config_.private_key_file = kCredentials + "mine.key";  // opened by nobody
  EXPECT_EQ(read(), "tkdc.toml curve.key tls.crt without %d/mine.key ");
  config_.private_key_file = kCredentials + "tls.key.pem";
  EXPECT_EQ(read({{"tls.key.pem", pair_.private_key_pem}}),
            "tls.key.pem tkdc.toml curve.key tls.crt ");
}

// store.key is in no backup, whatever names it.
TEST_F(MemberFiles, WhatHasAPlaceOfItsOwnIsNotTaken) {
  config_.private_key_file = at_ + "/etc/store.key";
  write(config_.private_key_file, key_of(pair_));
  EXPECT_EQ(read(), "tkdc.toml curve.key tls.crt without " + config_.private_key_file + " ");
}

TEST_F(MemberFiles, OneFileOfBothIsTakenOnce) {
  write(config_.private_key_file, pair_.certificate_pem + key_of(pair_));
  config_.certificate_file = config_.private_key_file;
  EXPECT_EQ(read(), "tkdc.toml tls.key curve.key ");
}

// As while they are renewed.
TEST_F(MemberFiles, ACertificateAndAnothersKeyAreRefused) {
  write(config_.private_key_file, key_of(make_certificate("server").value()));
  EXPECT_NE(read().find("do not belong together"), std::string::npos);
}

}  // namespace
}  // namespace tkdc::cli
