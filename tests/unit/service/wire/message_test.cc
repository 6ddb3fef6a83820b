// SPDX-License-Identifier: Apache-2.0
// Jobs as an agent of two servers sends them, and the pads that it deals.
#include "service/wire/message.h"

#include <gtest/gtest.h>

#include "service/wire/recipe.h"

namespace tkdc {
namespace {

JobRequest shared() {
  JobRequest request;
  request.name = {0, 2, 3};
  request.usage = 7;
  request.key.enctype = 18;
  for (SecretVector& component : request.component) component.assign(20, 5);
  return request;
}

JobRequest dealt() {
  JobRequest request = shared();
  for (SecretVector& component : request.component) component.clear();
  request.dealt_input_bytes = 20;
  request.dealt.assign(100, 9);
  return request;
}

// What follows stands behind the last component.
constexpr std::size_t kInputBytesAt = 100 + 4 + 4;

TEST(DealtJob, IsReadAsItWasWritten) {
  const SecretVector frame = encode(dealt());
  const auto read = decode_request(frame);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->dealt, dealt().dealt);
  EXPECT_EQ(read->input_bytes(), 20u);
  EXPECT_TRUE(read->component[0].empty());
  EXPECT_EQ(encode(*read), frame);
  JobRequest pad_alone = dealt();
  pad_alone.dealt_input_bytes = 0;
  EXPECT_EQ(decode_request(encode(pad_alone))->input_bytes(), 0u);
}

// An agent of three servers says nothing that one of before would not have said.
TEST(DealtJob, NothingDealtIsNothingSaid) {
  JobRequest request = shared();
  const SecretVector frame = encode(request);
  request.dealt_input_bytes = 17;
  EXPECT_EQ(encode(request), frame);
  const auto read = decode_request(frame);
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->dealt.empty());
  EXPECT_EQ(read->input_bytes(), 20u);
}

TEST(DealtJob, WhatIsNoneIsRefused) {
  JobRequest both = dealt(), longer = dealt(), more = dealt();
  for (SecretVector& component : both.component) component.assign(1, 1);
  longer.dealt_input_bytes = kMaxInputBytes + 1;
  more.dealt.assign(kMaxDealtBytes + 1, 0);
  for (const JobRequest& request : {both, longer, more})
    EXPECT_FALSE(decode_request(encode(request)).ok());
  longer.dealt_input_bytes = kMaxInputBytes;
  more.dealt.pop_back();
  EXPECT_TRUE(decode_request(encode(longer)).ok());
  EXPECT_TRUE(decode_request(encode(more)).ok());

  const SecretVector frame = encode(dealt());
  for (std::size_t cut = 1; cut < kInputBytesAt; ++cut)
    EXPECT_FALSE(decode_request(ByteSpan(frame).first(frame.size() - cut)).ok()) << cut;
  SecretVector empty(frame.begin(), frame.end() - 100);
  empty[empty.size() - 1] = 0;
  EXPECT_FALSE(decode_request(empty).ok()) << "nothing dealt, and said so";
}

// A server of before, which has no names for requests, is told none.
TEST(NamedJob, IsReadAsItWasWrittenWithAndWithoutADeal) {
  for (JobRequest request : {shared(), dealt()}) {
    const SecretVector unnamed = encode(request);
    EXPECT_EQ(decode_request(unnamed)->request_id, 0u);
    request.request_id = 0xfedcba9876543210;
    const SecretVector frame = encode(request);
    const auto read = decode_request(frame);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->request_id, 0xfedcba9876543210u);
    EXPECT_EQ(read->dealt, request.dealt);
    EXPECT_EQ(read->input_bytes(), 20u);
    EXPECT_EQ(encode(*read), frame);
    JobRequest bare = dealt();
    bare.component[0] = request.component[0];
    bare.component[1] = request.component[1];
    bare.dealt.clear();
    const std::size_t of_bare = encode(bare).size();
    for (std::size_t size = 0; size < frame.size(); ++size)
      EXPECT_EQ(decode_request(ByteSpan(frame).first(size)).ok(),
                size == unnamed.size() || size == of_bare)
          << size;
    SecretVector longer = frame, zero = frame;
    longer.push_back(0);
    EXPECT_FALSE(decode_request(longer).ok());
    std::fill(zero.end() - 8, zero.end(), std::uint8_t{0});
    EXPECT_FALSE(decode_request(zero).ok()) << "no name, and said so";
  }
}

