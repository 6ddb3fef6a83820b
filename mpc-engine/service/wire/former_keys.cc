// SPDX-License-Identifier: Apache-2.0
#include "service/wire/former_keys.h"

#include <filesystem>

namespace tkdc
{

std::string former_keys_warning(const std::vector<std::string> &whose, const std::string &service,
                                const std::string &configuration)
{
    if (whose.empty())
        return {};
    std::string names;
    for (const std::string &one : whose)
        names += (names.empty() ? "" : ", ") + one;
    std::error_code error;
    const std::string file = std::filesystem::absolute(configuration, error).string();
    const std::string folder = std::filesystem::path(file).parent_path().string();
    return "the former keys of " + names +
           " are still good here, for a thief too. When the new ones are in use: runuser -u " +
           service + " -- tkdc join --folder " + folder + " --forget-former --out " + file +
           ".new; put that file in the place of " + file + " and restart the unit";
}

} // namespace tkdc
