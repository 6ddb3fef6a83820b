# Writes OUT, a header that says of which commit this source tree is: TKDC_COMMIT where somebody says it (a
# tree without a repository), else what git says, else "unknown". Run by each build; OUT changes with the commit only.
set(commit "${COMMIT}")
if(NOT commit)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define TKDC_COMMIT \"${commit}\"\n")
