// SPDX-License-Identifier: Apache-2.0
// What a mesh is told when it is made: who the two others are, what this party offers, and what its
// owner holds of a session before.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "link/certificate.h"
#include "link/network.h"
#include "link/tls_network.h"
#include "session/advice.h"
#include "session/course_tail.h"
#include "session/epoch_ledger.h"
#include "session/owners_note.h"
#include "session/session.h"
#include "session/wire_format.h"

namespace tkdc {

struct MeshPeer {
  int party = 0;
  std::string address;  // host:port of its data plane
  PeerPin pin;          // its certificate's
};

struct MeshOptions {
  std::array<std::uint8_t, 16> installation{};
  int party = 0;
  int lanes = 1;
  Security security = Security::kSemiHonest;
  Representation representation = Representation::kPlanes;  // kBytes: offered
  ZeroOffer zero_shares = ZeroOffer::kAesCtr;
  bool two_parts = false;                            // allowed
  std::uint64_t wire_format = wire_format_digest();  // tests say another
  std::vector<OfferedProtocol> protocols;            // the one that is used most first
  // Offered like them, but no job's: where all three have it, lanes have bulk streams for it.
  std::optional<OfferedProtocol> streamed;
  // What else the owner offers, in the same list, each with a number of its messages: who does not
  // know it passes it over, so a session has it where all three offer it alike.
  std::vector<OfferedProtocol> features;
  // Whether the next session is to be for a newcomer; none without. From establish()'s thread.
  std::function<std::optional<NewcomerOffer>()> newcomer;
  std::uint32_t masked_blocks = 0;                    // rep3/unit/rep3_offer.h
  std::uint32_t cohort_limit = 0;                     // service/job/limits.h
  std::uint16_t protocol_version = kProtocolVersion;  // what we say; tests say another
  // Of other kinds than TLS over TCP; then no certificate is needed.
  std::shared_ptr<Network> network;
  std::string listen_address;
  std::string certificate_pem;
  SecretVector private_key_pem;
  std::vector<MeshPeer> peers;  // the other two
  int establish_timeout_ms = 10'000;
  RecordCipher records = RecordCipher::kFastest;
  std::uint64_t records_per_key = TlsStream::kRecordsPerKey;
  std::uint32_t epochs_per_day = EpochLedger::kPerDay;
  std::function<void(const std::string&)> log;  // any thread
  std::function<OwnersNote()> note;             // for the two others' owners; zeros without
  SessionAdvice advice;
  // Where this server's lane stood when the last session ended; none without. And what a
  // peer says of the same: an error ends the attempt. Both from establish()'s thread.
  std::function<CourseTail(int lane)> course;
  std::function<Result<void>(int lane, int party, const CourseTail&)> hear_course;
  // The session that this server can go on with; none without. From the same thread.
  std::function<SessionId()> held;
  // There will be a new one: what is held is over, because that party forgot it, or both. Error: no
  // new session either. From the same thread.
  std::function<Result<void>(std::optional<int> forgotten_by)> give_up;
};

}  // namespace tkdc
