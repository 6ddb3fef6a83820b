// SPDX-License-Identifier: Apache-2.0
// Turns handles into the keys that the servers handed over, principal by principal, while
// the realm is in use; and at the end removes what is left of tkdc in it.
//
// Each entry is written in one piece under the database's lock. A run that was stopped is
// run again and finds what is left; nothing but the entries themselves says what is done.
//
// One thread. Secret: the keys.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "migrate/agent_pipe.h"
#include "migrate/export_folder.h"
#include "migrate/realm_db.h"

namespace tkdc::migrate {

struct RememberedHandle {
  std::string principal;
  tkdc_wire_key key{};
};

// A realm's handles before anything is changed.
struct HandleSurvey {
  std::size_t principals = 0, plain = 0;
  std::vector<ExportKey> keys;           // all handles of entries' keys
  std::vector<std::string> names;        // with such handles
  std::vector<std::string> remembering;  // without, but with handles in their histories
  std::vector<std::string> unreadable;
  std::vector<RememberedHandle> remembered;  // by password histories
  std::vector<std::string> damaged_histories;
  InstallationId installation{};
  bool mixed = false;  // handles of several installations
};
Result<HandleSurvey> survey_handles(RealmDb& db);
void add_entry(HandleSurvey& out, const EntryKeys& entry);

// What to ask for, ids ascending: each handle once, though a history may name one that an entry
// has. Of another installation's handles histories may remember some: these are left out.
std::vector<ExportKey> keys_to_request(const HandleSurvey& found, bool with_history);

struct ExportProgress {
  std::size_t principals = 0, of = 0, keys = 0;
};

class Exporter {
 public:
  struct Hooks {
    std::function<bool()> stopped;
    std::function<void(const ExportProgress&)> show;
    std::function<void(const std::string&)> say;
  };
  Exporter(RealmDb& db, const ExportedKeys& keys, Hooks hooks);

  // Until no entry has a handle whose key is known. Error: what stands in the way; another
  // run goes on.
  Result<void> run();

  std::size_t restored() const { return progress_.keys; }
  std::size_t staying() const { return staying_; }  // handles, after run()
  std::size_t unknown() const { return unknown_; }
  std::size_t left_remembered() const { return left_remembered_; }
  bool drew_version() const { return fresh_; }

 private:
  Result<bool> pass();
  Result<void> write(std::span<const std::string> names);
  Result<bool> lock();

  RealmDb& db_;
  const ExportedKeys& keys_;
  const Hooks hooks_;
  const KeyOf key_of_;
  ExportProgress progress_;
  std::size_t staying_ = 0, unknown_ = 0, left_remembered_ = 0;
  bool fresh_ = false;
};

// After all tickets under own-realm versions have ended: they leave krbtgt's entry. Error: some
// other principal still has a handle, or a key that cannot be read. What it returns: how many left.
Result<std::size_t> drop_own_versions(RealmDb& db);

// What the end of an export leaves without use: the request's keys, and those of its installation
// that password histories still remember as handles, which a stock kadmind cannot compare.
std::vector<tkdc_wire_key> keys_to_destroy(const HandleSurvey& found, const ExportRequest& request);

// Removes them at the servers. No entry may have a handle of them any more.
// `go_on` is told how many are done, often; when it says no, what is asked is waited for.
Result<std::size_t> destroy_at_servers(AgentPipe& agent, const std::vector<tkdc_wire_key>& keys,
                                       const std::function<bool(std::size_t)>& go_on);
// The same for PURGE and GIVE_BACK of dropped keys. How many were changed.
Result<std::size_t> change_at_servers(AgentPipe& agent, tkdc_wire_op op,
                                      const std::vector<tkdc_wire_key>& keys,
                                      const std::function<bool(std::size_t)>& go_on);

}  // namespace tkdc::migrate
