# SPDX-License-Identifier: Apache-2.0
"""The stock Kerberos programs against a whole tkdc realm."""
