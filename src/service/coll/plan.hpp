// A checked request of the caller's: the schedule's call, the arithmetic, the buffers, and how
// the end is told. Nothing of it depends on the caller's memory any more but the buffers, and the
// counts that PH_COUNTS_FROM_SENDERS tells.
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
  std::vector<std::uint64_t> counts;  // those of `call`, and their offsets
  std::uint64_t* told_counts = nullptr;
  std::uint64_t own_count = 0;  // of those
  std::uint64_t element_bytes = 1;
  fold::Fold fold = nullptr;  // null: `user` does it, if anything is folded
  ph_fold user{};
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  Described described;
  std::uint32_t digest = 0;
  std::uint64_t size_bytes = 0;  // as the completion says
  bool is_v = false;

  std::vector<std::byte> local;
  std::uint32_t flags = 0;
  ph_request* request = nullptr;
  ph_coll_handler handler = nullptr;
  void* handler_user = nullptr;

  bool folds() const noexcept { return fold != nullptr || user.function != nullptr; }
};

// The member that asks, how its processor folds, and how it chooses; without choices as is built
// in.
struct Asker {
  std::uint32_t size = 1;
  std::uint32_t rank = 0;
  fold::Isa isa = fold::Isa::baseline;
  const schedule::Choices* choices = nullptr;
  schedule::Layout layout = schedule::Layout::one_host;
  bool checks = false;  // coll_check
  const schedule::Hosts* hosts = nullptr;
};

// PH_OK: `plan` is what `args` say. Else `why` says which argument is wrong. Throws bad_alloc.
ph_status make_plan(const ph_coll_args& args, Asker asker, Plan& plan, std::string& why);

const char* name_of(ph_coll_kind kind) noexcept;
// "allreduce of 8 float by add", for errors.
std::string text_of(const Described& what);
// ": their counts differ", of what coll_check alone compares; or nothing.
std::string difference_of(const Described& one, const Described& other);

}  // namespace photon::service::coll
