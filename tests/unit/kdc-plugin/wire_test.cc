// SPDX-License-Identifier: Apache-2.0
// The asking side of the agent's protocol: bytes on the wire, and what is refused.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "base/hex.h"
#include "request.h"
#include "sample_key.h"
#include "stream.h"

namespace {

std::string hex(const uint8_t* data, size_t len) { return tkdc::to_hex({data, len}); }

tkdc_span span(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

TEST(Request, SealHasTheseBytes) {
  tkdc_buffer out{};
  const std::string plain = "abc";
  tkdc_request request{};
  request.op = TKDC_OP_SEAL;
  request.key = sample_key();
  request.usage = 2;
  request.data = span(plain);
  ASSERT_TRUE(tkdc_request_encode(&out, &request, 0x0102030405060708, 5000));
  const std::string header =
      "544b4443"  // magic
      "01"
      "02"
      "0000"              // version, op, status
      "0102030405060708"  // id
      "00000053"          // body: 72 + 4 + 4 + 3
      "00001388";         // deadline
  const std::string key = std::string(32, '1') + std::string(32, '2') + std::string(64, '3') +
                          "00000007"
                          "00000012";
  EXPECT_EQ(hex(out.data, out.len), header + key +
                                        "00000002"
                                        "00000003"
                                        "616263");
  tkdc_buffer_free(&out);
}

TEST(Request, TooLongIsRefusedAndLeavesTheQueueAlone) {
  tkdc_buffer out{};
  const std::string big(TKDC_WIRE_DATA_MAX_BYTES + 1, 'x');
  tkdc_request request{};
  request.op = TKDC_OP_SEAL;
  request.data = span(big);
  EXPECT_FALSE(tkdc_request_encode(&out, &request, 1, 1));
  request.op = 99;
  request.data = {};
  EXPECT_FALSE(tkdc_request_encode(&out, &request, 1, 1));
  EXPECT_EQ(out.len, 0U);
  tkdc_buffer_free(&out);
}

TEST(Header, RefusesWhatIsNotOurs) {
  uint8_t bytes[TKDC_WIRE_HEADER_BYTES];
  tkdc_wire_header header{TKDC_OP_SEAL, 0, 1, TKDC_WIRE_BODY_MAX_BYTES, 0};
  tkdc_wire_header back{};
  tkdc_wire_put_header(bytes, &header);
  EXPECT_TRUE(tkdc_wire_get_header(bytes, &back));
  for (const int i : {0, 3, 4}) {  // magic, magic, version
    bytes[i] ^= 1;
    EXPECT_FALSE(tkdc_wire_get_header(bytes, &back)) << i;
    bytes[i] ^= 1;
  }
  header.body_bytes++;
  tkdc_wire_put_header(bytes, &header);
  EXPECT_FALSE(tkdc_wire_get_header(bytes, &back));
}

TEST(Reader, NeverReadsPastTheEnd) {
  const uint8_t bytes[] = {0, 0, 0, 5, 'a', 'b'};
  tkdc_reader r{bytes, sizeof bytes, false};
  EXPECT_EQ(tkdc_reader_get_bytes(&r).len, 0U);
  EXPECT_TRUE(r.bad);
  EXPECT_FALSE(tkdc_reader_done(&r));
  tkdc_reader huge{bytes, 4, false};
  EXPECT_EQ(tkdc_reader_get(&huge, SIZE_MAX), nullptr);
}

TEST(Reply, MalformedBodiesAreRefused) {
  tkdc_reply reply{};
  tkdc_span bytes{};
  uint8_t id[16];
  EXPECT_FALSE(tkdc_reply_bytes(&reply, &bytes));
  const std::string trailing("\0\0\0\1ab", 6);
  tkdc_buffer_put(&reply.body, trailing.data(), trailing.size());
  EXPECT_FALSE(tkdc_reply_bytes(&reply, &bytes));
  EXPECT_FALSE(tkdc_reply_key_id(&reply, id));
  EXPECT_FALSE(tkdc_reply_hello(&reply, &bytes, id));
  tkdc_reply_free(&reply);
}

struct Seen {
  std::vector<uint64_t> ids;
  std::vector<std::string> bodies;
};

void remember(void* arg, const tkdc_wire_header* header, tkdc_span body) {
  auto* seen = static_cast<Seen*>(arg);
  seen->ids.push_back(header->id);
  seen->bodies.emplace_back(reinterpret_cast<const char*>(body.data), body.len);
}

struct Pair {
  int peer = -1;
  tkdc_stream stream{};
  Pair() {
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0) {
      peer = fds[0];
      stream.fd = fds[1];
    }
  }
  ~Pair() {
    close(peer);
    tkdc_stream_close(&stream);
  }
};

std::string frame(uint64_t id, const std::string& body) {
  uint8_t bytes[TKDC_WIRE_HEADER_BYTES];
  const tkdc_wire_header header{TKDC_OP_OPEN, 0, id, static_cast<uint32_t>(body.size()), 0};
  tkdc_wire_put_header(bytes, &header);
  return std::string(reinterpret_cast<char*>(bytes), sizeof bytes) + body;
}

TEST(Stream, FramesArriveHoweverTheyAreCut) {
  Pair p;
  Seen seen;
  const std::string all = frame(1, "one") + frame(2, "") + frame(3, std::string(5000, 'x'));
  for (const char c : all) {
    ASSERT_EQ(write(p.peer, &c, 1), 1);
    ASSERT_TRUE(tkdc_stream_read(&p.stream, remember, &seen));
  }
  EXPECT_EQ(seen.ids, (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_EQ(seen.bodies[0], "one");
  EXPECT_EQ(seen.bodies[2].size(), 5000U);
  EXPECT_EQ(p.stream.in.len, 0U);
}

TEST(Stream, GarbageAndEndClose) {
  Pair garbage;
  Seen seen;
  const std::string text(TKDC_WIRE_HEADER_BYTES, 'G');
  ASSERT_GT(write(garbage.peer, text.data(), text.size()), 0);
  EXPECT_FALSE(tkdc_stream_read(&garbage.stream, remember, &seen));
  Pair ended;
  shutdown(ended.peer, SHUT_RDWR);
  EXPECT_FALSE(tkdc_stream_read(&ended.stream, remember, &seen));
  EXPECT_TRUE(seen.ids.empty());
}

std::string explained(const char* path, int error) {
  char text[320];
  tkdc_stream_explain(path, error, text, sizeof text);
  return text;
}

TEST(Stream, TroubleNamesUnitOrGroup) {
  const char* path = "/run/tkdc/agent-kdc/agent.sock";
  EXPECT_EQ(explained(path, ENOENT), "cannot connect to tkdc-agent at " + std::string(path) +
                                         ": No such file or directory; is tkdc-agent@agent-kdc "
                                         "running?");
  EXPECT_NE(explained(path, EACCES).find("group tkdc-agent-kdc (socket_group"), std::string::npos);
  for (const char* other : {"/tmp/agent.sock", "/run/tkdc/agent.sock", "/run/tkdc//agent.sock"})
    EXPECT_NE(explained(other, ENOENT).find("tkdc-agent@NAME running"), std::string::npos);
  const std::string longest(200, 'x');
  EXPECT_LT(explained(("/run/tkdc/" + longest + "/a").c_str(), EACCES).size(), 320U);
}

TEST(Stream, QueueIsBounded) {
  Pair p;
  const std::string mib(1024 * 1024, 'x');
  for (int i = 0; i < 33; i++) tkdc_buffer_put(&p.stream.out, mib.data(), mib.size());
  EXPECT_FALSE(tkdc_stream_flush(&p.stream));
}

}  // namespace
