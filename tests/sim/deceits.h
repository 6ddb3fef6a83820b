// SPDX-License-Identifier: Apache-2.0
// What a two-faced server says in a message's place (two_faced.h): it reads its program's message
// as its peer would, and writes another one of the same kind.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/secret.h"
#include "session/hello.h"

namespace tkdc::sim {

// In the order of plans.
enum class Deceit : std::uint8_t {
  kEpochs,     // how far its nonce epochs are
  kHello,      // another HELLO
  kStep,       // in a step of the handshake
  kManifest,   // which jobs run, in which order, by which protocol
  kTime,       // of sealing
  kVerdict,    // on a job
  kStatement,  // its own check of a job
  kSaid,       // revoked windows, audit heads, clocks, work on shares
  kVote,       // what its store did, or what it heard that another's did
  kRepeats,    // its message of before
  kOthers,     // what it told the other one
  kWithholds,
  kSilent,  // from now on, on this connection
  kLate,
  kAnswer,  // to an agent
};
inline constexpr std::int64_t kDeceits = 15;

const char* name_of(Deceit deceit);

// ---- messages between servers, by their first octet
bool is_hello(ByteSpan packet);
bool is_step(ByteSpan packet);
// Of the steps that settle what is half made: who lies there decides what a store does.
bool settles(ByteSpan packet);
// Of those that tell what all three have to have seen, or reserved, alike.
bool agrees(ByteSpan packet);

// A tick in which its sender has something to say, or to compare.
struct Tick {
  std::uint32_t number = 0;
  Bytes to_both, to_me;
  SecretVector rest;
};
std::optional<Tick> read_tick(ByteSpan packet);
SecretVector write(const Tick& tick);

// Of those that are about what is said: which a message can be.
std::vector<Deceit> possible(ByteSpan packet);

// A HELLO with other words in it; the same ones for the same `word`.
void change(Hello& hello, Deceit deceit, std::uint64_t word);
// False: it is no message of that kind.
bool change_step(SecretVector& packet);
bool change_tick(SecretVector& packet, Deceit deceit);
bool change_answer(SecretVector& frame);

}  // namespace tkdc::sim
