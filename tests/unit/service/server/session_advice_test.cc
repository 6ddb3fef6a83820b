// SPDX-License-Identifier: Apache-2.0
// An administrator is told what to do about each reason for which there is no session.
#include "service/server/session_advice.h"

#include <gtest/gtest.h>

namespace tkdc {
namespace {

TEST(SessionAdvice, SaysSomethingForEachReason) {
  const SessionAdvice all = session_advice();
  const auto& [version, installation, parties, party, security, representation, zero_shares, lanes,
               cohort_limit, wire_format, protocols, masked_blocks, era, no_call, no_answer, pin,
               unsettled, inventories, epoch_reused, allowance_spent, epoch_not_believed,
               epochs_used_up] = all;
  for (const std::string* one : {&version,       &installation,    &parties,
                                 &party,         &security,        &representation,
                                 &zero_shares,   &lanes,           &cohort_limit,
                                 &wire_format,   &protocols,       &masked_blocks,
                                 &era,           &no_call,         &no_answer,
                                 &pin,           &unsettled,       &inventories,
                                 &epoch_reused,  &allowance_spent, &epoch_not_believed,
                                 &epochs_used_up})
    EXPECT_FALSE(one->empty());
  EXPECT_NE(installation.find("tkdc.toml"), std::string::npos);
  EXPECT_NE(no_answer.find("tkdc-server"), std::string::npos);
  EXPECT_NE(pin.find("tkdc join"), std::string::npos);
  EXPECT_NE(inventories.find("a backup of the others' refresh epoch"), std::string::npos);
  for (const std::string* one :
       {&era, &epoch_reused, &allowance_spent, &epoch_not_believed, &epochs_used_up})
    EXPECT_NE(one->find("docs/operations.md, Nonce epochs"), std::string::npos) << *one;
  EXPECT_NE(allowance_spent.find("limits.epochs_per_day"), std::string::npos);
  EXPECT_NE(epoch_not_believed.find("`tkdc epochs raise`"), std::string::npos);
  EXPECT_NE(epochs_used_up.find("`tkdc epochs begin-anew`"), std::string::npos);
}

TEST(SessionAdvice, OfTwoServersNamesNoThird) {
  const SessionAdvice two = session_advice(2), three = session_advice();
  for (const auto& [of_two, of_three] :
       {std::pair(two.version, three.version), std::pair(two.installation, three.installation),
        std::pair(two.party, three.party), std::pair(two.wire_format, three.wire_format),
        std::pair(two.cohort_limit, three.cohort_limit), std::pair(two.lanes, three.lanes)}) {
    EXPECT_EQ(of_two.find("three"), std::string::npos) << of_two;
    EXPECT_NE(of_three.find("three"), std::string::npos) << of_three;
  }
  for (const std::string* one : {&two.inventories, &two.unsettled}) {
    EXPECT_EQ(one->find("repair"), std::string::npos) << *one;
    EXPECT_NE(one->find("A realm on two servers"), std::string::npos) << *one;
  }
  EXPECT_NE(two.no_call.find("server 0 calls"), std::string::npos);
  EXPECT_NE(two.protocols.find("one release on both"), std::string::npos);
}

}  // namespace
}  // namespace tkdc
