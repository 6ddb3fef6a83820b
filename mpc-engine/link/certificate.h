// SPDX-License-Identifier: Apache-2.0
// The servers' TLS identities: self-signed Ed25519 certificates, recognised by
// the SHA-256 of their DER form and by nothing else. `tkdc init` makes them for
// an installation, `tkdc bench` and the tests throw-away ones.
//
// Secret: the private key. Thread-safe; no state.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace tkdc {

using Fingerprint = std::array<std::uint8_t, 32>;  // SHA-256 of the DER certificate

// What a peer proves to be: its certificate, and, while it changes that, also the one of before.
struct PeerPin {
  Fingerprint certificate{};
  std::optional<Fingerprint> former;

  PeerPin() = default;
  PeerPin(const Fingerprint& only)  // NOLINT(google-explicit-constructor): most have one
      : certificate(only) {}
  bool operator==(const PeerPin&) const = default;
};

struct Certificate {
  std::string certificate_pem;
  SecretVector private_key_pem;
  Fingerprint sha256{};
};

// `common_name` only labels it for people, e.g. "tkdc server 0". The validity
// is written down but not what peers go by: they pin the fingerprint.
Result<Certificate> make_certificate(const std::string& common_name, int days = 3650);

// The fingerprint of the first certificate of a PEM text.
Result<Fingerprint> certificate_fingerprint(std::string_view certificate_pem);

// Until when it says that it is good, in seconds since 1970. Nobody refuses one that is older
// (docs/adr/0035).
Result<std::int64_t> certificate_end(std::string_view certificate_pem);

}  // namespace tkdc
