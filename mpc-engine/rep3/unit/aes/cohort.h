// SPDX-License-Identifier: Apache-2.0
// Many AES states on shares that go through the rounds together: the
// interface between the protocol (aes.cc) and the backends.
//
// The protocol calls, per S-box layer 0..3: terms() into the message, then
// absorb() with what was sent and received. Between the layers it calls the
// linear steps of FIPS 197. What absorb() is given must stay readable until the
// next terms() or linear step has returned; every step gets the blocks that
// load() got, which are one at least. A backend decides how state stands in memory and
// on the wire (its Representation); all parties of a session use the same one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/shared_bytes.h"
#include "rep3/claims.h"
#include "rep3/zero_stream.h"
#include "session/session.h"

namespace tkdc {

class OctetDevice;
namespace sha1 {
class RippleBackend;
}

// One block: where it stands, and its key's expanded round keys, both on shares.
struct AesBlockRef {
  const std::uint8_t* in[2];
  std::uint8_t* out[2];
  const std::uint8_t* round_keys[2];
};

class AesCohort {
 public:
  static constexpr int kLayers = 4;

  virtual ~AesCohort() = default;
  virtual void load(const std::vector<AesBlockRef>& blocks) = 0;
  virtual void store(const std::vector<AesBlockRef>& blocks) = 0;
  virtual void add_round_key(const std::vector<AesBlockRef>& blocks, int round) = 0;

  virtual std::size_t message_bytes(int layer) const = 0;
  virtual void terms(int layer, std::uint8_t* out) = 0;
  // The same for a cohort that works on its own, as one on a device does, and adds the zero-share
  // too: starts on the layer, and before the packet leaves writes the masked message. False: it
  // does not, call terms().
  virtual bool start_masked_terms(int, const ZeroShare&) { return false; }
  virtual void finish_masked_terms(int, std::uint8_t*) {}
  virtual void absorb(int layer, const std::uint8_t* mine, const std::uint8_t* theirs) = 0;

  // In malicious mode, before the first and after the last absorb(): what the four
  // layers promised (rep3/claims.h). False: the representation has no claims,
  // since malicious sessions do not use it.
  virtual void keep_for_claims(ClaimLog&) {}
  virtual bool record(ClaimLog&) { return false; }

  // Encryption, after the inversion: affine map, ShiftRows, MixColumns unless
  // `last`; add_round_key() comes next.
  virtual void sub_shift_mix(bool last) = 0;
  // Decryption, before the inversion: InvShiftRows and the inverse affine map.
  virtual void inv_shift_sub() = 0;
  // Decryption, after the inversion: its result becomes the state.
  virtual void take_inverse() = 0;
  virtual void inv_mix() = 0;
};

class Rep3Backend {
 public:
  virtual ~Rep3Backend() = default;
  virtual std::string name() const = 0;
  virtual Representation representation() const = 0;
  virtual std::unique_ptr<AesCohort> make_cohort(int party, std::size_t blocks) const = 0;
  // Who computes SHA-1's shape of the fewest bits (rep3/unit/sha1/ripple_cohort.h); null is the
  // CPU.
  virtual const sha1::RippleBackend* ripples() const { return nullptr; }
  // Where malicious mode may verify what was computed (rep3/verify/octet_device.h). Null: on this
  // CPU.
  virtual OctetDevice* octet_device() const { return nullptr; }
};

// The backend called `wanted` if it has the representation that the session
// agreed on, else (and for "cpu") this CPU's fastest one that has it. "auto" is a
// device if one can be used, else "cpu". Error: `wanted` is unknown or not on this
// machine.
Result<const Rep3Backend*> choose_rep3_backend(const std::string& wanted,
                                               Representation representation);

// All that run on this CPU, for tests and benchmarks.
std::vector<const Rep3Backend*> usable_rep3_backends();

}  // namespace tkdc
