// SPDX-License-Identifier: Apache-2.0
// This server's part in giving dropped keys back (docs/protocols/28-dropped-keys.md). It decides
// alone, from its own configuration, clock and store; no agent can reach it
// (service/server/local_socket.h).
//
// approval(): an administrator is about to approve; are request and approval good here?
// allow(): two have approved; from now on, until the request expires or this server stops, the keys
// that it names may be given back, once each. Those of it that are in use already are passed over:
// so the same request goes on where a server stopped in the middle.
//
// What is allowed is in memory only. Any thread. Nothing here is secret.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "service/export/approval.h"
#include "service/export/give_back.h"
#include "service/store/store.h"

namespace tkdc {

struct GiveBacksOptions {
  InstallationId installation{};
  int party = 0;
  std::vector<Approver> approvers;
  std::function<std::uint64_t()> now_s;                   // Unix time
  std::function<Result<void>(const std::string&)> audit;  // one event; on disk
};

class GiveBacks {
 public:
  GiveBacks(GiveBacksOptions options, Store& store) : options_(std::move(options)), store_(store) {}

  // Either way audited. The text says what the request is.
  Result<std::string> approval(std::string_view request, std::string_view approval);
  Result<std::string> allow(std::string_view request, const std::vector<std::string>& approvals);

  bool may(const KeyRecord& dropped) const;
  void done(const KeyId& id);

 private:
  struct Allowed {
    std::uint64_t dropped_at_s = 0, until_s = 0;
  };
  struct Checked {
    GiveBackRequest request;
    std::vector<WantedKey> dropped;  // of its keys; the others are in use
  };
  Result<Checked> check(std::string_view text) const;
  // Whether it is dropped, or in use. Error: it is neither, or another one.
  Result<bool> check_key(const GiveBackRequest& request, const WantedKey& wanted) const;
  Result<std::string> note_approval(std::string_view request, std::string_view approval);
  Result<std::string> allow_now(std::string_view request,
                                const std::vector<std::string>& approvals);
  Result<std::string> audited(const char* what, std::string_view request,
                              Result<std::string> outcome);

  const GiveBacksOptions options_;
  Store& store_;
  mutable std::mutex mutex_;
  std::map<KeyId, Allowed> allowed_;
};

}  // namespace tkdc
