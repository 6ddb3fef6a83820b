# SPDX-License-Identifier: Apache-2.0
"""Plays docs/operations/drills.md: what happens to servers, and what their administrators type."""
