// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/parties.h"
#include "rep3/unit/offers.h"
#include "rep3/unit/rep3_protocol.h"
#include "rep3/wire_format.h"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/heap.h"
#include "link/certificate.h"
#include "service/job/job_service.h"
#include "session/mesh.h"
#include "tools/bench/device.h"

namespace tkdc::bench {
namespace {

Security security_of(const BenchSetup& setup) {
  return setup.security == security_name(Security::kMalicious) ? Security::kMalicious
                                                               : Security::kSemiHonest;
}

RecordCipher records_of(const BenchSetup& setup) {
  return setup.records == "openssl" ? RecordCipher::kOpenssl : RecordCipher::kFastest;
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
Result<nlohmann::json> run_party(const BenchSetup& setup, const BenchWork& work, int party,
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
  options.lanes = setup.lanes;
  options.security = security_of(setup);
  options.records = records_of(setup);
  options.representation = preferred_representation(setup.backend, options.security);
  options.zero_shares = zero_offer(setup.zero_shares, setup.backend, options.security);
  options.protocols = {{std::string(Rep3Protocol::kName), rep3_wire_format()}};
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
  auto backend = choose_rep3_backend(setup.backend, session->representation);
  if (!backend) return backend.error();

  auto worked = work(*session, **backend);
  if (!worked) return worked.error();
  // A device that fails or has no memory leaves work to the CPU: no figure is a device's then.
  if (const std::string what = device_trouble(); !what.empty()) return fail(what);
  nlohmann::json report = std::move(*worked);
  report["backend"] = (*backend)->name();
  report["zero_shares"] = zero_generator_name(session->zero_generator);
  report["records"] = tls_library(records_of(setup)).records;
  char done = 1;
  if (!write_all(pipes.from_child[1], &done, sizeof done) ||
      !read_all(pipes.to_child[0], &done, sizeof done))
    return fail("bench: the parent process is gone");
  return report;
}

void child_main(const BenchSetup& setup, const BenchWork& work, int party,
                const std::array<Certificate, 3>& certificates, const std::string& folder,
                const Pipes& pipes) {
  keep_freed_memory();
  use_devices_for_bench();
  auto report = run_party(setup, work, party, certificates, folder, pipes);
  nlohmann::json out = report ? *report : nlohmann::json{{"error", report.error().message}};
  const char failed = 0;
  if (!report) (void)write_all(pipes.from_child[1], &failed, sizeof failed);
  std::string text = out.dump();
  auto bytes = static_cast<std::uint32_t>(text.size());
  (void)write_all(pipes.from_child[1], &bytes, sizeof bytes);
  (void)write_all(pipes.from_child[1], text.data(), text.size());
  _exit(report ? 0 : 1);
}

Result<nlohmann::json> run_in(const std::string& folder, const BenchSetup& setup,
                              const BenchWork& work) {
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
      child_main(setup, work, p, certificates, folder, pipes[p]);
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

}  // namespace

Result<nlohmann::json> run_three_parties(const BenchSetup& setup, const BenchWork& work) {
  char folder[] = "/tmp/tkdc-bench-XXXXXX";
  if (mkdtemp(folder) == nullptr) return fail("bench: cannot make a folder in /tmp");
  auto reports = run_in(folder, setup, work);
  std::filesystem::remove_all(folder);
  return reports;
}

}  // namespace tkdc::bench
