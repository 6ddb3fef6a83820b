// SPDX-License-Identifier: Apache-2.0
#include "service/server/config.h"

#include <sys/un.h>

#include <algorithm>
#include <set>

#include "base/curve_key.h"
#include "base/hex.h"
#include "base/strict_toml.h"
#include "link/socket.h"
#include "session/hello.h"

namespace tkdc {
namespace {

constexpr std::size_t kMaxAgents = 64;
constexpr std::size_t kMaxAgentNameBytes = 64;

bool of_two(const ServerConfig& config) { return config.parties == 2; }

// Of a key in `table`, which the file calls [name].
void note_line(ServerConfig& config, TomlTable& table, const std::string& name, const char* key) {
  if (const int line = table.line(key); line > 0) config.lines[name + "." + key] = line;
}

bool is_any(const std::string& host) { return host == "0.0.0.0" || host == "::" || host == "*"; }

// Whether two listeners want one port of one address. Port 0: the kernel chooses.
bool meet(const std::string& one, const std::string& other) {
  const auto a = address_at(one), b = address_at(other);
  if (!a.ok() || !b.ok() || a->port == "0" || a->port != b->port) return false;
  return a->host == b->host || is_any(a->host) || is_any(b->host);
}

void read_installation(StrictToml& file, ServerConfig& config) {
  TomlTable table = file.table("installation");
  if (!from_hex(table.text("id"), config.installation))
    table.reject("id", "must be 32 hexadecimal digits");
  config.parties = static_cast<int>(table.integer("parties", 2, 3, 3));
  config.party = static_cast<int>(table.integer("party", 0, config.parties - 1));
  config.security = table.choice("security", {"malicious", "semi-honest"}, "malicious") ==
                            security_name(Security::kMalicious)
                        ? Security::kMalicious
                        : Security::kSemiHonest;
  if (of_two(config) && config.security != Security::kMalicious)
    table.reject("security", "must be \"malicious\" with installation.parties = 2");
}

void read_control(StrictToml& file, ServerConfig& config) {
  TomlTable table = file.table("control");
  config.control_listen = table.text("listen");
  constexpr std::string_view kScheme = "tcp://";
  if (config.control_listen.rfind(kScheme, 0) != 0 ||
      !parse_address(config.control_listen.substr(kScheme.size())).ok())
    table.reject("listen", "must be tcp://host:port");
  config.curve_secret_key_file = file.resolve(table.text("curve_secret_key_file"));
  note_line(config, table, "control", "listen");
  note_line(config, table, "control", "status_socket");
  const std::string status = table.text("status_socket", "");
  if (status.empty()) return;
  config.status_socket = file.resolve(status);
  constexpr std::size_t kMost = sizeof(sockaddr_un{}.sun_path) - 1;
  if (status.ends_with('/')) table.reject("status_socket", "must name a file, not a folder");
  if (config.status_socket.size() > kMost)
    table.reject("status_socket", "is longer than a socket's path may be (" +
                                      std::to_string(config.status_socket.size()) + " of " +
                                      std::to_string(kMost) + " octets): " + config.status_socket);
}

bool good_name(const std::string& name) {
  return !name.empty() && name.size() <= kMaxAgentNameBytes &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
         });
}

std::string read_name(TomlTable& table) {
  std::string name = table.text("name");
  if (!good_name(name)) table.reject("name", "must be 1 to 64 letters, digits, '-', '_' or '.'");
  return name;
}

void check_agent_key(TomlTable& table, const std::string& key, const AgentEntry& agent,
                     const ServerConfig& config) {
  if (!is_curve_key(agent.curve_public_key))
    table.reject(key, "must be a CURVE public key, 40 characters of Z85");
  for (const AgentEntry& other : config.agents)
    if (other.curve_public_key == agent.curve_public_key)
      table.reject(key, "is used by another [[agents]]: one key, one role");
  if (config.agents.size() == kMaxAgents) table.reject(key, "is one too many (64)");
}

