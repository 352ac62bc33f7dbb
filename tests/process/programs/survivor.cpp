// A job of three in which rank 1 ends without a word, or stands still for a while; the others say
// what they see of it. Arguments: how it ends, how the others wait, how the ranks are started.
//
//   survivor kill|abort|exit|stop  probe|wait|flush  launched|forked
//
// Exit status 0: docs/departed-and-dead.md is kept. Rank 1 has its own.
#include <photon/photon.h>

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "forked_job.hpp"

namespace {

constexpr std::uint32_t kRanks = 3;
constexpr ph_rank kVictim = 1;
constexpr std::uint64_t kReadyId = 1, kEarlyId = 7, kPutId = 8, kBusyId = 9, kDoneId = 10;
constexpr std::uint64_t kBytes = 0x0123456789abcdef;
constexpr std::uint64_t kBigBytes = 100'000;
constexpr std::uint64_t kElsewhere = 8192;  // in the memory that a rank shows
constexpr std::int64_t kLongUs = 8'000'000;
constexpr std::int64_t kSecondNs = 1'000'000'000;

std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

// What each tells the others at first.
struct Shown {
  ph_region region;
  pid_t pid;
};

class Rank {
 public:
  explicit Rank(ph_context* context) : context_(context), memory_(kElsewhere + kBigBytes) {}

  int run(const std::string& how, const std::string& waiting);

 private:
  bool say(bool good, const std::string& what);
  bool is(const std::string& what, ph_status found, ph_status expected = PH_OK);
  void take();
  bool await_remote(ph_rank peer, std::uint64_t id);
  struct Place {
    ph_rank rank;
    std::uint64_t offset;
  };
  bool put(Place place, std::uint64_t size_bytes, std::uint64_t id, std::uint32_t flags);
  void end(const std::string& how);
  void await_asked();
  static void compute();
  void ask_much();
  ph_status await_end(const std::string& waiting);
  void mourn(const std::string& waiting);
  void check_gone(std::size_t mapped);
  bool be_patient();
  bool go_on();
  bool have_all_ended();
  static std::size_t mapped_files();

