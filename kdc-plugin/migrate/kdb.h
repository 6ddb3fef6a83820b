// SPDX-License-Identifier: Apache-2.0
// libkdb5's and libkadm5srv's headers, which do not speak C++ throughout.
#pragma once

extern "C" {
#include <kadm5/admin.h>
#include <kdb.h>
#include <krb5.h>
#include <profile.h>
}
