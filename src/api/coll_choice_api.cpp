// How collective operations are done: what would be chosen, and what was.
#include <photon/coll.h>
#include <photon/stats.h>

#include "api/handle.hpp"
#include "service/coll/collectives.hpp"

using photon::api::bad_argument;
using photon::api::in_service;
using photon::service::coll::Collectives;
using photon::service::coll::Tally;

namespace {

namespace schedule = photon::schedule;
constexpr auto kChoiceOwner = photon::wire::Owner::coll;

const char* text_of_source(schedule::Source source) noexcept {
  switch (source) {
    case schedule::Source::setting: return "setting";
    case schedule::Source::table: return "table";
    case schedule::Source::built_in: break;
  }
  return "built-in";
}

// Null: the question is one.
const char* fault_of(const ph_coll_question* question, const ph_coll_answer* answer) noexcept {
  constexpr uint32_t kFlags = PH_REPRODUCIBLE | PH_COUNTS_FROM_SENDERS;
  if (question == nullptr || question->size != sizeof(ph_coll_question))
    return "coll_choice: question is null, or question->size is not sizeof(ph_coll_question)";
  if (answer == nullptr || answer->size != sizeof(ph_coll_answer))
    return "coll_choice: answer is null, or answer->size is not sizeof(ph_coll_answer)";
  if (question->kind < PH_COLL_BARRIER || question->kind > PH_COLL_REDUCE_SCATTER)
    return "coll_choice: question->kind is unknown";
  if (question->members == 0) return "coll_choice: question->members is 0";
  if ((question->flags & ~kFlags) != 0 || question->reserved != 0)
    return "coll_choice: question->flags has an unknown flag, or question->reserved is not 0";
  return nullptr;
}

}  // namespace

extern "C" {

const char* ph_coll_algorithm_at(ph_coll_kind kind, size_t index) {
  if (kind < PH_COLL_BARRIER || kind > PH_COLL_REDUCE_SCATTER) return nullptr;
  const auto named = static_cast<schedule::NamedKind>(kind - PH_COLL_BARRIER);
  for (std::uint32_t i = 0; i < schedule::kAlgorithms; ++i) {
    const auto algorithm = static_cast<schedule::Algorithm>(i);
    if (schedule::may_do(named, algorithm) && index-- == 0) return schedule::name_of(algorithm);
  }
  return nullptr;
}

ph_status ph_coll_choice(ph_context* context, const ph_coll_question* question,
                         ph_coll_answer* answer) {
  if (const char* const fault = fault_of(question, answer); fault != nullptr)
    return bad_argument(context, fault);
  return in_service<Collectives>(context, kChoiceOwner, [&](Collectives& all, auto&, auto&) {
    const auto kind = static_cast<schedule::NamedKind>(question->kind - PH_COLL_BARRIER);
    schedule::Call call;
    call.kind = schedule::kind_of(kind);
    call.size = question->members;
    call.count = question->size_bytes;
    schedule::Terms terms;
    terms.is_v = schedule::has_counts(kind);
    terms.commutes = question->keeps_order == 0;
    terms.reproducible = (question->flags & PH_REPRODUCIBLE) != 0;
    terms.counts_from_senders = (question->flags & PH_COUNTS_FROM_SENDERS) != 0;
    const schedule::Hosts some;
    if (question->several_hosts != 0) terms.layout = schedule::Layout::several_hosts;
    if (question->several_hosts != 0) call.hosts = &some;
    const schedule::Choice choice = all.choosing().choices().choose(call, terms);
    answer->algorithm = schedule::name_of(choice.algorithm);
    answer->wanted = schedule::name_of(choice.wanted);
    answer->source = text_of_source(choice.source);
    return PH_OK;
  });
}

ph_status ph_coll_counters(ph_context* context, ph_coll_counter* counters, size_t capacity,
                           size_t* count) {
  if (count == nullptr || (counters == nullptr && capacity != 0))
    return bad_argument(context,
                        "coll_counters: count is null, or counters is null with a capacity");
  return in_service<Collectives>(context, kChoiceOwner, [&](Collectives& all, auto&, auto&) {
    *count = 0;
    all.choosing().tally().each(
        [&](schedule::NamedKind kind, schedule::Algorithm algorithm, const Tally::Row& row) {
          if (*count < capacity)
            counters[*count] = {schedule::name_of_kind(kind), schedule::name_of(algorithm),
                                row.operations, row.bytes};
          ++*count;
        });
    return PH_OK;
  });
}

}  // extern "C"
