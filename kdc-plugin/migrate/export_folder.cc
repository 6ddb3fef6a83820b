// SPDX-License-Identifier: Apache-2.0
#include "migrate/export_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/curve_key.h"
#include "base/durable_file.h"
#include "base/hex.h"
#include "base/secret_file.h"
#include "base/strict_toml.h"
#include "base/system_error.h"
#include "enctype.h"
#include "service/export/pair_parcel.h"
#include "service/export/parcel.h"

namespace tkdc::migrate {
namespace {

Result<void> write_new(const std::string& path, ByteSpan contents) {
  const UniqueFd fd = create_file(path);
  if (fd && write_synced(fd.get(), contents)) return {};
  return system_error(path);
}

Result<Bytes> read_parcel(const std::string& path) {
  auto text = read_text_file(path, kMaxParcelBytes);
  if (!text) return text.error();
  return Bytes(text->begin(), text->end());
}

std::string number_of(std::size_t servers) { return servers == 2 ? "two" : "three"; }

// Of which server a file says to be.
Result<std::size_t> party_of(ByteSpan file, std::size_t servers) {
  auto name = parcel_name(file);
  if (!name) return name.error();
  if (static_cast<std::size_t>(name->servers) != servers)
    return fail("not shares of a realm on " + number_of(servers) + " servers");
  return static_cast<std::size_t>(name->party);
}

template <std::size_t kServers>
Result<void> all_are_there(const std::array<std::optional<Digest>, kServers>& files) {
  const auto missing =
      std::ranges::find_if(files, [](const auto& file) { return !file.has_value(); });
  if (missing == files.end()) return {};
  return fail("the shares of server " + std::to_string(missing - files.begin()) + " are missing: " +
              (kServers == 2 ? "a key takes those of both servers"
                             : "every share is compared with a second server's"));
}

Digest digest_of(ByteSpan octets) {
  Digest out{};
  crypto_generichash(out.data(), out.size(), octets.data(), octets.size(), nullptr, 0);
  return out;
}

template <std::size_t kServers>
Digest digest_of_set(const std::array<std::optional<Digest>, kServers>& files) {
  Bytes all;
  for (const auto& file : files) all.insert(all.end(), file->begin(), file->end());
  return digest_of(all);
}

using Keys = std::vector<std::optional<SecretVector>>;

// One file at a time is in memory, beside what has been taken out of those before.
template <class One, std::size_t kServers, class Unpack>
Result<Keys> combine_files(const ExportFolder& folder, const std::vector<std::string>& paths,
                           const ServerKeys& servers, Unpack unpack_one) {
  std::array<One, kServers> parcels;
  std::array<std::optional<Digest>, kServers> files;
  for (const std::string& path : paths) {
    auto octets = read_parcel(path);
    if (!octets) return octets.error();
    auto party = party_of(*octets, kServers);
    if (!party) return fail(path + ": " + party.error().message);
    if (files[*party]) return fail(path + ": a second file of server " + std::to_string(*party));
    auto one =
        unpack_one(*octets, folder.request(), folder.digest(), folder.secret(), servers[*party]);
    if (!one) return fail(path + ": " + one.error().message);
    parcels[*party] = std::move(*one);
    files[*party] = digest_of(*octets);
  }
  if (auto all = all_are_there(files); !all) return all.error();
  if (kServers == 2)
    if (auto first = folder.open_once(digest_of_set(files)); !first) return first.error();
  return combine(folder.request(), parcels);
}

bool has_length_of_its_enctype(const ExportKey& key, const std::optional<SecretVector>& octets) {
  return !octets || octets->size() == tkdc_enctype_of(key.enctype)->key_bytes;
}

}  // namespace

Result<ExportFolder> ExportFolder::create(const std::string& path, ExportRequest request) {
  ExportFolder out;
  out.path_ = path;
  crypto_box_keypair(request.recipient.data(), out.secret_.data());
  randombytes_buf(request.nonce.data(), request.nonce.size());
  const std::string text = encode(request);
  if (auto good = decode_export_request(text); !good) return good.error();
  out.digest_ = request_digest(text);
  out.request_ = std::move(request);
  if (::mkdir(path.c_str(), 0700) != 0) return system_error(path);
  auto written = write_new(out.secret_file(), out.secret_.span());
  if (written)
    written = write_new(out.request_file(),
                        {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  if (!written) return written.error();
  if (!sync_folder(path) || !sync_folder_of(path)) return system_error(path);
  return out;
}

Result<ExportFolder> ExportFolder::open(const std::string& path) {
  ExportFolder out;
  out.path_ = path;
  auto text = read_text_file(out.request_file(), kMaxExportRequestBytes);
  if (!text) return text.error();
  auto request = decode_export_request(*text);
  if (!request) return fail(out.request_file() + ": " + request.error().message);
  out.request_ = std::move(*request);
  out.digest_ = request_digest(*text);
  auto secret = read_secret_file(out.secret_file(), out.secret_.size());
  if (!secret) return secret.error();
  std::array<std::uint8_t, 32> public_key{};
  if (secret->size() == out.secret_.size()) {
    std::ranges::copy(*secret, out.secret_.data());
    crypto_scalarmult_base(public_key.data(), out.secret_.data());
  }
  if (public_key != out.request_.recipient)
    return fail(out.secret_file() + " is not the secret key of this request's recipient");
  return out;
}

// Of a file that is the agent's: only what is needed here is looked at.
Result<ServerKeys> read_server_keys(const std::string& agent_toml,
                                    const InstallationId& installation) {
  StrictToml file;
  if (auto loaded = file.load(agent_toml); !loaded) return loaded.error();
  InstallationId id{};
  if (!from_hex(file.table("installation").text("id"), id) || id != installation)
    return fail(agent_toml + ": not of the installation that holds these keys");
  std::vector<TomlTable> tables = file.tables("servers");
  const std::size_t servers = tables.size();
  if (servers != 2 && servers != 3)
    return fail(agent_toml + ": its [[servers]] are not three, or two");
  ServerKeys out(servers);
  std::vector<bool> seen(servers);
  for (TomlTable& table : tables) {
    const auto party = static_cast<std::size_t>(table.integer("party", 0, 2));
    const auto decoded = decode_curve_public(table.text("curve_public_key"));
    if (party >= servers || seen[party] || !decoded)
      return fail(agent_toml + ": its [[servers]] are not " + number_of(servers) +
                  " with a CURVE public key each");
    out[party] = *decoded;
    seen[party] = true;
  }
  return out;
}

Result<void> ExportFolder::open_once(const Digest& set) const {
  const std::string note = path_ + "/opened", text = to_hex(set) + "\n";
  if (create_durably(note, text, {::geteuid(), ::getegid()})) return {};
  if (errno != EEXIST) return system_error(note, "nothing was compared");
  auto before = read_text_file(note, text.size());
  if (!before) return before.error();
  if (*before == text) return {};
  return fail("other shares were opened for this request before, as " + note +
              " says: a request is good for one file of each server. Make another request");
}

Result<ExportedKeys> open_parcels(const ExportFolder& folder, const std::vector<std::string>& files,
                                  const ServerKeys& servers) {
  auto keys = servers.size() == 2
                  ? combine_files<PairParcel, 2>(folder, files, servers, unpack_of_two)
                  : combine_files<Parcel, 3>(folder, files, servers, unpack);
  if (!keys) return keys.error();
  ExportedKeys out;
  for (std::size_t k = 0; k < keys->size(); ++k) {
    const ExportKey& key = folder.request().keys[k];
    if (!has_length_of_its_enctype(key, (*keys)[k]))
      return fail(key.principal + ": a key of a length that its enctype does not have");
    out.emplace(key.id, std::move((*keys)[k]));
  }
  return out;
}

}  // namespace tkdc::migrate
