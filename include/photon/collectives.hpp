/**
 * Teams and collective operations (team.h, coll.h) for C++. Include photon.hpp.
 *
 *   photon::Team team = context.world();
 *   team.run(photon::allreduce(mine, sums, std::plus<>{}));
 *   ph_request request = PH_REQUEST_NONE;
 *   while (!team.begin(photon::bcast(values, 0), {.request = &request})) (void)context.probe_one();
 *   context.wait(request);
 *   team.barrier();  // before the context ends: others must have begun what this member has done
 *
 * Ranges must stay where they are until the operation has completed. Elements that the library does
 * not fold travel as their bytes. The kinds with counts of their own, PH_IN_PLACE, functions of the
 * program's own, handlers and time limits have no wrapper: call ph_coll_begin() and its like with
 * Team::c_team() for those.
 */
#ifndef PHOTON_COLLECTIVES_HPP
#define PHOTON_COLLECTIVES_HPP

#include <chrono>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include "arguments.hpp"
#include "memory.hpp"
#include "types.hpp"

namespace photon {

/**
 * Folds that the standard library has no function object for: photon::Min{} and photon::Max{}.
 * Of the standard's, std::plus, std::multiplies, std::bit_and, std::bit_or, std::bit_xor,
 * std::logical_and and std::logical_or are known; the last five for integers alone.
 */
struct Min {};
struct Max {};

namespace detail {

template <class T>
constexpr ph_type integer_type() noexcept {
  constexpr bool is_signed = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1:
      return is_signed ? PH_INT8 : PH_UINT8;
    case 2:
      return is_signed ? PH_INT16 : PH_UINT16;
    case 4:
      return is_signed ? PH_INT32 : PH_UINT32;
    default:
      return is_signed ? PH_INT64 : PH_UINT64;
  }
}

/** The library's name for T; PH_BYTES if it cannot fold elements of T. */
template <class T>
constexpr ph_type coll_type() noexcept {
  if constexpr (std::same_as<T, bool>) return PH_BYTES;
  if constexpr (std::integral<T> && sizeof(T) <= 8) return integer_type<T>();
  if constexpr (std::same_as<T, float>) return PH_FLOAT;
  if constexpr (std::same_as<T, double>) return PH_DOUBLE;
  if constexpr (std::same_as<T, long double>) return PH_LONG_DOUBLE;
  if constexpr (std::same_as<T, std::complex<float>>) return PH_COMPLEX_FLOAT;
  if constexpr (std::same_as<T, std::complex<double>>) return PH_COMPLEX_DOUBLE;
  if constexpr (std::same_as<T, std::complex<long double>>) return PH_COMPLEX_LONG_DOUBLE;
  return PH_BYTES;
}

template <class F, template <class> class Function, class T>
inline constexpr bool is_function = std::same_as<F, Function<void>> || std::same_as<F, Function<T>>;

/** The library's name for F; 0 if it has none, or cannot fold elements of T by it. */
template <class F, class T>
constexpr int op_of() noexcept {
  if (coll_type<T>() == PH_BYTES) return 0;
  if (is_function<F, std::plus, T>) return PH_OP_ADD;
  if (is_function<F, std::multiplies, T>) return PH_OP_MULTIPLY;
  if (std::is_arithmetic_v<T> && std::same_as<F, Min>) return PH_OP_MIN;
  if (std::is_arithmetic_v<T> && std::same_as<F, Max>) return PH_OP_MAX;
  if (!std::integral<T>) return 0;
  if (is_function<F, std::bit_and, T>) return PH_OP_AND;
  if (is_function<F, std::bit_or, T>) return PH_OP_OR;
  if (is_function<F, std::bit_xor, T>) return PH_OP_XOR;
  if (is_function<F, std::logical_and, T>) return PH_OP_LOGICAL_AND;
  return is_function<F, std::logical_or, T> ? PH_OP_LOGICAL_OR : 0;
}

}  // namespace detail

/** F is a function object that folds elements of T inside the library. */
template <class F, class T>
concept FoldOf = detail::op_of<F, T>() != 0;

/** Two ranges of the same elements, the second to be written. */
template <class In, class Out>
concept InOut = PlainRange<In> && PlainRange<Out> &&
                std::same_as<std::ranges::range_value_t<In>, std::ranges::range_value_t<Out>> &&
                !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Out>>>;

/**
 * An operation that has not begun: allreduce() and its like make it, and a Team begins it. It
 * refers to the ranges that it was made of, and does not copy them.
 */
struct Collective {
  ph_coll_args args = {};
  std::size_t in_count = 0; /**< Elements; Team compares both counts with its size. */
  std::size_t out_count = 0;

  /** The same operation with PH_REPRODUCIBLE. */
  [[nodiscard]] Collective reproducible() const {
    Collective same = *this;
    same.args.flags |= PH_REPRODUCIBLE;
    return same;
  }
};

/** How the end is told: {.local = 7} by an id, {.request = &request} by a request, {} not at all.
 */
