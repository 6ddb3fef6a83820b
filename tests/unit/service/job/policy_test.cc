// SPDX-License-Identifier: Apache-2.0
// What each role may ask: the table below, which is also the one in
// docs/security.md, octet for octet. Whatever is not in it is refused by each server
// on its own, whatever the other two say.
#include <fstream>
#include <iterator>
#include <sstream>

#include "service/admit/admission.h"
#include "service/lifecycle/management.h"
#include "service/operation/check_use.h"
#include "service/operation/derived.h"
#include "three_services.h"

namespace tkdc {
namespace {

constexpr std::string_view kTable = R"(
| keys of | role | may ask |
|---|---|---|
| user | kdc | open 1, seal 3, mac 56 |
| user | kdc | derived open 54, derived seal 55, derived seal 3, derived mac 56 |
| user | admin | equal |
| service | kdc | seal 2, open 2, mac 17, verify 17, mac 64 |
| service | kdc | open 1, seal 3, mac 56 |
| service | kdc | derived open 54, derived seal 55, derived seal 3, derived mac 56 |
| service | admin | equal |
| kiprop | kdc | seal 2, open 2, mac 17, verify 17, mac 64 |
| kiprop | kdc | open 1, seal 3, mac 56 |
| kiprop | kdc | derived open 54, derived seal 55, derived seal 3, derived mac 56 |
| kiprop | admin | open 2, equal |
| kadmin | kdc | seal 2, open 2, mac 17, verify 17, mac 64 |
| kadmin | admin | open 2, equal |
| cross-realm | kdc | seal 2, open 2, mac 17, verify 17, mac 64 |
| cross-realm | admin | equal |
| krbtgt | kdc | seal 2, open 2, mac 17, verify 17, mac 64, verify 64 |
| krbtgt | kdc | mac 514, verify 514, derived seal 513, derived open 513 |
| nobody yet | admin | stage, export, bind, destroy |
)";

const std::map<std::string, tkdc_wire_op> kOperations = {{"seal", TKDC_OP_SEAL},
                                                         {"open", TKDC_OP_OPEN},
                                                         {"mac", TKDC_OP_MAC},
                                                         {"verify", TKDC_OP_VERIFY},
                                                         {"derived seal", TKDC_OP_SEAL_DERIVED},
                                                         {"derived open", TKDC_OP_OPEN_DERIVED},
                                                         {"derived mac", TKDC_OP_MAC_DERIVED},
                                                         {"stage", TKDC_OP_STAGE},
                                                         {"export", TKDC_OP_EXPORT},
                                                         {"bind", TKDC_OP_BIND},
                                                         {"destroy", TKDC_OP_DESTROY},
                                                         {"equal", TKDC_OP_EQUAL}};

const std::map<std::string, std::string> kPrincipals = {
    {"user", "alice@R"},          {"service", "host/a@R"},       {"kiprop", "kiprop/a@R"},
    {"kadmin", "kadmin/admin@R"}, {"cross-realm", "krbtgt/S@R"}, {"krbtgt", "krbtgt/R@R"}};

struct Cell {
  std::string keys, role;
  tkdc_wire_op op;
  std::uint32_t usage = 0;
  auto operator<=>(const Cell&) const = default;
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) {
    const std::size_t from = part.find_first_not_of(' '), to = part.find_last_not_of(' ');
    parts.push_back(from == std::string::npos ? "" : part.substr(from, to - from + 1));
  }
  return parts;
}

Cell cell_of(const std::string& keys, const std::string& role, const std::string& text) {
  const std::size_t digit = text.find_first_of("0123456789");
  const std::string name = digit == std::string::npos ? text : text.substr(0, digit - 1);
  const auto op = kOperations.find(name);
  EXPECT_NE(op, kOperations.end()) << text;
  Cell cell{keys, role, op == kOperations.end() ? TKDC_OP_STATUS : op->second};
  if (digit != std::string::npos)
    cell.usage = static_cast<std::uint32_t>(std::stoul(text.substr(digit)));
  return cell;
}

