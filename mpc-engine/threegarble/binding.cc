// SPDX-License-Identifier: Apache-2.0
#include "threegarble/binding.h"

#include "base/codec.h"

namespace tkdc::threegarble {
namespace {

SecretVector keyed(const Digest& key, const char* purpose, ByteSpan octets) {
  SecretVector input, out(kDigestBytes);
  SecretWriter w(input);
  w.text(purpose);
  w.bytes(octets);
  crypto_generichash(out.data(), out.size(), input.data(), input.size(), key.data(), key.size());
  return out;
}

}  // namespace

Digest public_digest(const InstanceId& id, const JobTag& tag) {
  Bytes input;
  Writer w(input);
  w.text("threegarble 1 job");
  w.u32(id.lane);
  w.raw(id.circuit);
  w.u64(id.n);
  w.u8(tag.mode);
  w.u64(tag.job);
  w.u32(tag.attempt);
  w.raw(tag.course);
  w.raw(tag.about);
  Digest out;
  crypto_generichash(out.data(), out.size(), input.data(), input.size(), nullptr, 0);
  return out;
}

SecretVector component_digest(const Digest& public_digest, ByteSpan component) {
  return keyed(public_digest, "component", component);
}

SecretVector whole_digest(const Digest& public_digest, ByteSpan component_digest) {
  return keyed(public_digest, "D", component_digest);
}

SecretVector label_digest(const Digest& public_digest, ByteSpan labels) {
  return keyed(public_digest, "labels", labels);
}

}  // namespace tkdc::threegarble
