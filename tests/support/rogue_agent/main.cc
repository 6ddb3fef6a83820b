// SPDX-License-Identifier: Apache-2.0
// rogue_agent: with an agent's own credentials, sends jobs about which the
// servers are told different things, and prints what each server answered.
//
// One line per case: operation, case, the three servers' statuses; "-" is no
// answer. "honest" is the control. Exit status: 0 when no server said ok to
// any other case, 1 when one did, 2 when nothing could be tried.
//
// The key of SEAL to VERIFY is given by --key, or made for --principal through
// the agent of --admin-config. For management an own key is staged (and bound)
// for each case, so only role admin can try it.
#include <CLI/CLI.hpp>
#include <iostream>
#include <set>

#include "base/hex.h"
#include "cases.h"
#include "service/wire/times_json.h"

namespace {

using namespace tkdc;
using namespace tkdc::agent;

struct Options {
  std::string config;
  std::string admin_config;
  std::vector<std::string> operations{"seal", "open", "mac", "verify"};
  std::string key_id;
  std::string principal = "krbtgt/EXAMPLE.TEST@EXAMPLE.TEST";
  std::uint32_t kvno = 1;
  std::uint32_t enctype = 18;
  std::uint32_t seal_usage = 2;
  std::uint32_t mac_usage = 17;
  int timeout_ms = 2'000;
};

const std::pair<const char*, tkdc_wire_op> kOperations[] = {
    {"seal", TKDC_OP_SEAL},     {"open", TKDC_OP_OPEN},       {"mac", TKDC_OP_MAC},
    {"verify", TKDC_OP_VERIFY}, {"stage", TKDC_OP_STAGE},     {"export", TKDC_OP_EXPORT},
    {"bind", TKDC_OP_BIND},     {"destroy", TKDC_OP_DESTROY}, {"equal", TKDC_OP_EQUAL}};

ByteSpan octets(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void name_principal(JobRequest& job, const std::string& name) {
  crypto_hash_sha256(job.key.principal.data(), octets(name).data(), name.size());
}

// One job with its input, freshly prepared so that an honest agent's would
// succeed.
class Preparation {
 public:
  Preparation(Rogue& rogue, const AgentConfig& config, const Options& options)
      : rogue_(rogue), config_(config), options_(options) {}

  JobRequest job(tkdc_wire_op op, SecretVector& secret) {
    switch (op) {
      case TKDC_OP_STAGE: {
        secret.resize(options_.enctype == 17 ? 16 : 32);
        randombytes_buf(secret.data(), secret.size());
        return stage(TKDC_ORIGIN_IMPORTED);
      }
      case TKDC_OP_EXPORT:
      case TKDC_OP_BIND:
      case TKDC_OP_DESTROY: return manage(op);
      case TKDC_OP_EQUAL: return equal();
      default: return use(op, secret);
    }
  }

 private:
  JobRequest use(tkdc_wire_op op, SecretVector& secret) {
    JobRequest job;
    job.op = op;
    job.key.installation = config_.installation;
    job.key.kvno = options_.kvno;
    job.key.enctype = options_.enctype;
    (void)from_hex(options_.key_id, job.key.id);  // without one: zeros, which no key has
    name_principal(job, options_.principal);
    bool checksum = op == TKDC_OP_MAC || op == TKDC_OP_VERIFY;
    job.usage = checksum ? options_.mac_usage : options_.seal_usage;
    secret.assign(100, 0x41);
    if (op == TKDC_OP_SEAL || op == TKDC_OP_MAC) return job;
    // What is to be opened or verified is made first, honestly.
    JobRequest maker = job;
    maker.op = checksum ? TKDC_OP_MAC : TKDC_OP_SEAL;
    SecretVector made = Rogue::settle(rogue_.ask(rogue_.honest(maker, secret))).output;
    if (op == TKDC_OP_OPEN) secret.clear();
    secret.insert(secret.end(), made.begin(), made.end());
    if (made.empty()) secret.resize(checksum ? 112 : 128);
    return job;
  }

  JobRequest stage(tkdc_wire_origin origin) {
    JobRequest job;
    job.op = TKDC_OP_STAGE;
    job.key.installation = config_.installation;
    job.key.kvno = options_.kvno;
    job.key.enctype = options_.enctype;
    randombytes_buf(job.key.id.data(), job.key.id.size());
    job.public_data = {static_cast<std::uint8_t>(origin)};
    return job;
  }

  JobRequest manage(tkdc_wire_op op) {
    JobRequest job = stage(TKDC_ORIGIN_DRAWN);
    rogue_.ask(rogue_.honest(job, {}));
    job.op = op;
    job.public_data.clear();
    if (op == TKDC_OP_EXPORT) return job;
    std::string name = "rogue/" + std::to_string(++names_) + "@EXAMPLE.TEST";
    name_principal(job, name);
    if (op == TKDC_OP_DESTROY) job.op = TKDC_OP_BIND;
    job.public_data.assign(name.begin(), name.end());
    if (op == TKDC_OP_BIND) return job;
    rogue_.ask(rogue_.honest(job, {}));
    job.op = TKDC_OP_DESTROY;
    job.public_data.clear();
    return job;
  }

  // A bound key and an imported one beside it.
  JobRequest equal() {
    JobRequest job = manage(TKDC_OP_BIND);
    rogue_.ask(rogue_.honest(job, {}));
    JobRequest other = stage(TKDC_ORIGIN_IMPORTED);
    rogue_.ask(rogue_.honest(other, SecretVector(options_.enctype == 17 ? 16 : 32, 0x41)));
    job.op = TKDC_OP_EQUAL;
    job.public_data.assign(other.key.id.begin(), other.key.id.end());
    return job;
  }

  Rogue& rogue_;
  const AgentConfig& config_;
  const Options& options_;
  int names_ = 0;
};

// Makes a drawn key of options.principal and notes its id.
Result<void> make_key(Options& options) {
  auto config = load_config(options.admin_config);
  if (!config) return config.error();
  auto rogue = Rogue::connect(*config, options.timeout_ms);
  if (!rogue) return rogue.error();
  JobRequest job;
  job.op = TKDC_OP_STAGE;
  job.key.installation = config->installation;
  job.key.kvno = options.kvno;
  job.key.enctype = options.enctype;
  randombytes_buf(job.key.id.data(), job.key.id.size());
  job.public_data = {TKDC_ORIGIN_DRAWN};
  Outcome staged = Rogue::settle((*rogue)->ask((*rogue)->honest(job, {})));
  if (staged.status != TKDC_STATUS_OK) return fail("stage: " + staged.message);
  job.op = TKDC_OP_BIND;
  name_principal(job, options.principal);
  job.public_data.assign(options.principal.begin(), options.principal.end());
  Outcome bound = Rogue::settle((*rogue)->ask((*rogue)->honest(job, {})));
  if (bound.status != TKDC_STATUS_OK) return fail("bind: " + bound.message);
  options.key_id = to_hex(job.key.id);
  return {};
}

// True when a server said ok.
bool print_case(const std::string& operation, const std::string& name, const Replies3& replies) {
  bool ok = false;
  std::cout << operation << ' ' << name;
  for (const auto& reply : replies) {
    std::cout << ' ' << (reply ? status_word(reply->status) : "-");
    ok = ok || (reply && reply->status == TKDC_STATUS_OK);
  }
  std::cout << std::endl;
  return ok;
}

bool try_operation(const std::string& name, tkdc_wire_op op, Rogue& rogue, Preparation& prepare) {
  SecretVector secret;
  JobRequest job = prepare.job(op, secret);
  print_case(name, "honest", rogue.ask(rogue.honest(job, secret)));
  bool all_refused = true;
  for (const Trick& trick : tricks_for(job, !secret.empty())) {
    SecretVector fresh;
    JobRequest mine = prepare.job(op, fresh);
    Jobs3 jobs = rogue.honest(mine, fresh);
    trick.apply(jobs);
    if (print_case(name, trick.name, rogue.ask(std::move(jobs), trick.left_out)))
      all_refused = false;
  }
  return all_refused;
}

int run(Options options) {
  if (!options.admin_config.empty()) {
    if (Result<void> made = make_key(options); !made) {
      std::cerr << "rogue_agent: " << made.error().message << "\n";
      return 2;
    }
  }
  auto config = load_config(options.config);
  if (!config) {
    std::cerr << "rogue_agent: " << config.error().message << "\n";
    return 2;
  }
  auto rogue = Rogue::connect(*config, options.timeout_ms);
  if (!rogue) {
    std::cerr << "rogue_agent: " << rogue.error().message << "\n";
    return 2;
  }
  Preparation prepare(**rogue, *config, options);
  bool all_refused = true;
  for (const std::string& wanted : options.operations)
    for (const auto& [name, op] : kOperations)
      if (wanted == name) all_refused = try_operation(name, op, **rogue, prepare) && all_refused;
  return all_refused ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (sodium_init() < 0) return 2;
  Options options;
  std::set<std::string> names;
  for (const auto& [name, op] : kOperations) names.insert(name);
  CLI::App app("an agent that tells the servers different things about one job");
  app.add_option("--config", options.config, "an agent.toml")->required();
  app.add_option("--admin-config", options.admin_config, "make the key through this agent.toml");
  app.add_option("--operations", options.operations, "seal, open, mac, verify, stage, ...")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  app.add_option("--key", options.key_id, "key id, 32 hexadecimal digits");
  app.add_option("--principal", options.principal, "the key's principal");
  app.add_option("--kvno", options.kvno, "the key's kvno");
  app.add_option("--enctype", options.enctype, "the key's enctype");
  app.add_option("--seal-usage", options.seal_usage, "key usage of seal and open");
  app.add_option("--mac-usage", options.mac_usage, "key usage of mac and verify");
  app.add_option("--timeout-ms", options.timeout_ms, "how long to wait for each job");
  CLI11_PARSE(app, argc, argv);
  return run(options);
}
