# SPDX-License-Identifier: Apache-2.0
def attacks(short):
    return []
