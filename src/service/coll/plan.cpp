#include "service/coll/plan.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace photon::service::coll {

namespace {

using schedule::Kind;

constexpr std::uint32_t kFlags = PH_REPRODUCIBLE | PH_COUNTS_FROM_SENDERS | PH_NO_LCE;

// One kind: as the schedule knows it, and which arguments mean something.
struct Shape {
  Kind kind;
  bool folds;
  bool is_rooted;
  bool is_v;
};

constexpr Shape kShapes[] = {
    {Kind::barrier, false, false, false},      {Kind::barrier, false, false, false},
    {Kind::bcast, false, true, false},         {Kind::reduce, true, true, false},
    {Kind::allreduce, true, false, false},     {Kind::scan, true, false, false},
    {Kind::exscan, true, false, false},        {Kind::gather, false, true, false},
    {Kind::gather, false, true, true},         {Kind::scatter, false, true, false},
    {Kind::scatter, false, true, true},        {Kind::allgather, false, false, false},
    {Kind::allgather, false, false, true},     {Kind::alltoall, false, false, false},
    {Kind::alltoall, false, false, true},      {Kind::reduce_scatter, true, false, false},
    {Kind::reduce_scatter, true, false, true},
};

// Checks one call; each part says why not in `why`.
class Checker {
 public:
  Checker(const ph_coll_args& args, Asker asker, Plan& plan, std::string& why)
      : args_(args), asker_(asker), plan_(plan), why_(why) {}

  ph_status check() {
    const bool good = check_words() && check_end() && check_fold() && take_counts() &&
                      check_buffers() && take_rest();
    return good ? PH_OK : PH_ERR_ARGUMENT;
  }

 private:
  bool no(const char* what) {
    why_ = std::string(name_of(args_.kind)) + ": " + what;
    return false;
  }
  bool is_root() const noexcept { return asker_.rank == args_.root; }

  bool check_words() {
    const auto kind = static_cast<std::uint32_t>(args_.kind);
    if (kind < PH_COLL_BARRIER || kind > PH_COLL_REDUCE_SCATTER) return no("args->kind is unknown");
    shape_ = kShapes[kind];
    if ((args_.flags & ~kFlags) != 0) return no("args->flags has an unknown flag");
    if (args_.reserved != 0) return no("args->reserved is not 0");
    if (shape_.is_rooted && args_.root >= asker_.size)
      return no("args->root is no member of the team");
    const bool may_be_told = args_.kind == PH_COLL_ALLTOALLV || args_.kind == PH_COLL_GATHERV ||
                             args_.kind == PH_COLL_ALLGATHERV;
    if ((args_.flags & PH_COUNTS_FROM_SENDERS) != 0 && !may_be_told)
      return no("PH_COUNTS_FROM_SENDERS is for gatherv, allgatherv and alltoallv");
    if ((args_.flags & PH_REPRODUCIBLE) != 0 && !shape_.folds)
      return no("PH_REPRODUCIBLE is for operations that fold");
    return true;
  }

  bool check_end() {
    const bool has_id = args_.local.size_bytes != 0;
    if (args_.handler != nullptr && args_.request != nullptr)
      return no("args->handler and args->request are both set");
    if ((args_.handler != nullptr || args_.request != nullptr) && has_id)
      return no("args->local is set beside a handler or a request");
    if (has_id && args_.local.data == nullptr) return no("args->local has bytes, but no data");
    return true;
  }

  bool check_fold() {
    const bool is_bytes = args_.fold != nullptr && args_.type == PH_BYTES;
    plan_.element_bytes = is_bytes ? args_.fold->element_bytes : fold::element_bytes_of(args_.type);
    if (shape_.kind == Kind::barrier) {
      plan_.element_bytes = 1;
      return true;
    }
    if (plan_.element_bytes == 0)
      return no(is_bytes ? "args->fold->element_bytes is 0, and PH_BYTES has no size of its own"
                         : "args->type is not set, or unknown");
    if (!shape_.folds) return args_.fold == nullptr || no("args->fold is for operations that fold");
    if (args_.fold == nullptr) return find_fold();
    if (args_.fold->size != sizeof(ph_fold)) return no("args->fold->size is not sizeof(ph_fold)");
    if (args_.fold->function == nullptr) return no("args->fold->function is null");
    if (args_.op != 0) return no("args->op and args->fold are both set");
    if (!is_bytes && args_.fold->element_bytes != 0)
      return no("args->fold->element_bytes is for PH_BYTES");
    plan_.user = *args_.fold;
    return true;
  }

