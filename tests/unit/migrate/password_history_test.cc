// SPDX-License-Identifier: Apache-2.0
// libkadm5's record of a password history, read and written again.
#include "migrate/password_history.h"

#include <gtest/gtest.h>

#include <cstring>

#include "unit/kdc-plugin/history_fixture.h"

namespace tkdc::migrate {
namespace {

using test::kadm5_record;
using test::Octets;

const Octets kFirst(62, 0xa1), kSecond(46, 0xb2), kThird(61, 0xc3);

PasswordHistory read(const Octets& record) {
  auto out = PasswordHistory::read(record);
  EXPECT_TRUE(out);
  return out.value_or(PasswordHistory());
}

tkdc_wire_key bound_handle(std::uint8_t id) {
  tkdc_wire_key out{};
  std::memset(out.key_id, id, sizeof out.key_id);
  std::memset(out.principal, 0x70, sizeof out.principal);
  out.kvno = 3;
  out.enctype = 18;
  return out;
}

TEST(PasswordHistory, IsWrittenAsItWasRead) {
  for (const auto& record :
       {kadm5_record("a policy", {{kFirst, kSecond}, {}, {kThird}}), kadm5_record("", {})}) {
    const PasswordHistory history = read(record);
    EXPECT_EQ(history.encode(), record);
    EXPECT_EQ(history.bytes(), record.size());
  }
  EXPECT_TRUE(read({}).passwords.empty());
}

TEST(PasswordHistory, ASaltStaysUntilItsKeyIsAHandle) {
  Octets record = kadm5_record("p", {{kFirst}});
  Octets salted(record.begin(), record.end() - static_cast<std::ptrdiff_t>(24 + 4 + 64 + 4));
  for (const std::uint32_t number : {2u, 1u, 18u, 4u, 62u, 5u}) test::put_number(salted, number);
  test::put_octets(salted, kFirst);
  test::put_octets(salted, {'s', 'a', 'l', 't', '!'});
  PasswordHistory history = read(salted);
  EXPECT_EQ(history.encode(), salted);
  const tkdc_wire_key made = bound_handle(1);
  remember(history.passwords[0][0], &made);
  const RememberedKey key = read(history.encode()).passwords[0][0];
  EXPECT_EQ(key.version, 1u);
  EXPECT_EQ(key.salt_type, 0u);
  EXPECT_TRUE(key.salt.empty());
}

TEST(PasswordHistory, HandlesStandWhereKeysStood) {
  PasswordHistory history = read(kadm5_record("p", {{kFirst, kSecond}, {kThird}}));
  EXPECT_EQ(history.history_kvno, 2u);
  const tkdc_wire_key made = bound_handle(7);
  remember(history.passwords[0][1], &made);
  remember(history.passwords[1][0], nullptr);
  const PasswordHistory then = read(history.encode());
  ASSERT_EQ(then.passwords.size(), 2u);
  EXPECT_EQ(then.passwords[0][0].form, HISTORY_STOCK);
  EXPECT_EQ(then.passwords[0][0].octets, kFirst);
  EXPECT_EQ(then.passwords[0][1].form, HISTORY_HANDLE);
  EXPECT_EQ(std::memcmp(&then.passwords[0][1].handle, &made, sizeof made), 0);
  EXPECT_EQ(then.passwords[1][0].form, HISTORY_NONE);
  EXPECT_EQ(then.passwords[1][0].enctype, 18);
  EXPECT_EQ(then.history_kvno, 2u);
}

// As history_store() leaves key data that ktkdc.so makes for kadmind.
TEST(PasswordHistory, InTheFormThatTheModuleStores) {
  RememberedKey key;
  key.kvno = 3;
  key.enctype = 18;
  const tkdc_wire_key made = bound_handle(7);
  remember(key, &made);
  krb5_key_data kd{};
  ASSERT_EQ(history_store(&made, 3, 18, &kd), 0);
  EXPECT_EQ(key.octets,
            Bytes(kd.key_data_contents[0], kd.key_data_contents[0] + kd.key_data_length[0]));
  EXPECT_EQ(key.version, static_cast<std::uint32_t>(kd.key_data_ver));
  std::free(kd.key_data_contents[0]);
}

TEST(PasswordHistory, GoesBackToStockForm) {
  PasswordHistory history = read(kadm5_record("p", {{kFirst}}));
  const Octets before = history.encode();
  const tkdc_wire_key made = bound_handle(7);
  remember(history.passwords[0][0], &made);
  krb5_key_data kd{};
  kd.key_data_ver = 1;
  kd.key_data_length[0] = static_cast<krb5_ui_2>(kFirst.size());
  kd.key_data_contents[0] = static_cast<krb5_octet*>(std::malloc(kFirst.size()));
  std::memcpy(kd.key_data_contents[0], kFirst.data(), kFirst.size());
  remember(history.passwords[0][0], kd);
  EXPECT_EQ(history.encode(), before);
}

TEST(PasswordHistory, WhatIsCutIsRefused) {
  const Octets whole = kadm5_record("policy", {{kFirst}, {kSecond, kThird}});
  for (std::size_t n = 1; n < whole.size(); ++n)
    EXPECT_FALSE(PasswordHistory::read(ByteSpan(whole).first(n))) << n;
}

TEST(PasswordHistory, CountsAndLengthsAreNotBelieved) {
  const Octets whole = kadm5_record("policy", {{kFirst}, {kSecond}});
  for (std::size_t at = 0; at + 4 <= whole.size(); at += 4) {
    Octets changed = whole;
    std::memset(changed.data() + at, 0xff, 4);
    const auto history = PasswordHistory::read(changed);
    if (history) {
      EXPECT_EQ(history->passwords.size(), 2u) << at;
    }
  }
}

// Four keys each, so that 170 passwords fit in stock form, and 104 as handles.
TEST(PasswordHistory, TheOldestGoWhereThereIsNoRoom) {
  constexpr std::size_t kPasswords = 150, kFitting = 104;
  std::vector<std::vector<Octets>> passwords;
  for (std::size_t i = 0; i < kPasswords; ++i) {
    Octets octets(62, 0xa1);
    octets[0] = static_cast<std::uint8_t>(i);
    passwords.push_back({octets, octets, octets, octets});
  }
  PasswordHistory history = read(kadm5_record("p", passwords));
  const std::vector<std::size_t> lost = history.without_room();
  ASSERT_EQ(lost.size(), kPasswords - kFitting);
  EXPECT_EQ(lost.front(), 1u) << "where libkadm5srv would write next";
  EXPECT_EQ(lost.back(), lost.size());
  EXPECT_EQ(history.passwords.size(), kPasswords);
  for (auto& password : history.passwords)
    for (RememberedKey& key : password) {
      const tkdc_wire_key made = bound_handle(key.octets[0]);
      remember(key, &made);
    }
  EXPECT_EQ(history.fit(), lost.size());
  EXPECT_LE(history.bytes(), PasswordHistory::kMaxBytes);
  const PasswordHistory then = read(history.encode());
  ASSERT_EQ(then.passwords.size(), kFitting);
  EXPECT_EQ(then.passwords.front()[0].handle.key_id[0], lost.size() + 1) << "now the oldest";
  EXPECT_EQ(then.passwords.back()[0].handle.key_id[0], 0) << "the youngest";
  EXPECT_EQ(then.encode()[4 + 4 + 4 + 4 + 3], 0) << "next";
  EXPECT_TRUE(read(kadm5_record("p", {{kFirst}})).without_room().empty());
}

}  // namespace
}  // namespace tkdc::migrate