TEST(NamedJob, ALengthWithoutADealIsRefused) {
  JobRequest request = shared();
  request.request_id = 1;
  request.dealt_input_bytes = 17;
  EXPECT_TRUE(decode_request(encode(request)).ok()) << "nothing dealt has no length";
  SecretVector frame = encode(request);
  frame[frame.size() - 8 - 4 - 1] = 1;  // of what is dealt: the input's octets
  EXPECT_FALSE(decode_request(frame).ok());
}

TEST(DealtJob, ServersMayAskForAnotherDeal) {
  JobReply reply;
  reply.status = TKDC_STATUS_DEAL_AGAIN;
  reply.output.assign(16, 4);
  SecretVector frame = encode(reply);
  const auto read = decode_reply(frame);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->status, TKDC_STATUS_DEAL_AGAIN);
  EXPECT_EQ(read->output, reply.output);
  EXPECT_FALSE(tkdc_status_is_refusal(TKDC_STATUS_DEAL_AGAIN));
  frame[1 + 1 + 8 + 8 + 1]++;
  EXPECT_FALSE(decode_reply(frame).ok()) << "a status behind the last one";
}

TEST(Pad, IsAsLongAsTheAnswer) {
  EXPECT_EQ(pad_bytes(TKDC_OP_SEAL, 18, 100), 128u);
  EXPECT_EQ(pad_bytes(TKDC_OP_SEAL, 20, 0), 40u);
  EXPECT_EQ(pad_bytes(TKDC_OP_OPEN, 17, 128), 100u);
  EXPECT_EQ(pad_bytes(TKDC_OP_OPEN, 19, 32), 0u);
  EXPECT_EQ(pad_bytes(TKDC_OP_OPEN, 19, 31), std::nullopt);
  EXPECT_EQ(pad_bytes(TKDC_OP_MAC, 20, 1000), 24u);
  EXPECT_EQ(pad_bytes(TKDC_OP_EXPORT, 17, 0), 16u);
  EXPECT_EQ(pad_bytes(TKDC_OP_EXPORT, 18, 0), 32u);
  EXPECT_EQ(pad_bytes(TKDC_OP_EXPORT, 0, 0), std::nullopt);
  EXPECT_EQ(pad_bytes(TKDC_OP_SEAL, 23, 8), std::nullopt);
  for (tkdc_wire_op op :
       {TKDC_OP_VERIFY, TKDC_OP_STAGE, TKDC_OP_BIND, TKDC_OP_DESTROY, TKDC_OP_EQUAL})
    EXPECT_EQ(pad_bytes(op, 18, 32), 0u) << op;
}

TEST(Pad, OfADerivedKeyTheKnownHalfIsNoPartOfTheMessage) {
  JobRequest request = dealt();
  request.dealt_input_bytes = 32 + 50;
  request.op = TKDC_OP_SEAL_DERIVED;
  request.public_data = encode_derivation({TKDC_DERIVE_CF2, 20, "replykey"});
  EXPECT_EQ(pad_bytes(request), 50u + 40u);
  request.op = TKDC_OP_OPEN_DERIVED;
  EXPECT_EQ(pad_bytes(request), 10u);
  request.op = TKDC_OP_MAC_DERIVED;
  EXPECT_EQ(pad_bytes(request), 24u);
  request.dealt_input_bytes = 31;
  EXPECT_EQ(pad_bytes(request), std::nullopt);
  request.public_data.clear();
  EXPECT_EQ(pad_bytes(request), std::nullopt);
  request.op = TKDC_OP_SEAL;
  EXPECT_EQ(pad_bytes(request), 31u + 28u) << "the record's enctype";
}

}  // namespace
}  // namespace tkdc
