// SPDX-License-Identifier: Apache-2.0
// A protocol of secure computation, as those who compute with it see it: what goes in, which
// functions it computes, what is opened, what leaves, and what that costs. How values are shared
// and which messages travel is the protocol's own. docs/ARCHITECTURE.md, "How to add a protocol".
//
// All parties run the same code on the same public data. Lengths are public, octets are not. A
// protocol's object belongs to one lane of one session, and to its thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "lane/scheduler.h"
#include "protocol/shared_bytes.h"
#include "protocol/unit.h"
#include "session/security.h"

namespace tkdc {

// What counts: how soon the result is there, or how much work it is.
enum class Work : std::uint8_t { kWaitedFor, kBulk };

// Sum of a_k b_k over GF(2^128) in GCM's bit order (SP 800-38D, section 6.3): a_k and b_k are the
// 16-octet elements of two strings of one length.
struct InnerProduct {
  InnerProduct() = default;
  InnerProduct(SharedBytes left, SharedBytes right) : a(std::move(left)), b(std::move(right)) {}
  SharedBytes a, b;
};

// Names are literals.
struct ProtocolInfo {
  std::string_view name;
  int parties;
  Security security;
  std::string_view sharing;  // the form in which values come, are stored and leave
  // Every message carries a fresh zero-share: a job may begin before the three have compared which
  // jobs run. Else it waits for that: two honest parties that ran different jobs would tell each
  // other, or the third, what belongs to neither (docs/protocols/10-admission.md, "Decisions").
  bool zero_shared = false;
  std::string backend;  // which of its implementations computes here, for the administrator
};

// What one party has done since its lane began.
struct ProtocolCounts {
  std::uint64_t message_bytes = 0, aes_blocks = 0, sha1_blocks = 0, sha2_blocks = 0;
  std::uint64_t masked_blocks = 0, masks_made = 0;
  std::uint64_t masks_held = 0;  // now

  ProtocolCounts& operator+=(const ProtocolCounts& more) {
    message_bytes += more.message_bytes;
    aes_blocks += more.aes_blocks;
    sha1_blocks += more.sha1_blocks;
    sha2_blocks += more.sha2_blocks;
    masked_blocks += more.masked_blocks;
    masks_made += more.masks_made;
    masks_held += more.masks_held;
    return *this;
  }
};

class Protocol {
 public:
  virtual ~Protocol() = default;

  virtual ProtocolInfo info() const = 0;
  // Whose tasks these are; the functions below are called from there only.
  virtual Scheduler& scheduler() = 0;

  // ---- input
  // x[offset ..] ^= the public octets. No message.
  void add_public(SharedBytes& x, ByteSpan value, std::size_t offset = 0) const {
    add_constant(x, value, offset);
  }
  SharedBytes share_public(ByteSpan value) const {
    SharedBytes x(value.size());
    add_public(x, value);
    return x;
  }
  // Uniform octets that no party knows.
  virtual SharedBytes random(std::size_t bytes) = 0;

  // ---- circuit and layer
  // `held` outlives the task. XOR, and every other linear map, is done on shares
  // (protocol/shared_bytes.h).
  Task<SharedBytes> apply(Unit unit, const SharedBytes& held, SharedBytes data,
                          Work work = Work::kWaitedFor) {
    return compute(unit, held, std::move(data), work);
  }
  // The pairs' sums, one after the other; side by side.
  virtual Task<SharedBytes> inner_products(std::vector<InnerProduct> pairs) = 0;

  // ---- verified
  // Goes on when everything that was computed so far is known to be right; never after somebody
  // has deviated. Comes before every use of a result: whatever leaves, is stored or is opened.
  virtual Task<void> verified() = 0;

  // Messages that are being verified now; `opened`: something of theirs has been opened for it. A
  // session that ends now has lost that check.
  struct Check {
    bool opened = false;
  };
  virtual std::optional<Check> checking() const { return std::nullopt; }
  // Called whenever a check has ended well: how many claims it was about, and how long after
  // somebody first waited for it. Never by a protocol that has nothing to verify.
  using Checked = std::function<void(std::uint64_t claims, std::chrono::nanoseconds took)>;
  virtual void on_checked(Checked) {}

  // ---- ahead
  // Called between ticks while no job runs: begins to make what later jobs take, if there is room
  // for more. All parties call it in the same ticks.
  virtual void prepare() {}
  virtual bool preparing() const { return false; }

  // ---- open
  // To all parties. Waits for verified() itself.
  virtual Task<Bytes> open(SharedBytes x) = 0;
  // An operation's input, on which nothing has been computed.
  virtual Task<Bytes> open_input(SharedBytes x) = 0;

  // ---- output
  // A result leaves as what a task holds of it: a SharedBytes in the form of info().sharing, after
  // verified(). Whoever gets a "replicated" one combines what the parties say of their components,
  // and believes none of them alone. The parties send each other nothing for it.

  // ---- cost
  // Octets that a party sends for apply() of these lengths where somebody waits for the result,
  // without verification; and for one inner product.
  virtual std::size_t message_bytes(Unit unit, std::size_t held_bytes,
                                    std::size_t data_bytes) const = 0;
  virtual std::size_t product_bytes() const = 0;
  virtual ProtocolCounts counts() const = 0;

 protected:
  virtual void add_constant(SharedBytes& x, ByteSpan value, std::size_t offset) const = 0;
  virtual Task<SharedBytes> compute(Unit unit, const SharedBytes& held, SharedBytes data,
                                    Work work) = 0;
};

}  // namespace tkdc
