// SPDX-License-Identifier: Apache-2.0
// What the clients ask for and whether the answers are right: AS-REQ and
// TGS-REQ in a given mix, wrong passwords in a given share, the checks of the
// sample. Knows no sockets and no time but the wall clock.
#pragma once

#include <unordered_set>

#include "storm/recorder.h"
#include "storm/replies.h"

namespace tkdc::storm {

struct WorkloadTerms {
  RequestTerms request;
  double tgs_share = 0;             // of all requests; the others are AS-REQ
  double wrong_password_share = 0;  // of the AS-REQ
  double sample = 1;                // of the replies, to be decrypted and checked
  bool fresh_tickets = false;       // a ticket that begins like an earlier one is wrong
  std::vector<std::string> services;
};

struct Attempt {
  ReplyKind kind = ReplyKind::kAs;
  std::size_t user = 0;
  std::size_t ticket = 0;   // of a TGS-REQ
  std::size_t service = 0;  // of a TGS-REQ
  std::uint32_t nonce = 0;
  bool sampled = false;
  bool wrong_password = false;
  RawKey subkey;
  Bytes request_checksum;  // that the reply must hold, if it will be checked
};

class Workload {
 public:
  Workload(WorkloadTerms terms, std::vector<User> users);

  std::size_t users() const { return users_.size(); }
  const std::vector<User>& all_users() const { return users_; }
  // Opens the tickets of a service, so that they can be checked, too.
  void add_service_key(const std::string& service, const RawKey& key);

  // Only AS-REQ of users 0, 1, ..., and their tickets are kept for TGS-REQ.
  void collect_tickets(bool on) { collecting_ = on; }
  std::size_t tickets() const { return tickets_.size(); }

  // The next request of a client; false when it cannot be encrypted.
  bool begin(std::uint64_t client, Attempt& attempt, Bytes& request);
  Outcome judge(const Attempt& attempt, ByteSpan packet, Recorder& recorder);

 private:
  struct Held {
    std::size_t user;
    Ticket ticket;
  };
  bool chance(double share) {
    return share > 0 && (share >= 1 || std::uniform_real_distribution<double>()(dice_) < share);
  }
  const Key& user_key(std::size_t user);
  Outcome judge_error(const Attempt& attempt, std::int32_t code, Recorder& recorder);
  std::string check(const Attempt& attempt, const Reply& reply, Recorder& recorder);
  std::string check_fresh(const Reply& reply);

  WorkloadTerms terms_;
  std::vector<User> users_;
  std::vector<Held> tickets_;
  std::map<std::string, Key> service_keys_;
  bool collecting_ = false;
  Key wrong_key_;
  std::unordered_set<std::string> nonces_;  // of all tickets so far, 12 octets each
  std::uint64_t turn_ = 0;
  std::mt19937_64 dice_{0x6469'6365};
};

}  // namespace tkdc::storm
