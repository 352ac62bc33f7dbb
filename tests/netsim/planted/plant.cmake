# cmake -DFROM=<source> -DTO=<copy> -DLINE=<what stands there> -DINSTEAD=<the fault> -P plant.cmake
file(READ ${FROM} text)
string(FIND "${text}" "${LINE}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${FROM} has no line ${LINE}")
endif()
string(REPLACE "${LINE}" "${INSTEAD}" text "${text}")
file(WRITE ${TO} "${text}")
