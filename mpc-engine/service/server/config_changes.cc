// SPDX-License-Identifier: Apache-2.0
#include "service/server/config_changes.h"

#include <algorithm>
#include <tuple>

namespace tkdc {
namespace {

auto whole_entry(const AgentEntry& one) {
  return std::tie(one.name, one.role, one.curve_public_key);
}
auto whole_entry(const Approver& one) { return std::tie(one.name, one.party, one.public_key); }
auto whole_entry(const PeerEntry& one) {
  return std::tie(one.party, one.address, one.certificate.certificate, one.certificate.former);
}

template <class Entry>
bool same_entries(const std::vector<Entry>& a, const std::vector<Entry>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Entry& x, const Entry& y) {
    return whole_entry(x) == whole_entry(y);
  });
}

auto of_installation(const ServerConfig& c) {
  return std::tie(c.installation, c.parties, c.party, c.security);
}
auto of_control(const ServerConfig& c) {
  return std::tie(c.control_listen, c.curve_secret_key_file, c.status_socket);
}
auto of_data(const ServerConfig& c) {
  return std::tie(c.data_listen, c.lanes, c.certificate_file, c.private_key_file, c.protocols,
                  c.backend, c.zero_shares, c.masked_blocks, c.two_parts, c.pair_prepared_bytes,
                  c.pair_tables_bytes, c.pair_tables_wait);
}
auto of_gpus(const ServerConfig& c) {
  return std::tie(c.gpus, c.gpu_allow_shared, c.gpu_min_cohort_blocks,
                  c.gpu_min_cohort_compressions);
}
auto of_store(const ServerConfig& c) {
  return std::tie(c.store_path, c.store_key_file, c.store_map_bytes);
}
auto of_limits(const ServerConfig& c) {
  const RateLimitOptions& rates = c.limits;
  return std::tie(rates.agent.per_s, rates.agent.burst, rates.user_key.per_s, rates.user_key.burst,
                  rates.service_key.per_s, rates.service_key.burst, c.epochs_per_day,
                  c.opened_checks_per_day, c.broken_checks_per_day);
}

}  // namespace

std::vector<std::string> changes_for_restart(const ServerConfig& a, const ServerConfig& b) {
  std::vector<std::string> out;
  auto note = [&out](bool alike, const char* table) {
    if (!alike) out.emplace_back(table);
  };
  note(of_installation(a) == of_installation(b), "[installation]");
  note(of_control(a) == of_control(b), "[control]");
  note(same_entries(a.agents, b.agents), "[[agents]]");
  note(same_entries(a.approvers, b.approvers), "[[approvers]]");
  note(of_data(a) == of_data(b), "[data]");
  note(of_gpus(a) == of_gpus(b), "[cuda]");
  note(same_entries(a.peers, b.peers), "[[peers]]");
  note(of_store(a) == of_store(b), "[store]");
  note(a.audit_file == b.audit_file, "audit.file");
  note(of_limits(a) == of_limits(b), "[limits]");
  return out;
}

}  // namespace tkdc