  bool find_fold() {
    plan_.fold = fold::find(args_.type, args_.op, asker_.isa);
    if (plan_.fold != nullptr) return true;
    if (args_.op == 0) return no("args->op is not set");
    const std::string what = std::string("args->type ") + fold::name_of(args_.type) +
                             " cannot be folded by args->op " + fold::name_of(args_.op);
    return no(what.c_str());
  }

  // The counts of one side, and their offsets, at `at` and behind; false: a sum that is too large.
  bool copy(const std::uint64_t* counts, const std::uint64_t* offsets, std::size_t at) {
    std::uint64_t next = 0;
    for (std::uint32_t i = 0; i < asker_.size; ++i) {
      plan_.counts[at + i] = counts[i];
      plan_.counts[at + asker_.size + i] = offsets == nullptr ? next : offsets[i];
      if (__builtin_add_overflow(next, counts[i], &next)) return false;
      std::uint64_t end = 0;
      if (__builtin_add_overflow(plan_.counts[at + asker_.size + i], counts[i], &end)) return false;
    }
    return true;
  }
  schedule::Blocks blocks_at(std::size_t at) const noexcept {
    return {plan_.counts.data() + at, plan_.counts.data() + at + asker_.size};
  }

  bool take_counts() {
    schedule::Call& call = plan_.call;
    call.count = args_.count;
    call.in_place = args_.in == PH_IN_PLACE || args_.out == PH_IN_PLACE;
    if (!shape_.is_v) return true;
    const bool is_scatter = shape_.kind == Kind::scatter;
    const bool is_gather = shape_.kind == Kind::gather;
    const bool wants_in = (is_scatter && is_root()) || shape_.kind == Kind::reduce_scatter ||
                          (shape_.kind == Kind::alltoall && !call.in_place);
    const bool wants_out =
        (is_gather && is_root()) || shape_.kind == Kind::allgather || shape_.kind == Kind::alltoall;
    plan_.counts.resize(std::size_t{4} * asker_.size);
    const std::size_t out_at = std::size_t{2} * asker_.size;
    if (wants_in && args_.in_counts == nullptr) return no("args->in_counts is null");
    if (wants_out && args_.out_counts == nullptr) return no("args->out_counts is null");
    const std::uint64_t* const in_offsets =
        shape_.kind == Kind::reduce_scatter ? nullptr : args_.in_offsets;
    if (wants_in && !copy(args_.in_counts, in_offsets, 0)) return no("args->in_counts overflow");
    if (wants_out && !copy(args_.out_counts, args_.out_offsets, out_at))
      return no("args->out_counts overflow");
    if (wants_out && have_overlap(out_at)) return no("blocks overlap in args->out");
    if (wants_in) call.in_blocks = blocks_at(0);
    if (wants_out) call.out_blocks = blocks_at(out_at);
    if (shape_.kind == Kind::alltoall && call.in_place) call.in_blocks = call.out_blocks;
    return take_own(is_gather || shape_.kind == Kind::allgather, is_scatter);
  }

  // The count of the own block, where it is one.
  bool take_own(bool sends, bool receives) {
    schedule::Call& call = plan_.call;
    call.count = 0;
    if (sends && call.in_place) call.count = call.out_blocks.counts[asker_.rank];
    if (sends && !call.in_place) {
      if (args_.in_counts == nullptr) return no("args->in_counts is null");
      call.count = args_.in_counts[0];
    }
    if (receives && args_.out_counts == nullptr && !(is_root() && call.in_place))
      return no("args->out_counts is null");
    if (receives)
      call.count =
          is_root() && call.in_place ? call.in_blocks.counts[asker_.rank] : args_.out_counts[0];
    const bool is_told = (args_.flags & PH_COUNTS_FROM_SENDERS) != 0;
    if (is_told && call.out_blocks.counts != nullptr) return take_told(sends);
    if (sends && call.out_blocks.counts != nullptr &&
        call.count != call.out_blocks.counts[asker_.rank])
      return no("args->in_counts[0] is not this member's entry of args->out_counts");
    const bool goes_to_all = call.in_blocks.counts != nullptr && call.out_blocks.counts != nullptr;
    if (goes_to_all && call.in_blocks.counts[asker_.rank] != call.out_blocks.counts[asker_.rank])
      return no("this member's entries of args->in_counts and args->out_counts differ");
    return true;
  }

