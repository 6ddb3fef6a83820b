// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/modes.h"

#include "tools/bench/device.h"

namespace tkdc::bench {

std::string exchange_help(const std::vector<std::string>& modes) {
  static const std::map<std::string, std::string> kWhat = {
      {"tls", "three processes"},
      {"device", "three parties in a GPU's memory"},
      {"none", "one party's local work there"},
      {"host", "one party's local work there, with its transfers"}};
  std::string help;
  for (const std::string& mode : modes)
    help += (help.empty() ? "" : "; ") + mode + ": " + kWhat.at(mode);
  return help;
}

void add_mode_options(CLI::App& app, BenchModes& to, const std::string& cohorts,
                      const std::vector<std::string>& modes) {
  to.cohorts = cohorts;
  app.add_option("--lanes", to.setup.lanes, "threads per party; --exchange host: cohorts at once")
      ->check(CLI::Range(1, 64));
  app.add_option("--cohort", to.cohorts,
                 "how many in flight per lane: a size, a list, a range like 2^10..2^22x4");
  app.add_option("--seconds", to.seconds, "how long each size")->check(CLI::Range(0.1, 600.0));
  app.add_option("--backend", to.setup.backend, "auto, cpu, gfni, avx2, scalar or cuda");
  app.add_option("--against", to.against, "a second backend, measured beside the first");
  app.add_option("--exchange", to.exchange, exchange_help(modes))->check(CLI::IsMember(modes));
  app.add_option("--records", to.setup.records, "TLS records by auto or openssl")
      ->check(CLI::IsMember({"auto", "openssl"}));
  app.add_option("--zero-shares", to.setup.zero_shares, "auto, aes-ctr or chacha20")
      ->check(CLI::IsMember({"auto", "aes-ctr", "chacha20"}));
  app.add_option("--security", to.setup.security, "malicious or semi-honest")
      ->check(CLI::IsMember({"malicious", "semi-honest"}));
  app.add_flag("--json", to.json, "a JSON object on a line for each measurement");
}

std::string hindrance(const BenchModes& modes) {
  const std::string mode = "--exchange " + modes.exchange;
  if (modes.setup.backend != "cuda") return mode + " needs --backend cuda";
  if (modes.setup.security != security_name(Security::kSemiHonest))
    return mode +
           " needs --security semi-honest: malicious mode's claims are recorded on the CPU, which "
           "in this mode sees no message; see tkdc bench check";
  if (modes.setup.lanes != 1 && modes.exchange != "host") return mode + " has one lane";
  return "";
}

int bench_over_tls(const BenchModes& modes,
                   const std::function<TlsBench(std::size_t cohort)>& bench,
                   const std::function<void(const nlohmann::json&)>& print) {
  std::vector<std::string> backends = {modes.setup.backend};
  if (!modes.against.empty()) backends.push_back(modes.against);
  std::vector<BackendProbe> probes;
  for (const std::string& backend : backends) {
    probes.push_back(probe_backend(backend));
    if (!probes.back().usable)
      return refuse_bench(probes.back().reason, backend == "cuda" ? kNoDevice : 1);
  }
  for (std::size_t size : modes.sizes)
    for (std::size_t k = 0; k < backends.size(); ++k) {
      TlsBench one = bench(size);
      one.setup.backend = backends[k];
      auto report = measure_tls(one);
      if (!report) return refuse_bench(report.error().message);
      (*report)["backend_reason"] = probes[k].reason;
      print(*report);
    }
  return 0;
}

}  // namespace tkdc::bench
