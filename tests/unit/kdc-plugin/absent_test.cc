// SPDX-License-Identifier: Apache-2.0
// The real ktkdc.so in a process without the preload library.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

extern "C" {
#include <kdb.h>
}

namespace {

TEST(WithoutPreload, TheModuleRefusesToInitialise) {
  void* library = dlopen(KTKDC, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto* table = static_cast<kdb_vftabl*>(dlsym(library, "kdb_function_table"));
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->maj_ver, KRB5_KDB_DAL_MAJOR_VERSION);
  ASSERT_EQ(table->init_library(), 0);
  krb5_context context = nullptr;
  ASSERT_EQ(krb5_init_context(&context), 0);
  char section[] = "tkdc";
  const krb5_error_code code = table->init_module(context, section, nullptr, KRB5_KDB_OPEN_RO);
  EXPECT_NE(code, 0);
  const char* message = krb5_get_error_message(context, code);
  EXPECT_NE(std::string(message).find("libtkdc-k5.so is not loaded"), std::string::npos) << message;
  krb5_free_error_message(context, message);
  EXPECT_NE(table->create(context, section, nullptr), 0);
  krb5_free_context(context);
}

}  // namespace
