// SPDX-License-Identifier: Apache-2.0
// What krb5kdc, kadmin and the administrators ask, each as a fiber; every answer is held against
// the model.
#pragma once

namespace tkdc::sim {

class Agent;

// Until the run is calm and over.
void start_workload();
// One login, from the timestamp to the reply; true: all of it was answered.
bool log_in(Agent& by);

}  // namespace tkdc::sim