void read_agents(StrictToml& file, ServerConfig& config) {
  for (TomlTable& table : file.tables("agents")) {
    AgentEntry agent;
    agent.name = read_name(table);
    agent.role =
        table.choice("role", {"kdc", "admin"}) == "kdc" ? AgentRole::kKdc : AgentRole::kAdmin;
    agent.curve_public_key = table.text("curve_public_key");
    agent.host = table.text("host", "");
    for (const AgentEntry& other : config.agents)
      if (other.name == agent.name) table.reject("name", "is used by another [[agents]]");
    check_agent_key(table, "curve_public_key", agent, config);
    AgentEntry before = agent;
    config.agents.push_back(std::move(agent));
    before.curve_public_key = table.text("former_curve_public_key", "");
    if (before.curve_public_key.empty()) continue;
    check_agent_key(table, "former_curve_public_key", before, config);
    config.agents.push_back(std::move(before));
  }
}

void read_approvers(StrictToml& file, ServerConfig& config) {
  for (TomlTable& table : file.tables("approvers")) {
    Approver approver;
    approver.name = read_name(table);
    approver.party = static_cast<int>(table.integer("party", 0, config.parties - 1));
    if (!from_hex(table.text("public_key"), approver.public_key))
      table.reject("public_key", "must be 64 hexadecimal digits, as `tkdc approver` prints them");
    for (const Approver& other : config.approvers) {
      if (other.name == approver.name) table.reject("name", "is used by another [[approvers]]");
      if (other.party == approver.party)
        table.reject("party", "has an approver already: one administrator for each server");
      if (other.public_key == approver.public_key)
        table.reject("public_key", "is another approver's: each has a key of his own");
    }
    config.approvers.push_back(std::move(approver));
  }
}

// What the handshake offers beside protocols takes a place in their list.
void check_offers(StrictToml& file, const ServerConfig& config) {
  const bool garbles = config.garbling.use != GarblingOptions::Use::kNever;
  const std::size_t beside = (garbles ? 1 : 0) + (config.share_macs ? 1 : 0) +
                             (config.parties == 3 && config.keep_dropped_days > 0 ? 1 : 0);
  if (beside > 0 && config.protocols.size() + beside > kMaxProtocols)
    file.table("data").reject("protocols",
                              "names more than " + std::to_string(kMaxProtocols - beside) +
                                  ", and garbling, unless it is \"never\", store.share_macs and "
                                  "store.keep_dropped_days count as one each");
}

void read_garbling(TomlTable& table, ServerConfig& config) {
  using Use = GarblingOptions::Use;
  constexpr auto& kUses = GarblingOptions::kUses;
  const bool malicious = config.security == Security::kMalicious;
  const std::string use = table.choice(
      "garbling", {kUses.begin(), kUses.end()},
      kUses[static_cast<std::size_t>(malicious && !of_two(config) ? Use::kFar : Use::kNever)]);
  config.garbling.use = static_cast<Use>(std::ranges::find(kUses, use) - kUses.begin());
  constexpr std::int64_t kMostMb = 65'536, kMostInstances = 1'024, kMostMbit = 1'000'000;
  config.garbling.most_bytes =
      static_cast<std::size_t>(
          table.integer("garbled_mb", 16, kMostMb, std::int64_t(config.garbling.most_bytes >> 20)))
      << 20;
  config.garbling.instances = static_cast<std::size_t>(table.integer(
      "garbled_instances", 1, kMostInstances, std::int64_t(config.garbling.instances)));
  // Slower than the least, a piece of a stream would take longer than a peer waits for it.
  constexpr std::uint64_t kMbit = 1'000'000 / 8;
  const std::int64_t mbit = table.integer("garbling_mbit", 0, kMostMbit,
                                          std::int64_t(config.garbling.octets_per_s / kMbit));
  if (mbit > 0 && mbit < 10)
    table.reject("garbling_mbit", "must be 0, for no bound, or 10 or more");
  config.garbling.octets_per_s = static_cast<std::uint64_t>(mbit) * kMbit;
  if (config.garbling.use != Use::kNever && !malicious)
    table.reject("garbling", "needs installation.security = \"malicious\"");
}

