// SPDX-License-Identifier: Apache-2.0
// Where the bits of a circuit's inputs come from, in their order, and how they enter: each party
// says its own bit masked by its own share of the wire's mask, and both know Λ.
//
//   held     authenticated in this session, a stored key's: what is said of them has a MAC
//   dealt    a client's: what is said of them is proved later, with the MACs that the client dealt
//   known    public, the same at both: it enters as `held` does, so that both know the other one's
//   random   of both, known to nobody, a confounder: the wire's mask itself, of which nothing is
//   said own      whatever either party chooses
//
// Each message: the masked bits of `dealt` and `own`, then of the dealt random block R; those of
// `held` and `known` under MACs. Calls block; one thread. Secret: all but Λ. Error: the session's,
// or a number of bits that does not fit, before anything has been said.
#pragma once

#include <optional>

#include "pair/dealt.h"
#include "pair/prepared.h"
#include "pair/proof.h"

namespace tkdc::pair {

// Bits that are authenticated in a session, while it lasts.
struct Held {
  Label session;  // Session::id()
  AuthBits bits;
};

// Bits of r, under which a value is stored (pair/bridge.h). They enter one job, which nobody can
// copy: two values under one r would give their exclusive-or.
class HeldOnce {
 public:
  HeldOnce(const HeldOnce&) = delete;
  HeldOnce& operator=(const HeldOnce&) = delete;
  HeldOnce(HeldOnce&&) = default;
  HeldOnce& operator=(HeldOnce&&) = delete;
  std::size_t size() const { return bits_.bits.size(); }

 private:
  friend class Carried;
  friend class DealtEntry;
  friend class Fresh;
  friend class Inputs;
  explicit HeldOnce(Held bits) : bits_(std::move(bits)) {}
  Held bits_;
};

class Inputs {
 public:
  Inputs() = default;
  explicit Inputs(Dealt dealt) : dealt_(std::move(dealt)) {}

  Inputs& held(const Held& of);
  Inputs& held(HeldOnce of) { return held(of.bits_); }
  Inputs& dealt(std::size_t bits);  // the next ones
  Inputs& known(std::span<const std::uint8_t> bits);
  Inputs& random(std::size_t bits);
  Inputs& own(std::span<const std::uint8_t> share);

  std::size_t size() const { return sources_.size(); }
  bool has_dealt() const { return dealt_.has_value(); }

 private:
  friend class Entry;
  enum class Source : std::uint8_t { kHeld, kDealt, kKnown, kRandom, kOwn };
  Inputs& add(Source source, std::size_t bits);

  std::vector<Source> sources_;
  AuthBits held_;
  std::vector<Label> sessions_;  // of what is held
  Bits known_, own_;
  std::optional<Dealt> dealt_;
  bool used_ = false;
};

struct Entered {
  Bits values;                  // Λ
  std::optional<Proved> dealt;  // what is to be proved of the client's
};
// Whether they are this circuit's and session's, and have not served.
Result<void> inputs_fit(const Session& session, const Prepared& prepared, const Inputs& inputs);
// Once: what a client dealt would be read from two proofs.
Result<Entered> exchange_inputs(Session& session, const Prepared& prepared, Inputs& inputs);

}  // namespace tkdc::pair
