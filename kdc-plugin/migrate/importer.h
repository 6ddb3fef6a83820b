// SPDX-License-Identifier: Apache-2.0
// Turns the keys of a database into handles, principal by principal, while the realm is
// in use.
//
// For each principal: its keys, and those that its password history remembers, are decrypted
// and staged at the servers; their ids are written to the journal; the servers bind and keep them;
// then, under the database's lock, the entry is read again and, if its keys are still those,
// written with handles in their place. Many principals are at work at once, each is written in one
// piece.
//
// What a crash leaves: keys that were staged only, which the servers forget; keys that
// are kept but stand in no entry, which the journal names and settle() removes. An entry
// holds its old keys or its handles, never a mixture made here. What histories remember opens
// with kadmin/history's key alone, so that one stays in the database until all others are done.
//
// One thread. Secret: staged keys on their way to the agent.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <map>

#include "migrate/agent_pipe.h"
#include "migrate/journal.h"
#include "migrate/survey.h"

namespace tkdc::migrate {

struct Progress {
  std::size_t principals = 0, of = 0, keys = 0;
  double seconds = 0;
};

// The principals of the next pass: all that are to be written and not refused, and the one with the
// histories' key (`history`) only when no other is, and nobody else remembers keys that open with
// it.
std::vector<std::string> next_pass(const Survey& found, const std::string& history,
                                   const std::function<bool(const std::string&)>& refused);

// Before the next pass, after so many that imported nothing. Keys that were staged in vain
// stay at the servers for minutes and would fill the places that kadmind needs.
std::chrono::seconds pause_after(unsigned fruitless);

// How many keys are at work: more while answers come fast, fewer when they are late. Two servers
// make one after the other, and what waits too long behind others fails, with its work done.
class KeysAtOnce {
 public:
  static constexpr std::size_t kAtFirst = 2;
  static constexpr std::chrono::seconds kFast{2}, kLate{8};

  explicit KeysAtOnce(std::size_t most) : most_(most), now_(std::min(kAtFirst, most)) {}
  std::size_t now() const { return now_; }
  void answered(bool good, std::chrono::steady_clock::duration took);

 private:
  std::size_t most_, now_;
};

class Importer {
 public:
  struct Hooks {
    std::function<bool()> stopped;                // an administrator's Ctrl-C
    std::function<void(const Progress&)> show;    // often
    std::function<void(const std::string&)> say;  // one line, rarely
  };
  Importer(RealmDb& db, Journal& journal, std::unique_ptr<AgentPipe> pipe, const Options& options,
           Hooks hooks);

  // Until nothing is left to import but what the servers refuse. Error: what stands in
  // the way; what was done stays done, and another run goes on.
  Result<void> run(const Survey& found);
  // Removes the journal's keys that their principals' entries do not have; then the journal.
  Result<void> settle();
  std::size_t imported() const { return imported_; }
  std::size_t keys() const { return keys_; }              // the remembered ones among them
  std::size_t remembered() const { return remembered_; }  // by password histories
  // Principals, and why the servers refuse a key of theirs.
  const std::map<std::string, std::string>& refused() const { return refused_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Key {
    std::vector<Bytes> stored;  // a history may remember a key that the entry still has
    bool remembered = false;    // by the history alone
    tkdc_wire_key id{};
    bool good = false;
    Clock::time_point asked{};
  };
  struct Work {
    std::string name;
    std::vector<Key> keys;
    std::vector<Bytes> forgotten;  // remembered keys that are not taken along
    std::size_t waiting = 0;       // answers
    bool staged = false;           // all of them, and in the journal
  };

  Result<bool> ensure_pipe();
  Result<bool> pass(const std::vector<std::string>& names);
  Result<void> start(const std::string& name);
  std::vector<const StoredKey*> list_keys(const EntryKeys& entry, Work& work) const;
  void stage(Work& work, Key& key, const StoredKey& stored);
  void on_staged(Work& work, Key& key, const tkdc_reply& reply);
  bool note(const Work& work);
  Result<void> bind_staged();
  void bind(Work& work, Key& key);
  void failed(const Work& work, const tkdc_reply& reply);
  void collect_ready();
  Result<void> write_ready();
  Result<void> write(const Work& work);
  bool wait(std::chrono::seconds time);
  void destroy_unless_held(const JournalKey& key);

  RealmDb& db_;
  Journal& journal_;
  const Options& options_;
  const Hooks hooks_;
  std::unique_ptr<AgentPipe> pipe_;
  std::list<Work> works_;   // staging or binding
  std::deque<Work> ready_;  // to be written
  KeysAtOnce at_once_;
  std::size_t in_flight_ = 0;  // keys of works_
  std::size_t imported_ = 0, keys_ = 0, remembered_ = 0, total_ = 0;
  std::string trouble_;                         // why a principal waits for the next pass
  std::size_t failures_ = 0;                    // in this pass
  std::map<std::string, std::string> refused_;  // no other pass would mend it
  std::size_t removed_ = 0, remaining_ = 0;     // of the journal's keys that no entry has
  const Clock::time_point began_ = Clock::now();
  Clock::time_point ready_since_{};
};

}  // namespace tkdc::migrate
