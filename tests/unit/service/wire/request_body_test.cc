// SPDX-License-Identifier: Apache-2.0
// What krb5kdc's side writes (request.h) is what the agent's side reads, and back; and nothing else
// is read: each octet less, one octet more, a field above its limit.
#include "service/wire/request_body.h"

#include <gtest/gtest.h>

#include "service/wire/request.h"

namespace tkdc {
namespace {

Bytes some_octets(std::size_t n, std::uint8_t first) {
  Bytes out(n);
  for (std::size_t k = 0; k < n; ++k) out[k] = static_cast<std::uint8_t>(first + k);
  return out;
}

tkdc_span span_of(const Bytes& octets) { return {octets.data(), octets.size()}; }
bool same(ByteSpan got, const Bytes& wanted) { return std::ranges::equal(got, wanted); }

class RequestBodyTest : public testing::Test {
 protected:
  RequestBodyTest() {
    request_.key.kvno = 0x01020304;
    request_.key.enctype = 18;
    std::memset(request_.key.key_id, 0x11, sizeof request_.key.key_id);
    std::memset(request_.key.installation, 0x22, sizeof request_.key.installation);
    std::memset(request_.key.principal, 0x33, sizeof request_.key.principal);
    request_.usage = 3;
    derivation_.kind = TKDC_DERIVE_CF2;
    derivation_.enctype = 18;
    derivation_.pepper_bytes = 5;
    std::memset(derivation_.pepper, 0x44, 5);
    derivation_.known_half_bytes = 32;
    std::memset(derivation_.known_half, 0x55, 32);
    request_.by = &derivation_;
  }

  Bytes written(std::uint8_t op) {
    request_.op = op;
    tkdc_buffer buffer{};
    EXPECT_TRUE(tkdc_request_encode(&buffer, &request_, 7, 1000)) << int(op);
    Bytes body(buffer.data + TKDC_WIRE_HEADER_BYTES, buffer.data + buffer.len);
    tkdc_buffer_free(&buffer);
    return body;
  }