struct Told {
  Id local = {};
  ph_request *request = nullptr;
};

namespace detail {

template <class In, class Out>
Collective collective(ph_coll_kind kind, In &&in, Out &&out, std::uint32_t root = 0) {
  const std::span source(in);
  const std::span place(out);
  using T = std::ranges::range_value_t<In>;
  Collective made;
  made.args.size = sizeof made.args;
  made.args.kind = kind;
  made.args.root = root;
  made.args.in = source.data();
  made.args.out = place.data();
  made.args.type = coll_type<T>();
  made.in_count = source.size();
  made.out_count = place.size();
  if (made.args.type != PH_BYTES) return made;
  made.args.type = PH_UINT8;  // what is not folded travels as its bytes
  made.in_count *= sizeof(T);
  made.out_count *= sizeof(T);
  return made;
}

template <class F, class In, class Out>
Collective folded(ph_coll_kind kind, In &&in, Out &&out, std::uint32_t root = 0) {
  Collective made = collective(kind, in, out, root);
  made.args.op = static_cast<ph_op>(op_of<F, std::ranges::range_value_t<In>>());
  return made;
}

}  // namespace detail

/** Send the root's elements to all members; `values` is read at the root, and written elsewhere. */
template <PlainRange R>
[[nodiscard]] Collective bcast(R &&values, std::uint32_t root) {
  Collective made = detail::collective(PH_COLL_BCAST, values, values, root);
  made.args.in = nullptr;
  return made;
}

template <class In, class Out, FoldOf<std::ranges::range_value_t<In>> F>
  requires InOut<In, Out>
[[nodiscard]] Collective allreduce(In &&in, Out &&out, F) {
  return detail::folded<F>(PH_COLL_ALLREDUCE, in, out);
}

/** `out` is looked at only at the root, and may be empty elsewhere. */
template <class In, class Out, FoldOf<std::ranges::range_value_t<In>> F>
  requires InOut<In, Out>
[[nodiscard]] Collective reduce(In &&in, Out &&out, F, std::uint32_t root) {
  return detail::folded<F>(PH_COLL_REDUCE, in, out, root);
}

template <class In, class Out, FoldOf<std::ranges::range_value_t<In>> F>
  requires InOut<In, Out>
[[nodiscard]] Collective scan(In &&in, Out &&out, F) {
  return detail::folded<F>(PH_COLL_SCAN, in, out);
}

template <class In, class Out, FoldOf<std::ranges::range_value_t<In>> F>
  requires InOut<In, Out>
[[nodiscard]] Collective exscan(In &&in, Out &&out, F) {
  return detail::folded<F>(PH_COLL_EXSCAN, in, out);
}

/** PH_COLL_REDUCE_SCATTER_BLOCK: `in` has a block for each member, and `out` is one block. */
template <class In, class Out, FoldOf<std::ranges::range_value_t<In>> F>
  requires InOut<In, Out>
[[nodiscard]] Collective reduce_scatter(In &&in, Out &&out, F) {
  return detail::folded<F>(PH_COLL_REDUCE_SCATTER_BLOCK, in, out);
}

/** `out` is looked at only at the root, and may be empty elsewhere. */
template <class In, class Out>
  requires InOut<In, Out>
[[nodiscard]] Collective gather(In &&in, Out &&out, std::uint32_t root) {
  return detail::collective(PH_COLL_GATHER, in, out, root);
}

/** `in` is looked at only at the root, and may be empty elsewhere. */
template <class In, class Out>
  requires InOut<In, Out>
[[nodiscard]] Collective scatter(In &&in, Out &&out, std::uint32_t root) {
  return detail::collective(PH_COLL_SCATTER, in, out, root);
}

template <class In, class Out>
  requires InOut<In, Out>
[[nodiscard]] Collective allgather(In &&in, Out &&out) {
  return detail::collective(PH_COLL_ALLGATHER, in, out);
}

template <class In, class Out>
  requires InOut<In, Out>
[[nodiscard]] Collective alltoall(In &&in, Out &&out) {
  return detail::collective(PH_COLL_ALLTOALL, in, out);
}

/** A prepared operation: ph_coll. Move-only; none may be destroyed while it is under way. */
class Prepared {
 public:
  Prepared(Prepared &&) noexcept = default;
  Prepared &operator=(Prepared &&) noexcept = default;
  ~Prepared() = default;

  /** ph_coll_start(); false: nothing was begun, probe and call again. */
  [[nodiscard]] bool start() { return detail::check(handle_.get(), ph_coll_start(coll_.get())); }

 private:
  friend class Team;
  struct Free {
    void operator()(ph_coll *coll) const noexcept { ph_coll_free(coll); }
  };
  Prepared(detail::Handle handle, ph_coll *coll) : handle_(std::move(handle)), coll_(coll) {}

  detail::Handle handle_;  // outlives coll_
  std::unique_ptr<ph_coll, Free> coll_;
};

