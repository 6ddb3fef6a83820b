/* SPDX-License-Identifier: Apache-2.0 */
/* The table that ktkdc.so looks for: see api.h. */
#include "api.h"

#include "agent_call.h"
#include "fiber.h"
#include "k5_other.h"
#include "process.h"
#include "serial.h"
#include "stamp.h"

static bool no_record(void)
{
    const struct request_state *state = fiber_request();
    return state->tainted || state->no_record;
}

static void enter_database(void)
{
    fiber_request()->database++;
}

static void leave_database(void)
{
    fiber_request()->database--;
}

__attribute__((visibility("default"))) const struct tkdc_preload_api tkdc_preload_api = {
    .api = TKDC_PRELOAD_API,
    .bytes = sizeof(struct tkdc_preload_api),
    .version = TKDC_VERSION,
    .configure = agent_configure,
    .call = agent_call,
    .installation = process_installation,
    .no_record = no_record,
    .enter_database = enter_database,
    .leave_database = leave_database,
    .serialise = serial_take,
    .was_drawn_here = k5_was_drawn_here,
    .stamp = stamp_put,
    .unstamp = stamp_take_off,
};
