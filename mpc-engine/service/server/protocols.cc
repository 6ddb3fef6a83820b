// SPDX-License-Identifier: Apache-2.0
#include "service/server/protocols.h"

#include "rep3/unit/rep3_offer.h"
#include "service/server/protocol_list.h"

namespace tkdc {
namespace {

constexpr const char* kNoBackend = "set data.backend to \"auto\" or \"cpu\"";
constexpr const char* kNoGpu =
    "see docs/operations.md, A GPU, or set data.backend to \"auto\" or \"cpu\"";

std::string known_names() {
  std::string out;
  for (const KnownProtocol& one : known_protocols())
    out += (out.empty() ? "'" : ", '") + std::string(one.name) + "'";
  return out;
}

Result<const KnownProtocol*> find_known(const std::string& name, const ServerConfig& config) {
  for (const KnownProtocol& one : known_protocols())
    if (one.name == name) return &one;
  return fail(config.path + ": data.protocols: this program has no protocol '" + name +
              "'; it has " + known_names());
}

}  // namespace

Result<std::shared_ptr<const ProtocolOffer>> make_rep3(const ServerConfig& config) {
  const char* advice = config.backend == "cuda" ? kNoGpu : kNoBackend;
  auto offer = std::make_shared<const Rep3Offer>(config.backend, config.masked_blocks, advice);
  if (auto usable = offer->check(); !usable) return usable.error();
  return std::shared_ptr<const ProtocolOffer>(std::move(offer));
}

// Two servers have one protocol, whose jobs no offer of three servers computes.
Result<void> check_protocols(const ServerConfig& config) {
  if (config.parties == 2) return {};
  for (const std::string& name : config.protocols)
    if (auto known = find_known(name, config); !known) return known.error();
  return {};
}

Result<ProtocolOffers> offered_protocols(const ServerConfig& config) {
  ProtocolOffers offers;
  if (config.parties == 2) return offers;
  for (const std::string& name : config.protocols) {
    auto known = find_known(name, config);
    if (!known) return known.error();
    auto offer = (*known)->make(config);
    if (!offer) return offer.error();
    offers.push_back(std::move(*offer));
  }
  return offers;
}

std::vector<OfferedProtocol> described(const ProtocolOffers& offers) {
  std::vector<OfferedProtocol> out;
  for (const auto& one : offers) out.push_back({std::string(one->name()), one->wire_format()});
  return out;
}

}  // namespace tkdc
