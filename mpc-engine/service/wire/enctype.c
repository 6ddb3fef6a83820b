/* SPDX-License-Identifier: Apache-2.0 */
/* The table of enctypes: see enctype.h. */
#include "enctype.h"

static const struct tkdc_enctype served[] = {
    {17, 16, 12, TKDC_SEAL_HEADER_BYTES + 12, 15}, /* aes128-cts-hmac-sha1-96 */
    {18, 32, 12, TKDC_SEAL_HEADER_BYTES + 12, 16}, /* aes256-cts-hmac-sha1-96 */
    {19, 16, 16, TKDC_SEAL_HEADER_BYTES + 16, 19}, /* aes128-cts-hmac-sha256-128 */
    {20, 32, 24, TKDC_SEAL_HEADER_BYTES + 24, 20}, /* aes256-cts-hmac-sha384-192 */
};

const struct tkdc_enctype *tkdc_enctype_of(uint32_t enctype)
{
    for (size_t i = 0; i < sizeof served / sizeof served[0]; i++)
        if (served[i].enctype == enctype)
            return &served[i];
    return NULL;
}