  // The own block is as long as it is, and the schedule has to know.
  bool take_told(bool sends) {
    schedule::Call& call = plan_.call;
    plan_.told_counts = args_.out_counts;
    plan_.own_count = sends ? call.count : call.in_blocks.counts[asker_.rank];
    std::uint64_t& room = plan_.counts[std::size_t{2} * asker_.size + asker_.rank];
    if (plan_.own_count > room) return no("args->out_counts has no room for this member's block");
    room = plan_.own_count;
    return true;
  }

  bool have_overlap(std::size_t at) const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks;
    for (std::uint32_t i = 0; i < asker_.size; ++i)
      if (plan_.counts[at + i] != 0)
        blocks.emplace_back(plan_.counts[at + asker_.size + i], plan_.counts[at + i]);
    std::sort(blocks.begin(), blocks.end());
    for (std::size_t i = 1; i < blocks.size(); ++i)
      if (blocks[i].first < blocks[i - 1].first + blocks[i - 1].second) return true;
    return false;
  }

  // Elements from the first to the end of the last block.
  std::uint64_t span_of(const schedule::Blocks& blocks) const noexcept {
    std::uint64_t end = 0;
    for (std::uint32_t i = 0; i < asker_.size; ++i)
      if (blocks.counts[i] != 0) end = std::max(end, blocks.offsets[i] + blocks.counts[i]);
    return end;
  }
  bool times_size(std::uint64_t& elements) const noexcept {
    return !__builtin_mul_overflow(plan_.call.count, asker_.size, &elements);
  }

  // The elements of both buffers of this member. False: too many.
  bool measure(std::uint64_t& in, std::uint64_t& out) const noexcept {
    const schedule::Call& call = plan_.call;
    std::uint64_t all = 0;
    if (!times_size(all) && !shape_.is_v) return false;
    const std::uint64_t in_all = call.in_blocks.counts != nullptr ? span_of(call.in_blocks) : all;
    const std::uint64_t out_all =
        call.out_blocks.counts != nullptr ? span_of(call.out_blocks) : all;
    const bool root = is_root();
    in = call.count;
    out = call.count;
    switch (shape_.kind) {
      case Kind::barrier: in = out = 0; break;
      case Kind::bcast: in = 0; break;
      case Kind::reduce: out = root ? out : 0; break;
      case Kind::gather: out = root ? out_all : 0; break;
      case Kind::scatter: in = root ? in_all : 0; break;
      case Kind::allgather: out = out_all; break;
      case Kind::alltoall: in = in_all, out = out_all; break;
      case Kind::reduce_scatter:
        in = in_all;
        if (call.in_blocks.counts != nullptr) out = call.in_blocks.counts[asker_.rank];
        if (call.in_place) out = in_all;
        break;
      default: break;
    }
    return true;
  }

  bool check_buffers() {
    std::uint64_t in_count = 0;
    std::uint64_t out_count = 0;
    if (!measure(in_count, out_count)) return no("args->count is too large");
    if (!check_in_place()) return false;
    if (args_.in == PH_IN_PLACE) in_count = 0;
    if (args_.out == PH_IN_PLACE) out_count = 0;
    std::uint64_t in_bytes = 0;
    std::uint64_t out_bytes = 0;
    if (__builtin_mul_overflow(in_count, plan_.element_bytes, &in_bytes) ||
        __builtin_mul_overflow(out_count, plan_.element_bytes, &out_bytes))
      return no("args->count is too large");
    if (in_bytes != 0 && args_.in == nullptr) return no("args->in is null");
    if (out_bytes != 0 && args_.out == nullptr)
      return no(shape_.kind == Kind::bcast && args_.in != nullptr
                    ? "args->out is null; it is the buffer of the root, too, and args->in is unused"
                    : "args->out is null");
    const auto in = reinterpret_cast<std::uint64_t>(args_.in);
    const auto out = reinterpret_cast<std::uint64_t>(args_.out);
    std::uint64_t in_end = in;
    std::uint64_t out_end = out;
    if (in_bytes != 0 && __builtin_add_overflow(in, in_bytes, &in_end))
      return no("args->in wraps around the end of memory");
    if (out_bytes != 0 && __builtin_add_overflow(out, out_bytes, &out_end))
      return no("args->out wraps around the end of memory");
    if (in_bytes != 0 && out_bytes != 0 && in < out_end && out < in_end)
      return no("args->in and args->out overlap; PH_IN_PLACE is for operations in one buffer");
    plan_.in = in_bytes == 0 ? nullptr : static_cast<const std::byte*>(args_.in);
    plan_.out = out_bytes == 0 ? nullptr : static_cast<std::byte*>(args_.out);
    plan_.size_bytes = std::max(in_bytes, out_bytes);
    return true;
  }

