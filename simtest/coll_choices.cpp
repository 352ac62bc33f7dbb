// What is chosen where nobody has: the same at all members, and known.
#include <fmt/format.h>

#include "simtest/coll_plan.hpp"

namespace photon::simtest::coll {

using schedule::Algorithm;
using schedule::Call;
using schedule::Kind;
using schedule::Terms;

namespace {

struct Question {
  Kind kind = Kind::barrier;
  std::uint32_t size = 1;
  std::uint64_t count = 0;
  Terms terms;
};

// Members differ in what they may differ in: places, and arrays that only some have.
Call call_of(const Question& question, std::uint32_t rank, const schedule::Blocks& blocks) {
  Call call;
  call.kind = question.kind;
  call.size = question.size;
  call.rank = rank;
  call.root = is_rooted(question.kind) ? question.size / 2 : 0;
  call.count = question.terms.is_v ? rank % 3 * 100'000 : question.count;
  static const schedule::Hosts kSome;
  if (question.terms.layout == schedule::Layout::several_hosts) call.hosts = &kSome;
  call.in_order = question.terms.reproducible;
  call.keeps_order = !question.terms.commutes;
  const bool is_root = rank == call.root;
  call.in_place =
      may_be_in_place(question.kind) && rank % 2 == 1 && (!is_rooted(question.kind) || is_root);
  if (!question.terms.is_v) return call;
  const bool has_in = question.kind == Kind::alltoall || question.kind == Kind::reduce_scatter ||
                      (question.kind == Kind::scatter && is_root);
  const bool has_out = question.kind == Kind::alltoall || question.kind == Kind::allgather ||
                       (question.kind == Kind::gather && is_root);
  if (has_in) call.in_blocks = blocks;
  if (has_out) call.out_blocks = blocks;
  return call;
}

std::string ask(const Question& question, const schedule::Blocks& blocks) {
  const Algorithm first = schedule::choose(call_of(question, 0, blocks), question.terms);
  for (std::uint32_t rank = 0; rank < question.size; ++rank) {
    Call call = call_of(question, rank, blocks);
    const Algorithm chosen = schedule::choose(call, question.terms);
    call.algorithm = chosen;
    if (chosen == first && schedule::knows(call)) continue;
    return fmt::format(
        "{} of {} members, {} elements of {} B{}{}{}{}: member {} takes {}, {}",
        name_of(question.kind), question.size, question.count, question.terms.element_bytes,
        question.terms.commutes ? "" : ", does not commute",
        question.terms.reproducible ? ", reproducible" : "",
        question.terms.is_v ? ", counts of its own" : "",
        question.terms.counts_from_senders ? ", counts from senders" : "", rank, name_of(chosen),
        chosen == first ? "which does not know it"
                        : fmt::format("member 0 takes {}", name_of(first)));
  }
  return "";
}

}  // namespace

std::string check_choices(std::uint32_t size, std::uint64_t& questions) {
  constexpr std::uint64_t kCounts[] = {0, 1, 30, 1000, 10'000, 100'000, 10'000'000};
  const std::vector<std::uint64_t> zeros(size, 0);
  const schedule::Blocks blocks{zeros.data(), zeros.data()};
  for (const Kind kind : everything().kinds)
    for (unsigned bits = 0; bits < 32; ++bits) {
      Question question{kind, size, 0, {}};
      question.terms = {8, (bits & 1) == 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
      if ((bits & 16) != 0) question.terms.layout = schedule::Layout::several_hosts;
      if (!folds(kind) && (bits & 5) != 0) continue;
      if (question.terms.is_v && !has_blocks(kind)) continue;
      if (question.terms.counts_from_senders && !(may_have_room(kind) && question.terms.is_v))
        continue;
      for (const std::uint64_t count : kCounts) {
        question.count = count;
        ++questions;
        std::string wrong = ask(question, blocks);
        if (!wrong.empty()) return wrong;
      }
    }
  return "";
}

}  // namespace photon::simtest::coll