// Of two servers alone: what each keeps ready of prepared circuits.
void read_prepared(TomlTable& table, ServerConfig& config) {
  constexpr std::int64_t kMostMb = 65'536;
  const bool set = table.has("prepared_mb");
  config.pair_prepared_bytes =
      static_cast<std::size_t>(
          table.integer("prepared_mb", 16, kMostMb, std::int64_t(config.pair_prepared_bytes >> 20)))
      << 20;
  if (set && !of_two(config))
    table.reject("prepared_mb",
                 "is of two servers: leave it out with installation.parties = 3, which have "
                 "garbled_mb");
}

// Likewise: lookup tables, and how long an operation may take longer by them.
void read_tables(TomlTable& table, ServerConfig& config) {
  constexpr std::int64_t kMostMb = 65'536, kLeastMb = 8, kMostMs = 60'000;
  const bool set = table.has("tables_mb") || table.has("tables_wait_ms");
  for (const char* key : {"tables_mb", "prepared_mb"}) note_line(config, table, "data", key);
  const std::int64_t mb = table.integer("tables_mb", 0, kMostMb, 0);
  if (mb > 0 && mb < kLeastMb) table.reject("tables_mb", "must be 0, for none, or 8 or more");
  config.pair_tables_bytes = static_cast<std::size_t>(mb) << 20;
  config.pair_tables_wait = std::chrono::milliseconds(
      table.integer("tables_wait_ms", 0, kMostMs, config.pair_tables_wait.count()));
  if (set && !of_two(config))
    table.reject(table.has("tables_mb") ? "tables_mb" : "tables_wait_ms",
                 "is of two servers: leave it out with installation.parties = 3");
}

void read_data(StrictToml& file, ServerConfig& config) {
  TomlTable table = file.table("data");
  config.data_listen = table.text("listen");
  if (!parse_address(config.data_listen).ok()) table.reject("listen", "must be host:port");
  if (meet(config.data_listen, config.control_listen))
    table.reject("listen",
                 "is where control.listen waits for agents: give one of both another port");
  note_line(config, table, "data", "listen");
  config.lanes = static_cast<int>(table.integer("lanes", 1, kMaxLanes, of_two(config) ? 1 : 2));
  config.certificate_file = file.resolve(table.text("certificate_file"));
  config.private_key_file = file.resolve(table.text("private_key_file"));
  config.protocols = table.texts("protocols", config.protocols);
  if (config.protocols.empty()) table.reject("protocols", "must name one at least");
  if (config.protocols.size() > kMaxProtocols) table.reject("protocols", "names more than 8");
  const std::set<std::string> different(config.protocols.begin(), config.protocols.end());
  if (different.size() < config.protocols.size()) table.reject("protocols", "names one twice");
  config.backend =
      table.choice("backend", {"auto", "cpu", "scalar", "avx2", "gfni", "cuda"}, "auto");
  config.zero_shares = table.choice("zero_shares", {"auto", "aes-ctr", "chacha20"}, "auto");
  constexpr std::int64_t kMostMasked = 4096;
  config.masked_blocks =
      static_cast<std::size_t>(table.integer("masked_blocks", 0, kMostMasked, 0));
  config.two_parts = table.boolean("two_parts", !of_two(config));
  read_garbling(table, config);
  read_prepared(table, config);
  read_tables(table, config);
}

