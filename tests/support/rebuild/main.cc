// SPDX-License-Identifier: Apache-2.0
// tkdc-rebuild: what two administrators together could do, as a test tool.
//
//   tkdc-rebuild keys  CONFIG CONFIG PRINCIPAL   keys of a principal, in the clear
//     --anyhow: also where the two do not fit, by the first one's copy
//   tkdc-rebuild names CONFIG                    which key belongs to whom
//   tkdc-rebuild seals CONFIG PRINCIPAL COUNT    as if its keys had sealed so often; how many keys
//
// CONFIG is a server's tkdc.toml. Party i holds x_i and x_{i+1} of every value
// x = x_0 ^ x_1 ^ x_2, so two parties hold all three; what they both hold has
// to be equal. Of two servers each holds one part of x = x_A ^ x_B, in whole blocks. Prints one
// JSON array. `keys` prints secrets: it exists so that the search for them knows what to look for,
// and is never installed.
#include <CLI/CLI.hpp>
#include <array>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "one_store.h"

namespace {

using nlohmann::json;
using tkdc::ByteSpan;
using tkdc::KeyRecord;
using tkdc::Result;
using tkdc::to_hex;
using tkdc::rebuild::OneStore;

constexpr const char* kOfTwo = "pair-2";  // how records of two servers are shared

json description(const KeyRecord& record) {
  return {{"key", to_hex(record.ref.id)},
          {"principal", record.principal_name},
          {"kvno", record.ref.kvno},
          {"enctype", record.ref.enctype},
          {"gcm", record.form == tkdc::KeyForm::kGcm}};
}

// x from the components of two parties. `anyhow`: of what both hold a's copy counts.
Result<std::string> combine(const tkdc::SharedBytes& a, int party_a, const tkdc::SharedBytes& b,
                            int party_b, bool anyhow) {
  std::array<const tkdc::SecretVector*, 3> components{};
  for (auto [shared, party] : {std::pair{&a, party_a}, std::pair{&b, party_b}}) {
    for (int c = 0; c < 2; ++c) {
      auto& place = components[static_cast<std::size_t>((party + c) % 3)];
      if (place != nullptr && *place != shared->component[c] && !anyhow)
        return tkdc::fail("the two stores hold different copies of a component");
      if (place == nullptr) place = &shared->component[c];
    }
  }
  if (components[0]->size() != components[1]->size() ||
      components[0]->size() != components[2]->size())
    return tkdc::fail("components of different lengths");
  tkdc::SecretVector x = *components[0];
  for (std::size_t i = 0; i < x.size(); ++i) x[i] ^= (*components[1])[i] ^ (*components[2])[i];
  return to_hex(x);
}

// Of two servers: their own blocks. What is stored beside them are MACs and keys, other ones at
// each.
Result<std::string> combine_two(const tkdc::SharedBytes& a, const tkdc::SharedBytes& b) {
  tkdc::SecretVector x = a.component[0];
  if (x.size() != b.component[0].size()) return tkdc::fail("parts of different lengths");
  for (std::size_t i = 0; i < x.size(); ++i) x[i] ^= b.component[0][i];
  return to_hex(x);
}

// Public: of which pool the blocks are.
bool is_public(const KeyRecord& record, const std::string& field) {
  return record.sharing == kOfTwo && field == "pool";
}

Result<json> keys_of(const OneStore& a, const OneStore& b, const std::string& principal,
                     bool anyhow) {
  json keys = json::array();
  for (const KeyRecord& mine : a.records) {
    if (mine.principal_name != principal) continue;
    auto same = [&](const KeyRecord& record) { return record.ref == mine.ref; };
    auto other = std::find_if(b.records.begin(), b.records.end(), same);
    if (other == b.records.end())
      return tkdc::fail("key " + to_hex(mine.ref.id) + " is in one store only");
    json key = description(mine);
    for (const auto& [name, shared] : mine.fields) {
      if (is_public(mine, name)) continue;
      auto field = other->fields.find(name);
      if (field == other->fields.end())
        return tkdc::fail("field " + name + " is in one store only");
      Result<std::string> value = mine.sharing == kOfTwo
                                      ? combine_two(shared, field->second)
                                      : combine(shared, a.party, field->second, b.party, anyhow);
      if (!value)
        return tkdc::fail(to_hex(mine.ref.id) + " " + name + ": " + value.error().message);
      key["fields"][name] = value.value();
    }
    keys.push_back(key);
  }
  return keys;
}

Result<json> names(const std::string& config) {
  Result<OneStore> store = tkdc::rebuild::read_store(config);
  if (!store) return store.error();
  json names = json::array();
  for (const KeyRecord& record : store->records) names.push_back(description(record));
  return names;
}

Result<json> keys(const std::array<std::string, 2>& configs, const std::string& principal,
                  bool anyhow) {
  Result<OneStore> a = tkdc::rebuild::read_store(configs[0]);
  if (!a) return a.error();
  Result<OneStore> b = tkdc::rebuild::read_store(configs[1]);
  if (!b) return b.error();
  if (a->party == b->party) return tkdc::fail("both are the store of one party");
  return keys_of(*a, *b, principal, anyhow);
}

Result<json> seals(const std::string& config, const std::string& principal, std::uint64_t count) {
  Result<std::size_t> set = tkdc::rebuild::set_seal_marks(config, principal, count);
  if (!set) return set.error();
  return json(*set);
}

}  // namespace

int main(int argc, char** argv) {
  if (sodium_init() < 0) return 1;
  CLI::App app("what two administrators together could do");
  app.require_subcommand(1);
  std::array<std::string, 2> configs;
  std::string principal;
  CLI::App* all = app.add_subcommand("names", "which key belongs to whom");
  all->add_option("config", configs[0], "a server's tkdc.toml")->required();
  CLI::App* some = app.add_subcommand("keys", "keys of a principal, in the clear");
  some->add_option("config", configs[0], "a server's tkdc.toml")->required();
  some->add_option("other", configs[1], "another server's")->required();
  some->add_option("principal", principal)->required();
  bool anyhow = false;
  some->add_flag("--anyhow", anyhow, "also where the stores do not fit");
  std::uint64_t count = 0;
  CLI::App* marks = app.add_subcommand("seals", "as if its keys had sealed so often");
  marks->add_option("config", configs[0], "the tkdc.toml of a server that is stopped")->required();
  marks->add_option("principal", principal)->required();
  marks->add_option("count", count)->required();
  CLI11_PARSE(app, argc, argv);
  const Result<json> result = all->parsed()     ? names(configs[0])
                              : marks->parsed() ? seals(configs[0], principal, count)
                                                : keys(configs, principal, anyhow);
  if (!result) {
    std::cerr << "tkdc-rebuild: " << result.error().message << "\n";
    return 1;
  }
  std::cout << result->dump() << "\n";
  return 0;
}
