// SPDX-License-Identifier: Apache-2.0
#include "service/server/audit_check.h"

#include <array>
#include <filesystem>
#include <functional>
#include <istream>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/hex.h"
#include "base/utc_time.h"
#include "service/server/audit_files.h"

namespace tkdc {
namespace {

using nlohmann::json;

bool is_event(const json& event, const char* name) {
  const auto it = event.find("event");
  return it != event.end() && *it == name;
}

int party_in(const json& object, const char* field) {
  const auto it = object.find(field);
  const bool number = it != object.end() && it->is_number_unsigned() && *it < 3u;
  return number ? it->get<int>() : -1;
}

// Audit heads and party that a log's events carry. A server that is repaired has lost its log with
// its disk: what was recorded of that log is left out, since the new one does not have it.
class RecordedHeads {
 public:
  explicit RecordedHeads(AuditSummary& summary) : summary_(summary) {}

  void read(const std::string& line, const std::string& where) {
    if (line.find("\"party\"") == std::string::npos) return;
    const json document = json::parse(line, nullptr, false);
    const json event = document.is_object() ? document.value("event", json()) : json();
    if (!event.is_object()) return;
    const int party = party_in(event, "party");
    const bool over = is_event(event, "repair over");
    const bool of_another =
        over || is_event(event, "repair approved") || is_event(event, "check broken");
    if (party >= 0 && !of_another) summary_.party = party;
    // Of a repair whose session has no line here the end alone speaks.
    if (over && party >= 0 && !std::exchange(anew_[static_cast<std::size_t>(party)], false))
      leave_out(party, where);
    if (const int repaired = party_in(event, "repaired"); repaired >= 0) {
      leave_out(repaired, where);
      anew_[static_cast<std::size_t>(repaired)] = true;
    }
    add_peers(event, where, audit_line_time(line));
  }

 private:
  void leave_out(int party, const std::string& where) {
    const std::size_t heads =
        std::erase_if(summary_.peers, [&](const RecordedHead& one) { return one.party == party; });
    if (heads > 0) summary_.left_out.push_back({party, heads, where});
  }

  void add_peers(const json& event, const std::string& where, std::int64_t at_s) {
    const auto peers = event.find("peers");
    if (peers == event.end() || !peers->is_array()) return;
    for (const json& peer : *peers) {
      if (!peer.is_object() || party_in(peer, "party") < 0) continue;
      RecordedHead recorded;
      recorded.party = party_in(peer, "party");
      recorded.where = where;
      auto lines = peer.find("lines"), hash = peer.find("head");
      if (lines == peer.end() || !lines->is_number_unsigned() || hash == peer.end() ||
          !hash->is_string() || !from_hex(hash->get<std::string>(), recorded.head.hash))
        continue;
      recorded.head.lines = lines->get<std::uint64_t>();
      recorded.at_s = at_s;
      summary_.peers.push_back(std::move(recorded));
    }
  }

  AuditSummary& summary_;
  // A session for that server's repair has begun: what is recorded of it is of its new log.
  std::array<bool, 3> anew_{};
};

bool has_event(const std::string& line, const char* name) {
  return line.find("\"event\":\"" + std::string(name) + "\"") != std::string::npos;
}

std::string text_of(const json& object, const char* field) {
  auto it = object.find(field);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "?";
}

// "audit full" begins a gap, "gap" ends one and counts it. "log behind" is one of its own.
class Gaps {
 public:
  void read(const std::string& line, const std::string& at) {
    const bool behind = has_event(line, kAuditBehind);
    if (!begins_gap(line) && !ends_gap(line) && !behind) return;
    const json document = json::parse(line, nullptr, false);
    const json event = document.is_object() ? document.value("event", json()) : json();
    if (!event.is_object()) return;
    if (behind) return add_behind(event, at + " (" + text_of(document, "time") + ")");
    if (begins_gap(line)) {
      open_ = "from " + at + " on (" + text_of(document, "time") +
              ") events are lacking: " + text_of(event, "reason");
      return;
    }
    const json lost = event.value("lost", json(0u));
    const bool more = event.contains("began");
    found_.push_back("before " + at + " (" + text_of(document, "time") + ") " +
                     (more ? "at least " : "") + lost.dump() + " events are lacking, since " +
                     (more ? "before a restart" : text_of(event, "since")));
    open_.clear();
  }
  void add_torn(const std::string& at) {
    found_.push_back(at + " was cut short: one event or more are lacking");
  }
  void add_behind(const json& event, const std::string& at) {
    const json had = event.value("had", json(0u)), known = event.value("known", json(0u));
    const bool fewer = had.is_number_unsigned() && known.is_number_unsigned() && had < known;
    found_.push_back(fewer ? "before " + at + " lines are lacking: it had " + had.dump() +
                                 ", and its server's store knew line " + known.dump()
                           : "before " + at + " lines were replaced: its server's store knew " +
                                 "another line " + known.dump());
  }
  std::vector<std::string> all() const {
    std::vector<std::string> out = found_;
    if (!open_.empty()) out.push_back(open_);
    return out;
  }