/** ph_team. Move-only; the destructor frees it, unless it is the team of all ranks. */
class Team {
 public:
  Team(Team &&) noexcept = default;
  Team &operator=(Team &&) noexcept = default;
  ~Team() = default;

  [[nodiscard]] ph_team *c_team() const noexcept { return team_.get(); }
  [[nodiscard]] std::uint32_t rank() const noexcept { return ph_team_rank(c_team()); }
  [[nodiscard]] std::uint32_t size() const noexcept { return ph_team_size(c_team()); }
  /** The rank of a member. */
  [[nodiscard]] Rank member(std::uint32_t number) const noexcept {
    return ph_team_member(c_team(), number);
  }

  /** ph_team_split(); empty for PH_NO_COLOUR. Collective, blocks. */
  [[nodiscard]] std::optional<Team> split(std::int64_t colour, std::int64_t key = 0) {
    ph_team *made = nullptr;
    check(ph_team_split(c_team(), colour, key, PH_FOREVER, &made));
    if (made == nullptr) return std::nullopt;
    return Team(handle_, made, false);
  }

  /** ph_team_agree() without a limit: the bits that all that live have set. */
  [[nodiscard]] std::uint64_t agree(std::uint64_t bits) {
    check(ph_team_agree(c_team(), &bits, PH_FOREVER));
    return bits;
  }
  /** ph_team_shrink() without a limit. */
  [[nodiscard]] Team shrink() {
    ph_team *made = nullptr;
    check(ph_team_shrink(c_team(), PH_FOREVER, &made));
    return {handle_, made, false};
  }
  /** Whether the last agree() or shrink() has found a member to be lost. */
  [[nodiscard]] bool is_lost(std::uint32_t member) const {
    const ph_status status = ph_team_lost(c_team(), member);
    if (status == PH_ERR_ARGUMENT) check(status);
    return status != PH_OK;
  }

  /** ph_coll_run() without a limit. */
  void run(const Collective &what) {
    const ph_coll_args args = checked(what);
    check(ph_coll_run(c_team(), &args, PH_FOREVER));
  }

  void barrier() {
    Collective what;
    what.args.size = sizeof what.args;
    what.args.kind = PH_COLL_BARRIER;
    run(what);
  }

  /** ph_coll_begin(); false: nothing was begun, probe and call again. */
  [[nodiscard]] bool begin(const Collective &what, const Told &told) {
    const ph_coll_args args = with(checked(what), told);
    return check(ph_coll_begin(c_team(), &args));
  }

  /** ph_coll_prepare(). Ranges, and the request that `told` names, must live as long as the result.
   */
  [[nodiscard]] Prepared prepare(const Collective &what, const Told &told) {
    const ph_coll_args args = with(checked(what), told);
    ph_coll *coll = nullptr;
    check(ph_coll_prepare(c_team(), &args, &coll));
    return {handle_, coll};
  }

 private:
  friend class Lane;
  struct Free {
    bool is_world = false;
    void operator()(ph_team *team) const noexcept {
      if (!is_world) ph_team_free(team);
    }
  };
  Team(detail::Handle handle, ph_team *team, bool is_world)
      : handle_(std::move(handle)), team_(team, Free{is_world}) {}

  bool check(ph_status status) const { return detail::check(handle_.get(), status); }

  static ph_coll_args with(ph_coll_args args, const Told &told) {
    args.local = told.local.c_id();
    args.request = told.request;
    if (told.local.is_none() && told.request == nullptr) args.flags |= PH_NO_LCE;
    return args;
  }

  // The arguments with their count. Throws Error where the ranges do not fit the team's size.
  [[nodiscard]] ph_coll_args checked(const Collective &what) const {
    ph_coll_args args = what.args;
    const std::size_t in = what.in_count;
    const std::size_t out = what.out_count;
    const std::size_t members = size();
    const bool is_root = args.root == rank();
    bool is_right = true;
    args.count = in;
    switch (args.kind) {
      case PH_COLL_REDUCE:
        is_right = !is_root || out == in;
        break;
      case PH_COLL_GATHER:
        is_right = !is_root || out == members * in;
        break;
      case PH_COLL_ALLGATHER:
        is_right = out == members * in;
        break;
      case PH_COLL_SCATTER:
        is_right = !is_root || in == members * out;
        break;
      case PH_COLL_REDUCE_SCATTER_BLOCK:
        is_right = in == members * out;
        break;
      default:
        is_right = in == out;
    }
    if (args.kind == PH_COLL_SCATTER || args.kind == PH_COLL_REDUCE_SCATTER_BLOCK) args.count = out;
    if (args.kind == PH_COLL_ALLTOALL && members != 0) {
      args.count = in / members;
      is_right = is_right && in % members == 0;
    }
    if (!is_right)
      throw Error({PH_ERR_ARGUMENT, 0, kAnyRank,
                   "collective: the sizes of the ranges do not fit each other and the team"});
    return args;
  }

  detail::Handle handle_;  // outlives team_
  std::unique_ptr<ph_team, Free> team_;
};

}  // namespace photon

#endif
