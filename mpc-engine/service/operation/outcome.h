// SPDX-License-Identifier: Apache-2.0
// What comes of an operation.
#pragma once

#include <string>

#include "protocol/shared_bytes.h"
#include "service/wire/message.h"

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
  // It failed, but another server may have what it yields, and give it to the agent.
  bool may_be_known = false;
  std::string ends_session;  // why it must, once this is answered; empty: it goes on
};

// Out of line: g++ 12 loses temporaries that are made inside a coroutine.
JobOutcome refuse(tkdc_status status, std::string message);
JobOutcome refuse_revoked();

}  // namespace tkdc
