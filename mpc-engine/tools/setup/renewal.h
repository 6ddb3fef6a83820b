// SPDX-License-Identifier: Apache-2.0
// A member's next keys: drawn beside those in use, introduced to the other members, and taken when
// all of these know them. Until they forget the former ones, both are good, so that each member can
// be restarted when it suits its administrator.
//
//   FOLDER/next/   curve.key, a server's tls.key.pem and tls.cert.pem, NAME.introduction
//
// The identity stays, since it signs the new introduction; so does store.key, which is no other
// member's business (`tkdc store rekey`).
//
// Used by `tkdc renew`. Secret: what is drawn; it goes to the disk, or into a credential.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tools/setup/member.h"

namespace tkdc::setup {

struct Renewal {
  std::string introduction;  // text
  // By name, in the order in which they take the former ones' places: the introduction last.
  std::vector<std::pair<std::string, SecretVector>> files;
};

inline constexpr std::string_view kNextFolder = "/next";

// Draws; writes nothing. In credentials where the member's keys are.
Result<Renewal> draw_renewal(const std::string& folder, const IntroductionFile& own,
                             const std::string& credential_key);
// Error: there are next keys already.
Result<void> write_renewal(const std::string& folder, const Renewal& renewal);

// The introduction of keys that were drawn and not taken. Error: there are none.
Result<IntroductionFile> read_next(const std::string& folder, const Introduction& own);
// Whether all of them are there still; else taking them was cut off, and is to be done again.
Result<bool> is_whole(const std::string& folder, const Introduction& own);
// Removes what a run that was cut off has left and no other can go on from: drafts, and an empty
// folder. What it was, for people; empty where there was none. Error also: next keys without their
// introduction; others may have it.
Result<std::string> clear_unfinished(const std::string& folder, const Introduction& own);

enum class Taken : std::uint8_t { kNow, kBefore };
// Moves them into their places, the former ones' octets are overwritten. After a crash, again: it
// goes on where that was cut off. kBefore: all had been moved.
Result<Taken> take_renewal(const std::string& folder);

}  // namespace tkdc::setup
