// SPDX-License-Identifier: Apache-2.0
// Which release a program is, and of which commit.
#pragma once

namespace tkdc {

// "0.1.0 (1a2b3c4d5e6f)", for people; TKDC_VERSION is the number alone.
extern const char* const kVersionAndCommit;

}  // namespace tkdc