// What only three servers do: said, so that nobody believes it to be in force.
void check_two(StrictToml& file, ServerConfig& config) {
  if (!of_two(config)) return;
  const std::string with_two = " with installation.parties = 2";
  TomlTable data = file.table("data"), store = file.table("store");
  const auto only_three = [&](TomlTable& table, const char* key, bool set) {
    if (set) table.reject(key, "is of three servers: leave it out" + with_two);
  };
  if (config.lanes != 1) data.reject("lanes", "must be 1" + with_two);
  only_three(data, "protocols", data.has("protocols"));
  only_three(data, "backend", config.backend != "auto" && config.backend != "cpu");
  only_three(data, "zero_shares", config.zero_shares != "auto");
  only_three(data, "masked_blocks", config.masked_blocks != 0);
  only_three(data, "two_parts", config.two_parts);
  only_three(data, "garbling", config.garbling.use != GarblingOptions::Use::kNever);
  only_three(store, "share_macs", config.share_macs);
  config.protocols = {std::string(kPairProtocol)};
}

void read_cuda(StrictToml& file, ServerConfig& config) {
  constexpr std::int64_t kMaxGpus = 16, kMaxCohortBlocks = std::int64_t{1} << 24;
  TomlTable table = file.table("cuda");
  const int first = static_cast<int>(table.integer("first_gpu", 0, kMaxGpus - 1, 0));
  const int gpus = static_cast<int>(table.integer("gpus", 1, kMaxGpus, 1));
  for (int gpu = first; gpu < first + gpus; ++gpu) config.gpus.push_back(gpu);
  config.gpu_allow_shared = table.boolean("allow_shared", false);
  config.gpu_min_cohort_blocks =
      static_cast<std::size_t>(table.integer("min_cohort_blocks", 1, kMaxCohortBlocks, 262'144));
  config.gpu_min_cohort_compressions = static_cast<std::size_t>(
      table.integer("min_cohort_compressions", 1, kMaxCohortBlocks, kMaxCohortBlocks));
}

PeerPin read_pin(TomlTable& table) {
  PeerPin pin;
  if (!from_hex(table.text("certificate_sha256"), pin.certificate))
    table.reject("certificate_sha256", "must be 64 hexadecimal digits");
  const std::string former = table.text("former_certificate_sha256", "");
  if (former.empty()) return pin;
  if (!from_hex(former, pin.former.emplace()))
    table.reject("former_certificate_sha256", "must be 64 hexadecimal digits");
  return pin;
}

bool share_a_certificate(const PeerPin& a, const PeerPin& b) {
  return a.certificate == b.certificate || a.former == b.certificate || b.former == a.certificate ||
         (a.former && a.former == b.former);
}

void read_peers(StrictToml& file, ServerConfig& config) {
  bool seen[3] = {};
  seen[config.party] = true;
  const char* others =
      of_two(config) ? "must be the other one, once" : "must be one of the other two, each once";
  for (TomlTable& table : file.tables("peers")) {
    PeerEntry peer;
    peer.party = static_cast<int>(table.integer("party", 0, config.parties - 1));
    if (seen[peer.party]) table.reject("party", others);
    seen[peer.party] = true;
    peer.address = table.text("address");
    if (!parse_address(peer.address).ok()) table.reject("address", "must be host:port");
    const std::string name = "peers[" + std::to_string(config.peers.size()) + "]";
    note_line(config, table, name, "address");
    peer.key = name + ".address";
    peer.certificate = read_pin(table);
    if (peer.address == config.data_listen)
      table.reject("address", "is where this server listens itself: put in that server's");
    for (const PeerEntry& other : config.peers) {
      if (share_a_certificate(other.certificate, peer.certificate))
        table.reject("certificate_sha256", "is the other peer's too: each has its own");
      if (other.address == peer.address)
        table.reject("address", "is the other peer's too: each has its own");
    }
    config.peers.push_back(std::move(peer));
  }
  std::sort(config.peers.begin(), config.peers.end(),
            [](const PeerEntry& a, const PeerEntry& b) { return a.party < b.party; });
}

void read_store(StrictToml& file, ServerConfig& config) {
  TomlTable table = file.table("store");
  config.store_path = file.resolve(table.text("path"));
  note_line(config, table, "store", "path");
  config.store_key_file = file.resolve(table.text("key_file"));
  std::int64_t mib = table.integer("map_size_mib", 1, 16 << 20, 16'384);
  config.store_map_bytes = static_cast<std::size_t>(mib) << 20;
  config.share_macs = table.boolean("share_macs", false);
  config.keep_dropped_days =
      static_cast<std::uint32_t>(table.integer("keep_dropped_days", 0, 36'500, 30));
}

void read_audit(StrictToml& file, ServerConfig& config) {
  constexpr std::int64_t kMostMib = 1 << 20, kMostDays = 36'500;
  TomlTable table = file.table("audit");
  config.audit_file = file.resolve(table.text("file", "audit.jsonl"));
  note_line(config, table, "audit", "file");
  AuditRotation& rotation = config.audit_rotation;
  rotation.most_bytes = static_cast<std::uint64_t>(table.integer("rotate_mib", 0, kMostMib, 64))
                        << 20;
  rotation.days = static_cast<int>(table.integer("rotate_days", 0, kMostDays, 7));
  rotation.room_bytes = static_cast<std::uint64_t>(table.integer("room_mib", 0, kMostMib, 64))
                        << 20;
  rotation.keeping.compress = table.boolean("compress", true);
  rotation.keeping.days = static_cast<int>(table.integer("keep_days", 0, kMostDays, 0));
}

RateLimit read_limit(TomlTable& table, const std::string& what, std::int64_t per_s,
                     std::int64_t burst) {
  constexpr std::int64_t kMost = 1'000'000'000;
  RateLimit limit;
  limit.per_s = static_cast<double>(table.integer(what + "_per_s", 0, kMost, per_s));
  limit.burst = static_cast<double>(table.integer(what + "_burst", 1, kMost, burst));
  return limit;
}

void read_limits(StrictToml& file, ServerConfig& config) {
  TomlTable table = file.table("limits");
  config.limits.agent = read_limit(table, "agent", 500'000, 1'000'000);
  config.limits.user_key = read_limit(table, "user_key", 50, 1'000);
  config.limits.service_key = read_limit(table, "service_key", 0, 100'000);
  // More than the most would use all epochs up within two weeks.
  constexpr std::int64_t kMostEpochs = 65'536;
  config.epochs_per_day = static_cast<std::uint32_t>(
      table.integer("epochs_per_day", EpochLedger::kMinPerDay, kMostEpochs, EpochLedger::kPerDay));
  // The most is what the error of a check still allows by far; the least, that a bad cable is no
  // outage at once.
  config.opened_checks_per_day =
      static_cast<std::uint32_t>(table.integer("opened_checks_per_day", 1, 1'000'000, 3));
  config.broken_checks_per_day =
      static_cast<std::uint32_t>(table.integer("broken_checks_per_day", 3, 1'000'000, 1'000));
}

}  // namespace

std::vector<std::string> former_keys(const ServerConfig& config) {
  std::vector<std::string> out;
  for (const PeerEntry& peer : config.peers)
    if (peer.certificate.former) out.push_back("server" + std::to_string(peer.party));
  std::set<std::string> once;
  for (const AgentEntry& agent : config.agents)
    if (!once.insert(agent.name).second) out.push_back("agent " + agent.name);
  return out;
}

Result<ServerConfig> load_server_config(const std::string& path) {
  StrictToml file;
  auto loaded = file.load(path);
  if (!loaded.ok()) return loaded.error();
  ServerConfig config;
  config.path = path;
  read_installation(file, config);
  read_control(file, config);
  read_agents(file, config);
  read_approvers(file, config);
  read_data(file, config);
  read_cuda(file, config);
  read_peers(file, config);
  read_store(file, config);
  check_two(file, config);
  check_offers(file, config);
  read_audit(file, config);
  read_limits(file, config);
  auto done = file.finish();
  if (!done.ok()) return done.error();
  if (config.peers.size() + 1 != static_cast<std::size_t>(config.parties))
    return fail("config: " + path +
                (of_two(config)
                     ? ": with installation.parties = 2 there must be one [[peers]], the "
                       "other party"
                     : ": there must be two [[peers]], the other two parties"));
  return config;
}

}  // namespace tkdc
