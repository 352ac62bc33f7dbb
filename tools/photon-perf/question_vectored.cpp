// vectored: many blocks with gaps between them in the target's memory, from the call until the
// target's answer to its id is here: as one strided put, as one list, as single puts of which the
// last has the id, and for comparison the same bytes as one contiguous put.
//
// The limit is a memcpy for each block (or one for all) to where the peer can read it, and a flag
// each way: to the very place if the peer's memory is mapped here, else through the shared block,
// out of which the peer copies them to their places.
#include <array>
#include <cstring>

#include "clock.hpp"
#include "limit_atomics.hpp"
#include "link.hpp"

namespace photon::perf {
namespace {

struct Shape {
  std::size_t blocks;
  std::size_t block_bytes;
  std::size_t stride_bytes;  // at the target; in the source they touch

  std::size_t bytes() const noexcept { return blocks * block_bytes; }
  std::size_t span() const noexcept { return blocks * stride_bytes; }
};
constexpr std::array<Shape, 2> kShapes = {{{1000, 64, 128}, {64, 4096, 8192}}};

// Nanoseconds a block: index 0 calls `there`, index 1 `back`, once each in turns.
template <class There, class Back>
Outcome in_turns(const Team& team, std::uint64_t count, const Shape& shape, There there,
                 Back back) {
  Outcome outcome;
  const auto batches = batches_for(count);
  for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
    const auto start_ns = now_ns();
    for (std::uint64_t i = 0; i < batches.each; ++i) {
      if (team.index() == 0)
        there();
      else
        back();
    }
    if (team.index() == 0)
      outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                                   static_cast<double>(shape.blocks * batches.each));
  }
  return outcome;
}

// Posts all of it; the id comes last.
class Sender {
 public:
  Sender(Link& link, const Shape& shape) : link_(link), shape_(shape) {
    for (std::size_t i = 0; i < shape.blocks; ++i)
      list_.push_back({link.source(0) + i * shape.block_bytes, shape.block_bytes, place(i)});
  }

  ph_status strided() {
    auto args = common<ph_put_strided_args>();
    args.source = link_.source(0);
    args.target = place(0);
    args.block_bytes = shape_.block_bytes;
    args.dimensions_count = 1;
    args.dimensions[0] = {shape_.blocks, static_cast<std::ptrdiff_t>(shape_.block_bytes),
                          static_cast<std::ptrdiff_t>(shape_.stride_bytes)};
    return ph_put_strided(context(), link_.peer(), &args);
  }
  ph_status list() {
    auto args = common<ph_put_vector_args>();
    args.segments = list_.data();
    args.segments_count = list_.size();
    return ph_put_vector(context(), link_.peer(), &args);
  }
  // Its id stands for the last one alone: less than the others promise.
  ph_status singly() {
    auto args = common<ph_put_args>();
    for (; next_ < list_.size(); ++next_) {
      args.source = list_[next_].source;
      args.size_bytes = list_[next_].size_bytes;
      args.target = list_[next_].target;
      args.flags = PH_NO_LCE | (next_ + 1 == list_.size() ? 0U : std::uint32_t{PH_NO_RCE});
      if (const auto status = ph_put(context(), link_.peer(), &args); status != PH_OK)
        return status;
    }
    next_ = 0;
    return PH_OK;
  }
  ph_status contiguous() {
    auto args = common<ph_put_args>();
    args.source = link_.source(0);
    args.size_bytes = shape_.bytes();
    args.target = place(0);
    return ph_put(context(), link_.peer(), &args);
  }

 private:
  template <class Args>
  Args common() const {
    Args args{};
    args.size = sizeof args;
    args.remote = {&id_, sizeof id_};
    args.flags = PH_NO_LCE;
    return args;
  }
  ph_context* context() const { return link_.job().context(); }
  ph_target place(std::size_t block) const {
    ph_target at = link_.place(0);
    at.address += block * shape_.stride_bytes;
    return at;
  }

  Link& link_;
  Shape shape_;
  std::vector<ph_put_segment> list_;
  std::size_t next_ = 0;
  std::uint64_t id_ = 7;
};

using Post = ph_status (Sender::*)();

Outcome by_library(Link& link, std::uint64_t count, const Shape& shape, Post post) {
  Sender sender(link, shape);
  auto& inbox = link.inbox();
  auto outcome = in_turns(
      link.team(), count, shape,
      [&] {
        inbox.post([&] { return (sender.*post)(); }, "putting blocks");
        static_cast<void>(inbox.await_remote());
      },
      [&] {
        static_cast<void>(inbox.await_remote());
        inbox.post([&] { return link.notify(1); }, "answering");
      });
  link.part();
  return outcome;
}

void copy_blocks(std::byte* to, const std::byte* from, const Shape& shape, bool contiguous) {
  if (contiguous) {
    std::memcpy(to, from, shape.bytes());
    return;
  }
  for (std::size_t i = 0; i < shape.blocks; ++i)
    std::memcpy(to + i * shape.stride_bytes, from + i * shape.block_bytes, shape.block_bytes);
}

Outcome by_memcpy(Link& link, std::uint64_t count, const Shape& shape, bool contiguous) {
  Team& team = link.team();
  auto& there = team.area().ping[0].line.flag;
  auto& back = team.area().ping[1].line.flag;
  std::byte* const shared = team.data().data();
  const bool mapped = link.buffers().is_mapped;
  if (team.index() == 0) {
    there.store_release(0);
    back.store_release(0);
  }
  team.barrier();
  std::uint64_t turn = 0;
  auto outcome = in_turns(
      team, count, shape,
      [&] {
        if (mapped)
          copy_blocks(link.buffers().mapped_landing[0], link.source(0), shape, contiguous);
        else
          copy_blocks(shared, link.source(0), shape, true);
        there.store_release(++turn);
        spin_until_equal<SpinForm::tight>(back, turn);
      },
      [&] {
        spin_until_equal<SpinForm::tight>(there, ++turn);
        if (!mapped) copy_blocks(link.landing(0), shared, shape, contiguous);
        keep_stores();
        back.store_release(turn);
      });
  team.barrier();
  return outcome;
}

struct Way {
  const char* name;
  Post post;
  bool contiguous;
};
constexpr std::array<Way, 4> kWays = {{{"one strided put", &Sender::strided, false},
                                       {"one list", &Sender::list, false},
                                       {"single puts", &Sender::singly, false},
                                       {"one contiguous put", &Sender::contiguous, true}}};

}  // namespace

void ask_vectored(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  for (const Shape& shape : kShapes) {
    Link link(bench, team, {bench.options.memory, shape.span()});
    for (const Way& way : kWays) {
      Contest contest;
      contest.size_bytes = shape.block_bytes;
      contest.limits.push_back(
          {way.contiguous ? "one memcpy" : "memcpy of each block",
           [&](std::uint64_t count) { return by_memcpy(link, count, shape, way.contiguous); }});
      contest.ours = {
          way.name, [&](std::uint64_t count) { return by_library(link, count, shape, way.post); }};
      const auto verdict = compete(team, contest, bench.options.iterations);
      auto row = row_of(bench, contest, verdict, link);
      if (team.index() == 0 && !verdict.ours.batches_ns.empty()) {
        const double ns = figure_of(verdict.ours, Unit::nanoseconds, shape.block_bytes);
        row.note +=
            "; " + std::to_string(shape.blocks) + " blocks, ns a block, " +
            std::to_string(static_cast<long>(static_cast<double>(shape.block_bytes) * 1e3 / ns)) +
            " MB/s";
      }
      bench.report.add(std::move(row));
    }
  }
}

}  // namespace photon::perf
