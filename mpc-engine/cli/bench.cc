// SPDX-License-Identifier: Apache-2.0
// tkdc bench ctr: how many AES blocks the three parties encrypt on this
// machine, as three processes with TLS between them on loopback.
//
// Each lane keeps one cohort of `cohort` blocks in flight, made of jobs of 16
// counter blocks with a key of their own. Keys are drawn on shares and thrown
// away; one job of the last cohort is opened and checked against OpenSSL.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/heap.h"
#include "cli/bench_device.h"
#include "cli/bench_lane.h"
#include "cli/commands.h"
#include "job/engine.h"
#include "net/certificate.h"
#include "net/mesh.h"

namespace tkdc::cli {
namespace {

struct BenchArguments {
  int aes = 128;
  int lanes = 1;
  std::size_t cohort = 4096;
  double seconds = 5;
  std::string backend = "auto", security = "malicious", records = "auto";
  bool json = false;
};

// The exit status of --backend cuda where no GPU can be used.
constexpr int kNoDevice = 2;

Security security_of(const BenchArguments& arguments) {
  return arguments.security == security_name(Security::kMalicious) ? Security::kMalicious
                                                                   : Security::kSemiHonest;
}

RecordCipher records_of(const BenchArguments& arguments) {
  return arguments.records == "openssl" ? RecordCipher::kOpenssl : RecordCipher::kFastest;
}

double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// Loopback ports that were free a moment ago: each party listens on port 0 and
// tells the others through the parent. At the end each waits for the parent's
// word: closed links would fail a party that has not checked its result yet.
struct Pipes {
  int to_child[2], from_child[2];
};

bool write_all(int fd, const void* data, std::size_t bytes) {
  return ::write(fd, data, bytes) == static_cast<ssize_t>(bytes);
}
bool read_all(int fd, void* data, std::size_t bytes) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    ssize_t n = ::read(fd, at, bytes);
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

// One party: sets up a session with the other two, runs its lanes, reports.
Result<nlohmann::json> run_party(const BenchArguments& arguments, int party,
                                 const std::array<Certificate, 3>& certificates,
                                 const std::string& folder, const Pipes& pipes) {
  StoreOptions store_options;
  store_options.path = folder + "/store" + std::to_string(party);
  store_options.party = party;
  store_options.map_bytes = 16 << 20;
  SecretBuffer store_key(32);
  auto store = Store::open(store_options, store_key);
  if (!store) return store.error();
  MeshOptions options;
  options.party = party;
  options.lanes = arguments.lanes;
  options.security = security_of(arguments);
  options.records = records_of(arguments);
  options.representation = Engine::preferred_representation(arguments.backend, options.security);
  options.listen_address = "127.0.0.1:0";
  const auto own = static_cast<std::size_t>(party);
  options.certificate_pem = certificates[own].certificate_pem;
  options.private_key_pem = certificates[own].private_key_pem;
  for (int other = 0; other < 3; ++other)
    if (other != party)
      options.peers.push_back(
          {other, "127.0.0.1:1", certificates[static_cast<std::size_t>(other)].sha256});
  auto mesh = Mesh::create(std::move(options), **store);
  if (!mesh) return mesh.error();
  int ports[3] = {(*mesh)->port(), 0, 0};
  if (!write_all(pipes.from_child[1], ports, sizeof ports[0]) ||
      !read_all(pipes.to_child[0], ports, sizeof ports))
    return fail("bench: the parent process is gone");
  for (int other = 0; other < 3; ++other)
    if (other != party)
      (*mesh)->set_peer_address(other, "127.0.0.1:" + std::to_string(ports[other]));
  auto session = (*mesh)->establish();
  for (int attempt = 0; !session && attempt < 5; ++attempt) session = (*mesh)->establish();
  if (!session) return session.error();
  auto backend = choose_aes_backend(arguments.backend, session->representation);
  if (!backend) return backend.error();

  BenchLaneOptions lane_options{static_cast<std::size_t>(arguments.aes) / 8, arguments.cohort,
                                arguments.seconds};
  std::vector<std::unique_ptr<BenchLane>> lanes;
  for (Lane& lane : session->lanes)
    lanes.push_back(std::make_unique<BenchLane>(*session, lane, **backend, lane_options));
  std::vector<std::thread> threads;
  std::vector<Result<void>> results(lanes.size());
  for (std::size_t k = 0; k < lanes.size(); ++k)
    threads.emplace_back([&, k] { results[k] = lanes[k]->prepare(); });
  for (auto& thread : threads) thread.join();
  threads.clear();
  const double cpu_before = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t k = 0; k < lanes.size(); ++k)
    threads.emplace_back([&, k] {
      if (results[k]) results[k] = lanes[k]->measure();
    });
  for (auto& thread : threads) thread.join();
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double cpu = cpu_seconds() - cpu_before;
  threads.clear();
  for (std::size_t k = 0; k < lanes.size(); ++k)
    threads.emplace_back([&, k] {
      if (results[k]) results[k] = lanes[k]->check();
    });
  for (auto& thread : threads) thread.join();

