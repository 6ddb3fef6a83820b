// SPDX-License-Identifier: Apache-2.0
// Stands for the installed tkdc/result.h, which is base/result.h itself.
#pragma once

#include "base/result.h"
