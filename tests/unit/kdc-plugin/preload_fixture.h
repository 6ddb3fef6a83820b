// SPDX-License-Identifier: Apache-2.0
// libtkdc-k5.so as a program has it that links it before libk5crypto, with an agent in a thread of
// the test's own that answers what the test tells it to.
#pragma once

#include <gtest/gtest.h>
#include <krb5.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "api.h"
#include "handle.h"
#include "stream.h"
}

namespace tkdc::test {

using Octets = std::vector<std::uint8_t>;

struct Answer {
  std::uint16_t status = TKDC_STATUS_OK;
  Octets body;
};

// A body of `bytes`: their length, then they.
Octets bytes_of(std::size_t count);

class ScriptedAgent {
 public:
  ScriptedAgent();
  ~ScriptedAgent();

  const std::string& path() const { return path_; }
  // What is answered from now on; what was asked before is forgotten.
  void answer_with(Answer answer);
  // Operations since, greetings left out.
  std::vector<std::uint8_t> asked();
  // Called by stream.c for each frame.
  void take(tkdc_stream& stream, const tkdc_wire_header& header);

 private:
  void serve(int fd);

  std::string folder_;
  std::string path_;
  int listener_ = -1;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  Answer answer_;
  std::vector<std::uint8_t> asked_;
  std::thread thread_;
};

class Preload : public testing::Test {
 protected:
  Preload();
  ~Preload() override;

  std::string message(krb5_error_code code);

  // One for all tests: the library keeps its connection.
  static ScriptedAgent& agent();
  krb5_context context = nullptr;
};

// A keyblock and its octets.
struct Key {
  explicit Key(Octets from, krb5_enctype enctype = 18) : octets(std::move(from)) {
    block = {KV5M_KEYBLOCK, enctype, static_cast<unsigned>(octets.size()), octets.data()};
  }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  Octets octets;
  krb5_keyblock block;
};

// Formed like a handle, by whomever.
Octets imitation();
// As ktkdc.so hands it out.
Octets handle();

}  // namespace tkdc::test
