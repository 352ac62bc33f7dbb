// Vectored puts and gets: validate what only the ABI can get wrong, then call the engine.
#include <photon/vector.h>

#include <string>

#include "api/handle.hpp"

namespace {

using photon::engine::Grid;
using photon::engine::Vectored;

template <class Args>
Vectored described(const char* call, const Args& args, decltype(Vectored::shape) shape) {
  Vectored what;
  what.call = call;
  what.shape = shape;
  what.local = args.local;
  what.remote = args.remote;
  what.flags = args.flags;
  what.request = args.request;
  return what;
}

template <class Args>
Grid grid_of(const Args& args, const void* own, const ph_target& at) {
  return {static_cast<std::byte*>(const_cast<void*>(own)),
          at,
          args.block_bytes,
          {args.dimensions, args.dimensions_count}};
}

// Calls `describe(args)` for what the engine is to do, once args themselves are right.
template <class Args, class Describe>
ph_status post(ph_context* context, ph_rank rank, const Args* args, const char* call,
               Describe describe) noexcept {
  return photon::api::in_lane<photon::api::Ends::posted>(context, [&](auto& engine, auto&) {
    if (args == nullptr || args->size != sizeof(Args))
      return engine.fail(
          PH_ERR_ARGUMENT, rank,
          std::string(call) + ": args is null or args->size is not sizeof(ph_" + call + "_args)");
    if constexpr (requires { args->dimensions_count; })
      if (args->dimensions_count > PH_MAX_DIMENSIONS)
        return engine.fail(PH_ERR_ARGUMENT, rank,
                           std::string(call) + ": " + std::to_string(args->dimensions_count) +
                               " dimensions, the most are " + std::to_string(PH_MAX_DIMENSIONS));
    return engine.vectored(rank, describe(*args));
  });
}

}  // namespace

extern "C" {

ph_status ph_put_vector(ph_context* context, ph_rank rank, const ph_put_vector_args* args) {
  return post(context, rank, args, "put_vector", [](const ph_put_vector_args& in) {
    return described("put_vector", in, std::span(in.segments, in.segments_count));
  });
}

ph_status ph_get_vector(ph_context* context, ph_rank rank, const ph_get_vector_args* args) {
  return post(context, rank, args, "get_vector", [](const ph_get_vector_args& in) {
    Vectored what = described("get_vector", in, std::span(in.segments, in.segments_count));
    what.is_get = true;
    return what;
  });
}

ph_status ph_put_strided(ph_context* context, ph_rank rank, const ph_put_strided_args* args) {
  return post(context, rank, args, "put_strided", [](const ph_put_strided_args& in) {
    return described("put_strided", in, grid_of(in, in.source, in.target));
  });
}

ph_status ph_get_strided(ph_context* context, ph_rank rank, const ph_get_strided_args* args) {
  return post(context, rank, args, "get_strided", [](const ph_get_strided_args& in) {
    Vectored what = described("get_strided", in, grid_of(in, in.destination, in.source));
    what.is_get = true;
    return what;
  });
}

}  // extern "C"