  bool check_in_place() {
    const bool takes_in =
        shape_.kind != Kind::barrier && shape_.kind != Kind::bcast &&
        shape_.kind != Kind::scatter &&
        (is_root() || (shape_.kind != Kind::gather && shape_.kind != Kind::reduce));
    if (args_.in == PH_IN_PLACE && !takes_in)
      return no("PH_IN_PLACE means nothing as args->in here");
    if (args_.out == PH_IN_PLACE && !(shape_.kind == Kind::scatter && is_root()))
      return no("PH_IN_PLACE means nothing as args->out here");
    return true;
  }

  bool take_rest() {
    schedule::Call& call = plan_.call;
    plan_.is_v = shape_.is_v;
    const bool has_order = plan_.user.function != nullptr && plan_.user.commutes == 0;
    schedule::Terms terms;
    terms.element_bytes = plan_.element_bytes;
    terms.commutes = !has_order;
    terms.is_v = shape_.is_v;
    terms.reproducible = (args_.flags & PH_REPRODUCIBLE) != 0;
    terms.counts_from_senders = (args_.flags & PH_COUNTS_FROM_SENDERS) != 0;
    call.kind = shape_.kind;
    call.size = asker_.size;
    call.rank = asker_.rank;
    call.root = shape_.is_rooted ? args_.root : 0;
    call.keeps_order = has_order;
    call.hosts = asker_.hosts;
    call.in_order = terms.reproducible;
    call.segment = std::max<std::uint64_t>(kSegmentBytes / plan_.element_bytes, 1);
    plan_.is_v = shape_.is_v;
    terms.layout = asker_.layout;
    plan_.kind = schedule::named_kind(call.kind, terms.is_v);
    static const schedule::Choices kBuiltIn;
    const schedule::Choices& choices = asker_.choices == nullptr ? kBuiltIn : *asker_.choices;
    plan_.choice = choices.choose(call, terms);
    call.algorithm = plan_.choice.algorithm;
    plan_.local.assign(static_cast<const std::byte*>(args_.local.data),
                       static_cast<const std::byte*>(args_.local.data) + args_.local.size_bytes);
    plan_.flags = args_.flags;
    plan_.request = args_.request;
    plan_.handler = args_.handler;
    plan_.handler_user = args_.user;
    Described& said = plan_.described;
    said.kind = static_cast<std::uint32_t>(args_.kind);
    said.type = shape_.kind == Kind::barrier ? 0 : args_.type;
    said.op = !shape_.folds ? 0 : args_.fold != nullptr ? -1 : static_cast<std::int32_t>(args_.op);
    said.root = call.root;
    said.count = shape_.is_v || shape_.kind == Kind::barrier ? 0 : args_.count;
    said.flags = args_.flags & (PH_REPRODUCIBLE | PH_COUNTS_FROM_SENDERS);
    said.member = asker_.rank;
    if (asker_.checks) describe_all(said);
    plan_.digest = digest_of(said);
    return true;
  }

  // What coll_check compares beside that. Counts between two members alone are compared with what
  // comes, as always.
  void describe_all(Described& said) const noexcept {
    said.flags |= kCheckedFlag;
    const std::uint64_t* const counts = shape_.kind == Kind::reduce_scatter ? args_.in_counts
                                        : shape_.kind == Kind::allgather    ? args_.out_counts
                                                                            : nullptr;
    if (shape_.is_v && counts != nullptr && (args_.flags & PH_COUNTS_FROM_SENDERS) == 0)
      said.counts = digest_of({counts, asker_.size});
    if (args_.fold == nullptr) return;
    const std::uint64_t function[] = {plan_.element_bytes, args_.fold->commutes != 0};
    said.function = digest_of(function);
  }

  static constexpr std::uint64_t kSegmentBytes = 64 << 10;

  const ph_coll_args& args_;
  const Asker asker_;
  Plan& plan_;
  std::string& why_;
  Shape shape_{};
};

}  // namespace

ph_status make_plan(const ph_coll_args& args, Asker asker, Plan& plan, std::string& why) {
  return Checker(args, asker, plan, why).check();
}

}  // namespace photon::service::coll
