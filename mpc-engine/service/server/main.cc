// SPDX-License-Identifier: Apache-2.0
// tkdc-server: one of the parties that hold a realm's keys as shares.
//
//   tkdc-server --config FILE [--check-config]
//
// Exit status: 0 after SIGTERM or a good --check-config, 1 on failure, 2 for
// wrong usage. Everything it has to say goes to stderr.
#include <signal.h>

#include <cstdio>
#include <optional>
#include <string>
#include <type_traits>

#include "base/credential.h"
#include "base/daemon_options.h"
#include "base/hardening.h"
#include "base/hex.h"
#include "base/log.h"
#include "base/program_digest.h"
#include "base/secret_file.h"
#include "cuda/device/select.h"
#include "rep3/unit/offers.h"
#include "service/server/config_places.h"
#include "service/server/protocols.h"
#include "service/server/server.h"
#include "service/server/surroundings.h"
#include "service/store/store_key.h"

namespace tkdc {
namespace {

int failed(const Error& error) {
  log_line(LogLevel::kError, error.message);
  return 1;
}

// Nothing where a credential is named that nobody gave to this process; its name joins `absent`.
template <class Read>
auto given(const std::string& path, std::string* absent, Read read)
    -> Result<std::optional<std::decay_t<decltype(*read(path))>>> {
  const std::string name = credential_not_given(path);
  if (absent != nullptr && !name.empty()) {
    *absent += (absent->empty() ? "" : ", ") + name;
    return {std::nullopt};
  }
  auto value = read(path);
  if (!value.ok()) return value.error();
  return {std::move(*value)};
}

// Everything that can be wrong without opening the store or a port. `absent`: for a check without
// the unit's credentials, which are left out then.
Result<void> check_files(const ServerConfig& config, std::string* absent) {
  auto curve = given(config.curve_secret_key_file, absent, read_curve_secret);
  if (!curve.ok()) return curve.error();
  auto key = given(config.store_key_file, absent, read_store_key);
  if (!key.ok()) return key.error();
  constexpr std::size_t kMaxPemBytes = 64 * 1024;
  auto certificate = read_text_file(config.certificate_file, kMaxPemBytes);
  if (!certificate.ok()) return certificate.error();
  auto private_key = given(config.private_key_file, absent, [](const std::string& path) {
    return read_secret_file(path, kMaxPemBytes);
  });
  if (!private_key.ok()) return private_key.error();
  if (*private_key) {
    auto tls = TlsContext::create(*certificate, **private_key);
    if (!tls.ok()) return tls.error();
  }
  auto fingerprint = certificate_fingerprint(*certificate);
  if (!fingerprint.ok()) return fingerprint.error();
  for (const PeerEntry& peer : config.peers)
    if (peer.certificate.certificate == *fingerprint || peer.certificate.former == *fingerprint)
      return fail("config: " + config.path + ": a certificate of party " +
                  std::to_string(peer.party) + " is this server's own; put in that server's");
  return {};
}

cuda::DevicesOptions devices_of(const ServerConfig& config) {
  cuda::DevicesOptions options;
  options.ordinals = config.gpus;
  options.allow_shared = config.gpu_allow_shared;
  options.least = {config.gpu_min_cohort_blocks, config.gpu_min_cohort_compressions};
  options.report = [](const std::string& line) { log_line(LogLevel::kError, line); };
  return options;
}

int tell_good(const ServerConfig& config, const std::string& absent) {
  auto folders = check_folders(config);
  if (!folders.ok()) return failed(folders.error());
  auto hosts = check_hosts(config);
  if (!hosts.ok()) return failed(hosts.error());
  const std::string remark = *folders + (folders->empty() || hosts->empty() ? "" : "; ") + *hosts;
  std::printf("%s: good", config.path.c_str());
  if (!remark.empty()) std::printf("; %s", remark.c_str());
  if (!absent.empty())
    std::printf("; %s: credentials, which only the unit gets, were not looked at", absent.c_str());
  std::printf("\n");
  return 0;
}

void block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

Result<void> serve(const ServerConfig& config, const std::string& program,
                   const std::string& backend_reason) {
  name_process("TKDC_PARTY=" + std::to_string(config.party));
  name_process("TKDC_INSTALLATION=" + to_hex(config.installation));
  if (config.agents.empty())
    log_line(LogLevel::kWarning, "no [[agents]] are listed: nobody can ask for anything");
  auto surroundings = real_surroundings(config);
  if (!surroundings.ok()) return surroundings.error();
  auto server = Server::create(config, program, std::move(*surroundings));
  if (!server.ok()) return server.error();
  log_line(LogLevel::kNotice, "program SHA-256 " + program);
  log_line(LogLevel::kNotice, "backend " + backend_reason);
  return (*server)->run();
}

int run(const std::string& path, bool check_only) {
  if (sodium_init() < 0) return failed(fail("libsodium cannot start"));
  auto config = load_server_config(path);
  if (!config.ok()) return failed(config.error());
  // Drivers of GPUs write to files of this process in /proc, which are root's after
  // forbid_dumps(): they are opened and tested before it, when no secret has been read.
  cuda::Devices devices(devices_of(*config));
  std::string backend_reason;
  if (!check_only) {
    block_signals();
    set_device_backends(&devices);
    backend_reason = rep3_backend_reason(
        config->backend, preferred_representation(config->backend, config->security));
  }
  auto program = program_digest();
  if (!program.ok()) return failed(program.error());
  forbid_dumps();
  if (auto known = check_protocols(*config); !known.ok()) return failed(known.error());
  std::string absent;
  auto checked = check_files(*config, check_only ? &absent : nullptr);
  if (!checked.ok()) return failed(checked.error());
  // A realm that has served so goes on, and its administrator is told.
  if (auto fits = check_memory(*config, memory_of_this_host()); !fits.ok()) {
    if (check_only) return failed(fits.error());
    log_line(LogLevel::kWarning, fits.error().message);
  }
  if (check_only) return tell_good(*config, absent);
  auto done = serve(*config, *program, backend_reason);
  return done.ok() ? 0 : failed(done.error());
}

}  // namespace
}  // namespace tkdc

int main(int argc, char** argv) {
  int exit_status = 0;
  const auto options = tkdc::daemon_options(argc, argv, "tkdc-server",
                                            "one of the parties that hold a realm's keys as shares",
                                            "/etc/tkdc/server0/tkdc.toml", exit_status);
  return options ? tkdc::run(options->config, options->check_only) : exit_status;
}
