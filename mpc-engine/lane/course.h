// SPDX-License-Identifier: Apache-2.0
// The course of a lane: every decision that its three servers have to take alike (which jobs run,
// in which order, with which times, under which session), in one running digest.
//
// Why: a corrupted server can tell the two others different things. Two honest servers that run
// different jobs with packets of one length would check, and open, sums of values that do not
// belong together; such sums are linear equations on keys. So the two compare their courses
// before anything leaves that depends on a secret and carries no fresh zero-share
// (Lane::agree, docs/protocols/10-admission.md, "Decisions").
//
// Where decisions are noted: what a server tells both others, by the lane's ticker, all of it and
// before its owner may read it; what the handshake agreed, by the owner when the lane begins.
// Where they are compared: Lane::agree alone, and in the next handshake (session/course_tail.h).
//
// Nothing here is secret. Used by one lane's thread.
#pragma once

#include <sodium.h>
#include <initializer_list>

#include "session/course_tail.h"

namespace tkdc {

class Course {
 public:
  using Digest = CourseTail::Digest;
  enum class Kind : std::uint8_t {
    kSession = 1,  // what the handshake agreed
    kSaid = 2,     // what each party told both others in one tick, in the parties' order
  };

  // digest <- BLAKE2b-256(digest, kind, each part's length and octets).
  void note(Kind kind, std::initializer_list<ByteSpan> parts);

  const Digest& digest() const { return tail_.last.back(); }
  std::uint64_t decisions() const { return tail_.decisions; }
  // Its session is for the owner to fill in.
  CourseTail tail() const;

 private:
  CourseTail tail_{{}, 0, {Digest{}}};  // the first digest is of no decision
};

}  // namespace tkdc
