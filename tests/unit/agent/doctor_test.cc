// SPDX-License-Identifier: Apache-2.0
// `tkdc doctor`: what it takes out of statuses, and that a check which hangs is given up.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <future>
#include <set>

#include "base/utc_time.h"
#include "service/backup/take_backup.h"
#include "service/wire/former_keys.h"
#include "support/scratch.h"
#include "tools/cli/child.h"
#include "tools/cli/doctor_checks.h"
#include "tools/cli/printable.h"

namespace tkdc::cli {
namespace {

using nlohmann::json;
using State = Finding::State;

json well_server(int party) {
  return {{"party", party}, {"reachable", true}, {"session_up", true}, {"audit_lines", 7}};
}

Patient server_that_says(const json& more = json::object()) {
  Patient out;
  out.kind = Patient::Kind::kServer;
  out.name = "server1";
  out.config = "/etc/tkdc/server1/tkdc.toml";
  out.folder = "/etc/tkdc/server1";
  out.unit = "tkdc-server@server1";
  out.status = well_server(1);
  out.status.update(more);
  return out;
}

Patient agent_that_says(const json& of_server_2 = json::object()) {
  Patient out = server_that_says();
  out.kind = Patient::Kind::kAgent;
  json last = well_server(2);
  last.update(of_server_2);
  out.status = {{"agent", {{"name", "kdc"}}},
                {"servers", {well_server(0), well_server(1), std::move(last)}}};
  return out;
}

void expect_bad(State state, const Finding& found, const std::string& text,
                const std::string& remedy) {
  EXPECT_EQ(found.state, state) << found.text;
  EXPECT_NE(found.text.find(text), std::string::npos) << found.text;
  EXPECT_NE(found.remedy.find(remedy), std::string::npos) << found.remedy;
}

void expect_wrong(const Finding& found, const std::string& text, const std::string& remedy) {
  expect_bad(State::kWrong, found, text, remedy);
}

void expect_warning(const Finding& found, const std::string& text, const std::string& remedy) {
  expect_bad(State::kWarning, found, text, remedy);
}

TEST(Doctor, OfTwoServersTwoAreAll) {
  Patient agent = agent_that_says();
  agent.status["servers"].erase(2);
  expect_wrong(check_session(agent), "its status has 2 servers", "tkdc status");
  for (json& server : agent.status["servers"]) server["parties"] = 2u;
  EXPECT_EQ(check_session(agent).state, State::kGood) << check_session(agent).text;
  Patient second = server_that_says();
  second.server.emplace();
  second.server->parties = 2;
  second.server->party = 1;
  second.server->peers = {{0, "127.0.0.1:1", {}}};
  EXPECT_EQ(check_ports(second).state, State::kGood) << "the first one opens no data port";
  second.server->party = 0;
  second.server->peers[0].party = 1;
  EXPECT_EQ(check_ports(second).state, State::kWrong) << "the second one does";
}

TEST(Doctor, OfASoundMemberAllIsWell) {
  for (const Patient& patient : {server_that_says(), agent_that_says()})
    for (auto* look : {check_running, check_session, check_clocks, check_former_keys, check_keys,
                       check_epochs, check_revoked, check_broken_checks})
      EXPECT_EQ(look(patient).state, State::kGood) << look(patient).text;
  EXPECT_EQ(check_audit_log(server_that_says()).state, State::kGood);
  EXPECT_EQ(check_shares(server_that_says()).state, State::kGood);
  EXPECT_EQ(check_agents(server_that_says()).state, State::kGood);
}

TEST(Doctor, OneThatDoesNotAnswerIsWrongOnce) {
  Patient patient = server_that_says();
  patient.status = nullptr;
  patient.silence = "no such file";
  expect_wrong(check_running(patient), "no such file", "systemctl start tkdc-server@server1");
  for (auto* look : {check_session, check_clocks, check_audit_log, check_shares, check_former_keys,
                     check_keys, check_epochs, check_revoked, check_broken_checks, check_programs})
    EXPECT_EQ(look(patient).state, State::kUnknown);
}

TEST(Doctor, WithoutASessionItSaysWhy) {
  expect_wrong(check_session(server_that_says({{"session_up", false}, {"trouble", "no peer"}})),
               "server 1: no peer", "journalctl -u tkdc-server@server1");
  expect_wrong(check_session(server_that_says({{"session_up", false}, {"latched", "a lie"}})),
               "latched: a lie", "tkdc release");
  expect_wrong(check_session(agent_that_says({{"reachable", false}, {"trouble", "silent"}})),
               "server 2: silent", "on that server's host: tkdc doctor");
  Patient cause = agent_that_says({{"reachable", false}, {"trouble", "silent"}});
  cause.status["servers"][0]["session_up"] = false;
  expect_wrong(check_session(cause), "server 2: silent", "tkdc doctor");
  Patient two = agent_that_says();
  two.status["servers"].erase(2);
  expect_wrong(check_session(two), "2 servers", "tkdc status");
}

TEST(Doctor, WhatTheStatusWarnsOfIsSpokenOf) {
  expect_warning(check_clocks(agent_that_says({{"clock_warning", "60 s ahead"}})),
                 "server 2: 60 s ahead", "timedatectl");
  Patient two = agent_that_says({{"clock_error", "300 s ahead"}});
  two.status["servers"][0]["clock_warning"] = "60 s behind";
  expect_wrong(check_clocks(two), "server 2: 300 s ahead", "timedatectl");
  expect_wrong(check_audit_log(server_that_says({{"audit_trouble", "full"}})), "full", "df -h");
  expect_wrong(check_audit_log(server_that_says({{"audit_behind", "ended with line 4"}})),
               "ended with line 4", "tkdc release --config");
  expect_warning(check_audit_log(server_that_says({{"audit_failures", 3}})), "3 events",
                 "tkdc audit verify");
  expect_warning(check_agents(server_that_says({{"agents_warning", "no word from kdc2"}})),
                 "no word from kdc2", "systemctl status 'tkdc-agent@*'");
}

TEST(Doctor, WhatOfTheKeysIsNotWellIsSpokenOf) {
  expect_warning(check_keys(server_that_says({{"warning", "has sealed more than 2^37 tickets"}})),
                 "2^37", "tkdc rotate krbtgt");
  expect_warning(
      check_epochs(server_that_says({{"epoch_alarms", {"513 were used", "9 are left"}}})),
      "513 were used; 9 are left", "journalctl -u tkdc-server@server1");
  expect_warning(check_broken_checks(server_that_says(
                     {{"checks_broken", 2}, {"checks_broken_with", "2 with server 0"}})),
                 "2 with server 0", "tkdc release --config /etc/tkdc/server1/tkdc.toml");
}

// Within a revoked window what is sealed is refused at once: nobody can log in.
TEST(Doctor, AWindowThatReachesUpToNowIsWrong) {
  const std::int64_t now = std::time(nullptr), hour = 3'600;
  const auto of = [&](std::int64_t from, std::int64_t until) {
    return json{{"revoked", {{{"from", format_utc(from)}, {"until", format_utc(until)}}}}};
  };
  for (const bool agent : {false, true}) {
    const auto found = [&](const json& said) {
      return check_revoked(agent ? agent_that_says(said) : server_that_says(said));
    };
    expect_wrong(found(of(now - hour, now + hour)), "refuses what is sealed now: revoked from",
                 "tkdc revoke --lift");
    EXPECT_EQ(found(of(now - hour, now - 60)).state, State::kGood) << "it has ended";
    EXPECT_EQ(found(of(now + hour, now + 2 * hour)).state, State::kGood) << "it is yet to come";
    json unwritten = of(now - hour, now - 60);
    unwritten["revoked_unwritten"] = true;
    expect_warning(found(unwritten), "not on its disk", "df -h /var/lib/tkdc");
  }
}

TEST(Doctor, ServersRunOneProgram) {
  Patient agent = agent_that_says();
  EXPECT_EQ(check_programs(agent).state, State::kUnknown) << "none says what it runs";
  for (json& server : agent.status["servers"]) server.update({{"program", "ab"}, {"build", "1"}});
  EXPECT_EQ(check_programs(agent).state, State::kGood);
  agent.status["servers"][1].update({{"program", "cd"}, {"build", "2"}});
  expect_warning(check_programs(agent), "server 0 1, server 1 2, server 2 1", "tkdc status");
}

// A monitoring account, which can read no file of the member.
TEST(Doctor, AStatusSocketAloneIsEnough) {
  Patient patient = patient_at("/nowhere/server1.sock", Patient::Kind::kServer);
  EXPECT_TRUE(patient.only_status);
  EXPECT_EQ(patient.name, "server1");
  expect_wrong(check_running(patient), "/nowhere/server1.sock",
               "systemctl start tkdc-server@server1");
  for (const Check& check : all_checks()) {
    if (!concerns(check, patient) || check.look == check_running) continue;
    EXPECT_EQ(check.look(patient).state, State::kUnknown) << check.name;
  }
  patient.status = well_server(1);
  std::set<std::string> looked_at;
  for (const Check& check : all_checks()) {
    if (!concerns(check, patient)) continue;
    looked_at.insert(check.name);
    EXPECT_EQ(check.look(patient).state, State::kGood) << check.name;
  }
  EXPECT_EQ(looked_at,
            (std::set<std::string>{"certificate", "disks", "running", "session", "clocks",
                                   "audit-log", "shares", "backups", "dropped-keys", "former-keys",
                                   "keys", "epochs", "revoked", "broken-checks", "agents"}));
  patient.status.update({{"certificate_warning", "it ends"},
                         {"disk_warning", "little room"},
                         {"backup_warning", "an old one"},
                         {"dropped_warning", "a removed key"},
                         {"audit_failures", 3}});
  expect_warning(check_certificate(patient), "it ends", "tkdc renew --folder /etc/tkdc/server1");
  expect_warning(check_disks(patient), "little room", "df -h");
  expect_warning(check_backups(patient), "an old one",
                 "tkdc backup make --config /etc/tkdc/server1/tkdc.toml");
  expect_warning(check_dropped_keys(patient), "a removed key", "tkdc reconcile purge --due");
  expect_warning(check_audit_log(patient), "3 events", "/var/lib/tkdc/server1/audit.jsonl");
  EXPECT_EQ(patient_at("/nowhere/agent-kdc.sock", Patient::Kind::kAgent).unit,
            "tkdc-agent@agent-kdc");
}

TEST(Doctor, SharesAreToBeAuditedAndRefreshed) {
  const auto of = [](json shares) {
    shares["macs"] = true;
    return check_shares(server_that_says({{"shares", std::move(shares)}}));
  };
  const std::int64_t now = std::time(nullptr), day = 86'400;
  const json audited = {{"at", now - day}};
  EXPECT_EQ(of({{"last_audit", audited}, {"refreshed_at", now - day}}).state, State::kGood);
  EXPECT_EQ(of({{"last_audit", audited}, {"refreshed_at", 0}}).state, State::kGood)
      << "who never refreshes";
  expect_warning(of({}), "never audited", "tkdc-audit@server1.timer");
  expect_warning(of({{"last_audit", audited}, {"audit_warning", "long ago"}}), "long ago",
                 "tkdc shares audit --config /etc/tkdc/server1/tkdc.toml");
  expect_wrong(of({{"last_audit", audited}, {"alarms", 1}}), "differ", "journalctl");
  expect_warning(of({{"last_audit", audited}, {"refreshed_at", now - 41 * day}}), "refreshed last",
                 "tkdc-refresh@server1.timer");
}

// At one server share_macs was lost, as by a tkdc.toml that was taken as `tkdc join` made it.
TEST(Doctor, MacsThatAreSetAtSomeServersOnlyAreSpokenOf) {
  const json without = {{"macs", false}}, audited = {{"macs", false}, {"last_audit", {{"at", 7}}}};
  Patient patient = server_that_says({{"shares", without}});
  patient.server.emplace();
  EXPECT_EQ(check_shares(patient).state, State::kGood) << "who never wanted any";
  patient.server->share_macs = true;
  expect_warning(check_shares(patient), "it is missing at another server",
                 "on the other servers' hosts: share_macs = true below [store]");
  patient.status["session_up"] = false;
  EXPECT_EQ(check_shares(patient).state, State::kGood) << "as session says";
  patient.status["shares"] = audited;
  patient.server->share_macs = false;
  expect_warning(check_shares(patient), "share_macs is missing here",
                 "in /etc/tkdc/server1/tkdc.toml; systemctl restart tkdc-server@server1; then tkdc "
                 "shares --config /etc/tkdc/server1/tkdc.toml deal");
  patient.server.reset();
  expect_warning(check_shares(patient), "share_macs is missing at a server", "share_macs = true");
}

TEST(Doctor, BackupsAreToBeNewAndOfThisRefreshEpoch) {
  Patient patient = server_that_says();
  EXPECT_EQ(check_backups(patient).state, State::kUnknown);
  const std::string root = test::make_scratch("doctor");
  patient.folder = root;
  patient.server.emplace();
  patient.server->store_path = root + "/store";
  patient.server->party = 1;
  expect_warning(check_backups(patient), "none are made", "tkdc backup key --out backup.key");
  patient.server->parties = 2;
  expect_warning(check_backups(patient), "the only way back", "tkdc backup make");
  patient.server->parties = 3;
  std::ofstream(root + "/backup.pub") << "any";
  expect_warning(check_backups(patient), "there is no backup", "tkdc-backup@server1.timer");
  std::filesystem::create_directory(root + "/backups");
  const std::int64_t now = std::time(nullptr), day = 86'400;
  const auto put = [&](std::int64_t made, std::uint32_t epoch, int party) {
    BackupHead head;
    head.made_at_s = static_cast<std::uint64_t>(made);
    head.refresh_epoch = epoch;
    head.party = party;
    Bytes octets = encode_backup_fields(head);
    octets.resize(kBackupHeadBytes);
    std::ofstream(root + "/backups/" + std::to_string(made) + std::string(kBackupEnding))
        .write(reinterpret_cast<const char*>(octets.data()),
               static_cast<std::streamsize>(octets.size()));
  };
  put(now - 4 * day, 2, 1);
  put(now - 10, 2, 0);  // another server's
  expect_warning(check_backups(patient), "the newest backup is of", "tkdc backup make --config");
  put(now - day, 2, 1);
  EXPECT_EQ(check_backups(patient).state, State::kGood);
  patient.status["shares"] = {{"refresh_epoch", 3}};
  expect_warning(check_backups(patient), "before the last refresh", "tkdc backup prune");
  put(now + day, 3, 1);
  expect_warning(check_backups(patient), "which is yet to come", "out of " + root + "/backups");
  std::filesystem::remove_all(root);
}

TEST(Doctor, FormerKeysComeWithTheirCommand) {
  const std::string said = former_keys_warning({"server2"}, "tkdc-server", "/etc/tkdc/s/tkdc.toml");
  for (const std::string& warning : {said, std::string("x. runuser -u root -- reboot")}) {
    const json status = {{"former_keys_warning", warning}, {"former_keys", {"server2"}}};
    const Finding found = check_former_keys(server_that_says(status));
    expect_warning(found, "the former keys of server2",
                   "in use: runuser -u tkdc-server -- tkdc join --folder /etc/tkdc/server1 ");
    EXPECT_EQ(found.remedy.find("reboot"), std::string::npos) << found.remedy;
  }
}

// One server must not be able to stop it by what it says.
TEST(Doctor, FieldsOfOtherTypesDoNoHarm) {
  for (const char* said :
       {R"({"session_up":"yes","latched":7,"trouble":{}})", R"({"shares":7,"audit_lines":"x"})",
        R"({"shares":{"macs":true,"last_audit":[],"alarms":"x"},"former_keys_warning":[]})",
        R"({"epoch_alarms":"x","revoked":[7,{"from":8,"until":"x"}]})",
        R"({"checks_broken":[],"program":{},"warning":7})"}) {
    const Patient patient = server_that_says(json::parse(said));
    for (auto* look :
         {check_session, check_clocks, check_audit_log, check_shares, check_former_keys, check_keys,
          check_epochs, check_revoked, check_broken_checks, check_programs})
      (void)look(patient);
  }
}

// A service's account chooses names in its own folder; what is printed is typed by root.
TEST(Doctor, NamesEndNoCommand) {
  EXPECT_EQ(shell_word("/etc/tkdc/server0/curve.key"), "/etc/tkdc/server0/curve.key");
  EXPECT_EQ(shell_word("x; reboot .key"), "'x; reboot .key'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
  Patient patient = server_that_says();
  patient.folder = test::make_scratch("doctor");
  patient.config = patient.folder + "/tkdc.toml";
  const std::string key = patient.folder + "/$(reboot).key";
  std::ofstream(key) << "secret";
  EXPECT_EQ(::chmod(key.c_str(), 0644), 0);
  expect_wrong(check_files(patient), "is open to others", "chmod 0600 '" + key + "'");
  // Whoever writes the configuration gets no command for a file elsewhere.
  patient.server.emplace();
  patient.server->curve_secret_key_file = "/etc/passwd";
  EXPECT_EQ(::chmod(key.c_str(), 0600), 0);
  expect_wrong(check_files(patient), "/etc/passwd is open to others", "look whether it is");
  patient.server.reset();
  EXPECT_EQ(::chmod(key.c_str(), 0600), 0);
  EXPECT_EQ(check_files(patient).state, State::kGood) << check_files(patient).text;
  std::filesystem::remove_all(patient.folder);
}

TEST(Doctor, EntryPointsAreLookedAtByTheirProgram) {
  const std::string folder = test::make_scratch("doctor"), program = folder + "/check-krb5";
  Patient krb5;
  krb5.kind = Patient::Kind::kKrb5;
  krb5.check_krb5 = program;
  expect_wrong(check_entry_points(krb5), program, "apt install --reinstall tkdc-kdc");
  const auto write = [&](const char* script) {
    std::ofstream(program) << "#!/bin/sh\n" << script;
    EXPECT_EQ(::chmod(program.c_str(), 0755), 0);
  };
  write("echo libk5crypto lacks krb5_c_encrypt; exit 1\n");
  expect_wrong(check_entry_points(krb5), "lacks krb5_c_encrypt", "apt install libkrb5-3=");
  write("exit 0\n");
  EXPECT_EQ(check_entry_points(krb5).state, State::kGood);
  krb5.check_krb5.clear();
  EXPECT_EQ(check_entry_points(krb5).state, State::kUnknown) << "another root's";
  std::filesystem::remove_all(folder);
}

TEST(Doctor, TheDatabaseIsComparedWithTheServers) {
  const std::string folder = test::make_scratch("doctor"), program = folder + "/reconcile";
  Patient krb5;
  krb5.kind = Patient::Kind::kKrb5;
  EXPECT_EQ(check_database(krb5).state, State::kUnknown) << "another root's";
  krb5.reconcile = program;
  const auto write = [&](const char* script) {
    std::ofstream(program) << "#!/bin/sh\n" << script;
    EXPECT_EQ(::chmod(program.c_str(), 0755), 0);
  };
  write("exit 0\n");
  EXPECT_EQ(check_database(krb5).state, State::kGood);
  write("echo '{\"dead\":[1,2],\"orphans\":[3]}'; exit 2\n");
  expect_wrong(check_database(krb5), "2 keys exist at no server, 1 at the servers alone",
               "tkdc reconcile");
  write("echo a line of stderr >&2; echo '{\"dead\":[],\"orphans\":[3]}'; exit 2\n");
  expect_warning(check_database(krb5), "0 keys exist at no server, 1 at", "tkdc reconcile");
  write("echo nonsense; exit 2\n");
  expect_warning(check_database(krb5), "0 keys", "tkdc reconcile");
  write("echo '{\"realm\":\"R\",\"dead\":[1],\"without_keys\":[\"krbtgt/R@R\"]}'; exit 2\n");
  expect_wrong(check_database(krb5), "no server holds the key of krbtgt/R@R",
               "tkdc rotate krbtgt --now");
  write("echo '{\"realm\":\"R\",\"dead\":[1],\"without_keys\":[\"krbtgt/S@R\"]}'; exit 2\n");
  expect_wrong(check_database(krb5), "1 keys exist at no server", "tkdc reconcile names them");
  write("echo 'realm R is served by the database module db2: write it'; exit 1\n");
  expect_wrong(check_database(krb5), "served by the database module db2: write it",
               "systemctl restart krb5-kdc");
  write("echo the agent is away; exit 1\n");
  EXPECT_EQ(check_database(krb5).state, State::kUnknown);
  EXPECT_EQ(check_database(krb5).text, "the agent is away");
  std::filesystem::remove_all(folder);
}

TEST(Doctor, WhatStartsWithTheHostRuns) {
  const std::string root = test::make_scratch("doctor"), program = root + "/systemctl";
  const std::string wants = root + "/etc/systemd/system/multi-user.target.wants";
  std::filesystem::create_directories(wants);
  Patient krb5;
  krb5.kind = Patient::Kind::kKrb5;
  krb5.root = root;
  EXPECT_EQ(check_services(krb5).state, State::kUnknown) << "another root's";
  krb5.systemctl = program;
  std::ofstream(program) << "#!/bin/sh\n[ $2 = krb5-kdc.service ] && echo active && exit 0\n"
                            "echo failed; exit 3\n";
  EXPECT_EQ(::chmod(program.c_str(), 0755), 0);
  expect_warning(check_services(krb5), "none is to start", "systemctl enable --now krb5-kdc");
  std::ofstream(wants + "/krb5-kdc.service") << "";
  EXPECT_EQ(check_services(krb5).state, State::kGood) << "a spare, without kadmind";
  std::ofstream(wants + "/krb5-kpropd.service") << "";
  expect_wrong(check_services(krb5), "krb5-kpropd.service is failed", "krb5-kpropd.service");
  // Debian enables kadmind with its package; on a replica a start of it would stop kpropd.
  std::ofstream(wants + "/krb5-admin-server.service") << "";
  expect_warning(check_services(krb5), "are both to start with the host",
                 "on a replica: systemctl disable krb5-admin-server");
  std::filesystem::remove(wants + "/krb5-kpropd.service");
  expect_wrong(check_services(krb5), "krb5-admin-server.service is failed",
               "journalctl -b -u krb5-admin-server.service");
  std::filesystem::remove_all(root);
}

TEST(Doctor, AProgramThatHangsIsKilled) {
  const auto before = std::chrono::steady_clock::now();
  auto ended = run_child({"sleep", "60"}, {}, std::chrono::milliseconds(30));
  ASSERT_FALSE(ended.ok());
  EXPECT_NE(ended.error().message.find("did not end"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(20));
  EXPECT_TRUE(run_child({"sleep", "0"}, {}, std::chrono::seconds(20)).ok());
}

std::promise<void> let_go;

TEST(Doctor, ACheckThatHangsIsGivenUp) {
  const Check hangs{"hangs", 1, [](const Patient&) {
                      let_go.get_future().wait();
                      return good("");
                    }};
  bool late = false;
  const Finding found = look_within(hangs, Patient(), std::chrono::milliseconds(30), late);
  expect_wrong(found, "no result within", "");
  EXPECT_TRUE(late);
  let_go.set_value();
  late = false;
  const Check ends{"ends", 1, [](const Patient&) { return good("done"); }};
  EXPECT_EQ(look_within(ends, Patient(), std::chrono::seconds(20), late).text, "done");
  const Check throws{"throws", 1,
                     [](const Patient&) -> Finding { throw std::runtime_error("no right"); }};
  const Finding thrown = look_within(throws, Patient(), std::chrono::seconds(20), late);
  EXPECT_EQ(thrown.state, State::kUnknown);
  EXPECT_EQ(thrown.text, "no right");
  EXPECT_FALSE(late);
}

TEST(Doctor, EachCheckHasANameOfItsOwnAndSomebodyToLookAt) {
  std::set<std::string> names;
  for (const Check& check : all_checks()) {
    EXPECT_TRUE(names.insert(check.name).second) << check.name;
    EXPECT_NE(check.kinds, 0u) << check.name;
  }
  EXPECT_GE(names.size(), 14u);
}

}  // namespace
}  // namespace tkdc::cli
