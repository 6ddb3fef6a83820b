// SPDX-License-Identifier: Apache-2.0
// Seal, open, mac, verify under a key's record, as protocols on shares, in the form that the key
// has.
//
// Own-realm krbtgt keys (GCM form): a ticket is nonce(12) || ciphertext ||
// tag(16), filled up with zeros to the length of its enctype's ciphertexts; a PAC
// signature is gcm_sign, filled up likewise. All other keys and usages: RFC 3962 or
// RFC 8009. Inputs and outputs are shared towards the agent; only a GCM ciphertext
// is opened to the servers.
#pragma once

#include "cipher/gcm.h"
#include "protocol/protocol.h"
#include "service/operation/outcome.h"
#include "service/sealing/nonce.h"
#include "service/sealing/seal_windows.h"
#include "service/store/record.h"

namespace tkdc {

struct JobContext {
  Protocol& protocol;
  const InstallationId& installation;
  const KeyRecord& record;
  NonceCoordinates seal_at;  // of this job, if it seals a ticket
  std::uint32_t epoch;       // the session's
  std::uint32_t usage;
  const Bytes& public_data;  // of the request
  // Of the lane, in the tick in which it is asked; none in derived records' contexts.
  const SealWindows* revoked = nullptr;
  Part part{};
  GcmCipher* gcm = nullptr;  // of keys of the GCM form; null: the protocol's layers
};

// Whether a head leaves its tail to be asked for. Else it is the whole operation: a short message,
// krbtgt's keys, another form or MAC than HMAC-SHA1, or keys that have to be derived first.
bool leaves_tail(const KeyRecord& record, tkdc_wire_op op, std::uint32_t usage, const Part& part,
                 std::size_t input_bytes);

// Whether this operation uses the key's own-realm form.
bool in_gcm_form(const KeyRecord& record, std::uint32_t usage);

// Whether the record lacks the usage's keys: the usage was not its class's yet when it was made.
bool lacks_keys(const KeyRecord& record, tkdc_wire_op op, std::uint32_t usage);

// Whether the input's length is one that a plain operation takes (check_lengths() of operations.h).
tkdc_status check_input(tkdc_wire_op op, std::uint32_t usage, std::size_t bytes,
                        const KeyRecord& record);
// The same of a tail.
tkdc_status check_tail(tkdc_wire_op op, std::uint32_t usage, std::size_t bytes,
                       const KeyRecord& record);

// With a record that has the usage's keys.
Task<JobOutcome> run_plain(JobContext context, tkdc_wire_op op, SharedBytes input);

// What the operation costs a party, from its public shape (cost.h).
JobCost cost_of(const Protocol& protocol, const KeyRecord& record, tkdc_wire_op op,
                std::uint32_t usage, std::size_t input_bytes, const Part& part = {});

}  // namespace tkdc
