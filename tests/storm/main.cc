// SPDX-License-Identifier: Apache-2.0
// tkdc-storm: load for a Kerberos KDC. See docs/man/tkdc-storm.1.
//
// Exit status: 0 when every requirement is met and no answer was wrong, 1 when
// not, 2 when nothing could be measured.
#include <csignal>
#include <fstream>
#include <iostream>

#include "storm/session.h"

namespace {

using namespace tkdc;
using namespace tkdc::storm;

void on_signal(int) { Session::stop(); }

Result<std::vector<User>> load_users(Options& o) {
  if (!o.keytab.empty()) return read_keytab(o.keytab, o.realm);
  std::ifstream in(o.password_file);
  if (!std::getline(in, o.pattern.password)) return fail("no password in " + o.password_file);
  auto enctype = enctype_by_name(o.enctype);
  if (!enctype) return enctype.error();
  o.pattern.enctype = *enctype;
  return derive_users(o.pattern, o.realm);
}

Result<WorkloadTerms> workload_terms(const Options& o) {
  WorkloadTerms terms;
  terms.request.realm = o.realm;
  terms.request.options = kOptionRenewableOk;
  terms.request.confirmed = !o.unconfirmed;
  for (const std::string& name : o.request_enctypes) {
    auto enctype = enctype_by_name(name);
    if (!enctype) return enctype.error();
    terms.request.enctypes.push_back(*enctype);
  }
  terms.tgs_share = o.tgs_share;
  terms.wrong_password_share = o.wrong_password_share;
  terms.sample = o.sample;
  terms.fresh_tickets = o.fresh_tickets;
  terms.services = o.services;
  return terms;
}

Result<void> write_files(const Results& results) {
  using Writer = void (*)(std::ostream&, const Results&);
  Writer hgrm = [](std::ostream& out, const Results& r) { r.recorder.latency().write_hgrm(out); };
  const Options& o = *results.options;
  const std::pair<const std::string&, Writer> files[] = {
      {o.json, write_json}, {o.csv, write_csv}, {o.hgrm, hgrm}, {o.html, write_html}};
  for (const auto& [path, writer] : files) {
    if (path.empty()) continue;
    std::ofstream out(path);
    writer(out, results);
    if (!out.flush()) return fail("cannot write " + path);
  }
  return {};
}

Result<int> run(Options& o) {
  std::vector<Watched> watched;
  for (const std::string& text : o.watches)
    if (!parse_watched(text, watched.emplace_back())) return fail("--watch " + text);
  Results results;
  results.options = &o;
  for (const std::string& text : o.requirements) {
    auto parsed = parse_requirement(text);
    if (!parsed) return parsed.error();
    results.requirements.push_back(*parsed);
  }
  auto users = load_users(o);
  if (!users) return users.error();
  if (!o.save_keytab.empty()) {
    auto written = write_keytab(o.save_keytab, o.realm, *users);
    if (!written) return written.error();
    return 0;
  }
  auto target = resolve(o.kdc);
  if (!target) return target.error();
  if (auto allowed = allow_files(2 * o.sockets + 64); !allowed) return allowed.error();
  auto terms = workload_terms(o);
  if (!terms) return terms.error();
  Workload workload(*terms, std::move(*users));
  if (!o.service_keytab.empty()) {
    auto services = read_keytab(o.service_keytab, o.realm);
    if (!services) return services.error();
    for (const User& service : *services) workload.add_service_key(service.name, service.raw);
  }
  Transport transport(*target, o.tcp, o.sockets, static_cast<Nanoseconds>(o.timeout_ms * 1e6));
  Noise noise(*target, o.noise);
  Watch watch(std::move(watched));
  Servers servers(o.agent);
  Session session(o, workload, transport, noise, watch, servers, results);
  if (o.tgs_share > 0)
    if (auto collected = session.collect_tickets(); !collected) return collected.error();
  session.measure();
  results.processes = watch.processes();
  results.batches = servers.rows();
  if (servers.unanswered() > 0)
    std::cerr << "tkdc-storm: " << servers.unanswered() << " times the agent said nothing of "
              << "the servers (--agent)\n";
  judge_requirements(results);
  write_summary(std::cout, results);
  if (!transport.trouble().empty()) std::cerr << "tkdc-storm: " << transport.trouble() << "\n";
  if (auto written = write_files(results); !written) return written.error();
  return results.good() && !results.interrupted ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  int status = 0;
  auto options = parse_options(argc, argv, status);
  if (!options) return status;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  if (context() == nullptr) {
    std::cerr << "tkdc-storm: libkrb5 does not start: look at KRB5_CONFIG\n";
    return 2;
  }
  auto done = run(*options);
  if (!done) {
    std::cerr << "tkdc-storm: " << done.error().message << "\n";
    return 2;
  }
  return *done;
}
