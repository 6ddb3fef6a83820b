// SPDX-License-Identifier: Apache-2.0
// One member's own folder: its keys, drawn on its machine, and its introduction to the others.
//
// `tkdc init` makes the folder; `tkdc join` reads it again before it writes the configuration into
// it. Secret: curve.key, tls.key.pem, store.key, identity.key. They are written once, replaced by
// `tkdc renew` and `tkdc store rekey` alone, and no other file is made from them but by their
// public halves. What the unit reads,
// all but identity.key, is a file, or a credential of this host: NAME.cred (base/credential.h).
#pragma once

#include <string>

#include "base/curve_key.h"
#include "base/result.h"
#include "base/secret.h"
#include "tools/setup/introduction_file.h"
#include "tools/setup/tree.h"

namespace tkdc::setup {

// An installation's id, as its first member draws it.
InstallationId draw_installation();

// The secret half as the text of its file.
Result<CurveKeys> draw_curve_keys();
// How a unit's secrets are kept: as files, or as credentials that systemd-creds makes with this
// key.
struct SecretForm {
  std::string credential_key;  // empty: files
};

// The secrets of a server, into `prefix` (which ends in "/", or is empty) of the tree. What is
// public of them goes into `introduction`.
Result<void> write_server_keys(Tree& tree, const std::string& prefix, Introduction& introduction,
                               const SecretForm& form = {});
Result<void> write_agent_keys(Tree& tree, const std::string& prefix, Introduction& introduction,
                              const SecretForm& form = {});

// A new member of its own: the keys above, an identity, and NAME.introduction. What is to be sent
// to the others.
Result<std::string> write_member(Tree& tree, Introduction introduction,
                                 const SecretForm& form = {});

// Error: the folder is none of write_member(), or its files do not belong together.
Result<IntroductionFile> read_member(const std::string& folder);
// Its introduction alone, whatever the other files are.
Result<IntroductionFile> read_member_file(const std::string& folder);

}  // namespace tkdc::setup
