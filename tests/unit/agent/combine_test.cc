// SPDX-License-Identifier: Apache-2.0
#include "agent/combine.h"

#include <gtest/gtest.h>

namespace tkdc::agent {
namespace {

std::array<JobReply, 3> good_replies() {
  std::array<JobReply, 3> replies;
  for (std::size_t party = 0; party < 3; ++party)
    replies[party].output = SecretVector(12, static_cast<std::uint8_t>(1u << party));
  for (std::size_t party = 0; party < 3; ++party)
    replies[party].next_output = output_digest(replies[(party + 1) % 3].output);
  return replies;
}

std::array<JobReply, 3> statuses(tkdc_status a, tkdc_status b, tkdc_status c) {
  std::array<JobReply, 3> replies = good_replies();
  replies[0].status = a;
  replies[1].status = b;
  replies[2].status = c;
  return replies;
}

tkdc_status outcome_of(tkdc_status a, tkdc_status b, tkdc_status c) {
  auto replies = statuses(a, b, c);
  Outcome outcome = joint_outcome(replies, 12, 12);
  EXPECT_TRUE(outcome.output.empty());
  EXPECT_FALSE(outcome.message.empty());
  return outcome.status;
}

TEST(Combine, AddsTheComponents) {
  auto replies = good_replies();
  Outcome outcome = joint_outcome(replies, 12, 12);
  EXPECT_EQ(outcome.status, TKDC_STATUS_OK) << outcome.message;
  EXPECT_EQ(outcome.output, SecretVector(12, 7));
}

TEST(Combine, AWrongDigestOrComponentNamesBothHolders) {
  for (std::size_t party = 0; party < 3; ++party) {
    auto replies = good_replies();
    replies[party].output[3] ^= 1;
    Outcome outcome = joint_outcome(replies, 12, 12);
    EXPECT_EQ(outcome.status, TKDC_STATUS_INCONSISTENT);
    EXPECT_TRUE(outcome.output.empty());
    EXPECT_NE(outcome.message.find(std::to_string(party)), std::string::npos);

    replies = good_replies();
    replies[party].next_output[0] ^= 1;
    EXPECT_EQ(joint_outcome(replies, 12, 12).status, TKDC_STATUS_INCONSISTENT);
  }
}

TEST(Combine, OutputsOfOtherLengthsAreRefused) {
  auto replies = good_replies();
  EXPECT_EQ(joint_outcome(replies, 13, 20).status, TKDC_STATUS_INCONSISTENT);
  replies = good_replies();
  EXPECT_EQ(joint_outcome(replies, 0, 11).status, TKDC_STATUS_INCONSISTENT);
  replies = good_replies();
  replies[1].output.pop_back();
  replies[0].next_output = output_digest(replies[1].output);
  EXPECT_EQ(joint_outcome(replies, 11, 12).status, TKDC_STATUS_INCONSISTENT);
}

TEST(Combine, TheMostTellingStatusWins) {
  constexpr auto kOk = TKDC_STATUS_OK;
  constexpr auto kAway = TKDC_STATUS_UNAVAILABLE;
  EXPECT_EQ(outcome_of(kAway, TKDC_STATUS_DENIED, kOk), TKDC_STATUS_INCONSISTENT);
  EXPECT_EQ(outcome_of(kAway, TKDC_STATUS_DENIED, kAway), kAway);
  EXPECT_EQ(outcome_of(kAway, TKDC_STATUS_UNKNOWN_KEY, TKDC_STATUS_UNKNOWN_KEY),
            TKDC_STATUS_UNKNOWN_KEY);
  EXPECT_EQ(outcome_of(TKDC_STATUS_INTEGRITY, kAway, TKDC_STATUS_INTEGRITY), TKDC_STATUS_INTEGRITY);
  EXPECT_EQ(outcome_of(kOk, kOk, kAway), TKDC_STATUS_UNAVAILABLE);
  EXPECT_EQ(outcome_of(TKDC_STATUS_LIMIT, TKDC_STATUS_INTERNAL, kAway), TKDC_STATUS_LIMIT);
}

// One server that cries "wrong key" must not lock accounts.
TEST(Combine, OneServerAloneCannotSayWrongKey) {
  constexpr auto kOk = TKDC_STATUS_OK;
  EXPECT_EQ(outcome_of(TKDC_STATUS_INTEGRITY, kOk, kOk), TKDC_STATUS_INCONSISTENT);
  EXPECT_EQ(outcome_of(TKDC_STATUS_INTEGRITY, TKDC_STATUS_UNAVAILABLE, TKDC_STATUS_UNAVAILABLE),
            TKDC_STATUS_UNAVAILABLE);
}

// Else it could have a remembered password taken again, or a key left where it is.
TEST(Combine, OneServerAloneCannotSayThatThereIsNoSuchKey) {
  constexpr auto kOk = TKDC_STATUS_OK, kNone = TKDC_STATUS_UNKNOWN_KEY;
  EXPECT_EQ(outcome_of(kNone, kOk, kOk), TKDC_STATUS_INCONSISTENT);
  EXPECT_EQ(outcome_of(TKDC_STATUS_UNAVAILABLE, TKDC_STATUS_UNAVAILABLE, kNone),
            TKDC_STATUS_UNAVAILABLE);
  EXPECT_EQ(outcome_of(kNone, TKDC_STATUS_INTEGRITY, TKDC_STATUS_INTEGRITY), TKDC_STATUS_INTEGRITY);
}

// Or make a client believe that its password is wrong, or that it may not do what it may.
TEST(Combine, OneServerAloneRefusesNothing) {
  constexpr auto kOk = TKDC_STATUS_OK;
  for (tkdc_status lone : {TKDC_STATUS_DENIED, TKDC_STATUS_BAD_REQUEST, TKDC_STATUS_LIMIT,
                           TKDC_STATUS_UNKNOWN_KEY, TKDC_STATUS_INTEGRITY})
    EXPECT_EQ(outcome_of(kOk, lone, kOk), TKDC_STATUS_INCONSISTENT) << lone;
  EXPECT_EQ(outcome_of(kOk, TKDC_STATUS_INTERNAL, kOk), TKDC_STATUS_INTERNAL);
}

TEST(Combine, WhatTwoServersSayIsSo) {
  for (tkdc_status two : {TKDC_STATUS_DENIED, TKDC_STATUS_BAD_REQUEST, TKDC_STATUS_LIMIT,
                          TKDC_STATUS_UNKNOWN_KEY, TKDC_STATUS_INTEGRITY})
    for (int third = 0; third <= TKDC_STATUS_INTERNAL; ++third)
      EXPECT_EQ(outcome_of(two, tkdc_status(third), two), two) << third;
  EXPECT_EQ(outcome_of(TKDC_STATUS_UNAVAILABLE, TKDC_STATUS_OK, TKDC_STATUS_UNAVAILABLE),
            TKDC_STATUS_UNAVAILABLE);
}

TEST(Combine, TheOddOneIsNamed) {
  auto replies = good_replies();
  replies[1].status = TKDC_STATUS_DENIED;
  EXPECT_NE(joint_outcome(replies, 0, 20).message.find("server 1 is faulty or changed"),
            std::string::npos);
  replies = good_replies();
  replies[0].status = replies[1].status = TKDC_STATUS_INTEGRITY;
  EXPECT_NE(joint_outcome(replies, 0, 20).message.find("server 2 is faulty or changed"),
            std::string::npos);
  replies = good_replies();
  replies[2].status = TKDC_STATUS_UNAVAILABLE;
  EXPECT_EQ(joint_outcome(replies, 0, 20).message.find("changed"), std::string::npos)
      << "it may have been late";
  // A server may tell the two others different verdicts: neither of them is accused.
  replies = good_replies();
  replies[0].status = replies[1].status = TKDC_STATUS_DENIED;
  replies[2].status = TKDC_STATUS_LIMIT;
  const Outcome mixed = joint_outcome(replies, 0, 20);
  EXPECT_EQ(mixed.message.find("server 2 is faulty"), std::string::npos);
  EXPECT_EQ(mixed.status, TKDC_STATUS_DENIED);
  EXPECT_TRUE(mixed.fault) << "but it is logged";
}

// Not what three servers say of it, but what the one says that knows.
TEST(Combine, OneCauseIsTold) {
  auto replies = statuses(TKDC_STATUS_LIMIT, TKDC_STATUS_LIMIT, TKDC_STATUS_LIMIT);
  replies[0].message = replies[1].message = "";
  replies[2].message = "this key is asked for too often";
  EXPECT_EQ(joint_outcome(replies, 12, 12).message, "server 2: this key is asked for too often");
  replies = statuses(TKDC_STATUS_UNAVAILABLE, TKDC_STATUS_UNAVAILABLE, TKDC_STATUS_UNAVAILABLE);
  for (JobReply& reply : replies) reply.message = tkdc_status_text(TKDC_STATUS_UNAVAILABLE);
  EXPECT_EQ(joint_outcome(replies, 12, 12).message, tkdc_status_text(TKDC_STATUS_UNAVAILABLE));
}

TEST(Combine, ListsOfKeysHaveToBeTheSame) {
  auto replies = statuses(TKDC_STATUS_OK, TKDC_STATUS_OK, TKDC_STATUS_OK);
  for (JobReply& reply : replies) reply.output = {0, 1, 2};
  auto same = replies;
  EXPECT_EQ(combine_lists(same).output, SecretVector({0, 1, 2}));
  for (std::size_t party = 0; party < 3; ++party) {
    auto other = replies;
    other[party].output[1] ^= 1;
    const Outcome outcome = combine_lists(other);
    EXPECT_EQ(outcome.status, TKDC_STATUS_INCONSISTENT);
    EXPECT_TRUE(outcome.output.empty());
    EXPECT_NE(outcome.message.find("server " + std::to_string(party) + " holds others"),
              std::string::npos)
        << outcome.message;
  }
  replies[1].status = TKDC_STATUS_DENIED;
  EXPECT_EQ(combine_lists(replies).status, TKDC_STATUS_DENIED);
}

TEST(Combine, NoMixtureIsEverOk) {
  for (int a = 0; a <= TKDC_STATUS_INTERNAL; ++a)
    for (int b = 0; b <= TKDC_STATUS_INTERNAL; ++b)
      for (int c = 0; c <= TKDC_STATUS_INTERNAL; ++c)
        if (a + b + c > 0) {
          EXPECT_NE(outcome_of(tkdc_status(a), tkdc_status(b), tkdc_status(c)), TKDC_STATUS_OK);
        }
}

}  // namespace
}  // namespace tkdc::agent
