// SPDX-License-Identifier: Apache-2.0
#include "service/lifecycle/share_alarm.h"

#include "base/hex.h"

namespace tkdc {
namespace {

// A principal's name may have anything in it, and goes to a terminal.
std::string name_of(const KeyRecord& record) {
  std::string principal = record.principal_name;
  for (char& c : principal)
    if (c < ' ' || c > '~') c = '?';
  return "key " + to_hex(record.ref.id) + " of " + principal + ", version " +
         std::to_string(record.version);
}

std::string text_of(const MacRole& role) {
  const std::string lacks = std::to_string(role.verifier);
  return "servers " + std::to_string(role.prover) + " and " + std::to_string(role.dealer()) +
         " differ about the component that server " + lacks + " lacks (" +
         std::to_string(role.prover) + " proves it, " + std::to_string(role.dealer()) +
         " dealt its MAC, " + lacks + " found it)";
}

}  // namespace

std::string ShareAlarm::raise(const KeyRecord& record, const MacFindings& findings) {
  std::string text = "audit of shares: " + name_of(record) + ": ";
  if (findings.lists_differ) text += "the servers do not hold the same record";
  for (const MacRole& role : findings.failed)
    text += (role == findings.failed.front() ? "" : "; ") + text_of(role);
  raise(text, &record);
  return text;
}

void ShareAlarm::raise(const std::string& text, const KeyRecord* record) {
  bool named = false, last = false;
  {
    std::lock_guard lock(mutex_);
    ++count_;
    named = named_.size() < kMostNamed;
    if (named) named_.push_back(text);
    last = named && named_.size() == kMostNamed;
  }
  // A server that lies about every record must not fill the others' logs.
  if (tell_ && named) tell_(text, record);
  if (tell_ && last)
    tell_(
        "audit of shares: what is found from here on, until this server is restarted, is only "
        "counted",
        nullptr);
}

}  // namespace tkdc
