// A Plan is what the caller's ph_coll_args say, checked and copied: the schedule's call, how
// elements are folded, the buffers, and how the end is told. Of the caller's memory it still refers
// to the buffers alone, to the place of the request, and to out_counts with PH_COUNTS_FROM_SENDERS.
// Owner: an Operation.
#pragma once

#include <photon/coll.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "fold/fold.hpp"
#include "schedule/choice.hpp"
#include "service/coll/words.hpp"

namespace photon::service::coll {

struct Plan {
  schedule::Call call;
  bool is_provided = false;  // a provider does it, not the schedule
  schedule::NamedKind kind = 0;
  schedule::Choice choice;
  std::vector<std::uint64_t> counts;     // counts and offsets, to which `call` points
  std::uint64_t* told_counts = nullptr;  // the caller's, which PH_COUNTS_FROM_SENDERS writes
  std::uint64_t own_count = 0;           // the entry of this member in told_counts
  std::uint64_t element_bytes = 1;
  fold::Fold fold = nullptr;  // null: `user` folds, if the kind folds
  ph_fold user{};
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  Described described;
  std::uint32_t digest = 0;      // of `described`
  std::uint64_t size_bytes = 0;  // what the completion gives as the size
  bool is_v = false;             // of a kind with counts of its own

  std::vector<std::byte> local;
  std::uint32_t flags = 0;
  ph_request* request = nullptr;
  ph_coll_handler handler = nullptr;
  void* handler_user = nullptr;

  bool folds() const noexcept { return fold != nullptr || user.function != nullptr; }
};

// What make_plan() has to know of the member that calls. Without `choices` the built-in table
// counts.
struct Asker {
  std::uint32_t size = 1;
  std::uint32_t rank = 0;
  fold::Isa isa = fold::Isa::baseline;
  const schedule::Choices* choices = nullptr;
  schedule::Layout layout = schedule::Layout::one_host;
  bool checks = false;  // coll_check
  const schedule::Hosts* hosts = nullptr;
};

// Checks `args` and fills `plan`. PH_ERR_ARGUMENT: `why` says which argument is wrong. Throws
// bad_alloc.
ph_status make_plan(const ph_coll_args& args, Asker asker, Plan& plan, std::string& why);

const char* name_of(ph_coll_kind kind) noexcept;
// Describes a call in the words of errors: "allreduce of 8 float by add".
std::string text_of(const Described& what);
// What differs of that which coll_check alone compares: ": their counts differ"; else nothing.
std::string difference_of(const Described& one, const Described& other);

}  // namespace photon::service::coll
