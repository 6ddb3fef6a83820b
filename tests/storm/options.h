// SPDX-License-Identifier: Apache-2.0
// The command line. docs/man/tkdc-storm.1 describes each option.
#pragma once

#include "storm/storm.h"
#include "storm/watch.h"

namespace tkdc::storm {

struct Options {
  std::string kdc, realm, title;
  // Who.
  Pattern pattern;
  std::string password_file, keytab, save_keytab, service_keytab;
  std::string enctype = "aes256-cts-hmac-sha1-96";
  std::vector<std::string> request_enctypes = {"aes256-cts-hmac-sha1-96",
                                               "aes128-cts-hmac-sha1-96"};
  // What.
  std::vector<std::string> services;
  double tgs_share = 0, wrong_password_share = 0, noise = 0, sample = 1;
  std::size_t tickets = 64;
  bool fresh_tickets = false;
  bool unconfirmed = false;
  // When.
  double rate = 0, duration_s = 10, warmup_s = 1, pause_ms = 0;
  std::uint64_t clients = 0;
  bool poisson = false;
  double ramp_from = 0, ramp_to = 1'000'000, ramp_factor = 1.5, limit_ms = 250;
  int ramp_refinements = 3;
  // How.
  bool tcp = false;
  std::size_t sockets = 4096;
  std::vector<double> retransmit_ms = {1000, 3000, 7000};
  double timeout_ms = 15'000;
  std::uint32_t copies = 1;
  // What of it.
  std::vector<std::string> requirements, watches;
  std::string agent;  // its socket
  std::string json, csv, hgrm, html;
  bool quiet = false;

  bool ramp() const { return ramp_from > 0; }
};

// Nothing after --help or --version (`status` is then 0) and after mistakes (2).
std::optional<Options> parse_options(int argc, char** argv, int& status);

}  // namespace tkdc::storm
