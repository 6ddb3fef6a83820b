// SPDX-License-Identifier: Apache-2.0
// One lane's work at all three parties in one thread, without a network: what
// tests/bench/instructions.py counts the instructions of.
//
//   bench-workload WORK BACKEND JOBS [--stop]
//
// WORK: aes-128, aes-256 (16 blocks a job), sha1 and sha1-bits (a
// compression a job, in the shape of the fewest rounds or bits), and the same as circuits for all
// jobs at once (aes-128-circuit, a block a job; sha1-circuit); each in semi-honest mode, or with
// "-malicious" behind it. BACKEND: scalar, avx2 or
// gfni. The work is done twice; the second time, inside run_measured(), is the
// one to be counted. --stop raises SIGUSR1 before and SIGUSR2 behind it.
#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <string>

#include "circuits/catalogue.h"
#include "rep3/unit/circuit/circuit_run.h"
#include "rep3/unit/rep3_protocol.h"
#include "support/three_parties.h"

namespace tkdc::bench {
namespace {

constexpr std::size_t kJobBlocks = 16;

class Work {
 public:
  Work(const std::string& name, const Rep3Backend& backend, Security security, std::size_t jobs)
      : sha1_(name.starts_with("sha1")),
        sha1_work_(name == "sha1-bits" ? tkdc::Work::kBulk : tkdc::Work::kWaitedFor),
        net_(backend.representation(), 1, security) {
    for (int p = 0; p < 3; ++p)
      ciphers_[p] = std::make_unique<Rep3Protocol>(*net_.party[p], backend);
    for (auto& ciphers : ciphers_) ciphers->sha1.set_ripple_from(1);
    const std::size_t in_bytes = sha1_ ? 64 : 16 * kJobBlocks;
    for (std::size_t k = 0; k < jobs; ++k) {
      in_.push_back(net_.share(test::random_bytes(net_.rng(), in_bytes)));
      keys_.push_back(net_.share(test::random_bytes(net_.rng(), name == "aes-256" ? 32 : 16)));
    }
    for (auto& out : out_) out.resize(in_.size());
  }

  bool prepare() {
    return sha1_ || ran([this](int p) { return expand(p); });
  }
  bool run() {
    return ran([this](int p) {
      std::vector<Task<void>> jobs;
      for (std::size_t k = 0; k < in_.size(); ++k) jobs.push_back(job(p, k));
      return all(net_.party[p]->lane, std::move(jobs));
    });
  }

 private:
  bool ran(const std::function<Task<void>(int)>& make) { return net_.run(make).ok(); }

  Task<void> expand(int p) {
    std::vector<SharedBytes> keys;
    for (const auto& key : keys_) keys.push_back(key[static_cast<std::size_t>(p)]);
    round_keys_[p] = co_await aes_round_keys(*net_.party[p], std::move(keys));
    co_await net_.party[p]->verified();
  }
  Task<void> job(int p, std::size_t k) {
    SharedBytes in = in_[k][static_cast<std::size_t>(p)];
    Rep3Protocol& c = *ciphers_[p];
    if (sha1_)
      out_[p][k] =
          co_await c.sha1.compress(c.share_public(kSha1.initial()), std::move(in), sha1_work_);
    else
      out_[p][k] = co_await c.aes.encrypt(round_keys_[p][k], std::move(in));
    co_await c.rep3.verified();
  }

  const bool sha1_;
  const tkdc::Work sha1_work_;
  test::ThreeParties net_;
  std::unique_ptr<Rep3Protocol> ciphers_[3];
  std::vector<std::array<SharedBytes, 3>> in_, keys_;
  std::vector<SharedBytes> round_keys_[3], out_[3];
};

// The circuit of a name of the catalogue, in so many instances.
class CircuitWork {
 public:
  CircuitWork(const std::string& name, const Rep3Backend& backend, Security security,
              std::size_t instances)
      : schedule_(circuit::schedule_of(circuits::record(*circuits::find_named(name)))),
        instances_(instances), net_(backend.representation(), 1, security) {
    for (std::size_t p = 0; p < 3; ++p)
      protocols_[p] = std::make_unique<Rep3Protocol>(*net_.party[p], backend);
    for (const circuit::Port& port : schedule_.inputs)
      in_.push_back(net_.share(test::random_bytes(net_.rng(), instances * port_octets(port))));
  }

  bool run() {
    return net_.run([this](int p) { return job(p); }).ok();
  }

 private:
  Task<void> job(int p) {
    std::vector<SharedBytes> inputs;
    for (const auto& input : in_) inputs.push_back(input[static_cast<std::size_t>(p)]);
    out_[p] = co_await compute_circuit(*net_.party[p], schedule_, std::move(inputs), instances_);
    co_await net_.party[p]->verified();
  }

  const circuit::Schedule schedule_;
  const std::size_t instances_;
  test::ThreeParties net_;
  std::unique_ptr<Rep3Protocol> protocols_[3];
  std::vector<std::array<SharedBytes, 3>> in_;
  std::vector<SharedBytes> out_[3];
};

}  // namespace
}  // namespace tkdc::bench

// By this name the counter finds it.
extern "C" [[gnu::noinline]] bool run_measured(const std::function<bool()>* work) {
  return (*work)();
}

int main(int argc, char** argv) {
  using namespace tkdc;
  std::string name, wanted;
  std::size_t jobs = 0;
  bool stop = false;
  CLI::App app("a unit of work, for the counter of instructions");
  app.add_option("work", name,
                 "aes-128, aes-256, sha1, sha1-bits, aes-128-circuit or sha1-circuit; behind it "
                 "-malicious")
      ->required();
  app.add_option("backend", wanted)->required();
  app.add_option("jobs", jobs)->required()->check(CLI::Range(std::size_t{1}, std::size_t{4096}));
  app.add_flag("--stop", stop, "signals around what is counted");
  CLI11_PARSE(app, argc, argv);
  const std::string malicious = "-malicious";
  Security security = Security::kSemiHonest;
  if (name.ends_with(malicious)) {
    name.resize(name.size() - malicious.size());
    security = Security::kMalicious;
  }
  const std::string circuit = name == "aes-128-circuit" ? "aes128-encrypt"
                              : name == "sha1-circuit"  ? "sha1"
                                                        : "";
  if (circuit.empty() && name != "aes-128" && name != "aes-256" && name != "sha1" &&
      name != "sha1-bits") {
    std::cerr << "bench-workload: no work " << name << "\n";
    return 2;
  }
  // Verification is of octets; planes are what semi-honest mode without GFNI uses.
  const bool octets = security == Security::kMalicious || wanted == "gfni";
  auto backend =
      choose_rep3_backend(wanted, octets ? Representation::kBytes : Representation::kPlanes);
  if (!backend || (*backend)->name() != wanted) {
    std::cerr << "bench-workload: no backend " << wanted << " for this on this CPU\n";
    return 3;
  }
  std::function<bool()> run;
  bool done = true;
  if (circuit.empty()) {
    auto work = std::make_shared<bench::Work>(name, **backend, security, jobs);
    done = work->prepare();
    run = [work] { return work->run(); };
  } else {
    auto work = std::make_shared<bench::CircuitWork>(circuit, **backend, security, jobs);
    run = [work] { return work->run(); };
  }
  done = done && run();
  if (stop) raise(SIGUSR1);
  done = run_measured(&run) && done;
  if (stop) raise(SIGUSR2);
  return done ? 0 : 1;
}
