// A span of ph_am_prepare() is open while its target is killed. Arguments:
//
//   span BYTES SETTING=VALUE ...
//
// Rank 0 prepares so many bytes for rank 1, kills it and waits until it is known to be dead. The
// span is written all the same, its commit says that the rank is lost, and other ranks are not
// harmed. Exit status 0: so it was.
#include <photon/am.h>
#include <photon/photon.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "rank_calls.hpp"

using namespace photon::test;

namespace {

constexpr std::uint32_t kId = 3;
constexpr std::uint32_t kRanks = 3;
constexpr ph_rank kVictim = 1;
constexpr ph_rank kFriend = 2;

ph_status count(void* user, const ph_am_message*, ph_am_landing*) {
  ++*static_cast<int*>(user);
  return PH_OK;
}

void is(ph_context* context, ph_status found, ph_status expected, const char* what) {
  if (found != expected) fail(context, what, found);
}

void fill(const ph_am_slot& slot, unsigned seed) {
  auto* const bytes = static_cast<volatile unsigned char*>(slot.data);
  for (std::size_t i = 0; i < slot.size_bytes; ++i) bytes[i] = static_cast<unsigned char>(seed + i);
  for (std::size_t i = 0; i < slot.size_bytes; ++i)
    if (bytes[i] != static_cast<unsigned char>(seed + i)) std::_Exit(3);
}

void await_death(ph_context* context) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(15);
  for (ph_contact_state state = PH_PEER_UNKNOWN; state != PH_PEER_DEAD;) {
    static_cast<void>(ph_am_poll(context, 0));
    require(context, ph_peer_state(context, kVictim, &state), "state");
    if (std::chrono::steady_clock::now() > end) fail(context, "its death is not told", PH_TIMEOUT);
  }
}

// What rank 0 does.
void outlive(ph_context* context, std::size_t bytes, pid_t victim) {
  ph_am_slot slot{}, other{};
  require(context, ph_am_prepare(context, kVictim, bytes, bytes, &slot), "prepare");
  fill(slot, 1);
  ::kill(victim, SIGKILL);
  await_death(context);
  fill(slot, 2);
  is(context, ph_am_prepare(context, kVictim, 1, 1, &other), PH_ERR_PEER, "a second span");
  fill(slot, 3);
  is(context, ph_am_commit(&slot, kId, {}, bytes), PH_ERR_PEER, "commit");
  is(context, ph_am_commit(&slot, kId, {}, bytes), PH_ERR_STATE, "commit once more");
  is(context, ph_am_cancel(&slot), PH_ERR_STATE, "cancel");
  require(context, ph_am_prepare(context, kFriend, bytes, bytes, &other), "prepare for a friend");
  fill(other, 4);
  require(context, ph_am_commit(&other, kId, {}, bytes), "commit to a friend");
}

int be_rank(const ph_bootstrap& bootstrap, int count_of, char** arguments) {
  std::vector<ph_option> options;
  for (int i = 2; i < count_of; ++i) {
    char* const value = std::strchr(arguments[i], '=');
    if (value == nullptr) return 2;
    *value = 0;
    options.push_back({arguments[i], value + 1});
  }
  pid_t own = ::getpid();
  pid_t all[kRanks] = {};
  if (bootstrap.allgather(bootstrap.user, &own, all, sizeof own) != 0) return 2;
  const ph_config config = {sizeof config, &bootstrap, options.data(), options.size()};
  ph_context* context = nullptr;
  ph_error error = {};
  if (ph_context_create(&config, &context, &error) != PH_OK) {
    std::fprintf(stderr, "%s\n", error.text);
    return 2;
  }
  int handled = 0;
  require(context, ph_am_register(context, kId, count, &handled), "register");
  require(context, ph_barrier(context), "barrier");
  if (bootstrap.rank == 0) {
    outlive(context, std::stoul(arguments[1]), all[kVictim]);
  } else {
    while (handled == 0) static_cast<void>(ph_am_poll(context, 0));  // the victim until its end
  }
  const ph_status left = ph_finalize(context);
  if (left != PH_OK && left != PH_ERR_PEER) fail(context, "finalize", left);
  ph_context_destroy(context);
  return 0;
}

}  // namespace

int main(int count_of, char** arguments) {
  if (count_of < 2) return 2;
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const std::vector<int> ends = fork_ranks(kRanks, [&](const ph_bootstrap& bootstrap) {
    return be_rank(bootstrap, count_of, arguments);
  });
  const int victim = ends[kVictim];
  const bool was_killed = WIFSIGNALED(victim) && WTERMSIG(victim) == SIGKILL;
  return was_killed && ends[0] == 0 && ends[kFriend] == 0 ? 0 : 1;
}
