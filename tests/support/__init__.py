# SPDX-License-Identifier: Apache-2.0
"""What the demo and the integration tests share: a whole realm, and the search for its keys."""
