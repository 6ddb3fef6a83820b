// SPDX-License-Identifier: Apache-2.0
#include "preload_fixture.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "sample_key.h"
#include "support/scratch.h"

namespace tkdc::test {
namespace {

constexpr int kPollMs = 20;

struct Serving {
  ScriptedAgent& agent;
  tkdc_stream& stream;
};

void on_frame(void* arg, const tkdc_wire_header* header, tkdc_span) {
  auto& serving = *static_cast<Serving*>(arg);
  serving.agent.take(serving.stream, *header);
}

}  // namespace

Octets bytes_of(std::size_t count) {
  Octets body(4 + count, 0x5c);
  for (std::size_t i = 0; i < 4; ++i) body[i] = static_cast<std::uint8_t>(count >> (24 - 8 * i));
  return body;
}

ScriptedAgent::ScriptedAgent() : folder_(make_scratch("preload")), path_(folder_ + "/agent.sock") {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path_.begin(), path_.end(), address.sun_path);
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(listener_, 8), 0);
  thread_ = std::thread([this] {
    while (!stop_) {
      pollfd p{listener_, POLLIN, 0};
      if (::poll(&p, 1, kPollMs) == 1) serve(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
    }
  });
}

ScriptedAgent::~ScriptedAgent() {
  stop_ = true;
  thread_.join();
  ::close(listener_);
  std::filesystem::remove_all(folder_);
}

// One connection after the other: the library has one at a time.
void ScriptedAgent::serve(int fd) {
  tkdc_stream stream{};
  stream.fd = fd;
  Serving serving{*this, stream};
  bool good = fd >= 0;
  while (good && !stop_) {
    pollfd p{fd, POLLIN, 0};
    if (::poll(&p, 1, kPollMs) == 1)
      good = tkdc_stream_read(&stream, on_frame, &serving) && tkdc_stream_flush(&stream);
  }
  tkdc_stream_close(&stream);
}

void ScriptedAgent::take(tkdc_stream& stream, const tkdc_wire_header& header) {
  const std::lock_guard lock(mutex_);
  Answer answer;
  if (header.op == TKDC_OP_HELLO) {
    answer.body = bytes_of(0);
    answer.body.resize(answer.body.size() + TKDC_WIRE_INSTALLATION_BYTES, 0xee);
  } else {
    asked_.push_back(header.op);
    answer = answer_;
  }
  const tkdc_wire_header reply{header.op, answer.status, header.id,
                               static_cast<std::uint32_t>(answer.body.size()), 0};
  std::uint8_t octets[TKDC_WIRE_HEADER_BYTES];
  tkdc_wire_put_header(octets, &reply);
  tkdc_buffer_put(&stream.out, octets, sizeof octets);
  tkdc_buffer_put(&stream.out, answer.body.data(), answer.body.size());
}

void ScriptedAgent::answer_with(Answer answer) {
  const std::lock_guard lock(mutex_);
  answer_ = std::move(answer);
  asked_.clear();
}

std::vector<std::uint8_t> ScriptedAgent::asked() {
  const std::lock_guard lock(mutex_);
  return asked_;
}

ScriptedAgent& Preload::agent() {
  static ScriptedAgent agent;
  return agent;
}

Preload::Preload() {
  EXPECT_EQ(krb5_init_context(&context), 0);
  const tkdc_preload_config config{agent().path().c_str(), false, 5'000};
  EXPECT_EQ(tkdc_preload_api.configure(context, &config), 0);
  agent().answer_with({});
}

Preload::~Preload() { krb5_free_context(context); }

std::string Preload::message(krb5_error_code code) {
  const char* text = krb5_get_error_message(context, code);
  std::string out = text;
  krb5_free_error_message(context, text);
  return out;
}

Octets imitation() {
  Octets octets(TKDC_HANDLE_BYTES);
  const tkdc_wire_key key = sample_key();
  tkdc_handle_encode(octets.data(), &key);
  return octets;
}

Octets handle() {
  Octets octets = imitation();
  EXPECT_TRUE(tkdc_preload_api.stamp(octets.data(), octets.size()));
  return octets;
}

}  // namespace tkdc::test