std::set<Cell> cells() {
  std::set<Cell> out;
  std::size_t line_number = 0;
  for (const std::string& line : split(std::string(kTable), '\n')) {
    if (++line_number <= 3 || line.empty()) continue;
    const auto columns = split(line, '|');
    EXPECT_EQ(columns.size(), 4u) << line;
    for (const std::string& text : split(columns.at(3), ','))
      EXPECT_TRUE(out.insert(cell_of(columns[1], columns[2], text)).second) << line << text;
  }
  return out;
}

// A request that is right in all but whether it is allowed.
JobRequest request_for(const KeyRef& key, tkdc_wire_op op, std::uint32_t usage) {
  JobRequest request;
  request.name = {7, 99, 1};
  request.op = op;
  request.key = key;
  request.usage = usage;
  if (is_derived(op)) {
    const bool cookie = usage == usage::kCookie;
    const bool challenge =
        usage == usage::kChallengeFromClient || usage == usage::kChallengeFromKdc;
    request.public_data = encode_derivation(
        {static_cast<std::uint8_t>(cookie ? TKDC_DERIVE_PRFPLUS : TKDC_DERIVE_CF2), 18,
         cookie      ? "COOKIEalice@R"
         : challenge ? "challengelongterm"
                     : "replykey"});
  }
  if (op != TKDC_OP_EQUAL)  // it takes no input
    for (auto& component : request.component) component = SecretVector(100);
  return request;
}

AgentRole role_of(const std::string& name) {
  return name == "kdc" ? AgentRole::kKdc : AgentRole::kAdmin;
}

// Both neighbours lie as well as they can: they admit the job, and their digests are right.
Verdict judged(tkdc_status own, const JobRequest& request, AgentRole role,
               const KeyRecord* record) {
  const JobDigests mine = digest_job(request, role, record, 0);
  const AdmissionStatement prev{kAdmit, mine.opened, mine.component[0]};
  const AdmissionStatement next{kAdmit, mine.opened, mine.component[1]};
  return joint_verdict(judge(static_cast<Verdict>(own), mine, prev, next), kAdmit, kAdmit);
}

std::vector<std::uint32_t> usages_tried() {
  std::vector<std::uint32_t> out = {0x7fffffff, 0x80000000, 0xffffffff};
  for (std::uint32_t u = 0; u <= 1100; ++u) out.push_back(u);
  return out;
}

class Policy : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [keys, principal] : kPrincipals) refs_[keys] = e_.make_key(principal, 18, {});
    e_.stop_session();  // from here on each server is asked alone
  }
  // Each server's own verdict on one cell; with lying neighbours it stays what it is.
  void ask_each(const Cell& cell, tkdc_status expected) {
    const JobRequest request = request_for(refs_.at(cell.keys), cell.op, cell.usage);
    for (int p = 0; p < 3; ++p) {
      std::shared_ptr<const KeyRecord> record;
      const tkdc_status own =
          check_use(e_.store(p), kInstallation, role_of(cell.role), request, record);
      ASSERT_EQ(own, expected) << "server " << p << ": " << cell.keys << ", role " << cell.role
                               << ", operation " << cell.op << ", usage " << cell.usage;
      const Verdict alone = expected == TKDC_STATUS_OK ? kAdmit : Verdict{TKDC_STATUS_INCONSISTENT};
      ASSERT_EQ(judged(own, request, role_of(cell.role), record.get()), alone);
    }
  }

  ThreeServices e_{1};
  std::map<std::string, KeyRef> refs_;
};

TEST_F(Policy, WhatIsNotInTheTableIsRefusedByEachServerAlone) {
  const std::set<Cell> allowed = cells();
  std::size_t listed = 0;
  for (const auto& [keys, principal] : kPrincipals)
    for (const char* role : {"kdc", "admin"})
      for (int op = TKDC_OP_SEAL; op <= TKDC_OP_MAC_DERIVED; ++op)
        for (std::uint32_t u : usages_tried()) {
          const Cell cell{keys, role, static_cast<tkdc_wire_op>(op), u};
          const bool may = allowed.contains(cell);
          listed += may;
          ASSERT_NO_FATAL_FAILURE(ask_each(cell, may ? TKDC_STATUS_OK : TKDC_STATUS_DENIED));
        }
  EXPECT_EQ(listed + 9, allowed.size()) << "all of the table was met, but for the management";
}

