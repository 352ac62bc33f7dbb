// A job of eight whose ranks are killed one after the other in the middle of collectives; those
// that live agree, make a team of the survivors, and go on with it. Arguments:
//
//   bereaved kill|stop  SETTING=VALUE ...
//
// kill: ranks 0 and 2 end by SIGKILL. stop: rank 0 stands still until all others have waited for it
// in vain, and then they wait again. Exit status 0: all was as it should be.
#include <photon/photon.h>

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "forked_job.hpp"

namespace {

constexpr std::uint32_t kRanks = 8;  // of which some have no contact with each other
constexpr std::int64_t kLongUs = 8'000'000;
constexpr std::int64_t kNoticedUs = 1'500'000;  // the victim serves for a while before it dies
constexpr std::int64_t kInVainUs = 100'000;

std::int64_t now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

class Rank {
 public:
  // `waited`: a pipe, to which each rank says that it has waited in vain.
  Rank(ph_context* context, const int (&waited)[2])
      : context_(context), me_(ph_rank_of(context)), waited_{waited[0], waited[1]} {}

  int run(bool kills) {
    is("world", ph_team_world(context_, &team_));
    expect_sum(64);
    if (kills) {
      bury(0, 1);
      bury(2, 50'000);
    } else {
      be_patient();
    }
    const ph_status left = ph_finalize(context_);
    say(left == PH_OK || (kills && left == PH_ERR_PEER), "finalize");  // lost with what had gone
    ph_context_destroy(context_);
    return good_ ? 0 : 1;
  }

 private:
  bool say(bool good, const std::string& what) {
    if (!good) std::fprintf(stderr, "rank %u: %s\n", me_, what.c_str());
    good_ = good_ && good;
    return good;
  }
  bool is(const std::string& what, ph_status found, ph_status expected = PH_OK) {
    ph_error error = {};
    ph_last_error(context_, &error);
    return say(found == expected, what + ": " + ph_status_text(found) + ", not " +
                                      ph_status_text(expected) + " (" + error.text + ")");
  }

  ph_coll_args sum_of(std::uint64_t count) {
    in_.assign(count, 1);
    out_.assign(count, 0);
    ph_coll_args args = {};
    args.size = sizeof args;
    args.kind = PH_COLL_ALLREDUCE;
    args.in = in_.data();
    args.out = out_.data();
    args.count = count;
    args.type = PH_INT64;
    args.op = PH_OP_ADD;
    args.request = &request_;
    return args;
  }
  ph_status add_up(std::uint64_t count) {
    const ph_coll_args args = sum_of(count);
    return ph_coll_run(team_, &args, kLongUs);
  }
  void expect_sum(std::uint64_t count) {
    if (!is("allreduce", add_up(count))) return;
    for (const std::int64_t value : out_)
      if (!say(value == ph_team_size(team_), "a wrong sum")) return;
  }

  // It has begun an operation that the others are in, and all earlier ones are over.
  void die(std::uint64_t count) {
    constexpr std::int64_t kServeUs = 100'000;
    static_cast<void>(ph_wait(context_, {PH_ANY_RANK, PH_EITHER, nullptr}, kServeUs));
    const ph_coll_args args = sum_of(count);
    is("begin", ph_coll_begin(team_, &args));
    ::raise(SIGKILL);
  }

  // That rank dies in the midst of an operation of so many elements; a team without it is made.
  void bury(ph_rank victim, std::uint64_t count) {
    const std::int64_t first_us = now_us();
    for (int i = 0; i < 20; ++i) expect_sum(count);
    if (me_ == victim) die(count);
    const std::int64_t begin_us = now_us();
    // Where others compute, too, all of it takes as much longer as these operations did.
    const std::int64_t noticed_us = kNoticedUs + 5 * (begin_us - first_us);
    ph_status status = add_up(count);
    if (status == PH_OK) status = add_up(count);  // what it had sent was enough for the first
    is("an operation of a dead member", status, PH_ERR_PEER);
    say(now_us() - begin_us < noticed_us, "a death is noticed late");
    std::uint64_t bits = ~(std::uint64_t{1} << me_);
    is("agree", ph_team_agree(team_, &bits, kLongUs));
    ph_team* smaller = nullptr;
    if (!is("shrink", ph_team_shrink(team_, kLongUs, &smaller))) return;
    say(now_us() - begin_us < 2 * noticed_us, "the survivors agree late");
    say(ph_team_size(smaller) + 1 == ph_team_size(team_), "another number of survivors");
    for (std::uint32_t i = 0; i < ph_team_size(team_); ++i) {
      const ph_rank rank = ph_team_member(team_, i);
      say((bits >> rank & 1) == 0 || rank == victim, "the bits of a survivor are missing");
      is("lost", ph_team_lost(team_, i), rank == victim ? PH_ERR_PEER : PH_OK);
    }
    if (ph_team_size(team_) != kRanks) is("free", ph_team_free(team_));
    team_ = smaller;
    for (int i = 0; i < 20; ++i) expect_sum(count);
  }

  // Rank 0 stops before it calls, so that the others cannot agree.
  void be_patient() {
    std::uint64_t bits = ~(std::uint64_t{1} << me_);
    if (me_ == 0) {
      const pid_t self = ::getpid();
      if (::fork() == 0) wake_when_waited_for(self);
      ::raise(SIGSTOP);
    } else {
      is("agree without rank 0", ph_team_agree(team_, &bits, kInVainUs), PH_TIMEOUT);
      say(::write(waited_[1], "", 1) == 1, "the pipe takes nothing");
    }
    is("agree", ph_team_agree(team_, &bits, kLongUs));
    say(bits == ~std::uint64_t{(1U << kRanks) - 1}, "not the bits of all");
    ph_team* same = nullptr;
    if (!is("shrink", ph_team_shrink(team_, kLongUs, &same))) return;
    say(ph_team_size(same) == kRanks, "a stopped member is not dead");
    is("free", ph_team_free(same));
  }

  // In a process of its own.
  [[noreturn]] void wake_when_waited_for(pid_t stopped) const {
    char word = 0;
    for (std::uint32_t i = 1; i < kRanks; ++i)
      if (::read(waited_[0], &word, 1) != 1) ::_exit(1);
    while (!is_stopped(stopped)) ::sched_yield();
    ::kill(stopped, SIGCONT);
    ::_exit(0);
  }
  // The state stands behind the name, which is in brackets. One that is gone needs no waking.
  static bool is_stopped(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    if (!std::getline(file, line)) return true;
    const auto end = line.rfind(')');
    return end != std::string::npos && end + 2 < line.size() && line[end + 2] == 'T';
  }

  ph_context* context_;
  const ph_rank me_;
  const int waited_[2];
  ph_team* team_ = nullptr;
  ph_request request_ = PH_REQUEST_NONE;
  std::vector<std::int64_t> in_, out_;
  bool good_ = true;
};

int be_rank(const ph_bootstrap& bootstrap, int count, char** arguments, const int (&waited)[2]) {
  std::vector<ph_option> options;
  for (int i = 2; i < count; ++i) {
    char* const value = std::strchr(arguments[i], '=');
    if (value == nullptr) return 2;
    *value = 0;
    options.push_back({arguments[i], value + 1});
  }
  const ph_config config = {sizeof config, &bootstrap, options.data(), options.size()};
  ph_context* context = nullptr;
  ph_error error = {};
  if (ph_context_create(&config, &context, &error) != PH_OK) {
    std::fprintf(stderr, "%s\n", error.text);
    return 2;
  }
  return Rank(context, waited).run(std::string(arguments[1]) == "kill");
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const bool kills = std::string(arguments[1]) == "kill";
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  int waited[2];
  if (::pipe(waited) != 0) return 2;
  const std::vector<int> ends = photon::test::fork_ranks(
      kRanks,
      [&](const ph_bootstrap& bootstrap) { return be_rank(bootstrap, count, arguments, waited); });
  bool good = true;
  for (ph_rank rank = 0; rank < kRanks; ++rank) {
    const bool dies = kills && (rank == 0 || rank == 2);
    good = good &&
           (dies ? WIFSIGNALED(ends[rank]) && WTERMSIG(ends[rank]) == SIGKILL : ends[rank] == 0);
  }
  return good ? 0 : 1;
}
