# SPDX-License-Identifier: Apache-2.0
"""tkdc-storm and its scenarios: `python -m tests.storm SCENARIO`, or `make storm`."""
