// SPDX-License-Identifier: Apache-2.0
#include "check/entry_points.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <krb5.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "support/scratch.h"

namespace tkdc::check {
namespace {

namespace fs = std::filesystem;

// Where the program has this function from.
std::string library_of(void* function) {
  Dl_info info{};
  EXPECT_NE(dladdr(function, &info), 0);
  return info.dli_fname;
}

// The preload library offers what it interposes: as good as krb5's own, for this check.
Files fitting() {
  auto preload = read_elf_names(TKDC_PRELOAD_PATH);
  EXPECT_TRUE(preload.ok());
  return {{"libk5", {preload->defined, {}}}, {"krb5kdc", {{}, {"krb5_c_encrypt", "strlen"}}}};
}

TEST(EntryPoints, OfTheInstalledLibrariesAreRead) {
  auto names = read_elf_names(library_of(reinterpret_cast<void*>(&krb5_c_block_size)));
  ASSERT_TRUE(names.ok()) << names.error().message;
  EXPECT_TRUE(names->defined.contains("krb5_c_encrypt"));
  EXPECT_FALSE(names->defined.contains("malloc"));
  EXPECT_TRUE(names->wanted.contains("malloc"));
}

TEST(EntryPoints, FitWhenAllAreThere) { EXPECT_TRUE(differences(fitting()).empty()); }

TEST(EntryPoints, ThatAreGoneAreNamed) {
  for (const char* name : {"krb5_k_decrypt_iov", "verto_add_io", "kadm5_randkey_principal_3"}) {
    Files files = fitting();
    ASSERT_EQ(files["libk5"].defined.erase(name), 1u) << name;
    const auto found = differences(files);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found.front(), std::string(name) + " is in none of krb5's libraries any more");
  }
}

TEST(EntryPoints, ThatAreCalledAndNotKnownAreNamed) {
  Files files = fitting();
  files["krb5kdc"].wanted.insert({"krb5_k_unheard_of", "krb5_c_random_seed", "krb5_unparse_name"});
  const auto found = differences(files);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front(), "krb5kdc calls krb5_k_unheard_of, which this tkdc does not know");
}

TEST(EntryPoints, OfNoFilesFitNothing) { EXPECT_FALSE(differences({}).empty()); }

TEST(EntryPoints, OfDamagedFilesAreAnError) {
  const std::string folder = test::make_scratch("check"), path = folder + "/damaged";
  std::ifstream good(TKDC_PRELOAD_PATH, std::ios::binary);
  const std::string octets{std::istreambuf_iterator<char>(good), {}};
  for (std::size_t size = 0; size < octets.size(); size += 1 + octets.size() / 50) {
    std::ofstream(path, std::ios::binary).write(octets.data(), static_cast<std::streamsize>(size));
    const auto names = read_elf_names(path);
    EXPECT_TRUE(!names.ok() || size > octets.size() / 2) << size;  // what is cut may be no names
  }
  // Any octet of the headers changed: an error or other names, and nothing is read outside the
  // file.
  for (std::size_t at = 0; at < 64; ++at) {
    std::string changed = octets;
    changed[at] = static_cast<char>(~changed[at]);
    std::ofstream(path, std::ios::binary)
        .write(changed.data(), static_cast<std::streamsize>(changed.size()));
    (void)read_elf_names(path).ok();
  }
  EXPECT_FALSE(read_elf_names(folder + "/nowhere").ok());
  EXPECT_FALSE(read_elf_names("/etc/passwd").ok());
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tkdc::check
