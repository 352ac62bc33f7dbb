// Running a program as a user would, from the shell, and what came of it.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace photon::test {

inline const std::string kRun = PHOTON_BIN_DIR "/photonrun";
inline const std::string kInfo = PHOTON_BIN_DIR "/photon-info";

struct CommandResult {
  int exit_status = -1;  // as the shell sees it: 128 + signal if killed, 124 if it ran too long
  std::string output;    // stdout, then also stderr if the line says 2>&1
};

// Runs a shell line in at most a minute.
inline CommandResult run_command(const std::string& line) {
  std::string quoted;
  for (const char c : line) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  std::FILE* const pipe = ::popen(("exec timeout -k 5 60 sh -c '" + quoted + "'").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run: " + line);
  CommandResult result;
  std::array<char, 4096> buffer;
  while (const std::size_t size_bytes = std::fread(buffer.data(), 1, buffer.size(), pipe))
    result.output.append(buffer.data(), size_bytes);
  const int status = ::pclose(pipe);
  result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

// Whether the library is built with a sanitizer.
inline bool is_sanitized() {
  return run_command("nm -D " PHOTON_BIN_DIR "/../lib/libphoton.so | grep -q '__[atu][a-z]*san_'")
             .exit_status == 0;
}

}  // namespace photon::test
