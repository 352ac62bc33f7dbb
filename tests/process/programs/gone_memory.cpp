// gone_memory CASE SIZE: rank 0 puts to rank 1, or gets from it, where memory cannot be used. That
// operation ends once, with an error that says whose memory it was, and a good put follows.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "rank_calls.hpp"

namespace {

using photon::test::fail;
using photon::test::kLongUs;
using photon::test::next;
using photon::test::require;

constexpr std::uint64_t kMet = 1, kBad = 2, kGood = 3;

struct Case {
  const char* name;
  bool is_get;
  bool is_owners;  // rank 1's memory
  bool is_late;    // unmapped when the call has returned
  int protection;  // of its second half; -1: unmapped
  ph_status status;
};

constexpr Case kCases[] = {
    {"short_source", false, false, false, -1, PH_ERR_ARGUMENT},
    {"late_source", false, false, true, -1, PH_ERR_ARGUMENT},
    {"short_destination", true, false, false, -1, PH_ERR_ARGUMENT},
    {"late_destination", true, false, true, -1, PH_ERR_ARGUMENT},
    {"read_only_destination", true, false, false, PROT_READ, PH_ERR_ARGUMENT},
    {"short_target", false, true, false, -1, PH_ERR_ACCESS},
    {"read_only_target", false, true, false, PROT_READ, PH_ERR_ACCESS},
    {"short_owner", true, true, false, -1, PH_ERR_ACCESS},
    {"hidden_owner", true, true, false, PROT_NONE, PH_ERR_ACCESS},
};

// Pages of which the second half can be taken away; a block ends where it may be cut in two.
class Pages {
 public:
  explicit Pages(std::size_t size_bytes) : half_((size_bytes + 4095) / 4096 * 4096) {
    all_ = ::mmap(nullptr, 2 * half_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all_ == MAP_FAILED) std::_Exit(4);
    std::memset(all_, 1, 2 * half_);
  }
  // So many bytes, half of them behind the cut.
  char* block(std::size_t size_bytes) const { return cut() - size_bytes / 2; }
  void spoil(int protection) const {
    const int failed =
        protection < 0 ? ::munmap(cut(), half_) : ::mprotect(cut(), half_, protection);
    if (failed != 0) std::_Exit(4);
  }

 private:
  char* cut() const { return static_cast<char*>(all_) + half_; }
  std::size_t half_;
  void* all_;
};

ph_status post(ph_context* context, const Case& what, void* own, const ph_region& there,
               std::size_t size_bytes) {
  const ph_id id{&kBad, sizeof kBad};
  if (what.is_get) {
    ph_get_args get{};
    get.size = sizeof get;
    get.destination = own;
    get.size_bytes = size_bytes;
    get.source = ph_at(&there, 0);
    get.local = get.remote = id;
    return ph_get(context, 1, &get);
  }
  ph_put_args put{};
  put.size = sizeof put;
  put.source = own;
  put.size_bytes = size_bytes;
  put.target = ph_at(&there, 0);
  put.local = put.remote = id;
  put.flags = PH_DELIVERED;  // its end is the landing: told once
  return ph_put(context, 1, &put);
}

// What was taken at the call may land although its memory has gone since.
bool is_expected(const Case& what, ph_status status) {
  return status == what.status || (what.is_late && status == PH_OK);
}

void err(ph_context* context, const Case& what, const ph_region& there, const ph_region& good,
         std::size_t size_bytes) {
  const Pages own(size_bytes);
  if (!what.is_owners && !what.is_late) own.spoil(what.protection);
  require(context, post(context, what, own.block(size_bytes), there, size_bytes), "the bad one");
  if (what.is_late) own.spoil(what.protection);
  const ph_completion bad = next(context, 1, PH_LOCAL);
  if (bad.id != kBad || !is_expected(what, bad.status)) fail(context, "the bad one", bad.status);
  ph_error error{};
  ph_last_error(context, &error);
  std::printf("%s: %s\n", ph_status_text(bad.status), error.text);
  char block[64] = "good";
  require(context, ph_put_u64(context, 1, {block, sizeof block}, ph_at(&good, 0), {kGood, kGood}),
          "a good put");
  const ph_completion last = next(context, 1, PH_LOCAL);
  if (last.id != kGood || last.status != PH_OK) fail(context, "the good one", last.status);
}

// Its id comes only with what has landed, and that of the good one behind it.
void owe(ph_context* context, const Case& what, const char* good) {
  ph_completion one = next(context, 0, PH_REMOTE);
  if (one.id == kBad && what.is_late) one = next(context, 0, PH_REMOTE);
  if (one.id != kGood || one.status != PH_OK || std::strcmp(good, "good") != 0)
    fail(context, "another id", one.status);
}

int run(const Case& what, std::size_t size_bytes) {
  ph_context* context = nullptr;
  if (ph_context_create(nullptr, &context, nullptr) != PH_OK) return 3;
  const bool is_owner = ph_rank_of(context) == 1;
  const Pages memory(size_bytes);
  char good[64] = "";
  ph_region mine[2]{}, all[4]{};
  require(context,
          ph_register(context, memory.block(size_bytes), size_bytes, PH_ACCESS_ALL, &mine[0]),
          "register");
  require(context, ph_register(context, good, sizeof good, PH_ACCESS_ALL, &mine[1]), "register");
  require(context, ph_allgather(context, mine, all, sizeof mine), "allgather");
  if (is_owner) {  // they meet
    require(context, ph_notify(context, 0, kMet), "notify");
  } else {
    next(context, 1, PH_REMOTE);
    require(context, ph_notify(context, 1, kMet), "notify");
  }
  if (is_owner) next(context, 0, PH_REMOTE);
  if (is_owner && what.is_owners) memory.spoil(what.protection);
  require(context, ph_barrier(context), "barrier");
  if (is_owner)
    owe(context, what, good);
  else
    err(context, what, all[2], all[3], size_bytes);
  require(context, ph_barrier(context), "barrier");
  ph_finalize(context);  // says once more that an operation has failed
  ph_context_destroy(context);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  for (const Case& one : kCases)
    if (std::string(one.name) == arguments[1]) return run(one, std::stoul(arguments[2]));
  return 2;
}
