// Ranks of several hosts do what one leader a host can do, each kind with every root, on the team
// of all ranks and on one of a list. Each rank says by which algorithms its operations were done,
// and which one ph_coll_choice() names for its allreduce.
#include <cstdint>
#include <vector>

#include "rank_calls.hpp"

namespace {

using photon::test::fail;
using photon::test::require;

std::int64_t value_of(std::uint32_t member, std::size_t i, std::uint32_t root) {
  return static_cast<std::int64_t>(member * 1'000'003ULL + i * 17 + root);
}

class Member {
 public:
  Member(ph_context* context, ph_team* team)
      : context_(context), team_(team), own_(ph_team_rank(team)), size_(ph_team_size(team)) {}

  void run_all(std::size_t count) {
    fill(count, 0);
    run(PH_COLL_BARRIER, 0, nullptr, nullptr);
    run(PH_COLL_ALLREDUCE, 0, in_.data(), out_.data());
    expect_sums("allreduce", 0);
    run(PH_COLL_ALLREDUCE, 0, PH_IN_PLACE, in_.data());
    if (in_ != out_) fail(context_, "allreduce in place: another sum", PH_ERR_STATE);
    for (std::uint32_t root = 0; root < size_; ++root) run_rooted(count, root);
  }

 private:
  void run_rooted(std::size_t count, std::uint32_t root) {
    fill(count, root);
    run(PH_COLL_REDUCE, root, in_.data(), own_ == root ? out_.data() : nullptr);
    if (own_ == root) expect_sums("reduce", root);
    fill(count, root);
    run(PH_COLL_BCAST, root, nullptr, in_.data());
    for (std::size_t i = 0; i < count; ++i)
      if (in_[i] != value_of(root, i, root)) fail(context_, "bcast: other bytes", PH_ERR_STATE);
  }
  void fill(std::size_t count, std::uint32_t root) {
    in_.resize(count);
    out_.assign(count, -1);
    for (std::size_t i = 0; i < count; ++i) in_[i] = value_of(own_, i, root);
  }
  void run(ph_coll_kind kind, std::uint32_t root, const void* in, void* out) {
    ph_coll_args args{};
    args.size = sizeof args;
    args.kind = kind;
    args.root = root;
    args.in = in;
    args.out = out;
    args.count = kind == PH_COLL_BARRIER ? 0 : in_.size();
    args.type = PH_INT64;
    args.op = PH_OP_ADD;
    require(context_, ph_coll_run(team_, &args, PH_FOREVER), "a collective operation");
  }
  void expect_sums(const char* what, std::uint32_t root) {
    for (std::size_t i = 0; i < out_.size(); ++i) {
      std::int64_t sum = 0;
      for (std::uint32_t member = 0; member < size_; ++member) sum += value_of(member, i, root);
      if (out_[i] != sum) fail(context_, what, PH_ERR_STATE);
    }
  }

  ph_context* context_;
  ph_team* team_;
  std::uint32_t own_, size_;
  std::vector<std::int64_t> in_, out_;
};

// All ranks from the last to the first.
ph_team* backwards(ph_context* context) {
  std::vector<ph_rank> ranks;
  for (ph_rank rank = ph_size_of(context); rank > 0; --rank) ranks.push_back(rank - 1);
  ph_team_of_args args{};
  args.size = sizeof args;
  args.ranks = ranks.data();
  args.count = static_cast<std::uint32_t>(ranks.size());
  ph_team* team = nullptr;
  require(context, ph_team_of(context, &args, photon::test::kLongUs, &team), "team_of");
  return team;
}

void say_how(ph_context* context) {
  ph_coll_question question{};
  question.size = sizeof question;
  question.kind = PH_COLL_ALLREDUCE;
  question.members = ph_size_of(context);
  question.size_bytes = 8;
  question.several_hosts = 1;
  ph_coll_answer answer{};
  answer.size = sizeof answer;
  require(context, ph_coll_choice(context, &question, &answer), "coll_choice");
  std::string text = "chosen ";
  text.append(answer.algorithm).append("\n");
  std::vector<ph_coll_counter> counters(256);
  std::size_t count = 0;
  require(context, ph_coll_counters(context, counters.data(), counters.size(), &count), "counters");
  for (std::size_t i = 0; i < count; ++i)
    text.append(counters[i].kind).append(" by ").append(counters[i].algorithm).append("\n");
  std::fputs(text.c_str(), stdout);
}

}  // namespace

int main() {
  ph_context* context = nullptr;
  if (ph_context_create(nullptr, &context, nullptr) != PH_OK) return 3;
  ph_team* world = nullptr;
  require(context, ph_team_world(context, &world), "team_world");
  ph_team* const turned = backwards(context);
  for (ph_team* const team : {world, turned}) {
    Member member(context, team);
    for (const std::size_t count : {1U, 300U, 50'000U}) member.run_all(count);
  }
  say_how(context);
  require(context, ph_barrier(context), "barrier");
  require(context, ph_team_free(turned), "team_free");
  require(context, ph_finalize(context), "finalize");
  ph_context_destroy(context);
  return 0;
}
