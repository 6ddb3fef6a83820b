// SPDX-License-Identifier: Apache-2.0
// This server's part in giving a realm's keys back: docs/protocols/11-keys.md, "Giving a realm
// back". It decides alone, from its own configuration, clock, store and memory of requests;
// nothing is asked of the other servers and no agent can reach it (service/server/local_socket.h).
//
// approval(): an administrator is about to approve; are request and approval good here?
// hand_over(): two have approved; this server's components of each key, for the recipient. One of
// two servers hands over its part of each key, and of Ke of one usage (service/export/pair_parcel.h
// says why that, and why no MAC).
//
// Before anything leaves, the request is noted as used, on disk, and the audit log names it,
// the approvers and every key, on disk too; where either cannot be written nothing leaves.
// Threads: one, but stop() is for any. Secret: the components on their way into the parcel.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "service/export/approval.h"
#include "service/export/pair_parcel.h"
#include "service/export/parcel.h"
#include "service/export/request.h"
#include "service/store/store.h"

namespace tkdc {

struct ExportsOptions {
  InstallationId installation{};
  int party = 0;
  int parties = 3;  // or 2
  std::vector<Approver> approvers;
  std::string used_file;                                  // of requests
  SecretBuffer secret{crypto_box_SECRETKEYBYTES};         // of this server's CURVE key
  std::function<std::uint64_t()> now_s;                   // Unix time
  std::function<Result<void>(const std::string&)> audit;  // one event
  // These are on disk when it returns.
  std::function<Result<void>(const std::vector<std::string>&)> audit_on_disk;
};

class Exports {
 public:
  Exports(ExportsOptions options, Store& store) : options_(std::move(options)), store_(store) {}

  // What the request is, in words, if this server would take part. Either way audited.
  Result<std::string> approval(std::string_view request, std::string_view approval);
  // The parcel's file. Audited; once for each request.
  Result<Bytes> hand_over(std::string_view request, const std::vector<std::string>& approvals);
  // What is under way ends soon: refused, with the request unused, or handed over whole.
  void stop() { stopping_ = true; }

 private:
  struct Checked {
    ExportRequest request;
    Digest digest{};
    std::size_t staying = 0;
  };
  Result<Checked> check(std::string_view text);
  Result<std::shared_ptr<const KeyRecord>> record_of(const ExportRequest& request,
                                                     const ExportKey& key);
  Result<std::string> note_approval(std::string_view request, std::string_view approval);
  Result<Bytes> hand_over_now(std::string_view request, const std::vector<std::string>& approvals);
  // The parcel. leaves[i]: whether the key i is in it. `part_of`: what leaves of a record.
  template <class OneParcel, class OnePart>
  Result<Bytes> pack_all(const Checked& checked, std::vector<bool>& leaves, OnePart part_of);
  Result<bool> is_used(const ExportRequest& request);
  Result<void> note_used(const ExportRequest& request);
  Result<void> audit_all(const Checked& checked, const std::vector<const Approver*>& approvers,
                         const std::vector<bool>& leaves);
  Result<void> still_running() const;
  Error refused(const char* what, std::string_view request, const Error& why);

  ExportsOptions options_;
  Store& store_;
  std::atomic<bool> stopping_{false};
};

// Where the used requests of a store are noted.
inline std::string used_requests_file(const std::string& store_path) {
  return store_path + "/exports";
}

}  // namespace tkdc
