// SPDX-License-Identifier: Apache-2.0
// Operations that krb5kdc or kadmind ask an agent for: what is taken is within
// the limits of the job that the servers get, and of the answer that comes back.
#include "agent/operation.h"

#include "fuzz.h"
#include "service/wire/message.h"

using tkdc::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tkdc::agent::AgentConfig config;
  if (size < 2) return 0;
  const auto parsed =
      tkdc::agent::parse_operation(data[0], {data + 2, size - 2}, config, (data[1] & 1) != 0);
  if (parsed.status != TKDC_STATUS_OK) {
    require(!parsed.message.empty());
    return 0;
  }
  const auto& operation = parsed.operation;
  require(operation.min_output <= operation.max_output);
  require(operation.max_output <= TKDC_WIRE_BODY_MAX_BYTES);
  // The servers take what the agent made of it.
  tkdc::JobRequest job = operation.job;
  job.name.agent = 1;
  for (auto& component : job.component) component = operation.secret;
  require(tkdc::decode_request(tkdc::encode(job)).ok());
  return 0;
}