  ph_context* context_;
  std::vector<std::byte> memory_;
  std::vector<std::byte> source_ = std::vector<std::byte>(kBigBytes);
  Shown shown_[kRanks] = {};
  std::multiset<std::uint64_t> remote_[kRanks];
  // What was asked of the victim, by local id.
  struct Ends {
    bool is_final = false;  // its PH_OK is the last word
    int ok = 0;
    int failed = 0;
  };
  std::map<std::uint64_t, Ends> asked_;
  int failed_ = 0;
  bool good_ = true;
};

bool Rank::say(bool good, const std::string& what) {
  if (!good) std::fprintf(stderr, "rank %u: %s\n", ph_rank_of(context_), what.c_str());
  good_ = good_ && good;
  return good;
}

bool Rank::is(const std::string& what, ph_status found, ph_status expected) {
  return say(found == expected,
             what + ": " + ph_status_text(found) + ", not " + ph_status_text(expected));
}

// Every completion that is there.
void Rank::take() {
  ph_completion found[16];
  for (std::size_t count = 16; count == 16;) {
    is("probe", ph_probe(context_, {PH_ANY_RANK, PH_EITHER, nullptr}, found, 16, &count));
    for (std::size_t i = 0; i < count; ++i) {
      const ph_completion& one = found[i];
      if (one.kind == PH_REMOTE) {
        remote_[one.peer].insert(one.id);
        continue;
      }
      if (one.status != PH_OK) {
        ++failed_;
        say(one.peer == kVictim, "an error that names another rank");
        is("an operation", static_cast<ph_status>(one.status), PH_ERR_PEER);
      }
      const auto asked = asked_.find(one.id);
      if (asked != asked_.end()) ++(one.status == PH_OK ? asked->second.ok : asked->second.failed);
    }
  }
}

bool Rank::await_remote(ph_rank peer, std::uint64_t id) {
  for (const std::int64_t end = now_ns() + 8 * kSecondNs; remote_[peer].count(id) == 0;) {
    if (now_ns() > end) return say(false, "id " + std::to_string(id) + " does not come");
    take();
    ::sched_yield();
  }
  return true;
}

bool Rank::put(Place place, std::uint64_t size_bytes, std::uint64_t id, std::uint32_t flags) {
  ph_put_args args = {};
  args.size = sizeof args;
  args.source = source_.data();
  args.size_bytes = size_bytes;
  args.target = ph_at(&shown_[place.rank].region, place.offset);
  args.local = args.remote = ph_id{&id, sizeof id};
  args.flags = flags;
  ph_status status = PH_AGAIN;
  for (int tries = 0; status == PH_AGAIN && tries < 1000; ++tries) {
    status = ph_put(context_, place.rank, &args);
    if (status == PH_AGAIN) take();
  }
  return status == PH_OK;
}

// Outside the library, which would answer: each of the others says by a signal of its own that it
// has asked for what the victim will never do.
sigset_t asked_signals() {
  sigset_t all;
  sigemptyset(&all);
  for (const int rank : {0, 2}) sigaddset(&all, SIGRTMIN + rank);
  return all;
}

void Rank::await_asked() {
  const sigset_t all = asked_signals();
  const timespec limit = {8, 0};
  for (int i = 0; i < 2; ++i) say(::sigtimedwait(&all, nullptr, &limit) > 0, "they have not asked");
}

// Long enough to see by their use of the processor that those who wait sleep.
void Rank::compute() {
  for (const std::int64_t end = now_ns() + kSecondNs / 10; now_ns() < end;) {
  }
}

// The victim has met both and delivered something; then, while they wait for it, it stops.
void Rank::end(const std::string& how) {
  std::memcpy(source_.data(), &kBytes, sizeof kBytes);
  for (const ph_rank rank : {0u, 2u}) {
    is("notify", ph_notify(context_, rank, kEarlyId));
    say(put({rank, 0}, sizeof kBytes, kPutId, PH_NO_LCE), "put");
  }
  await_remote(0, kReadyId);
  await_remote(2, kReadyId);
  if (how == "stop") return;
  for (const ph_rank rank : {0u, 2u}) is("notify", ph_notify(context_, rank, kBusyId));
  await_asked();
  compute();
  for (const ph_rank rank : {0u, 2u})
    is("notify", ph_notify(context_, rank, static_cast<std::uint64_t>(now_ns())));
  if (how == "kill") ::kill(::getpid(), SIGKILL);
  if (how == "abort") std::abort();
  std::exit(0);
}

// Requests of every kind, some of which are sure to wait for it.
void Rank::ask_much() {
  ph_get_args args = {};
  args.size = sizeof args;
  args.destination = memory_.data() + kElsewhere;
  args.size_bytes = 5000;
  args.source = ph_at(&shown_[kVictim].region, 0);
  std::uint64_t id = 100;
  args.local = args.remote = ph_id{&id, sizeof id};
  args.flags = PH_NOTICE_ACCEPTED;
  for (const std::uint64_t size_bytes : {std::uint64_t{8}, std::uint64_t{3000}, kBigBytes}) {
    for (const std::uint32_t flags : {0u, PH_NO_RCE + 0u, PH_DELIVERED + 0u}) {
      if (put({kVictim, 0}, size_bytes, ++id, flags)) asked_[id].is_final = flags == PH_DELIVERED;
    }
  }
  ++id;
  if (ph_get(context_, kVictim, &args) == PH_OK) asked_[id].is_final = true;
  // More ids than the ledger holds.
  for (int i = 0; i < 8; ++i)
    if (put({kVictim, 0}, 0, ++id, PH_DELIVERED)) asked_[id].is_final = true;
  say(asked_.size() == 18, "only " + std::to_string(asked_.size()) + " requests were accepted");
}

// Each once; a put whose source was free may still have lost its id.
bool Rank::have_all_ended() {
  for (const auto& [id, ends] : asked_) {
    const int most = ends.is_final ? 1 : 2;
    if (ends.ok > 1 || ends.failed > 1 || ends.ok + ends.failed > most)
      return say(false, "request " + std::to_string(id) + " ended twice");
    if (ends.ok + ends.failed == 0) return false;
  }
  return true;
}

// Until something says that it is gone.
ph_status Rank::await_end(const std::string& waiting) {
  if (waiting == "flush") return ph_flush(context_, kVictim, kLongUs);
  const std::int64_t end = now_ns() + kLongUs * 1000;
  while (failed_ == 0 && now_ns() < end) {
    if (waiting == "wait") {
      const ph_status status = ph_wait(context_, {kVictim, PH_LOCAL, nullptr}, kLongUs);
      if (status != PH_OK) return status;
    }
    take();
  }
  return failed_ == 0 ? PH_TIMEOUT : PH_ERR_PEER;
}

// Different files of ours that are mapped: two of our own and four for each peer.
std::size_t Rank::mapped_files() {
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> inodes;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("photon-") == std::string::npos) continue;
    if (line.find("/memfd:") == std::string::npos) continue;
    char range[64], flags[8], offset[32], device[16], inode[32];
    if (std::sscanf(line.c_str(), "%63s %7s %31s %15s %31s", range, flags, offset, device, inode) ==
        5)
      inodes.insert(inode);
  }
  return inodes.size();
}

