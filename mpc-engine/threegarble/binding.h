// SPDX-License-Identifier: Apache-2.0
// What an instance's one job is, in a digest. Two garblers that encode different jobs have
// different D, and then nobody can read what either of them sends (encode.h).
//
//   D_pub = digest(instance, mode, job, attempt, course, what is public of the job)
//   D     = digest(D_pub, component e + 2 of the input)
//
// Secret: D and the component's digest. E holds the other two components: D would confirm a guess
// of whatever key a password gives. D_pub is public: all three have and compare it.
#pragma once

#include "threegarble/shape.h"

namespace tkdc::threegarble {

// What all three servers have to have agreed on before a job's input leaves them. `course`: the
// lane's (lane/course.h), which the third party may see: no digest of a component stands in it.
struct JobTag {
  std::uint64_t job = 0;
  std::uint32_t attempt = 0;
  std::uint8_t mode = 0;
  Digest course{};
  Digest about{};  // of the request's public octets
};

Digest public_digest(const InstanceId& id, const JobTag& tag);
// Of component e + 2, for its two holders.
SecretVector component_digest(const Digest& public_digest, ByteSpan component);
// D: the key of streams is derived with it.
SecretVector whole_digest(const Digest& public_digest, ByteSpan component_digest);
// Of output labels, one after the other; for E and A.
SecretVector label_digest(const Digest& public_digest, ByteSpan labels);

}  // namespace tkdc::threegarble
