// SPDX-License-Identifier: Apache-2.0
// The request's file: what is written is read, and nothing else is.
#include "service/export/request.h"

#include "sample.h"

namespace tkdc {
namespace {

using test::BoxPair, test::sample_request;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ExportRequests, AreReadAsWritten) {
  const ExportRequest request = sample_request(BoxPair());
  const std::string text = encode(request);
  auto read = decode_export_request(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(encode(*read), text);
  EXPECT_EQ(read->keys[1].principal, "odd\\ name@A.TEST");
  EXPECT_EQ(read->keys[2].kvno, 4u);
}

TEST(ExportRequests, AreRefusedInAnyOtherForm) {
  const std::string text = encode(sample_request(BoxPair()));
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
    EXPECT_FALSE(decode_export_request(text.substr(0, bytes)).ok()) << bytes;
  EXPECT_FALSE(decode_export_request(text + "\n").ok());
  EXPECT_FALSE(decode_export_request(text + text).ok());
  const std::pair<const char*, const char*> changes[] = {
      {"request 1", "request 2"}, {"keys 3", "keys 2"},        {"keys 3", "keys 4"},
      {"keys 3", "keys 03"},      {"keys 3", "keys 99999999"}, {" 2 17 ", " 2 23 "},
      {" 2 17 ", " 02 17 "},      {" 2 17 ", " -2 17 "},       {" 2 17 ", " 4294967296 17 "},
      {"realm A", "realm \tA"},   {"alice@A.TEST", ""},        {"expires 1", "expires +1"},
      {"0101", "0A01"},           {"key 0303", "key 0103"},    {"alice", "ali\x7f"}};
  for (const auto& [from, to] : changes)
    EXPECT_FALSE(decode_export_request(replaced(text, from, to)).ok()) << from << " to " << to;
}

TEST(ExportRequests, NameNoKeyTwiceAndSomeKeyAtLeast) {
  ExportRequest request = sample_request(BoxPair());
  std::swap(request.keys[0], request.keys[1]);
  EXPECT_FALSE(decode_export_request(encode(request)).ok());
  request.keys[0] = request.keys[1];
  EXPECT_FALSE(decode_export_request(encode(request)).ok());
  request.keys.clear();
  EXPECT_FALSE(decode_export_request(encode(request)).ok());
}

TEST(ExportRequests, HaveADigestOverEveryOctet) {
  const std::string text = encode(sample_request(BoxPair()));
  const Digest whole = request_digest(text);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string other = text;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_NE(request_digest(other), whole) << at;
  }
}

}  // namespace
}  // namespace tkdc
