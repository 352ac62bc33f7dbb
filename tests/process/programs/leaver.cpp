// Ranks that leave in awkward moments; the argument says how. Every case exits with 0 if the
// others saw what docs/departed-and-dead.md promises.
#include <photon/photon.h>

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string_view>

namespace {

constexpr std::int64_t kLongUs = 8'000'000;

ph_status put(ph_context* context, ph_rank rank, ph_target target, std::uint32_t flags) {
  static constexpr std::uint64_t kId = 5;
  static constexpr std::uint64_t kBytes = 1;
  ph_put_args args = {};
  args.size = sizeof args;
  args.source = &kBytes;
  args.size_bytes = sizeof kBytes;
  args.target = target;
  args.local = args.remote = ph_id{&kId, sizeof kId};
  args.flags = flags;
  return ph_put(context, rank, &args);
}

bool is(const char* what, ph_status found, ph_status expected) {
  if (found == expected) return true;
  std::fprintf(stderr, "%s: %s, not %s\n", what, ph_status_text(found), ph_status_text(expected));
  return false;
}

// Rank 1 ends without having read the offer of rank 0, whose put waits to be acknowledged.
bool meets_an_end(ph_context* context, bool in_order) {
  ph_barrier(context);
  if (ph_rank_of(context) == 1) {
    if (!in_order) ::_exit(0);
    return true;
  }
  ::usleep(300'000);  // by now rank 1 is gone, but we have not looked
  const ph_status expected = in_order ? PH_ERR_DEPARTED : PH_ERR_PEER;
  const ph_status posted = put(context, 1, {4096, 1}, PH_DELIVERED | PH_NO_RCE);
  if (posted != PH_OK) {  // the barrier had looked: no warning then, but the error says it
    ph_error error;
    ph_last_error(context, &error);
    if (!in_order) std::fprintf(stderr, "%s\n", error.text);
    return is("put", posted, expected);
  }
  bool good = true;
  ph_completion done[1];
  std::size_t count = 0;
  const ph_query query{1, PH_LOCAL, nullptr};
  good = is("wait", ph_wait(context, query, kLongUs), PH_OK) && good;
  good = is("probe", ph_probe(context, query, done, 1, &count), PH_OK) && count == 1 && good;
  good = is("operation", static_cast<ph_status>(done[0].status), expected) && good;
  return is("notify", ph_notify(context, 1, 1), expected) && good;
}

// All notify all at once and leave.
bool all_leave_at_once(ph_context* context) {
  bool good = true;
  for (ph_rank rank = 0; rank < ph_size_of(context); ++rank) {
    const ph_status status = ph_notify(context, rank, 1);
    good = (status == PH_OK || is("notify", status, PH_ERR_DEPARTED)) && good;
  }
  return good;
}

}  // namespace

int main(int arguments_count, char** arguments) {
  const std::string_view how = arguments_count > 1 ? arguments[1] : "";
  ph_context* context = nullptr;
  if (ph_context_create(nullptr, &context, nullptr) != PH_OK) return 2;
  bool good = true;
  ph_status left = PH_OK;
  if (how == "in_order" || how == "without_a_word") {
    good = meets_an_end(context, how == "in_order");
  } else if (how == "at_once") {
    good = all_leave_at_once(context);
  } else if (how == "refused" && ph_rank_of(context) == 0) {
    // No such region; only rank 1 can tell, as we have never met it.
    good = is("put", put(context, 1, {4096, 1}, 0), PH_OK);
    left = PH_ERR_KEY;
  } else if (how == "refused") {
    good = is("wait", ph_wait(context, {0, PH_REMOTE, nullptr}, kLongUs), PH_ERR_DEPARTED);
  }
  good = is("finalize", ph_finalize(context), left) && good;
  ph_error error;
  ph_last_error(context, &error);
  if (left != PH_OK && std::strstr(error.text, "never probed") == nullptr) good = false;
  ph_context_destroy(context);
  return good ? 0 : 1;
}
