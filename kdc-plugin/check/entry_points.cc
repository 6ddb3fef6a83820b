// SPDX-License-Identifier: Apache-2.0
#include "check/entry_points.h"

#include <algorithm>
#include <string_view>

#include "interposed_names.h"

namespace tkdc::check {
namespace {

// Functions of libk5crypto that are called with no long-term key: they ask what an enctype is like,
// make keys from passwords and octets, draw, or handle a key without looking into it.
constexpr std::string_view kHarmless[] = {
    "krb5_c_block_size",         "krb5_c_checksum_length",      "krb5_c_crypto_length",
    "krb5_c_crypto_length_iov",  "krb5_c_encrypt_length",       "krb5_c_enctype_compare",
    "krb5_c_free_state",         "krb5_c_init_state",           "krb5_c_is_coll_proof_cksum",
    "krb5_c_is_keyed_cksum",     "krb5_c_keyed_checksum_types", "krb5_c_keylengths",
    "krb5_c_padding_length",     "krb5_c_prf_length",           "krb5_c_random_add_entropy",
    "krb5_c_random_make_octets", "krb5_c_random_os_entropy",    "krb5_c_random_seed",
    "krb5_c_random_to_key",      "krb5_c_string_to_key",        "krb5_c_string_to_key_with_params",
    "krb5_c_valid_cksumtype",    "krb5_c_valid_enctype",        "krb5_k_create_key",
    "krb5_k_free_key",           "krb5_k_key_enctype",          "krb5_k_key_keyblock",
    "krb5_k_reference_key",
};

bool crypto_call(std::string_view name) {
  return name.starts_with("krb5_c_") || name.starts_with("krb5_k_");
}

bool known(std::string_view name) {
  return std::ranges::find(kHarmless, name) != std::end(kHarmless) ||
         std::ranges::any_of(kInterposed, [name](const char* one) { return name == one; });
}

}  // namespace

std::vector<std::string> differences(const Files& files) {
  std::vector<std::string> out;
  for (const char* name : kInterposed)
    if (std::ranges::none_of(files,
                             [name](const auto& one) { return one.second.defined.contains(name); }))
      out.push_back(std::string(name) + " is in none of krb5's libraries any more");
  for (const auto& [path, names] : files)
    for (const std::string& name : names.wanted)
      if (crypto_call(name) && !known(name))
        out.push_back(path + " calls " + name + ", which this tkdc does not know");
  return out;
}

}  // namespace tkdc::check