void Rank::mourn(const std::string& waiting) {
  const std::size_t mapped = mapped_files();
  is("notify", ph_notify(context_, kVictim, kReadyId));
  await_remote(kVictim, kBusyId);
  ask_much();
  say(::kill(shown_[kVictim].pid, SIGRTMIN + static_cast<int>(ph_rank_of(context_))) == 0, "kill");
  rusage before = {}, after = {};
  ::getrusage(RUSAGE_SELF, &before);
  const std::int64_t begin_ns = now_ns();
  is("the wait for its end", await_end(waiting), PH_ERR_PEER);
  const std::int64_t noticed_ns = now_ns();
  ::getrusage(RUSAGE_SELF, &after);
  const auto cpu_us = [](const rusage& use) {
    return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1'000'000 + use.ru_utime.tv_usec +
           use.ru_stime.tv_usec;
  };
  if (waiting != "probe")
    say((cpu_us(after) - cpu_us(before)) * 1000 < (noticed_ns - begin_ns) / 2, "it did not sleep");
  is("flush", ph_flush(context_, kVictim, kLongUs), PH_ERR_PEER);
  take();
  say(have_all_ended(), "a request has not ended");
  say(failed_ != 0, "no request has failed");
  say(remote_[kVictim].count(kEarlyId) == 1 && remote_[kVictim].count(kPutId) == 1,
      "what it had delivered is lost");
  say(std::memcmp(memory_.data(), &kBytes, sizeof kBytes) == 0, "the bytes of its put are lost");
  const auto ended_ns = remote_[kVictim].empty() ? 0 : *remote_[kVictim].rbegin();
  const std::int64_t late_ns = noticed_ns - static_cast<std::int64_t>(ended_ns);
  say(late_ns >= 0 && late_ns < kSecondNs, "noticed after " + std::to_string(late_ns) + " ns");
  check_gone(mapped);
}

// It is named, nothing more can be sent to it, and what it shared is given back.
void Rank::check_gone(std::size_t mapped) {
  ph_error error = {};
  is("notify", ph_notify(context_, kVictim, 1), PH_ERR_PEER);
  ph_last_error(context_, &error);
  say(error.rank == kVictim && std::strstr(error.text, "rank 1") != nullptr,
      std::string("the error does not name it: ") + error.text);
  ph_path path = {};
  path.size = sizeof path;
  is("path", ph_path_to(context_, kVictim, &path));
  say(std::strcmp(path.state, "dead") == 0, std::string("its state is ") + path.state);
  say(mapped == 10 && mapped_files() == 6,
      std::to_string(mapped) + " files were mapped, now " + std::to_string(mapped_files()));
}

