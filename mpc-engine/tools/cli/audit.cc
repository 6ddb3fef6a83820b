// SPDX-License-Identifier: Apache-2.0
// `tkdc audit verify`: whether a server's audit log is whole, by its own chain
// and by what the other servers have recorded of it. `tkdc audit show`: its lines about a
// principal, whom it holds as half of the name's SHA-256, or about a client's request.
//
// Exit status of verify: 0 whole, 1 not, or a file cannot be read, 2 whole but for the gaps that it
// tells of itself.
#include <sodium.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <iostream>
#include <memory>

#include "base/hex.h"
#include "service/server/audit_check.h"
#include "service/server/audit_files.h"
#include "service/wire/key_ref.h"
#include "tools/cli/commands.h"
#include "tools/cli/long_work.h"
#include "tools/cli/printable.h"

namespace tkdc::cli {
namespace {

struct AuditOptions {
  std::string log;
  std::vector<std::string> others;
  int party = -1;
  int kept_days = -1;
};

// Nothing is whole that has no line: an emptied log, or another file.
Result<AuditSummary> check_log(const std::string& path,
                               const std::vector<RecordedHead>& recorded = {},
                               std::int64_t deleted_before_s = 0) {
  AuditLines lines(path);
  bool has_line = false;
  for (std::string line; !has_line && lines.next(line);)
    has_line = parse_audit_line(line).has_value();
  if (auto read = lines.fault(); !read) return read.error();
  if (!has_line)
    return fail("audit: " + path +
                " holds no line of an audit log: it is empty, was emptied, or "
                "is another file");
  return check_audit_log(path, recorded, deleted_before_s,
                         watched("MiB of " + printable(path), kMebibyte));
}

struct HeadsOfOne {
  std::vector<RecordedHead> recorded;
  std::vector<LeftOutHeads> left_out;
};

// What the other logs, whole themselves, say about `party`.
Result<HeadsOfOne> heads_of(const std::vector<std::string>& others, int party) {
  HeadsOfOne heads;
  const auto add = [party](auto& to, auto& from) {
    for (auto& one : from)
      if (one.party == party) to.push_back(std::move(one));
  };
  for (const std::string& other : others) {
    auto summary = check_log(other);
    if (!summary.ok()) return summary.error();
    add(heads.recorded, summary->peers);
    add(heads.left_out, summary->left_out);
  }
  return heads;
}

// Whoever forges such a line hides what was recorded before it: the administrator knows better.
void print_left_out(const std::vector<LeftOutHeads>& left_out) {
  for (const LeftOutHeads& one : left_out)
    std::cout << "  " << one.heads << (one.heads == 1 ? " audit head" : " audit heads")
              << " recorded before " << one.where << " were left out, since server " << one.party
              << "\n  was repaired there and began a new log: make sure that it was\n";
}

// A day more, for clocks that differ and a server that was not running.
std::int64_t deleted_before(const AuditOptions& options) {
  constexpr std::int64_t kDayS = 86'400;
  return options.kept_days < 0 ? 0 : std::time(nullptr) - (options.kept_days - 1) * kDayS;
}

// Whether the log has gaps.
Result<bool> verify(const AuditOptions& options) {
  auto alone = check_log(options.log);
  if (!alone.ok()) return alone.error();
  HeadsOfOne heads;
  if (!options.others.empty()) {
    const int party = options.party >= 0 ? options.party : alone->party.value_or(-1);
    if (party < 0) return fail(options.log + " does not say whose it is: give --party");
    auto said = heads_of(options.others, party);
    if (!said.ok()) return said.error();
    heads = std::move(*said);
    if (heads.recorded.empty())
      return fail("--against: no audit head of party " + std::to_string(party) +
                  "'s log is recorded there, so nothing was compared: give another party's log of "
                  "the same time");
    auto against = check_log(options.log, heads.recorded, deleted_before(options));
    if (!against.ok()) return against.error();
  }
  std::cout << options.log << ": " << alone->head.lines - alone->before.lines << " lines in "
            << alone->files << (alone->files == 1 ? " file" : " files")
            << (alone->gaps.empty() ? ", whole" : ", a whole chain with GAPS") << "; newest hash "
            << to_hex(alone->head.hash) << "\n";
  for (const std::string& gap : alone->gaps) std::cout << "  " << gap << "\n";
  if (!options.others.empty())
    std::cout << heads.recorded.size()
              << (alone->before.lines > 0
                      ? " audit heads recorded by other servers are in it, or of deleted lines\n"
                      : " audit heads recorded by other servers are in it\n");
  else
    std::cout << "not compared with others: a log cut short would pass (--against)\n";
  print_left_out(heads.left_out);
  if (alone->before.lines > 0)
    std::cout << "it begins with line " << alone->before.lines + 1
              << ": files before that were deleted or lie elsewhere\n";
  return !alone->gaps.empty();
}

struct ShowOptions {
  std::string log;
  std::vector<std::string> principals, requests;
};

// What a line about this principal has in it: the beginning of the name's SHA-256, or, in lines of
// 0.2.0, all of it.
std::string mark_of(const std::string& principal) {
  std::array<std::uint8_t, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256(digest.data(), reinterpret_cast<const std::uint8_t*>(principal.data()),
                     principal.size());
  return "\"principal\":\"" + to_hex(ByteSpan(digest).first(kAuditedPrincipalBytes));
}

// The same of a request, by the id that krb5kdc's log has.
Result<std::string> mark_of_request(const std::string& id) {
  constexpr std::size_t kDigits = 16;
  const bool is_hex = id.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (id.size() != kDigits || !is_hex)
    return fail("--request takes the 16 digits behind TKDC_REQUEST= in krb5kdc's log");
  return "\"request\":\"" + id + "\"";
}

Result<void> show_file(const std::string& path, const std::vector<std::string>& marks) {
  AuditLines lines(path);
  for (std::string line; lines.next(line);)
    if (marks.empty() || std::ranges::any_of(marks, [&line](const std::string& mark) {
          return line.find(mark) != std::string::npos;
        }))
      std::cout << printable(line) << "\n";
  return lines.fault();
}

Result<void> show(const ShowOptions& options) {
  std::vector<std::string> marks;
  for (const std::string& principal : options.principals) {
    if (principal.find('@') == std::string::npos)
      return fail("--principal " + principal + " has no realm: NAME@REALM");
    marks.push_back(mark_of(principal));
  }
  for (const std::string& id : options.requests) {
    auto mark = mark_of_request(id);
    if (!mark.ok()) return mark.error();
    marks.push_back(std::move(mark).value());
  }
  auto closed = closed_audit_files(options.log);
  if (!closed.ok()) return closed.error();
  for (const ClosedAuditFile& one : *closed)
    if (auto shown = show_file(one.path, marks); !shown.ok()) return shown;
  return show_file(options.log, marks);
}

void add_show(CLI::App& audit, int& exit_status) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command =
      audit.add_subcommand("show", "print the lines about a principal or a request");
  command->add_option("log", options->log, "the audit log; its closed files are read, too")
      ->required();
  command->add_option("--principal", options->principals,
                      "NAME@REALM, as kadmin writes it; repeatable; all lines without");
  command->add_option("--request", options->requests,
                      "the id of a client's request, as krb5kdc's log has it; repeatable");
  command->callback([options, &exit_status] {
    auto done = show(*options);
    if (!done.ok()) std::cerr << "tkdc audit show: " << printable(done.error().message) << "\n";
    exit_status = done.ok() ? 0 : 1;
  });
}

}  // namespace

void add_audit(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* audit = app.add_subcommand("audit", "look into servers' audit logs");
  audit->require_subcommand(1);
  add_show(*audit, exit_status);
  CLI::App* command = audit->add_subcommand("verify", "check that an audit log is whole");
  command->add_option("log", options->log, "the audit log")->required();
  command->add_option("--against", options->others, "another server's audit log; repeatable");
  command->add_option("--party", options->party, "whose log it is, if it does not say")
      ->check(CLI::Range(0, 2));
  command
      ->add_option(
          "--kept-days", options->kept_days,
          "files that were closed before that are deleted: audit heads that others recorded "
          "earlier need not be there")
      ->check(CLI::Range(1, 36'500));
  command->callback([options, &exit_status] {
    auto done = verify(*options);
    if (!done.ok()) std::cerr << "tkdc audit verify: " << done.error().message << "\n";
    exit_status = !done.ok() ? 1 : *done ? 2 : 0;
  });
}

}  // namespace tkdc::cli
