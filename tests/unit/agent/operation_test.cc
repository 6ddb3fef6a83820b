// SPDX-License-Identifier: Apache-2.0
#include "agent/operation.h"

#include <gtest/gtest.h>

#include "test_agent.h"

namespace tkdc::agent {
namespace {

class OperationTest : public testing::Test {
 protected:
  OperationTest() {
    config_.installation.fill(0x22);
    config_.name = "agent-test";
    key_.installation = config_.installation;
    key_.enctype = 18;
  }
  Parsed parse(int op, ByteSpan body, bool kdc_only = false) {
    return parse_operation(static_cast<std::uint8_t>(op), body, config_, kdc_only);
  }
  AgentConfig config_;
  KeyRef key_;
};

TEST_F(OperationTest, EveryTruncationAndExtensionIsRefused) {
  SecretVector data(40, 1);
  SecretVector checksum(12, 2);
  std::string name = "alice@EXAMPLE.TEST";
  crypto_hash_sha256(key_.principal.data(), reinterpret_cast<const std::uint8_t*>(name.data()),
                     name.size());
  const std::pair<int, SecretVector> cases[] = {
      {TKDC_OP_SEAL, use_body(key_, 2, data)},
      {TKDC_OP_OPEN, use_body(key_, 2, data)},
      {TKDC_OP_MAC, use_body(key_, 2, data)},
      {TKDC_OP_VERIFY, verify_body(key_, 2, data, checksum)},
      {TKDC_OP_STAGE, stage_body(TKDC_ORIGIN_IMPORTED, SecretVector(32, 3))},
      {TKDC_OP_EXPORT, SecretVector(16, 4)},
      {TKDC_OP_BIND, bind_body(key_, name)},
      {TKDC_OP_DESTROY, key_body(key_)},
      {TKDC_OP_EQUAL, equal_body(key_, KeyId{5})}};
  for (const auto& [op, body] : cases) {
    EXPECT_EQ(parse(op, body).status, TKDC_STATUS_OK) << op;
    for (std::size_t n = 0; n < body.size(); ++n)
      EXPECT_NE(parse(op, ByteSpan(body).first(n)).status, TKDC_STATUS_OK) << op << " at " << n;
    SecretVector longer = body;
    longer.push_back(0);
    EXPECT_EQ(parse(op, longer).status, TKDC_STATUS_BAD_REQUEST) << op;
  }
}

TEST_F(OperationTest, SizesFollowTheEnctype) {
  for (const auto& [enctype, overhead, checksum] :
       {std::array{17u, 28u, 12u}, {18u, 28u, 12u}, {19u, 32u, 16u}, {20u, 40u, 24u}}) {
    key_.enctype = enctype;
    EXPECT_EQ(parse(TKDC_OP_SEAL, use_body(key_, 2, SecretVector(9))).operation.max_output,
              9 + overhead);
    EXPECT_EQ(parse(TKDC_OP_OPEN, use_body(key_, 2, SecretVector(overhead - 1))).status,
              TKDC_STATUS_INTEGRITY);
    EXPECT_EQ(parse(TKDC_OP_MAC, use_body(key_, 2, SecretVector(9))).operation.min_output,
              checksum);
  }
  for (std::uint32_t enctype : {0u, 16u, 23u, 26u}) {
    key_.enctype = enctype;
    EXPECT_EQ(parse(TKDC_OP_SEAL, use_body(key_, 2, SecretVector(9))).status,
              TKDC_STATUS_UNKNOWN_KEY);
  }
}

TEST_F(OperationTest, SizesFollowTheWire) {
  Parsed seal = parse(TKDC_OP_SEAL, use_body(key_, 2, SecretVector(162)));
  EXPECT_EQ(seal.operation.min_output, 190u);
  EXPECT_EQ(seal.operation.max_output, 198u);
  Parsed open = parse(TKDC_OP_OPEN, use_body(key_, 2, SecretVector(190)));
  EXPECT_EQ(open.operation.max_output, 162u);
  EXPECT_EQ(parse(TKDC_OP_SEAL, use_body(key_, 2, SecretVector(65536))).status,
            TKDC_STATUS_BAD_REQUEST);
  EXPECT_EQ(parse(TKDC_OP_SEAL, use_body(key_, 2, SecretVector(65536 - 28))).status,
            TKDC_STATUS_OK);
}

TEST_F(OperationTest, ImpossibleCiphertextsAndChecksumsAreForgeries) {
  EXPECT_EQ(parse(TKDC_OP_OPEN, use_body(key_, 2, SecretVector(27))).status, TKDC_STATUS_INTEGRITY);
  EXPECT_EQ(parse(TKDC_OP_VERIFY, verify_body(key_, 2, SecretVector(9), SecretVector(11))).status,
            TKDC_STATUS_INTEGRITY);
}

TEST_F(OperationTest, RoleKdcMakesAndRemovesNoKeys) {
  for (int op : {TKDC_OP_STAGE, TKDC_OP_EXPORT, TKDC_OP_BIND, TKDC_OP_DESTROY, TKDC_OP_EQUAL})
    EXPECT_EQ(parse(op, {}, true).status, TKDC_STATUS_DENIED);
}

TEST_F(OperationTest, AnotherInstallationsHandleIsUnknown) {
  key_.installation.fill(0x23);
  EXPECT_EQ(parse(TKDC_OP_MAC, use_body(key_, 2, SecretVector(5))).status, TKDC_STATUS_UNKNOWN_KEY);
}

TEST_F(OperationTest, StageDrawsItsOwnId) {
  Parsed a = parse(TKDC_OP_STAGE, stage_body(TKDC_ORIGIN_DRAWN, {}));
  Parsed b = parse(TKDC_OP_STAGE, stage_body(TKDC_ORIGIN_DRAWN, {}));
  EXPECT_EQ(a.status, TKDC_STATUS_OK);
  EXPECT_NE(a.operation.job.key.id, b.operation.job.key.id);
  EXPECT_TRUE(a.operation.secret.empty());
  EXPECT_EQ(a.operation.job.public_data, Bytes{TKDC_ORIGIN_DRAWN});
  EXPECT_EQ(parse(TKDC_OP_STAGE, stage_body(TKDC_ORIGIN_DRAWN, SecretVector(32))).status,
            TKDC_STATUS_BAD_REQUEST);
  EXPECT_EQ(parse(TKDC_OP_STAGE, stage_body(TKDC_ORIGIN_IMPORTED, {})).status,
            TKDC_STATUS_BAD_REQUEST);
}

TEST_F(OperationTest, EqualNamesTheStagedKeyInPublic) {
  Parsed parsed = parse(TKDC_OP_EQUAL, equal_body(key_, KeyId{5}));
  EXPECT_EQ(parsed.operation.job.public_data,
            Bytes({5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(parsed.operation.secret.empty());
  EXPECT_EQ(parsed.operation.min_output, 1u);
  EXPECT_EQ(parsed.operation.max_output, 1u);
}

TEST_F(OperationTest, BindChecksTheNameAgainstItsDigest) {
  EXPECT_EQ(parse(TKDC_OP_BIND, bind_body(key_, "mallory@EXAMPLE.TEST")).status,
            TKDC_STATUS_BAD_REQUEST);
}

TEST_F(OperationTest, UnknownOperationsAreRefused) {
  for (int op : {0, 6, 15, 20, 31, 33, 255})
    EXPECT_EQ(parse(op, {}).status, TKDC_STATUS_BAD_REQUEST) << op;
}

}  // namespace
}  // namespace tkdc::agent
