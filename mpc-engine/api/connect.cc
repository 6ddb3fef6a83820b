// SPDX-License-Identifier: Apache-2.0
// How a Party comes to its session: the servers' own mesh and handshake, without entries to
// settle, and with a name of its own for each program.
#include "api/impl.h"
#include "base/hex.h"
#include "link/certificate.h"
#include "link/memory_ring.h"
#include "rep3/unit/offers.h"
#include "rep3/wire_format.h"

namespace tkdc::mpc {
namespace {

// A program keeps no entries that three parties would have to hold alike.
class NoEntries final : public Entries {
 public:
  Result<void> commit(const EntryId&) override { return none(); }
  Result<void> abandon(const EntryId&) override { return none(); }
  Result<void> pardon(const EntryId&) override { return none(); }
  Result<void> destroy(const EntryId&) override { return none(); }
  Result<std::vector<EntryId>> prepared() override { return std::vector<EntryId>(); }
  Result<std::vector<EntryId>> condemned() override { return std::vector<EntryId>(); }
  Result<bool> committed(const EntryId&) override { return false; }
  Result<bool> buried(const EntryId&) override { return false; }
  Result<std::array<std::uint8_t, 32>> inventory() override {
    return std::array<std::uint8_t, 32>{};
  }
  // For ever 0: a program that was started anew would else seem to have lost some.
  Epochs epochs() override { return {}; }
  Result<void> set_epochs(const Epochs&) override { return {}; }

 private:
  static Error none() { return fail("the programming interface keeps no entries"); }
};

// Mesh after the entries that it uses.
struct Connection {
  NoEntries entries;
  std::unique_ptr<Mesh> mesh;
};

Result<Fingerprint> fingerprint_of(const PartyOptions::Member& member, int party) {
  Fingerprint out{};
  if (!from_hex(member.fingerprint, out))
    return fail("join: member " + std::to_string(party) + " has the fingerprint '" +
                member.fingerprint.substr(0, 80) + "'; it must be 64 hexadecimal digits");
  return out;
}

// "tkdc api" and the program's name: parties that compute different things do not meet.
std::array<std::uint8_t, 16> program_id(const std::string& program) {
  const std::string text = "tkdc api " + program;
  std::array<std::uint8_t, 16> id{};
  crypto_generichash(id.data(), id.size(), reinterpret_cast<const std::uint8_t*>(text.data()),
                     text.size(), nullptr, 0);
  return id;
}

Result<MeshOptions> mesh_options(const PartyOptions& options) {
  MeshOptions mesh;
  mesh.installation = program_id(options.program);
  mesh.party = options.index;
  mesh.security = options.security == Security::kMalicious ? tkdc::Security::kMalicious
                                                           : tkdc::Security::kSemiHonest;
  mesh.representation = preferred_representation("auto", mesh.security);
  mesh.protocols = {{std::string(Rep3Protocol::kName), rep3_wire_format()}};
  mesh.listen_address = options.members[static_cast<std::size_t>(options.index)].address;
  mesh.certificate_pem = options.identity.certificate_pem;
  mesh.private_key_pem.assign(options.identity.private_key_pem.begin(),
                              options.identity.private_key_pem.end());
  mesh.establish_timeout_ms = options.timeout_ms;
  for (int other = 0; other < 3; ++other) {
    if (other == options.index) continue;
    const PartyOptions::Member& member = options.members[static_cast<std::size_t>(other)];
    auto pin = fingerprint_of(member, other);
    if (!pin) return pin.error();
    mesh.peers.push_back({other, member.address, *pin});
  }
  return mesh;
}

}  // namespace

Result<Identity> make_identity(const std::string& name) {
  if (sodium_init() < 0) return fail("make_identity: libsodium cannot start");
  auto made = make_certificate(name);
  if (!made) return made.error();
  Identity identity;
  identity.certificate_pem = made->certificate_pem;
  identity.private_key_pem.assign(made->private_key_pem.begin(), made->private_key_pem.end());
  identity.fingerprint = to_hex(made->sha256);
  return identity;
}

Result<std::unique_ptr<Party::Impl>> connect(const PartyOptions& options) {
  if (sodium_init() < 0) return fail("join: libsodium cannot start");
  if (options.index < 0 || options.index > 2)
    return fail("join: index " + std::to_string(options.index) + "; a party is 0, 1 or 2");
  if (options.timeout_ms < 1) return fail("join: timeout_ms must be above 0");
  auto wanted = mesh_options(options);
  if (!wanted) return wanted.error();
  auto connection = std::make_shared<Connection>();
  auto mesh = Mesh::create(std::move(*wanted), connection->entries);
  if (!mesh) return mesh.error();
  connection->mesh = std::move(*mesh);
  auto session = connection->mesh->establish();
  if (!session) return session.error();
  auto backend = choose_rep3_backend("auto", session->representation);
  if (!backend) return backend.error();
  return std::make_unique<Party::Impl>(std::move(connection), std::move(*session), **backend,
                                       options.timeout_ms);
}

Result<Party> Party::join(const PartyOptions& options) {
  auto made = connect(options);
  if (!made) return made.error();
  return Party(std::move(*made));
}

Result<std::array<Party, 3>> Party::in_process(Security security) {
  if (sodium_init() < 0) return fail("in_process: libsodium cannot start");
  constexpr int kTimeoutMs = 30'000;
  const auto mode =
      security == Security::kMalicious ? tkdc::Security::kMalicious : tkdc::Security::kSemiHonest;
  auto ring = MemoryRing::create();
  SecretBuffer keys(96);
  randombytes_buf(keys.data(), keys.size());
  std::vector<Party> parties;
  for (std::size_t p = 0; p < 3; ++p) {
    Session session;
    session.party = static_cast<int>(p);
    session.security = mode;
    session.representation = preferred_representation("auto", mode);
    LaneLink lane;
    lane.link = ring->link(session.party);
    std::copy_n(keys.data() + 32 * p, 32, lane.keys.mine.data());
    std::copy_n(keys.data() + 32 * ((p + 1) % 3), 32, lane.keys.next.data());
    session.lanes.push_back(std::move(lane));
    auto backend = choose_rep3_backend("auto", session.representation);
    if (!backend) return backend.error();
    parties.push_back(
        Party(std::make_unique<Impl>(nullptr, std::move(session), **backend, kTimeoutMs)));
  }
  return std::array<Party, 3>{std::move(parties[0]), std::move(parties[1]), std::move(parties[2])};
}

}  // namespace tkdc::mpc
