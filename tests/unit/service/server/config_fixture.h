// SPDX-License-Identifier: Apache-2.0
// A tkdc.toml that is good, in a folder of its own, and what becomes of it with a word changed.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scratch_dir.h"
#include "service/server/config.h"

namespace tkdc {

inline const char kGoodText[] = R"([installation]
id = "000102030405060708090a0b0c0d0e0f"
party = 1
security = "semi-honest"

[control]
listen = "tcp://127.0.0.1:7701"
curve_secret_key_file = "curve.key"

[[agents]]
name = "agent-kdc"
role = "kdc"
curve_public_key = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"

[data]
listen = "127.0.0.1:7711"
lanes = 3
certificate_file = "tls.cert.pem"
private_key_file = "%d/tls.key"
backend = "auto"

[[peers]]
party = 2
address = "127.0.0.1:7712"
certificate_sha256 = "2222222222222222222222222222222222222222222222222222222222222222"

[[peers]]
party = 0
address = "127.0.0.1:7710"
certificate_sha256 = "0000000000000000000000000000000000000000000000000000000000000000"

[store]
path = "store"
key_file = "store.key"
map_size_mib = 64

[audit]
file = "audit.jsonl"
)";

class ConfigTest : public ScratchDir {
 protected:
  // The good file with `from` replaced.
  Result<ServerConfig> changed(const std::string& from, const std::string& to) {
    std::string text = kGoodText;
    std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    return load_server_config(write("tkdc.toml", text));
  }

  void expect_error(const std::string& from, const std::string& to,
                    const std::vector<std::string>& words) {
    auto config = changed(from, to);
    ASSERT_FALSE(config.ok()) << to;
    for (const std::string& word : words)
      EXPECT_NE(config.error().message.find(word), std::string::npos)
          << word << " in: " << config.error().message;
  }
};

}  // namespace tkdc
