// SPDX-License-Identifier: Apache-2.0
#include "agent/operation.h"

#include <algorithm>

#include "service/wire/key_list.h"
#include "service/wire/recipe.h"
#include "service/wire/request_body.h"

namespace tkdc::agent {
namespace {

Parsed refuse(tkdc_status status, std::string message) {
  Parsed parsed;
  parsed.status = status;
  parsed.message = std::move(message);
  return parsed;
}

Parsed malformed(std::uint8_t op) {
  return refuse(TKDC_STATUS_BAD_REQUEST,
                std::string(tkdc_wire_op_name(op)) +
                    ": truncated, too long or with trailing octets; are agent and client of the "
                    "same version?");
}

void append(SecretVector& out, ByteSpan in) { out.insert(out.end(), in.begin(), in.end()); }

void output_between(Operation& operation, std::size_t min, std::size_t max) {
  operation.min_output = min;
  operation.max_output = max;
}

// The recipe of a derived key: public but for the known half, which stands before the data.
bool take_recipe(const RecipeBody& body, Operation& operation) {
  const Derivation by{body.kind, body.enctype, {body.pepper.begin(), body.pepper.end()}};
  if (body.known_half.size() != known_half_bytes(by)) return false;
  operation.job.public_data = encode_derivation(by);
  append(operation.secret, body.known_half);
  return true;
}

// SEAL to MAC_DERIVED: key, usage, data.
Parsed parse_use(tkdc_wire_op op, const RequestBody& body) {
  Parsed parsed;
  Operation& operation = parsed.operation;
  operation.job.key = body.key;
  operation.job.usage = body.usage;
  operation.job.request_id = body.request_id;
  const ByteSpan data = body.data, checksum = body.checksum;
  if (is_derived(op) && !take_recipe(body.by, operation)) return malformed(op);
  // The servers compare the enctype with the key's record.
  const std::uint32_t number = is_derived(op) ? body.by.enctype : body.key.enctype;
  const tkdc_enctype* enctype = tkdc_enctype_of(number);
  if (enctype == nullptr)
    return refuse(TKDC_STATUS_UNKNOWN_KEY,
                  "no key of enctype " + std::to_string(number) +
                      " exists as shares; those served are 17, 18, 19 and 20");
  const std::size_t n = data.size(), overhead = enctype->overhead_bytes;
  switch (op) {
    case TKDC_OP_SEAL:
    case TKDC_OP_SEAL_DERIVED:
      if (n > TKDC_WIRE_DATA_MAX_BYTES - overhead) return malformed(op);
      output_between(operation, n + overhead, n + overhead);
      break;
    case TKDC_OP_OPEN:
    case TKDC_OP_OPEN_DERIVED:
      // Such lengths come from the network, not from the asking program: the
      // same answer as for any other forgery.
      if (n < overhead) return refuse(TKDC_STATUS_INTEGRITY, "open: shorter than any ciphertext");
      output_between(operation, n - overhead, n - overhead);
      break;
    case TKDC_OP_MAC:
    case TKDC_OP_MAC_DERIVED:
      output_between(operation, enctype->checksum_bytes, enctype->checksum_bytes);
      break;
    default:
      if (checksum.size() != enctype->checksum_bytes)
        return refuse(TKDC_STATUS_INTEGRITY, "verify: a checksum of this enctype has " +
                                                 std::to_string(enctype->checksum_bytes) +
                                                 " octets");
      break;
  }
  operation.rest = rest_of(op, *enctype, data);
  if (operation.rest) {
    operation.job.public_data = encode(Part{Part::Kind::kHead});
    operation.max_output = std::max(operation.max_output, operation.rest->head_bytes());
  }
  operation.secret.reserve(operation.secret.size() + n + checksum.size());
  append(operation.secret, data);
  append(operation.secret, checksum);
  return parsed;
}

Parsed parse_stage(const RequestBody& body, const AgentConfig& config) {
  Parsed parsed;
  Operation& operation = parsed.operation;
  const std::uint8_t origin = body.label;
  const ByteSpan key = body.data;
  operation.job.key = body.key;
  if (origin != TKDC_ORIGIN_DRAWN && origin != TKDC_ORIGIN_IMPORTED)
    return refuse(TKDC_STATUS_BAD_REQUEST, "stage: the origin must be drawn or imported");
  if (key.empty() != (origin == TKDC_ORIGIN_DRAWN))
    return refuse(TKDC_STATUS_BAD_REQUEST,
                  "stage: a drawn key comes without octets, an imported one with them");
  randombytes_buf(operation.job.key.id.data(), operation.job.key.id.size());
  operation.job.key.installation = config.installation;
  operation.job.public_data = {origin};
  append(operation.secret, key);
  // The servers may repeat the key id; what is told is the one drawn here.
  output_between(operation, 0, operation.job.key.id.size());
  return parsed;
}

Parsed parse_bind(const RequestBody& body) {
  Parsed parsed;
  JobRequest& job = parsed.operation.job;
  job.key = body.key;
  const ByteSpan name = body.data;
  if (name.empty()) return malformed(TKDC_OP_BIND);
  PrincipalDigest digest{};
  crypto_hash_sha256(digest.data(), name.data(), name.size());
  if (digest != job.key.principal)
    return refuse(TKDC_STATUS_BAD_REQUEST,
                  "bind: the key names another principal than the one given");
  job.public_data.assign(name.begin(), name.end());
  return parsed;
}

// A bound key and the id of a staged one, which the servers find by themselves.
Parsed parse_equal(const RequestBody& body) {
  Parsed parsed;
  JobRequest& job = parsed.operation.job;
  job.key = body.key;
  job.public_data.assign(body.data.begin(), body.data.end());
  output_between(parsed.operation, 1, 1);
  return parsed;
}

}  // namespace

Parsed parse_operation(std::uint8_t op, ByteSpan octets, const AgentConfig& config, bool kdc_only) {
  const bool manages = is_management(static_cast<tkdc_wire_op>(op));
  if (manages && kdc_only)
    return refuse(TKDC_STATUS_DENIED,
                  std::string(tkdc_wire_op_name(op)) + ": agent " + config.name +
                      " or this connection has the role kdc; keys are made and removed through "
                      "an agent with the role admin");
  if (!manages && (op < TKDC_OP_SEAL || op > TKDC_OP_MAC_DERIVED))
    return refuse(TKDC_STATUS_BAD_REQUEST, "unknown operation " + std::to_string(op) +
                                               "; are agent and client of the same version?");
  const auto body = decode_body(op, octets);
  if (!body) return malformed(op);
  Parsed parsed;
  switch (op) {
    case TKDC_OP_STAGE: parsed = parse_stage(*body, config); break;
    case TKDC_OP_EXPORT:
      parsed.operation.job.key.id = body->key.id;
      parsed.operation.job.key.installation = config.installation;
      output_between(parsed.operation, 16, kMaxStagedBytes);
      break;
    case TKDC_OP_BIND: parsed = parse_bind(*body); break;
    case TKDC_OP_DESTROY:
    case TKDC_OP_PURGE:
    case TKDC_OP_GIVE_BACK: parsed.operation.job.key = body->key; break;
    case TKDC_OP_EQUAL: parsed = parse_equal(*body); break;
    default: parsed = parse_use(static_cast<tkdc_wire_op>(op), *body);
  }
  if (parsed.status != TKDC_STATUS_OK) return parsed;
  parsed.operation.job.op = static_cast<tkdc_wire_op>(op);
  if (parsed.operation.job.key.installation != config.installation)
    return refuse(TKDC_STATUS_UNKNOWN_KEY,
                  "the handle belongs to another installation than this agent's; was a database "
                  "of another realm loaded?");
  return parsed;
}

Parsed parse_list(std::uint8_t op, ByteSpan octets, const AgentConfig& config, bool kdc_only) {
  const auto body = decode_body(op, octets);
  if (!body) return refuse(TKDC_STATUS_BAD_REQUEST, "list: the body must be a key id");
  if (kdc_only)
    return refuse(TKDC_STATUS_DENIED, "list: keys are listed through an agent with the role admin");
  Parsed parsed;
  parsed.operation.job.op = static_cast<tkdc_wire_op>(op);
  parsed.operation.job.key.installation = config.installation;
  parsed.operation.job.key.id = body->key.id;
  parsed.operation.max_output = kMaxKeyListBytes;
  return parsed;
}

}  // namespace tkdc::agent
