// SPDX-License-Identifier: Apache-2.0
#include "service/server/exports.h"

#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/disk.h"
#include "base/durable_file.h"
#include "base/hex.h"
#include "base/system_error.h"
#include "enctype.h"

namespace tkdc {
namespace {

constexpr std::size_t kMostNamed = 50;  // of keys that a request lists and this server has not
constexpr std::size_t kMaxUsedBytes = std::size_t{1} << 20;
constexpr const char* kKeyField = "key";

std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::json about(const char* what, const Digest& digest, const ExportRequest& request) {
  return {{"event", what},
          {"request", to_hex(digest)},
          {"recipient", to_hex(request.recipient)},
          {"realm", request.realm},
          {"keys", request.keys.size()},
          {"expires", request.expires_at_s}};
}

// Null: there is none, or it is not as long as a key of that enctype.
const SharedBytes* field_of(const KeyRecord& record, const std::string& name) {
  const auto field = record.fields.find(name);
  const bool good = field != record.fields.end() &&
                    field->second.size() == tkdc_enctype_of(record.ref.enctype)->key_bytes;
  return good ? &field->second : nullptr;
}

// Where in a record stands what leaves of it. No `key`: nothing does, since there is none, or none
// that servers of this number share.
struct Leaving {
  const SharedBytes* key = nullptr;
  const SharedBytes* derived = nullptr;  // of two: Ke of `usage`
  std::uint32_t usage = 0;
};

// Of three: both components are shares, where the record is shared among three.
Leaving leaving_of_three(const KeyRecord& record) {
  if (record.sharing != kReplicatedSharing) return {};
  return {field_of(record, kKeyField), nullptr, 0};
}

// Of two: the key, and Ke of the usage that comes first by its field's name, "u<usage>.ke"
// (service/operation/keys.h). Both servers have the same fields.
Leaving leaving_of_two(const KeyRecord& record) {
  constexpr std::string_view kEnd = ".ke";
  const SharedBytes* key = field_of(record, kKeyField);
  if (record.sharing != kPairSharing || key == nullptr) return {};
  for (const auto& [name, field] : record.fields) {
    if (!name.starts_with('u') || !name.ends_with(kEnd)) continue;
    Leaving out{key, field_of(record, name), 0};
    const char* const end = name.data() + name.size() - kEnd.size();
    const auto read = std::from_chars(name.data() + 1, end, out.usage);
    if (read.ec == std::errc() && read.ptr == end && out.derived != nullptr) return out;
  }
  return {};
}

Leaving leaving_of(const KeyRecord& record, int parties) {
  return parties == 2 ? leaving_of_two(record) : leaving_of_three(record);
}

SharedBytes components_of(const Leaving& leaving, const KeyRecord&) { return *leaving.key; }

// Own blocks alone, the first component. The second one is MACs and their keys: it stays.
HandedPart part_of_two(const Leaving& leaving, const KeyRecord& record) {
  return {record.version, leaving.usage, leaving.key->component[0], leaving.derived->component[0]};
}

}  // namespace

Result<std::shared_ptr<const KeyRecord>> Exports::record_of(const ExportRequest& request,
                                                            const ExportKey& key) {
  auto record = store_.get(key.id);
  if (!record) return record.error();
  const std::string name = key.principal + ", version " + std::to_string(key.kvno);
  if (*record == nullptr)
    return fail("the request lists a key that this server does not have: " + name);
  if ((*record)->ref != key_ref(request.installation, key) ||
      (*record)->principal_name != key.principal)
    return fail("the request lists as " + name + " a key that is another here");
  if ((*record)->form == KeyForm::kStandard &&
      leaving_of(**record, options_.parties).key == nullptr)
    return fail("this server's record of " + name + " has no key, or none derived from it, as " +
                (options_.parties == 2 ? "two" : "three") +
                " servers share them: its store was changed. Give this principal a new key "
                "(cpw, ktadd), and make another request");
  return record;
}

Result<void> Exports::still_running() const {
  if (stopping_) return fail("this server is stopping: ask again when it runs");
  return {};
}

Result<Exports::Checked> Exports::check(std::string_view text) {
  auto request = decode_export_request(text);
  if (!request) return request.error();
  Checked out{std::move(*request), request_digest(text), 0};
  if (out.request.installation != options_.installation)
    return fail("the request is of another installation, " + to_hex(out.request.installation));
  if (auto good = check_life(out.request.expires_at_s, options_.now_s()); !good)
    return good.error();
  auto used = is_used(out.request);
  if (!used) return used.error();
  if (*used) return fail("the request was used here before: it is good once, make a new one");
  std::size_t wrong = 0;
  std::string which;
  for (const ExportKey& key : out.request.keys) {
    if (auto running = still_running(); !running) return running.error();
    auto record = record_of(out.request, key);
    if (record) {
      out.staying += (*record)->form == KeyForm::kStandard ? 0 : 1;
    } else if (++wrong <= kMostNamed) {
      which += (which.empty() ? "" : "; ") + record.error().message;
    }
  }
  if (wrong > kMostNamed) which += "; and " + std::to_string(wrong - kMostNamed) + " more";
  if (wrong > 0) return fail(which);
  return out;
}

Error Exports::refused(const char* what, std::string_view request, const Error& why) {
  const nlohmann::json event = {
      {"event", what}, {"request", to_hex(request_digest(request))}, {"reason", why.message}};
  auto written = options_.audit(dump(event));
  return written ? why : fail(why.message + "; " + written.error().message);
}

Result<std::string> Exports::approval(std::string_view request, std::string_view approval) {
  auto noted = note_approval(request, approval);
  if (!noted) return refused("export approval refused", request, noted.error());
  return noted;
}

Result<std::string> Exports::note_approval(std::string_view request, std::string_view approval) {
  auto checked = check(request);
  if (!checked) return checked.error();
  auto approver = check_own_approval(checked->digest, approval, options_.approvers, options_.party);
  if (!approver) return approver.error();
  nlohmann::json event = about("export approved", checked->digest, checked->request);
  event["approver"] = (*approver)->name;
  if (auto written = options_.audit_on_disk({dump(event)}); !written) return written.error();
  return std::to_string(checked->request.keys.size()) + " keys, all of them as this server knows " +
         "them; " + std::to_string(checked->staying) +
         " of them stay here, because they are no keys of their enctype";
}

template <class OneParcel, class OnePart>
Result<Bytes> Exports::pack_all(const Checked& checked, std::vector<bool>& leaves,
                                OnePart part_of) {
  OneParcel parcel;
  parcel.party = options_.party;
  for (const ExportKey& key : checked.request.keys) {
    if (auto running = still_running(); !running) return running.error();
    auto record = record_of(checked.request, key);
    if (!record) return record.error();
    parcel.keys.emplace_back();
    leaves.push_back((*record)->form == KeyForm::kStandard);
    if (!leaves.back()) continue;
    parcel.keys.back() = part_of(leaving_of(**record, options_.parties), **record);
  }
  return pack(parcel, checked.digest, checked.request.recipient, options_.secret);
}

Result<Bytes> Exports::hand_over(std::string_view request,
                                 const std::vector<std::string>& approvals) {
  auto done = hand_over_now(request, approvals);
  if (!done) return refused("export refused", request, done.error());
  return done;
}

Result<Bytes> Exports::hand_over_now(std::string_view request,
                                     const std::vector<std::string>& approvals) {
  auto checked = check(request);
  if (!checked) return checked.error();
  auto approvers = check_approvals(checked->digest, approvals, options_.approvers);
  if (!approvers) return approvers.error();
  std::vector<bool> leaves;
  auto packed = options_.parties == 2 ? pack_all<PairParcel>(*checked, leaves, part_of_two)
                                      : pack_all<Parcel>(*checked, leaves, components_of);
  if (!packed) return packed.error();
  if (auto running = still_running(); !running) return running.error();
  if (auto noted = note_used(checked->request); !noted) return noted.error();
  if (auto written = audit_all(*checked, *approvers, leaves); !written) return written.error();
  return packed;
}

Result<void> Exports::audit_all(const Checked& checked,
                                const std::vector<const Approver*>& approvers,
                                const std::vector<bool>& leaves) {
  nlohmann::json event = about("export", checked.digest, checked.request);
  for (const Approver* approver : approvers) event["approvers"].push_back(approver->name);
  std::vector<std::string> events = {dump(event)};
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const ExportKey& key = checked.request.keys[i];
    const nlohmann::json line = {{"event", leaves[i] ? "key exported" : "key kept"},
                                 {"key", to_hex(key.id)},
                                 {"principal", key.principal},
                                 {"kvno", key.kvno},
                                 {"enctype", key.enctype}};
    events.push_back(dump(line));
  }
  return options_.audit_on_disk(events);
}

// One line for each used request, its nonce. A file that cannot be read says no to all.
Result<bool> Exports::is_used(const ExportRequest& request) {
  const auto text = disk().read(options_.used_file, 0, kMaxUsedBytes + 1);
  if (!text && errno == ENOENT) return false;
  if (!text) return system_error("used requests cannot be read: " + options_.used_file);
  if (text->size() > kMaxUsedBytes)
    return fail("used requests cannot be read: " + options_.used_file + " is too long");
  return text->find(to_hex(request.nonce) + "\n") != std::string::npos;
}

Result<void> Exports::note_used(const ExportRequest& request) {
  // A line that a full disk cut short is ended by the next one's first character.
  if (append_durably(options_.used_file, "\n" + to_hex(request.nonce) + "\n")) return {};
  return system_error("used requests cannot be noted in " + options_.used_file,
                      "nothing was handed over");
}

}  // namespace tkdc