TEST_F(Policy, KeysAreMadeByWhomTheTableSaysAndByNobodyElse) {
  const std::set<Cell> allowed = cells();
  StagedKeys staged;
  for (int op = TKDC_OP_STAGE; op <= TKDC_OP_DESTROY; ++op)
    for (const char* role : {"kdc", "admin"})
      for (int p = 0; p < 3; ++p) {
        const JobRequest request =
            request_for(refs_.at("service"), static_cast<tkdc_wire_op>(op), 0);
        const auto own = check_management(staged, e_.store(p), role_of(role), request);
        const bool may = allowed.contains({"nobody yet", role, request.op, 0});
        EXPECT_EQ(own != TKDC_STATUS_DENIED, may) << "server " << p << " " << role << " " << op;
        if (!may) {
          EXPECT_EQ(judged(own, request, role_of(role), nullptr), TKDC_STATUS_INCONSISTENT);
        }
      }
}

TEST_F(Policy, KeysAreComparedWhereTheTableSaysAndNowhereElse) {
  const std::set<Cell> allowed = cells();
  StagedKeys staged;
  for (const auto& [keys, principal] : kPrincipals)
    for (const char* role : {"kdc", "admin"})
      for (int p = 0; p < 3; ++p) {
        JobRequest request = request_for(refs_.at(keys), TKDC_OP_EQUAL, 0);
        request.public_data.assign(sizeof(KeyId), 0x77);  // a key that nobody staged
        const auto own = check_management(staged, e_.store(p), role_of(role), request);
        const bool may = allowed.contains({keys, role, TKDC_OP_EQUAL, 0});
        EXPECT_EQ(own != TKDC_STATUS_DENIED, may) << "server " << p << " " << keys << " " << role;
      }
}

TEST_F(Policy, NumbersThatAreNoOperationAreRefused) {
  for (int op = 0; op < 64; ++op) {  // what the type can hold; decoding refuses the others
    if (op >= TKDC_OP_SEAL && op <= TKDC_OP_MAC_DERIVED) continue;
    for (const char* role : {"kdc", "admin"})
      ASSERT_NO_FATAL_FAILURE(
          ask_each({"krbtgt", role, static_cast<tkdc_wire_op>(op), 2}, TKDC_STATUS_BAD_REQUEST));
  }
}

TEST(PolicyTable, TheOneInTheDocumentsIsThisOne) {
  std::ifstream in(TKDC_SECURITY_PAGE, std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  EXPECT_NE(page.find("\n" + std::string(kTable)), std::string::npos)
      << "docs/security.md has another table than this test";
  std::size_t tables = 0;
  for (std::size_t at = 0; (at = page.find("| keys of | role |", at)) != std::string::npos; ++at)
    ++tables;
  EXPECT_EQ(tables, 1u);
}

// The lanes ask check_use(): one cell of each kind, through three whole servers.
TEST(PolicyTable, IsWhatRunningServersGoBy) {
  ThreeServices e(1);
  KeyRef user = e.make_key("alice@R", 17, {}), kadmin = e.make_key("kadmin/admin@R", 17, {});
  const struct {
    KeyRef key;
    AgentRole role;
    tkdc_wire_op op;
    std::uint32_t usage;
    bool may;
  } kCells[] = {{user, AgentRole::kKdc, TKDC_OP_SEAL, 3, true},
                {user, AgentRole::kKdc, TKDC_OP_OPEN, 3, false},
                {user, AgentRole::kAdmin, TKDC_OP_SEAL, 3, false},
                {user, AgentRole::kKdc, TKDC_OP_SEAL, 2, false},
                {user, AgentRole::kKdc, TKDC_OP_MAC_DERIVED, 17, false},
                {kadmin, AgentRole::kAdmin, TKDC_OP_OPEN, 2, true},
                {kadmin, AgentRole::kAdmin, TKDC_OP_SEAL, 2, false}};
  for (const auto& cell : kCells) {
    const auto status =
        e.run({cell.op, cell.key, cell.usage, {}, some_bytes(60), cell.role}).status();
    EXPECT_EQ(status != TKDC_STATUS_DENIED, cell.may) << cell.op << " " << cell.usage;
  }
}

}  // namespace
}  // namespace tkdc