  tkdc_request request_{};
  tkdc_derivation derivation_{};
};

TEST_F(RequestBodyTest, EachOperationIsReadAsItWasWritten) {
  const Bytes data = some_octets(16, 1), checksum = some_octets(12, 9);
  request_.data = span_of(data);
  request_.checksum = span_of(checksum);
  request_.label = TKDC_ORIGIN_IMPORTED;
  for (const int op :
       {TKDC_OP_SEAL, TKDC_OP_OPEN, TKDC_OP_MAC, TKDC_OP_VERIFY, TKDC_OP_SEAL_DERIVED,
        TKDC_OP_OPEN_DERIVED, TKDC_OP_MAC_DERIVED, TKDC_OP_STAGE, TKDC_OP_BIND, TKDC_OP_EQUAL}) {
    const Bytes octets = written(static_cast<std::uint8_t>(op));
    const auto body = decode_body(static_cast<std::uint8_t>(op), octets);
    ASSERT_TRUE(body) << op;
    EXPECT_TRUE(same(body->data, data)) << op;
    EXPECT_EQ(body->key.kvno, 0x01020304u) << op;
    EXPECT_EQ(body->key.enctype, 18u) << op;
    if (op == TKDC_OP_STAGE) {
      EXPECT_EQ(body->label, TKDC_ORIGIN_IMPORTED);
      continue;
    }
    EXPECT_EQ(body->key.id[0], 0x11) << op;
    EXPECT_EQ(body->key.installation[0], 0x22) << op;
    EXPECT_EQ(body->key.principal[0], 0x33) << op;
    if (op <= TKDC_OP_MAC_DERIVED) {
      EXPECT_EQ(body->usage, 3u) << op;
    }
    EXPECT_EQ(same(body->checksum, checksum), op == TKDC_OP_VERIFY) << op;
    if (op >= TKDC_OP_SEAL_DERIVED && op <= TKDC_OP_MAC_DERIVED) {
      EXPECT_EQ(body->by.kind, TKDC_DERIVE_CF2);
      EXPECT_EQ(body->by.enctype, 18u);
      EXPECT_TRUE(same(body->by.pepper, Bytes(5, 0x44)));
      EXPECT_TRUE(same(body->by.known_half, Bytes(32, 0x55)));
    }
  }
  EXPECT_EQ(decode_body(TKDC_OP_EXPORT, written(TKDC_OP_EXPORT))->key.id[15], 0x11);
  EXPECT_EQ(decode_body(TKDC_OP_LIST, written(TKDC_OP_LIST))->key.id[15], 0x11);
  EXPECT_EQ(decode_body(TKDC_OP_DESTROY, written(TKDC_OP_DESTROY))->key.kvno, 0x01020304u);
  request_.label = TKDC_ROLE_ADMIN;
  EXPECT_EQ(decode_body(TKDC_OP_HELLO, written(TKDC_OP_HELLO))->label, TKDC_ROLE_ADMIN);
}

TEST_F(RequestBodyTest, AUseMayNameTheClientsRequest) {
  for (const int op : {TKDC_OP_SEAL, TKDC_OP_OPEN, TKDC_OP_MAC, TKDC_OP_VERIFY,
                       TKDC_OP_SEAL_DERIVED, TKDC_OP_OPEN_DERIVED, TKDC_OP_MAC_DERIVED}) {
    request_.request_id = 0;
    const Bytes unnamed = written(static_cast<std::uint8_t>(op));
    EXPECT_EQ(decode_body(static_cast<std::uint8_t>(op), unnamed)->request_id, 0u);
    request_.request_id = 0x0123456789abcdef;
    Bytes octets = written(static_cast<std::uint8_t>(op));
    ASSERT_EQ(octets.size(), unnamed.size() + 8);
    const auto body = decode_body(static_cast<std::uint8_t>(op), octets);
    ASSERT_TRUE(body) << op;
    EXPECT_EQ(body->request_id, 0x0123456789abcdefu);
    for (std::size_t n = unnamed.size() + 1; n < octets.size(); ++n)
      EXPECT_FALSE(decode_body(static_cast<std::uint8_t>(op), ByteSpan(octets).first(n))) << n;
    std::fill(octets.end() - 8, octets.end(), std::uint8_t{0});
    EXPECT_FALSE(decode_body(static_cast<std::uint8_t>(op), octets)) << "no name, and said so";
  }
  for (const int op : {TKDC_OP_BIND, TKDC_OP_STAGE, TKDC_OP_DESTROY, TKDC_OP_HELLO}) {
    request_.request_id = 0;
    const Bytes unnamed = written(static_cast<std::uint8_t>(op));
    request_.request_id = 1;
    EXPECT_EQ(written(static_cast<std::uint8_t>(op)), unnamed) << "of uses alone";
  }
}

TEST_F(RequestBodyTest, NothingElseIsRead) {
  const Bytes data = some_octets(16, 1);
  request_.data = span_of(data);
  for (const int op :
       {TKDC_OP_HELLO, TKDC_OP_SEAL, TKDC_OP_VERIFY, TKDC_OP_SEAL_DERIVED, TKDC_OP_STAGE,
        TKDC_OP_EXPORT, TKDC_OP_BIND, TKDC_OP_DESTROY, TKDC_OP_EQUAL}) {
    Bytes octets = written(static_cast<std::uint8_t>(op));
    for (std::size_t n = 0; n < octets.size(); ++n)
      EXPECT_FALSE(decode_body(static_cast<std::uint8_t>(op), ByteSpan(octets).first(n))) << n;
    octets.push_back(0);
    EXPECT_FALSE(decode_body(static_cast<std::uint8_t>(op), octets)) << op;
  }
  const Bytes long_key = some_octets(kMaxStagedBytes + 1, 0);
  request_.data = span_of(long_key);
  EXPECT_FALSE(decode_body(TKDC_OP_STAGE, written(TKDC_OP_STAGE)));
  for (const int op : {0, 9, 15, 20, int(TKDC_OP_STATUS), 255})
    EXPECT_FALSE(decode_body(static_cast<std::uint8_t>(op), {})) << op;
}

TEST_F(RequestBodyTest, ResultsAreReadAsTheyWereWritten) {
  const Bytes output = some_octets(40, 3);
  const KeyId id{0x77};
  const auto reply = [](const SecretVector& body) {
    tkdc_reply out{};
    tkdc_buffer_put(&out.body, body.data(), body.size());
    return out;
  };
  tkdc_reply sealed = reply(encode_result(TKDC_OP_SEAL, id, output));
  tkdc_span got{};
  ASSERT_TRUE(tkdc_reply_bytes(&sealed, &got));
  EXPECT_TRUE(same({got.data, got.len}, output));
  tkdc_reply_free(&sealed);

  tkdc_reply staged = reply(encode_result(TKDC_OP_STAGE, id, output));
  KeyId told{};
  ASSERT_TRUE(tkdc_reply_key_id(&staged, told.data()));
  EXPECT_EQ(told, id);
  tkdc_reply_free(&staged);

  tkdc_reply bound = reply(encode_result(TKDC_OP_BIND, id, {}));
  EXPECT_TRUE(tkdc_reply_is_empty(&bound));
  tkdc_reply_free(&bound);

  const InstallationId installation{0x66};
  tkdc_reply hello = reply(encode_hello_result("malicious", installation));
  InstallationId heard{};
  ASSERT_TRUE(tkdc_reply_hello(&hello, &got, heard.data()));
  EXPECT_EQ(std::string(got.data, got.data + got.len), "malicious");
  EXPECT_EQ(heard, installation);
  tkdc_reply_free(&hello);
}

}  // namespace
}  // namespace tkdc
