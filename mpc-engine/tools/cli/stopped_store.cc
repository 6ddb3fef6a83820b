// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/stopped_store.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "base/credential.h"
#include "service/store/store_key.h"
#include "tools/cli/owner.h"

namespace tkdc::cli {
namespace {

Result<SecretBuffer> read_credential(const std::string& name, const std::string& path) {
  auto octets = decrypt_credential_file(name, path);
  if (!octets) return octets.error();
  SecretBuffer key(32);
  if (octets->size() != key.size()) return fail(path + " does not hold a store's key of 32 octets");
  std::memcpy(key.data(), octets->data(), key.size());
  return key;
}

}  // namespace

Result<void> only_of_three(const ServerConfig& config, const std::string& why_not) {
  if (config.parties != 2) return {};
  return fail("this is a realm on two servers (installation.parties), and " + why_not +
              ": docs/operations.md, A realm on two servers");
}

StoreOptions StoppedStore::options() const {
  StoreOptions out;
  out.path = config.store_path;
  out.installation = config.installation;
  out.party = config.party;
  out.map_bytes = config.store_map_bytes;
  return out;
}

Result<std::unique_ptr<Store>> StoppedStore::open() const {
  auto store = Store::open(options(), key);
  if (!store)
    return fail(store.error().message +
                ". This command needs the server stopped; `tkdc status` shows a running one");
  return store;
}

Result<StoppedStore> find_store_or_none(const std::string& path) {
  StoppedStore out;
  auto config = load_server_config(path);
  if (!config) return config.error();
  out.config = std::move(*config);
  out.key_file = out.config.store_key_file;
  const std::string name = credential_not_given(out.key_file);
  out.credential = !name.empty();
  if (out.credential)
    out.key_file =
        (std::filesystem::absolute(path).parent_path() / (name + std::string(kCredentialEnding)))
            .string();
  auto key = out.credential ? read_credential(name, out.key_file) : read_store_key(out.key_file);
  if (!key) return key.error();
  out.key = std::move(*key);
  return out;
}

Result<StoppedStore> find_stopped_store(const std::string& path) {
  auto out = find_store_or_none(path);
  // Opening would make one.
  if (out.ok() && ::access((out->config.store_path + "/data.mdb").c_str(), F_OK) != 0)
    return fail("there is no store in " + out->config.store_path +
                "; run this on the server's host, as its user or root");
  return out;
}

Result<void> become_owner(const StoppedStore& at) {
  auto owner = owner_of_store(at.config.path, at.config.store_path);
  return owner ? become(*owner) : owner.error();
}

}  // namespace tkdc::cli
