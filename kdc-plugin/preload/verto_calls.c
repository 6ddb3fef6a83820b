/* SPDX-License-Identifier: Apache-2.0 */
#include "verto_calls.h"

struct verto_calls verto_calls;
