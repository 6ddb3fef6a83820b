// SPDX-License-Identifier: Apache-2.0
#include "storm/options.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "base/version.h"

namespace tkdc::storm {
namespace {

void add_who(CLI::App& app, Options& o) {
  app.add_option("--kdc", o.kdc, "HOST[:PORT] of the KDC; port 88")->required();
  app.add_option("--realm", o.realm, "the users' realm")->required();
  auto* user = app.add_option("--user", o.pattern.text, "user, or a pattern such as user%06d");
  app.add_option("--first", o.pattern.first, "the pattern's first number (0)");
  app.add_option("--users", o.pattern.count, "how many numbers (1)");
  app.add_option("--password-file", o.password_file, "its first line is all users' password")
      ->needs(user);
  app.add_option("--enctype", o.enctype, "of the keys derived from it");
  auto* keytab = app.add_option("--keytab", o.keytab, "take users and keys from a keytab");
  keytab->excludes(user);
  app.add_option("--save-keytab", o.save_keytab, "write the derived keys there and end")
      ->needs(user);
}

void add_what(CLI::App& app, Options& o) {
  CLI::Range share(0.0, 1.0);
  app.add_option("--tgs", o.tgs_share, "share of TGS-REQ among the requests (0)")->check(share);
  app.add_option("--service", o.services, "services that TGS-REQ ask for, in turn");
  app.add_option("--service-keytab", o.service_keytab, "opens and checks their tickets");
  app.add_option("--tickets", o.tickets, "TGTs fetched before the run for --tgs (64)");
  app.add_option("--wrong-password", o.wrong_password_share, "share of AS-REQ with a wrong key")
      ->check(share);
  app.add_option("--noise", o.noise, "share of requests followed by bad input")->check(share);
  app.add_option("--sample", o.sample, "share of replies decrypted and checked (1)")
      ->check(CLI::Range(0.01, 1.0));
  app.add_flag(
      "--fresh-tickets", o.fresh_tickets,
      "a ticket whose ciphertext begins like an earlier one's is wrong: a nonce used twice");
  app.add_flag("--unconfirmed", o.unconfirmed, "AS-REQ ask for no checksum over themselves");
  app.add_option("--request-enctypes", o.request_enctypes, "what requests offer")->delimiter(',');
}

void add_when(CLI::App& app, Options& o) {
  CLI::Range time(0.0, 1e6);
  auto* model = app.add_option_group("model", "one of these");
  model->add_option("--rate", o.rate, "open model: requests per second")
      ->check(CLI::Range(0.01, 1e7));
  model->add_option("--clients", o.clients, "closed model: so many users at once")
      ->check(CLI::Range(1, 1'000'000));
  model->add_option("--ramp", o.ramp_from, "open model: search upwards from this rate")
      ->check(CLI::Range(0.01, 1e7));
  model->require_option(0, 1);
  app.add_option("--ramp-to", o.ramp_to, "not above this rate");
  app.add_option("--ramp-factor", o.ramp_factor, "from step to step (1.5)")
      ->check(CLI::Range(1.01, 10.0));
  app.add_option("--ramp-refine", o.ramp_refinements, "halvings after the first miss (3)")
      ->check(CLI::Range(0, 20));
  app.add_option("--limit-ms", o.limit_ms, "a step passes if its p99 is within (250)");
  app.add_option("--duration", o.duration_s, "seconds, of each step of a ramp (10)")->check(time);
  app.add_option("--warmup", o.warmup_s, "seconds before, not counted (1)")->check(time);
  app.add_option("--pause-ms", o.pause_ms, "closed model: between answer and request")->check(time);
  app.add_flag("--poisson", o.poisson, "open model: Poisson arrivals, not even ones");
}

void add_how(CLI::App& app, Options& o) {
  app.add_flag("--tcp", o.tcp, "a connection for each request; else UDP");
  app.add_option("--sockets", o.sockets, "requests under way at most (4096)")
      ->check(CLI::Range(1, 200'000));
  app.add_option("--retransmit-ms", o.retransmit_ms,
                 "when unanswered requests are sent again (1000,3000,7000); 0 for never")
      ->delimiter(',');
  app.add_option("--timeout-ms", o.timeout_ms, "then a request is lost (15000)")
      ->check(CLI::Range(1.0, 600'000.0));
  app.add_option("--copies", o.copies, "send each request so many times at once (1)")
      ->check(CLI::Range(1, 100));
}

void add_results(CLI::App& app, Options& o) {
  app.add_option("--require", o.requirements, "METRIC<NUMBER or METRIC>NUMBER; else exit 1");
  app.add_option("--watch", o.watches, "NAME=PID[+PID]: record its CPU, memory, files");
  app.add_option("--agent", o.agent, "tkdc-agent's socket: record the servers' batches");
  app.add_option("--json", o.json, "all results");
  app.add_option("--csv", o.csv, "a row for each second");
  app.add_option("--hgrm", o.hgrm, "percentiles for HdrHistogram's plotters");
  app.add_option("--html", o.html, "a report with plots, for any browser, offline");
  app.add_option("--title", o.title, "of the report");
  app.add_flag("--quiet", o.quiet, "no line each second");
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv, int& status) {
  Options o;
  CLI::App app("tkdc-storm: load for a Kerberos KDC");
  app.set_version_flag("--version", std::string("tkdc-storm ") + kVersionAndCommit);
  add_who(app, o);
  add_what(app, o);
  add_when(app, o);
  add_how(app, o);
  add_results(app, o);
  app.footer(
      "Example: 500 logins a second for a minute; an error if one in ten thousand fails\n"
      "  tkdc-storm --kdc kdc.example --realm EXAMPLE.TEST --keytab users.keytab --rate 500 "
      "--duration 60 --require 'failed-share<0.0001'");
  auto refuse = [&](const std::string& why) -> std::optional<Options> {
    std::cerr << "tkdc-storm: " << why << "\n";
    status = 2;
    return std::nullopt;
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    status = app.exit(error) == 0 ? 0 : 2;
    return std::nullopt;
  }
  if (o.pattern.text.empty() == o.keytab.empty()) return refuse("one of --user and --keytab");
  if (!o.pattern.text.empty() && o.password_file.empty())
    return refuse("--user needs --password-file");
  if (o.tgs_share > 0 && o.services.empty()) return refuse("--tgs needs --service");
  if (o.save_keytab.empty() && o.rate <= 0 && o.clients == 0 && !o.ramp())
    return refuse("one of --rate, --clients and --ramp");
  if (o.retransmit_ms == std::vector<double>{0}) o.retransmit_ms.clear();
  for (std::size_t i = 0; i < o.retransmit_ms.size(); ++i)
    if (o.retransmit_ms[i] <= (i == 0 ? 0 : o.retransmit_ms[i - 1]))
      return refuse("--retransmit-ms: growing times");
  o.sockets = std::max<std::size_t>(o.sockets, o.clients);
  return o;
}

}  // namespace tkdc::storm
