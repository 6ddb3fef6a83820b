# SPDX-License-Identifier: Apache-2.0
"""MIT's own test suite against a KDC with tkdc: see __main__.py and docs/mit-suite.md."""
