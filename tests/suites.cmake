# Called after a test program is built: writes INCLUDED, in which each of its suites is a test for ctest.
#   cmake -DPROGRAM=... -DNAME=... -DLABEL=... -DENVIRONMENT=... -DINCLUDED=... -P suites.cmake
# A process a suite: one a test would be thousands. A suite is skipped where all of its tests are (unit/main.cc).
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY TIMEOUT 60)
string(REGEX MATCHALL "(^|\n)[^ \n][^ \n]*\\.( *#[^\n]*)?\n" lines "${listed}")
set(tests "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^\n?([^ \n]+)\\..*$" "\\1" suite "${line}")
  string(APPEND tests "add_test([==[${NAME}.${suite}]==] [==[${PROGRAM}]==] [==[--gtest_filter=${suite}.*]==])
set_tests_properties([==[${NAME}.${suite}]==] PROPERTIES LABELS ${LABEL} TIMEOUT 600
  SKIP_RETURN_CODE 77 ENVIRONMENT [==[${ENVIRONMENT}]==])\n")
endforeach()
if(NOT tests)
  message(FATAL_ERROR "${PROGRAM} lists no tests")
endif()
file(WRITE ${INCLUDED} "${tests}")
