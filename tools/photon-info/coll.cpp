// By which algorithm each kind of collective operation is done, from which size on, and why.
#include <algorithm>
#include <array>
#include <string>
#include <tuple>

#include "findings.hpp"

namespace photon_info {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

struct Asked {
  const char* name;
  ph_coll_kind kind;
  bool folds = false;
  bool has_counts = false;
};

constexpr std::array<Asked, 16> kKinds = {{
    {"barrier", PH_COLL_BARRIER},
    {"bcast", PH_COLL_BCAST},
    {"reduce", PH_COLL_REDUCE, true},
    {"allreduce", PH_COLL_ALLREDUCE, true},
    {"scan", PH_COLL_SCAN, true},
    {"exscan", PH_COLL_EXSCAN, true},
    {"gather", PH_COLL_GATHER},
    {"gatherv", PH_COLL_GATHERV, false, true},
    {"scatter", PH_COLL_SCATTER},
    {"scatterv", PH_COLL_SCATTERV, false, true},
    {"allgather", PH_COLL_ALLGATHER},
    {"allgatherv", PH_COLL_ALLGATHERV, false, true},
    {"alltoall", PH_COLL_ALLTOALL},
    {"alltoallv", PH_COLL_ALLTOALLV, false, true},
    {"reduce_scatter_block", PH_COLL_REDUCE_SCATTER_BLOCK, true},
    {"reduce_scatter", PH_COLL_REDUCE_SCATTER, true, true},
}};

auto words_of(const CollChoice& choice) {
  return std::tie(choice.algorithm, choice.wanted, choice.source);
}

// All sizes of one kind, layout and number of members.
class Sizes {
 public:
  Sizes(photon::Context& context, const Asked& asked, const CollCase& where)
      : context_(&context), asked_(&asked), where_(where) {}

  void add_to(std::vector<CollChoice>& all) const {
    CollChoice last = ask(0);
    all.push_back(last);
    if (asked_->kind == PH_COLL_BARRIER || asked_->has_counts) return;
    std::uint64_t below = 0;
    for (std::uint64_t bytes = 1; bytes <= kMostBytes; bytes *= 2) {
      if (words_of(ask(bytes)) != words_of(last)) {
        last = ask(first_other(last, below, bytes));
        all.push_back(last);
      }
      below = bytes;
    }
  }

 private:
  // `below` is answered as `last` is, and `bytes` otherwise.
  std::uint64_t first_other(const CollChoice& last, std::uint64_t below,
                            std::uint64_t bytes) const {
    while (bytes - below > 1) {
      const std::uint64_t middle = below + (bytes - below) / 2;
      (words_of(ask(middle)) == words_of(last) ? below : bytes) = middle;
    }
    return bytes;
  }
  CollChoice ask(std::uint64_t bytes) const {
    ph_coll_question question{};
    question.kind = asked_->kind;
    question.members = where_.members;
    question.size_bytes = bytes;
    question.several_hosts = where_.has_several_hosts;
    question.flags = where_.is_reproducible ? PH_REPRODUCIBLE : 0;
    const ph_coll_answer answer = context_->coll_choice(question);
    return {asked_->name, where_, bytes, answer.algorithm, answer.wanted, answer.source};
  }

  photon::Context* context_;
  const Asked* asked_;
  CollCase where_;
};

}  // namespace

std::vector<CollChoice> find_coll_choices(photon::Context& context,
                                          const std::vector<std::uint32_t>& members) {
  std::vector<CollChoice> all;
  for (const Asked& asked : kKinds)
    for (const bool has_several_hosts : {false, true})
      for (const std::uint32_t count : members) {
        Sizes(context, asked, {count, has_several_hosts, false}).add_to(all);
        if (asked.folds) Sizes(context, asked, {count, has_several_hosts, true}).add_to(all);
      }
  return all;
}

}  // namespace photon_info
