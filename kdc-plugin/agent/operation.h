// SPDX-License-Identifier: Apache-2.0
// A client's request, checked and turned into what the servers will be asked.
//
// Everything that can be refused without the servers is refused here. The
// limits are the wire's; what a role may do with which key is the servers'
// decision, taken again by each of them.
#pragma once

#include <string>

#include "agent/config.h"
#include "agent/two_parts.h"

namespace tkdc::agent {

struct Operation {
  JobRequest job;              // without name, deadline and components
  SecretVector secret;         // what the servers get as shares; may be empty
  SecretVector pad;            // of two servers: what they have added to the answer
  std::optional<Rest> rest;    // `job` is a head, if the servers like
  std::size_t min_output = 0;  // octets of a good answer
  std::size_t max_output = 0;
};

struct Parsed {
  tkdc_status status = TKDC_STATUS_OK;  // not OK: refuse with `message`
  std::string message;
  Operation operation;
};

// SEAL to EQUAL. `kdc_only`: the connection or the agent has the role kdc.
Parsed parse_operation(std::uint8_t op, ByteSpan body, const AgentConfig& config, bool kdc_only);

// LIST and LIST_DROPPED are not computed: each server says what it holds, and all have to say the
// same.
constexpr bool is_list(std::uint8_t op) { return op == TKDC_OP_LIST || op == TKDC_OP_LIST_DROPPED; }
Parsed parse_list(std::uint8_t op, ByteSpan body, const AgentConfig& config, bool kdc_only);

}  // namespace tkdc::agent
