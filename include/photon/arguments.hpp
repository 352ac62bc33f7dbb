/**
 * How photon.hpp turns its values into the arguments of the C interface.
 */
#ifndef PHOTON_ARGUMENTS_HPP
#define PHOTON_ARGUMENTS_HPP

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "types.hpp"

namespace photon {

/** Settings by name and the caller's own way to find the ranks; see ph_config. */
struct Config {
  std::vector<std::pair<std::string, std::string>> options = {};
  const ph_bootstrap *bootstrap = nullptr; /**< Read during construction and collectives. */
};

namespace detail {

/** Rounded up, so that a wait is never shorter than asked; what does not fit is for ever. */
template <class Rep, class Period>
std::int64_t microseconds(std::chrono::duration<Rep, Period> time) {
  using Double = std::chrono::duration<double, std::micro>;
  if (std::chrono::duration_cast<Double>(time).count() > 9e18) return PH_FOREVER;
  const auto count = std::chrono::ceil<std::chrono::microseconds>(time).count();
  return count > 0 ? count : 0;
}

inline ph_query c_query(const Query &query) noexcept {
  return {query.peer, query.kinds, query.id_buffer.data()};
}

template <Word T>
constexpr ph_type type_of() noexcept {
  if (std::same_as<T, float>) return PH_FLOAT;
  if (std::same_as<T, double>) return PH_DOUBLE;
  constexpr bool is_signed = std::is_signed_v<T>;
  if (sizeof(T) == 4) return is_signed ? PH_INT32 : PH_UINT32;
  return is_signed ? PH_INT64 : PH_UINT64;
}

inline bool are_numbers(const Ids &ids) noexcept {
  return ids.local.is_number() && ids.remote.is_number() && ids.request == nullptr;
}

// More dimensions than there are places go on as a count that ph_put_strided() refuses.
template <class Args>
void set_blocks(Args &args, std::size_t block_bytes, std::span<const ph_dimension> dimensions) {
  args.block_bytes = block_bytes;
  args.dimensions_count = dimensions.size();
  for (std::size_t i = 0; i < dimensions.size() && i < PH_MAX_DIMENSIONS; ++i)
    args.dimensions[i] = dimensions[i];
}

inline std::uint32_t flags_of(const Ids &ids, std::uint32_t flags) noexcept {
  if (ids.local.is_none() && ids.request == nullptr) flags |= PH_NO_LCE;
  if (ids.remote.is_none()) flags |= PH_NO_RCE;
  return flags;
}

template <class Args>
Args vectored(const Ids &ids, std::uint32_t flags) {
  Args args = {};
  args.size = sizeof args;
  args.local = ids.local.c_id();
  args.remote = ids.remote.c_id();
  args.flags = flags_of(ids, flags);
  args.request = ids.request;
  return args;
}

inline ph_put_args put_args(std::span<const std::byte> source, ph_target target, const Ids &ids,
                            std::uint32_t flags) noexcept {
  return {sizeof(ph_put_args), source.data(),     source.size(),        target,
          ids.local.c_id(),    ids.remote.c_id(), flags_of(ids, flags), ids.request};
}

inline ph_get_args get_args(std::span<std::byte> destination, ph_target source, const Ids &ids,
                            std::uint32_t flags) noexcept {
  return {sizeof(ph_get_args), destination.data(), destination.size(),   source,
          ids.local.c_id(),    ids.remote.c_id(),  flags_of(ids, flags), ids.request};
}

}  // namespace detail

}  // namespace photon

#endif