 private:
  std::vector<std::string> found_;
  std::string open_;
};

// The recorded audit heads that have not been met yet, by line number.
using Wanted = std::multimap<std::uint64_t, const RecordedHead*>;

void meet(Wanted& wanted, const AuditHead& head) {
  auto [from, to] = wanted.equal_range(head.lines);
  while (from != to) from = from->second->head == head ? wanted.erase(from) : std::next(from);
}

Error missing(const std::string& path, const AuditHead& end, const RecordedHead& recorded) {
  const std::string which =
      "line " + std::to_string(recorded.head.lines) + " that " + recorded.where + " recorded";
  if (recorded.head.lines > end.lines)
    return fail("audit: " + path + " ends at line " + std::to_string(end.lines) + " and lacks " +
                which +
                ": it was cut short or put back from a backup; keep both "
                "files as evidence and compare them with the third server's");
  return fail("audit: " + path + " has another " + which +
              ": it was rewritten; keep both files as evidence and compare them with the third "
              "server's");
}

// What was recorded of files that are not there: from the oldest to the newest of these audit
// heads.
Error deleted(const std::string& path, const AuditHead& before, std::size_t heads,
              const RecordedHead& oldest, const RecordedHead& newest) {
  return fail("audit: " + path + " begins with line " + std::to_string(before.lines + 1) +
              ", and the files before it are missing, the newest of them " +
              closed_audit_name(path, before.lines) + ": " + std::to_string(heads) +
              (heads == 1 ? " audit head" : " audit heads") +
              " recorded of them cannot be compared, from line " +
              std::to_string(oldest.head.lines) + " that " + oldest.where + " recorded to line " +
              std::to_string(newest.head.lines) + " that " + newest.where +
              " recorded; put the files back, or say for how many days that server keeps them "
              "(--kept-days, its [audit] keep_days)");
}

}  // namespace

std::array<std::uint8_t, 32> hash_audit_line(std::string_view line) {
  std::array<std::uint8_t, 32> out{};
  crypto_generichash(out.data(), out.size(), reinterpret_cast<const std::uint8_t*>(line.data()),
                     line.size(), nullptr, 0);
  return out;
}

bool begins_gap(const std::string& line) { return has_event(line, kAuditFull); }
bool ends_gap(const std::string& line) { return has_event(line, kAuditGap); }

std::optional<AuditLine> parse_audit_line(const std::string& line) {
  const json document = json::parse(line, nullptr, false);
  if (!document.is_object() || !document.contains("n") || !document["n"].is_number_unsigned() ||
      !document.contains("prev") || !document["prev"].is_string())
    return std::nullopt;
  AuditLine out;
  out.n = document["n"].get<std::uint64_t>();
  if (!from_hex(document["prev"].get<std::string>(), out.prev)) return std::nullopt;
  return out;
}

std::optional<SessionEpoch> session_epoch(const std::string& line) {
  if (line.find("\"epoch\"") == std::string::npos) return std::nullopt;
  const json document = json::parse(line, nullptr, false);
  const json event = document.is_object() ? document.value("event", json()) : json();
  if (!event.is_object() || !event.contains("epoch") || !event["epoch"].is_number_unsigned())
    return std::nullopt;
  const auto epoch = event["epoch"].get<std::uint64_t>();
  // Lines of before eras existed have none.
  const json era = event.value("era", json(0u));
  if (epoch > UINT32_MAX || !era.is_number_unsigned() || era.get<std::uint64_t>() > UINT32_MAX)
    return std::nullopt;
  return SessionEpoch{era.get<std::uint32_t>(), static_cast<std::uint32_t>(epoch)};
}

std::int64_t audit_line_time(const std::string& line) {
  constexpr std::string_view kTime = "\"time\":\"";
  constexpr std::size_t kToSecond = 19;
  const std::size_t at = line.find(kTime);
  if (at == std::string::npos) return 0;
  auto s = parse_utc(line.substr(at + kTime.size(), kToSecond), 0);
  return s.ok() ? *s : 0;
}

namespace {

// One file after another.
class ChainCheck {
 public:
  using Seen = std::function<Result<void>(std::uint64_t octets)>;  // of this file
  explicit ChainCheck(const std::vector<RecordedHead>& recorded) {
    for (const RecordedHead& one : recorded) wanted_.emplace(one.head.lines, &one);
    meet(wanted_, summary_.head);  // of an empty log
  }