// The victim is stopped for longer than any notice takes.
bool Rank::be_patient() {
  is("notify", ph_notify(context_, kVictim, kReadyId));
  const pid_t victim = shown_[kVictim].pid;
  await_remote(kVictim, kPutId);
  // Not before it has put to both.
  const ph_rank other = 2 - ph_rank_of(context_);
  if (other == 0) is("notify", ph_notify(context_, other, kReadyId));
  await_remote(other, kReadyId);
  if (other == 2) {
    ::kill(victim, SIGSTOP);
    is("notify", ph_notify(context_, other, kReadyId));
  }
  ask_much();
  is("wait for a stopped rank", ph_wait(context_, {kVictim, PH_REMOTE, nullptr}, 1'500'000),
     PH_TIMEOUT);
  is("flush to a stopped rank", ph_flush(context_, kVictim, 200'000), PH_TIMEOUT);
  say(go_on(), "the others do not go on");
  if (ph_rank_of(context_) == 0) ::kill(victim, SIGCONT);
  is("flush", ph_flush(context_, kVictim, kLongUs));
  for (const std::int64_t end = now_ns() + 8 * kSecondNs; !have_all_ended() && now_ns() < end;) {
    take();
    ::sched_yield();
  }
  say(have_all_ended() && failed_ == 0, "a request has not ended, or has failed");
  is("notify", ph_notify(context_, kVictim, kReadyId + 1));
  return good_;
}

// 0 and 2 among each other.
bool Rank::go_on() {
  const ph_rank other = 2 - ph_rank_of(context_);
  constexpr std::uint64_t kFirst = 1000, kCount = 200;
  for (std::uint64_t id = kFirst; id < kFirst + kCount; ++id)
    if (!put({other, kElsewhere}, id % 2 == 0 ? 64 : 5000, id, PH_NO_LCE)) return false;
  if (!await_remote(other, kFirst + kCount - 1)) return false;
  for (std::uint64_t id = kFirst; id < kFirst + kCount; ++id)
    if (remote_[other].count(id) != 1) return false;
  // Who has all of it may leave, and cannot be flushed to any more.
  return ph_flush(context_, other, kLongUs) == PH_OK &&
         ph_notify(context_, other, kDoneId) == PH_OK && await_remote(other, kDoneId);
}

int Rank::run(const std::string& how, const std::string& waiting) {
  Shown mine = {};
  mine.pid = ::getpid();
  is("register",
     ph_register(context_, memory_.data(), memory_.size(), PH_ACCESS_ALL, &mine.region));
  is("allgather", ph_allgather(context_, &mine, shown_, sizeof mine));
  const ph_rank me = ph_rank_of(context_);
  for (ph_rank rank = 0; rank < kRanks; ++rank)  // all meet all
    if (rank != me) is("notify", ph_notify(context_, rank, 50));
  for (ph_rank rank = 0; rank < kRanks; ++rank)
    if (rank != me) await_remote(rank, 50);
  is("barrier", ph_barrier(context_));
  if (me == kVictim) {
    end(how);
    await_remote(0, kReadyId + 1);
    await_remote(2, kReadyId + 1);
  } else if (how == "stop") {
    be_patient();
  } else {
    await_remote(kVictim, kPutId);
    mourn(waiting);
    say(go_on(), "the others do not go on");
  }
  const std::int64_t begin_ns = now_ns();
  is("finalize", ph_finalize(context_));
  say(now_ns() - begin_ns < kSecondNs, "finalize takes long");
  ph_context_destroy(context_);
  return good_ ? 0 : 1;
}

int be_rank(const ph_bootstrap* bootstrap, char** arguments) {
  const ph_option options[] = {{"ledger_slots", "4"}, {"spin_us", "10"}};
  ph_config config = {sizeof config, bootstrap, options, 2};
  ph_context* context = nullptr;
  ph_error error = {};
  if (ph_context_create(&config, &context, &error) != PH_OK) {
    std::fprintf(stderr, "%s\n", error.text);
    return 2;
  }
  return Rank(context).run(arguments[1], arguments[2]);
}

int fork_all(char** arguments) {
  const auto statuses = photon::test::fork_ranks(
      kRanks, [&](const ph_bootstrap& bootstrap) { return be_rank(&bootstrap, arguments); });
  return statuses[0] == 0 && statuses[2] == 0 ? 0 : 1;
}

}  // namespace

int main(int arguments_count, char** arguments) {
  if (arguments_count != 4) return 2;
  const sigset_t waited_for = asked_signals();
  ::sigprocmask(SIG_BLOCK, &waited_for, nullptr);
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  return std::string(arguments[3]) == "forked" ? fork_all(arguments) : be_rank(nullptr, arguments);
}