  nlohmann::json report = {{"blocks", 0}, {"message_bytes", 0}, {"wire_bytes", 0}, {"rounds", 0}};
  for (std::size_t k = 0; k < lanes.size(); ++k) {
    if (!results[k]) return results[k].error();
    const BenchCounts& c = lanes[k]->counts();
    report["blocks"] = report["blocks"].get<std::uint64_t>() + c.blocks;
    report["message_bytes"] = report["message_bytes"].get<std::uint64_t>() + c.message_bytes;
    report["wire_bytes"] = report["wire_bytes"].get<std::uint64_t>() + c.packet_bytes;
    report["rounds"] = c.rounds_per_cohort;
  }
  report["cpu_s"] = cpu;
  report["wall_s"] = wall;
  report["backend"] = (*backend)->name();
  report["records"] = tls_library(records_of(arguments)).records;
  char done = 1;
  if (!write_all(pipes.from_child[1], &done, sizeof done) ||
      !read_all(pipes.to_child[0], &done, sizeof done))
    return fail("bench: the parent process is gone");
  return report;
}

void child_main(const BenchArguments& arguments, int party,
                const std::array<Certificate, 3>& certificates, const std::string& folder,
                const Pipes& pipes) {
  keep_freed_memory();
  use_devices_for_bench();
  auto report = run_party(arguments, party, certificates, folder, pipes);
  nlohmann::json out = report ? *report : nlohmann::json{{"error", report.error().message}};
  const char failed = 0;
  if (!report) (void)write_all(pipes.from_child[1], &failed, sizeof failed);
  std::string text = out.dump();
  auto bytes = static_cast<std::uint32_t>(text.size());
  (void)write_all(pipes.from_child[1], &bytes, sizeof bytes);
  (void)write_all(pipes.from_child[1], text.data(), text.size());
  _exit(report ? 0 : 1);
}

Result<nlohmann::json> run_three(const BenchArguments& arguments, const std::string& folder) {
  std::array<Certificate, 3> certificates;
  for (std::size_t p = 0; p < 3; ++p) {
    auto made = make_certificate("tkdc bench " + std::to_string(p));
    if (!made) return made.error();
    certificates[p] = std::move(*made);
  }
  Pipes pipes[3];
  pid_t children[3];
  for (int p = 0; p < 3; ++p) {
    if (pipe(pipes[p].to_child) != 0 || pipe(pipes[p].from_child) != 0)
      return fail("bench: no pipes left");
    children[p] = fork();
    if (children[p] < 0) return fail("bench: cannot fork");
    if (children[p] == 0) {
      for (int q = 0; q <= p; ++q) close(pipes[q].to_child[1]);
      child_main(arguments, p, certificates, folder, pipes[p]);
    }
    close(pipes[p].from_child[1]);
  }
  int ports[3] = {};
  bool told = true;
  for (int p = 0; p < 3; ++p) told &= read_all(pipes[p].from_child[0], &ports[p], sizeof ports[p]);
  for (int p = 0; told && p < 3; ++p) told &= write_all(pipes[p].to_child[1], ports, sizeof ports);
  char done = 0;
  for (int p = 0; told && p < 3; ++p) told &= read_all(pipes[p].from_child[0], &done, 1);
  for (int p = 0; p < 3; ++p) (void)write_all(pipes[p].to_child[1], &done, 1);
  nlohmann::json reports = nlohmann::json::array();
  for (int p = 0; p < 3; ++p) {
    std::uint32_t bytes = 0;
    std::string text;
    if (read_all(pipes[p].from_child[0], &bytes, sizeof bytes) && bytes < 65536) {
      text.resize(bytes);
      if (!read_all(pipes[p].from_child[0], text.data(), bytes)) text.clear();
    }
    waitpid(children[p], nullptr, 0);
    auto report = nlohmann::json::parse(text, nullptr, false);
    if (report.is_discarded()) return fail("bench: party " + std::to_string(p) + " died");
    if (report.contains("error")) return fail(report["error"].get<std::string>());
    reports.push_back(std::move(report));
  }
  return reports;
}

nlohmann::json summarise(const BenchArguments& arguments, const nlohmann::json& reports) {
  const auto& leader = reports[0];
  const double blocks = leader["blocks"], wall = leader["wall_s"];
  double cpu = 0;
  for (const auto& report : reports) cpu += report["cpu_s"].get<double>();
  return {{"aes", arguments.aes},
          {"blocks_per_s", blocks / wall},
          {"bytes_per_block_per_party", leader["message_bytes"].get<double>() / blocks},
          {"wire_bytes_per_block_per_party", leader["wire_bytes"].get<double>() / blocks},
          {"rounds", leader["rounds"]},
          {"cpu_us_per_block", 1e6 * cpu / blocks},
          {"backend", leader["backend"]},
          {"records", leader["records"]},
          {"security", arguments.security},
          {"lanes", arguments.lanes},
          {"cohort_blocks", arguments.cohort},
          {"seconds", wall},
          {"blocks", leader["blocks"]},
          {"checked", true}};
}

int bench_ctr(const BenchArguments& arguments) {
  const BackendProbe probe = probe_backend(arguments.backend);
  if (!probe.usable) {
    std::cerr << "tkdc bench: " << probe.reason << "\n";
    return arguments.backend == "cuda" ? kNoDevice : 1;
  }
  char name[] = "/tmp/tkdc-bench-XXXXXX";
  if (mkdtemp(name) == nullptr) {
    std::cerr << "tkdc bench: cannot make a folder in /tmp\n";
    return 1;
  }
  auto reports = run_three(arguments, name);
  std::filesystem::remove_all(name);
  if (!reports) {
    std::cerr << "tkdc bench: " << reports.error().message << "\n";
    return 1;
  }
  nlohmann::json s = summarise(arguments, *reports);
  s["backend_reason"] = probe.reason;
  if (arguments.json) {
    std::cout << s.dump() << "\n";
    return 0;
  }
  std::cout << "AES-" << arguments.aes << " in counter mode, three parties over TLS on loopback, "
            << arguments.security << "\n  " << static_cast<std::uint64_t>(s["blocks_per_s"])
            << " blocks/s, " << s["cpu_us_per_block"] << " us of CPU per block (all parties), "
            << s["bytes_per_block_per_party"] << " message bytes per block and party, "
            << s["rounds"] << " rounds; backend " << s["backend"].get<std::string>()
            << ", records by " << s["records"].get<std::string>() << ", " << arguments.lanes
            << " lanes of " << arguments.cohort << " blocks\n"
            << "  " << probe.reason << "\n";
  return 0;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_status) {
  auto arguments = std::make_shared<BenchArguments>();
  CLI::App* bench = app.add_subcommand("bench", "measure the engine on this machine");
  bench->require_subcommand(1);
  CLI::App* ctr = bench->add_subcommand("ctr", "AES counter mode, all three parties on loopback");
  ctr->add_option("--aes", arguments->aes, "key bits")->check(CLI::IsMember({128, 256}));
  ctr->add_option("--lanes", arguments->lanes, "threads per party")->check(CLI::Range(1, 64));
  ctr->add_option("--cohort", arguments->cohort, "blocks in flight per lane")
      ->check(CLI::Range(std::size_t{16}, std::size_t{1} << 20));
  ctr->add_option("--seconds", arguments->seconds, "how long")->check(CLI::Range(0.1, 600.0));
  ctr->add_option("--backend", arguments->backend, "auto, cpu, gfni, avx2, scalar or cuda");
  ctr->add_option("--records", arguments->records, "TLS records by auto or openssl")
      ->check(CLI::IsMember({"auto", "openssl"}));
  ctr->add_option("--security", arguments->security, "malicious or semi-honest")
      ->check(CLI::IsMember({"malicious", "semi-honest"}));
  ctr->add_flag("--json", arguments->json, "one JSON object");
  ctr->callback([arguments, &exit_status] { exit_status = bench_ctr(*arguments); });
}

}  // namespace tkdc::cli