  Result<void> file(const std::string& path, const Seen& seen = {}) {
    AuditLines lines(path);
    Result<void> on;
    auto good = all_of(path, [&](std::string& line) {
      if (seen) on = seen(lines.octets());
      return on.ok() && lines.next(line);
    });
    if (!on.ok()) return on;
    return good.ok() ? lines.fault() : good;
  }

  // `next` gives a line after the other, and says false behind the last one.
  Result<void> all_of(const std::string& path, const std::function<bool(std::string&)>& next) {
    std::string line;
    std::uint64_t at = 0;
    bool whole = true;
    std::string torn;
    while (next(line)) {
      if (!torn.empty()) gaps_.add_torn(std::exchange(torn, {}));
      const std::string where = path + " line " + std::to_string(++at);
      // A torn line is followed by one that carries its hash.
      auto parsed = parse_audit_line(line);
      whole = parsed.has_value();
      if (parsed) {
        const bool begins_file = line.find(kContinued) != std::string::npos;
        if (auto follows = follow(*parsed, begins_file, at, path); !follows) return follows;
        heads_.read(line, where);
        gaps_.read(line, where);
      } else {
        torn = where;
      }
      summary_.head.hash = hash_audit_line(line);
      meet(wanted_, summary_.head);
    }
    summary_.files++;
    if (!whole)
      return fail("audit: line " + std::to_string(at) + " of " + path +
                  " is cut short; start its server, which goes on from there, or keep the file");
    return {};
  }

  Result<void> ends_at(const ClosedAuditFile& closed) const {
    if (summary_.head.lines == closed.last) return {};
    return fail("audit: " + closed.path + " ends with line " + std::to_string(summary_.head.lines) +
                ", not with that of its name: it was cut short");
  }

  Result<AuditSummary> end(const std::string& path, std::int64_t deleted_before_s) {
    // What was recorded of files that were deleted since, as their server is to do.
    const auto left = wanted_.lower_bound(summary_.before.lines);
    std::vector<const RecordedHead*> gone;
    for (auto it = wanted_.begin(); it != left; ++it)
      if (it->second->at_s >= deleted_before_s) gone.push_back(it->second);
    if (!gone.empty())
      return deleted(path, summary_.before, gone.size(), *gone.front(), *gone.back());
    wanted_.erase(wanted_.begin(), left);
    summary_.gaps = gaps_.all();
    if (!wanted_.empty()) return missing(path, summary_.head, *wanted_.begin()->second);
    return summary_;
  }

 private:
  Result<void> follow(const AuditLine& line, bool begins_file, std::uint64_t at,
                      const std::string& path) {
    // Whoever deletes old lines himself has no such line in the chain to begin with.
    if (summary_.files == 0 && at == 1 && line.n > 1 && begins_file) {
      summary_.head = summary_.before = {line.n - 1, line.prev};
      meet(wanted_, summary_.head);
    }
    if (line.prev == summary_.head.hash && line.n == summary_.head.lines + 1) {
      summary_.head.lines = line.n;
      return {};
    }
    if (at == 1 && summary_.files > 0)
      return fail("audit: " + path + " does not follow the file before it, which ends with line " +
                  std::to_string(summary_.head.lines) +
                  ": a file between them was taken out, or one of them was changed");
    return fail("audit: line " + std::to_string(at) + " of " + path +
                " does not follow the one before it: a line was changed, added or taken out");
  }

  AuditSummary summary_;
  RecordedHeads heads_{summary_};
  Gaps gaps_;
  Wanted wanted_;
};

std::uint64_t file_octets(const std::string& path) {
  std::error_code error;
  const std::uintmax_t octets = std::filesystem::file_size(path, error);
  return error ? 0 : octets;
}

}  // namespace

Result<AuditSummary> check_audit_log(const std::string& path,
                                     const std::vector<RecordedHead>& recorded,
                                     std::int64_t deleted_before_s, const Watch& watch) {
  auto closed = closed_audit_files(path);
  if (!closed) return closed.error();
  std::uint64_t before = 0, of = file_octets(path);
  for (const ClosedAuditFile& one : *closed) of += file_octets(one.path);
  const auto seen = [&](std::uint64_t octets) { return look(watch, before + octets, of); };
  ChainCheck check(recorded);
  for (const ClosedAuditFile& one : *closed) {
    if (auto good = check.file(one.path, seen); !good) return good.error();
    if (auto named = check.ends_at(one); !named) return named.error();
    before += file_octets(one.path);
  }
  if (auto good = check.file(path, seen); !good) return good.error();
  return check.end(path, deleted_before_s);
}

Result<AuditSummary> check_audit_lines(std::istream& in, const std::string& path,
                                       const std::vector<RecordedHead>& recorded) {
  ChainCheck check(recorded);
  auto good = check.all_of(
      path, [&in](std::string& line) { return static_cast<bool>(std::getline(in, line)); });
  if (!good) return good.error();
  return check.end(path, 0);
}

}  // namespace tkdc
