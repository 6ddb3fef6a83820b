// SPDX-License-Identifier: Apache-2.0
// What a KDC asks for, as protocols on shares: seal, open, mac, verify under a
// key's record, in the form that the key has.
//
// Own-realm krbtgt keys (GCM form): a ticket is nonce(12) || ciphertext ||
// tag(16), filled up with zeros to the length of its enctype's ciphertexts; a PAC
// signature is gcm_sign, filled up likewise. All other keys and usages: RFC 3962 or
// RFC 8009. Inputs and outputs are shared towards the agent; only a GCM ciphertext
// is opened to the servers.
#pragma once

#include "cipher/ciphers.h"
#include "service/job/engine.h"
#include "service/operation/nonce.h"
#include "service/revoke/seal_windows.h"
#include "service/store/record.h"

namespace tkdc {

struct JobOutcome {
  JobOutcome() = default;
  explicit JobOutcome(SharedBytes result) : output(std::move(result)) {}
  JobOutcome(tkdc_status why, std::string text) : status(why), message(std::move(text)) {}

  tkdc_status status = TKDC_STATUS_OK;
  std::string message;
  const char* note = nullptr;  // for the audit log
  SharedBytes output;
  bool revoked = false;  // a ticket of a revoked window
};

// Out of line: g++ 12 loses temporaries that are made inside a coroutine.
JobOutcome refuse(tkdc_status status, std::string message);
JobOutcome refuse_revoked();

struct JobContext {
  Ciphers& ciphers;
  const InstallationId& installation;
  const KeyRecord& record;
  NonceCoordinates seal_at;  // of this job, if it seals a ticket
  std::uint32_t epoch;       // the session's
  std::uint32_t usage;
  const Bytes& public_data;  // of the request
  // Of the lane, in the tick in which it is asked; none in derived records' contexts.
  const SealWindows* revoked = nullptr;
  Part part{};
};

// Whether a head leaves its tail to be asked for. Else it is the whole operation: a short message,
// krbtgt's keys, another form or MAC than HMAC-SHA1, or keys that have to be derived first.
bool leaves_tail(const KeyRecord& record, tkdc_wire_op op, std::uint32_t usage, const Part& part,
                 std::size_t input_bytes);

// Whether this operation uses the key's own-realm form.
bool in_gcm_form(const KeyRecord& record, std::uint32_t usage);

// Whether the input's length is one that this operation takes. Standard
// operations are sequential, so an overlong message would keep a lane busy for
// seconds: each usage has a bound well above what Kerberos sends. An overlong
// ciphertext is a forgery (INTEGRITY), other lengths are BAD_REQUEST. So is a tail of
// an operation that leaves none.
tkdc_status check_lengths(const JobRequest& request, const KeyRecord& record);

// The same for the input of a plain operation alone.
tkdc_status check_input(tkdc_wire_op op, std::uint32_t usage, std::size_t bytes,
                        const KeyRecord& record);

Task<JobOutcome> run_operation(JobContext context, tkdc_wire_op op, SharedBytes input);

// What the operation costs a party, from its public shape: the counts that
// the protocol's own layers add up to (a test compares them with the lane's
// counters).
JobCost cost_of(const KeyRecord& record, tkdc_wire_op op, std::uint32_t usage,
                std::size_t input_bytes, const Part& part = {});
JobCost cost_of(const KeyRecord& record, const JobRequest& request, std::size_t input_bytes,
                const Part& part = {});

}  // namespace tkdc
