// SPDX-License-Identifier: Apache-2.0
// What a process that holds shares or keys does to itself before it reads any: no
// core dumps, no ptrace by its own user, memory that is not swapped. The systemd
// unit does the rest.
#pragma once

namespace tkdc {

// Dumps stay possible with TKDC_ALLOW_DUMP=1, which the log then says; it is
// for proving what a server's memory does not contain, on test systems.
void forbid_dumps();

// Locks present and future memory. What cannot be locked is logged with the
// setting that helps, and the process goes on: keys proper are in memory of
// their own (SecretBuffer) either way. `unlocked_file`: mappings of a file of
// that path, if given, are left out; LMDB maps gigabytes of ciphertext.
void lock_memory(const char* unlocked_file = nullptr);

}  // namespace tkdc
