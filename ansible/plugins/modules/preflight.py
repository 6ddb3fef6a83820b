#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""What ansible-doc says of preflight. It runs on the controller: plugins/action/preflight.py."""

DOCUMENTATION = r"""
module: preflight
short_description: Looks at an inventory before any host is asked
description:
  - Fails on a variable that a host's roles need and that is missing or of another type.
  - Fails on a name C(tkdc_...) of a variable or a group that nobody reads, and says the nearest.
  - Runs on the controller and changes nothing.
options: {}
author: tkdc maintainers
"""
EXAMPLES = r"""
- name: Look at each variable's name, presence and type
  tkdc.appliance.preflight:
"""
RETURN = r"""
msg: {description: What is wrong, returned: failed, type: list}
"""
