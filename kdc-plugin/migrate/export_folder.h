// SPDX-License-Identifier: Apache-2.0
// The folder of one export: the request, which goes to the administrators, and the recipient's
// secret key, which stays; and what the servers, three or two, hand over for it.
//
// Of two servers one set of files is compared for each request. A changed server could send
// another file for each guess of a password, and see from what becomes of the export whether it
// was right (docs/protocols/26-two-server-keys.md); so a guess takes a request that both
// administrators approve. `opened`, with the digest of that set, is on disk before the comparison,
// and is never written again.
//
// Secret: recipient.key and, once the parcels are open, the realm's keys.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/curve_key.h"
#include "base/result.h"
#include "base/secret.h"
#include "service/export/request.h"

namespace tkdc::migrate {

class ExportFolder {
 public:
  // A new folder with a new key pair. Error: it exists, or cannot be written.
  static Result<ExportFolder> create(const std::string& path, ExportRequest request);
  static Result<ExportFolder> open(const std::string& path);

  const ExportRequest& request() const { return request_; }
  const Digest& digest() const { return digest_; }
  const SecretBuffer& secret() const { return secret_; }
  std::string request_file() const { return path_ + "/request"; }
  std::string secret_file() const { return path_ + "/recipient.key"; }

  // Notes this set of files as the request's own. Error: it has another one, or it cannot be noted.
  Result<void> open_once(const Digest& set) const;

 private:
  ExportFolder() = default;
  std::string path_;
  ExportRequest request_;
  Digest digest_{};
  SecretBuffer secret_{crypto_box_SECRETKEYBYTES};
};

// By party, of three servers or two.
using ServerKeys = std::vector<CurvePublicKey>;

// The servers' CURVE public keys, from an agent's agent.toml of this installation.
Result<ServerKeys> read_server_keys(const std::string& agent_toml,
                                    const InstallationId& installation);

// By key id; no value: it stays. Error: not one parcel of each server, or not good. Whether the
// request has expired is not looked at: that is for the servers, before they hand over.
using ExportedKeys = std::map<KeyId, std::optional<SecretVector>>;
Result<ExportedKeys> open_parcels(const ExportFolder& folder, const std::vector<std::string>& files,
                                  const ServerKeys& servers);

}  // namespace tkdc::migrate
