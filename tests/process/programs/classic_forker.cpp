// A classic program that forks while it has a session: in the child that one is none, and it opens
// its own; the parent's goes on.
#include <photon.h>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

int failures = 0;

void expect(bool is_so, const char* what) {
  if (is_so) return;
  std::printf("classic_forker: %s\n", what);
  ++failures;
}

photon_cid word(std::uint64_t value) {
  photon_cid id{};
  id.u64 = value;
  return id;
}

// To itself and back.
bool works(int rank) {
  if (photon_put_with_completion(rank, 0, nullptr, nullptr, word(1), word(2), 0) != PHOTON_OK)
    return false;
  for (int taken = 0; taken < 2;) {
    int flag = 0;
    photon_cid id{};
    if (photon_probe_completion(PHOTON_ANY_SOURCE, &flag, nullptr, &id, nullptr, nullptr,
                                PHOTON_PROBE_ANY) != PHOTON_OK)
      return false;
    taken += flag;
  }
  return true;
}

// Until the library's threads have come to rest. A thread that begins allocates, and the allocator
// of AddressSanitizer 16, other than glibc's, is left locked in the child of a fork at that moment.
bool others_sleep() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(getpid())) continue;
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);)
      if (line.rfind("State:", 0) == 0 && line.find('S', 6) == std::string::npos) return false;
  }
  return true;
}

void be_a_child() {
  expect(photon_initialized() == 0, "the parent's session is taken for the child's");
  expect(!works(0), "the parent's session works in the child");
  photon_config_t config;
  std::memset(&config, 0, sizeof config);
  expect(photon_init(&config) == PHOTON_OK, "the child has no session");
  expect(photon_initialized() == 1, "the child's session is none");
  expect(works(config.address), "the child's session does not work");
  expect(photon_finalize() == PHOTON_OK, "the child's session does not end");
}

}  // namespace

int main() {
  photon_config_t config;
  std::memset(&config, 0, sizeof config);
  if (photon_init(&config) != PHOTON_OK) return 1;
  while (!others_sleep()) sched_yield();
  const pid_t child = fork();
  if (child == 0) {
    be_a_child();
    return failures;
  }
  int status = -1;
  expect(waitpid(child, &status, 0) == child && status == 0, "the child has failed");
  expect(works(config.address), "the parent's session does not work any more");
  expect(photon_finalize() == PHOTON_OK, "the parent's session does not end");
  return failures;
}
