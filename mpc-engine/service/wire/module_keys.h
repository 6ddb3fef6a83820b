/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of kdc.conf that are the database module's, in its section of [dbmodules]
 * (docs/operations/install.md): there the module takes no other key that
 * begins with tkdc_, and the doctor of a KDC's host says which one is wrong.
 */
#ifndef TKDC_MODULE_KEYS_H
#define TKDC_MODULE_KEYS_H

static const char *const tkdc_module_keys[] = {"tkdc_wrapped", "tkdc_agent_socket",
                                               "tkdc_admin_socket", "tkdc_timeout_ms",
                                               "tkdc_admin_timeout_ms"};

#endif
