// SPDX-License-Identifier: Apache-2.0
// Three servers for the agent's tests: ROUTER sockets with CURVE that put the
// agent's shares together, compute the answer in the clear, and share it out
// again. What a real server must never do, so it exists in tests only.
//
// The "cipher": SEAL appends 28 octets of 0xee and flips every octet; OPEN
// undoes it or says INTEGRITY; a checksum is 12 octets of SHA-256. In two parts, once told to:
// the MAC of a message is SHA-1's digest of 64 zeros (the pad) and it, cut to 12 octets.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <zmq.hpp>

#include "service/wire/message.h"

namespace tkdc::agent {

enum class Mood {
  kHonest,
  kSilent,       // takes jobs, says nothing
  kWrongOutput,  // flips a bit of its output component
  kWrongDigest,  // flips a bit of the other component's digest
  kShortOutput,  // leaves out the last octet
  kGarbage,      // answers with a frame that is no reply
  kRepeats,      // answers everything twice
  kRefuses,      // answers with `refusal`
};

// UNAVAILABLE; nothing said; server 1 lies as its mood says, in tails alone.
enum class Tails { kAnswered, kRefused, kSwallowed, kLiedIn };

SecretVector fake_seal(ByteSpan plaintext);
SecretVector fake_mac(ByteSpan data);
// What the two parts of SEAL and MAC give together.
SecretVector fake_seal_in_two_parts(ByteSpan plaintext);
SecretVector fake_mac_in_two_parts(ByteSpan data);

class FakeServers {
 public:
  FakeServers();
  ~FakeServers();

  std::array<std::string, 3> addresses() const { return addresses_; }
  std::array<std::string, 3> public_keys() const { return public_keys_; }

  void set_mood(int party, Mood mood, tkdc_status refusal = TKDC_STATUS_DENIED);
  void set_two_parts(bool on) { two_parts_ = on; }
  void set_tails(Tails tails) { tails_ = tails; }
  // Each head's answer waits so long.
  void set_head_delay(std::chrono::milliseconds delay) { head_delay_ = delay; }
  // The server's socket goes away and comes back on the same port.
  void set_running(int party, bool running);

  // All jobs that a server has received, in order.
  std::vector<JobRequest> view(int party);
  std::size_t statuses_seen() const { return statuses_; }  // by all three
  std::size_t jobs_seen(int party);
  // Something a test of consistency must never see, e.g. components that do
  // not fit together.
  std::vector<std::string> complaints();

 private:
  struct Arrived {
    std::array<bool, 3> here{};
    std::array<std::string, 3> route;
    std::array<JobRequest, 3> request;
  };
  using JobKey = std::pair<std::uint64_t, std::uint64_t>;

  void loop();
  void apply_running();
  void receive(int party);
  void answer(Arrived& job);
  void answer_status(int party, const std::string& route, const JobRequest& request);
  void check(const Arrived& job);
  JobReply compute(const JobRequest& request, ByteSpan input);
  void send(int party, const std::string& route, JobReply reply);
  void open(int party);

  zmq::context_t context_{1};
  std::array<std::string, 3> addresses_;
  std::array<std::string, 3> public_keys_;
  std::array<std::string, 3> secret_keys_;
  std::array<zmq::socket_t, 3> sockets_;
  std::array<bool, 3> open_{};
  std::map<JobKey, Arrived> arrived_;
  std::array<std::map<std::uint64_t, std::uint64_t>, 3> last_number_;  // by session

  std::mutex mutex_;  // guards what the test sets and reads
  std::array<Mood, 3> mood_{};
  std::array<tkdc_status, 3> refusal_{};
  std::array<bool, 3> running_{true, true, true};
  std::array<std::vector<JobRequest>, 3> views_;
  std::vector<std::string> complaints_;
  std::atomic<std::size_t> statuses_{0};
  std::atomic<bool> stop_{false}, two_parts_{false};
  std::atomic<Tails> tails_{Tails::kAnswered};
  std::atomic<std::chrono::milliseconds> head_delay_{std::chrono::milliseconds(0)};
  std::thread thread_;
};

}  // namespace tkdc::agent
