# SPDX-License-Identifier: Apache-2.0
"""`make demo`: a stock KDC logs users in, and a search shows that nothing holds its keys."""
