// Two ranks whose copies by the kernel work at first and are refused later: sandboxed HOW
//   filter      rank 0 enters a seccomp filter with all of its threads
//   thread      rank 0 enters one with its own thread only
//   undumpable  rank 1 forbids others to look at its memory, and rank 0 has no right to do it
//   anyway
// Rank 0 puts and gets before, across and after that moment; its bytes and ids have to be right.
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "rank_calls.hpp"
#include "refused_copies.hpp"

namespace {

using photon::test::kLongUs;
using photon::test::require;

constexpr std::size_t kSpace = 8 << 20;
constexpr std::uint64_t kSegments = 16;
constexpr std::uint64_t kPhaseEnd = 1'000'000;

void enter_filter(unsigned flags) {
  if (photon::test::refuse_copies(EPERM, flags)) return;
  std::perror("seccomp");
  std::_Exit(1);
}

// Of all threads that this one starts, and of itself.
void drop_capabilities() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) {
    std::perror("capset");
    std::_Exit(1);
  }
}

class Rank {
 public:
  Rank(ph_context* context, ph_context* lane) : context_(context), lane_(lane), memory_(kSpace) {
    require(context_, ph_register(context_, memory_.data(), kSpace, PH_ACCESS_ALL, &mine_),
            "register");
    require(context_, ph_allgather(context_, &mine_, all_, sizeof mine_), "allgather");
  }

  void run(const std::string& how) {
    for (int i = 0; i < 5; ++i) round(3 << 20);
    end_phase();
    const bool had_cma = path().cma != 0;
    if (is_first()) post(kSpace);  // under way while the way goes
    change(how);
    if (is_first()) check_posted();
    for (int i = 0; i < 3; ++i)
      for (const std::size_t bytes : {std::size_t{1}, std::size_t{5000}, kSpace / 2}) round(bytes);
    if (is_first() && had_cma) round_until_refused();
    const ph_path last = path();  // rank 1 may leave as soon as the phase has ended
    end_phase();
    if (is_first() && had_cma && last.cma != 0)
      photon::test::fail(context_, "the path still tells of copies", PH_ERR_STATE);
    if (is_first()) std::printf("%s; %s\n", had_cma ? "worked" : "never worked", last.reason);
  }

 private:
  bool is_first() const { return ph_rank_of(context_) == 0; }

  // Rank 1 takes part until rank 0 has nothing more to do; each put and each get tells it once.
  void end_phase() {
    if (is_first()) {
      require(context_, ph_notify(context_, 1, kPhaseEnd), "notify");
    } else {
      serve();
    }
    require(context_, ph_barrier(context_), "barrier");
  }

  void serve() {
    for (std::uint64_t told = 0;;) {
      ph_completion found{}, other{};
      std::size_t count = 0;
      require(context_, ph_probe(context_, {0, PH_REMOTE, nullptr}, &found, 1, &count), "probe");
      std::size_t none = 0;  // a call on the lane, which makes its progress
      require(lane_, ph_probe(lane_, {0, PH_REMOTE, nullptr}, &other, 1, &none), "probe");
      if (count == 0) continue;
      if (found.id == kPhaseEnd && told % 2 == 0) return;
      if (found.id != seed_ + 1) photon::test::fail(context_, "another id", PH_ERR_PROTOCOL);
      if (++told % 2 == 0) ++seed_;
    }
  }

  ph_path path() {
    ph_path path{};
    path.size = sizeof path;
    require(context_, ph_path_to(context_, 1 - ph_rank_of(context_), &path), "path");
    return path;
  }

  void change(const std::string& how) {
    if (how == "undumpable" && !is_first()) {
      ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    } else if (how == "filter" && is_first()) {
      enter_filter(SECCOMP_FILTER_FLAG_TSYNC);
    } else if (how == "thread" && is_first()) {
      enter_filter(0);
    }
  }

  // A put to there and, behind a fence, a get of the same.
  void post(std::size_t bytes) {
    ++seed_;
    source_.assign(bytes, 0);
    for (std::size_t i = 0; i < bytes; ++i)
      source_[i] = static_cast<unsigned char>(i * 13 + i / 4093 + seed_);
    back_.assign(bytes, 0);
    require(context_,
            ph_put_u64(context_, 1, {source_.data(), bytes}, ph_at(&all_[1], 0), {seed_, seed_}),
            "put");
    require(context_, ph_fence(context_, 1), "fence");
    require(context_,
            ph_get_u64(context_, 1, {back_.data(), bytes}, ph_at(&all_[1], 0), {seed_, seed_}),
            "get");
  }

  void check_posted() {
    for (int i = 0; i < 2; ++i)
      if (photon::test::next(context_, 1, PH_LOCAL).id != seed_)
        photon::test::fail(context_, "another local id", PH_ERR_PROTOCOL);
    if (back_ != source_) photon::test::fail(context_, "other bytes", PH_ERR_PROTOCOL);
  }

  // The same on the lane, in segments.
  void segments(std::size_t bytes) {
    const std::size_t one = bytes / kSegments;
    std::vector<ph_put_segment> puts;
    std::vector<ph_get_segment> gets;
    for (std::size_t i = 0; i < kSegments; ++i) {
      puts.push_back({source_.data() + i * one, one, ph_at(&all_[1], i * (one + 1))});
      gets.push_back({back_.data() + i * one, one, ph_at(&all_[1], i * (one + 1))});
    }
    std::fill(back_.begin(), back_.end(), static_cast<unsigned char>(0));
    ph_put_vector_args put{};
    put.size = sizeof put;
    put.segments = puts.data();
    put.segments_count = kSegments;
    put.flags = PH_NO_RCE;
    require(lane_, ph_put_vector(lane_, 1, &put), "put_vector");
    photon::test::next(lane_, 1, PH_LOCAL);
    require(lane_, ph_flush(lane_, 1, kLongUs), "flush");
    ph_get_vector_args get{};
    get.size = sizeof get;
    get.segments = gets.data();
    get.segments_count = kSegments;
    get.flags = PH_NO_RCE;
    require(lane_, ph_get_vector(lane_, 1, &get), "get_vector");
    photon::test::next(lane_, 1, PH_LOCAL);
    if (std::memcmp(back_.data(), source_.data(), kSegments * one) != 0)
      photon::test::fail(lane_, "other bytes in segments", PH_ERR_PROTOCOL);
  }

  // Which way the bytes go is learnt, and on a busy machine the progress thread, which a filter of
  // one thread leaves alone, may have copied all of them so far.
  void round_until_refused() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (path().cma != 0 && std::chrono::steady_clock::now() < end) round(kSpace / 2);
  }

  void round(std::size_t bytes) {
    if (!is_first()) return;
    post(bytes);
    check_posted();
    if (bytes >= kSegments) segments(bytes);
  }

  ph_context* context_;
  ph_context* lane_;
  std::vector<unsigned char> memory_;
  std::vector<unsigned char> source_;
  std::vector<unsigned char> back_;
  ph_region mine_{}, all_[2]{};
  std::uint64_t seed_ = 0;
};

}  // namespace

int main(int arguments_count, char** arguments) {
  const std::string how = arguments_count > 1 ? arguments[1] : "filter";
  if (how == "undumpable") drop_capabilities();
  ph_context* context = nullptr;
  if (ph_context_create(nullptr, &context, nullptr) != PH_OK) return 3;
  ph_context* lane = nullptr;
  require(context, ph_lane_open(context, 1, &lane), "lane");
  Rank(context, lane).run(how);
  require(context, ph_finalize(context), "finalize");
  ph_context_destroy(context);
  return 0;
}
