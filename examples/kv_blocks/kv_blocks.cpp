// Blocks of a KV cache move from prefill ranks to decode ranks, and either side cancels at random:
//   photonrun -n 4 kv_blocks [--requests N] [--block-bytes N] [--cancel PERCENT] [--stop]
//   [--unfenced]
// A decode rank opens a mailbox for each request, posts the blocks that are to be filled, and
// closes it when it cancels: its blocks come back at once, and the next request uses them. Every
// byte is checked: of each block that was filled, and of each that came back and must not change
// any more.
// --stop: prefill ranks are stopped now and then while they send.
// --unfenced: plain puts to the blocks' addresses, as many movers do it: late ones land in blocks
// that belong to the next request, and the program counts them.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "decode.hpp"
#include "prefill.hpp"

namespace kv_blocks {
namespace {

struct Result {
  std::uint64_t filled = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t corrupted = 0;
};

Result run(ph_context* context, const Options& options) {
  const ph_rank ranks = ph_size_of(context);
  const ph_rank prefills = ranks / 2;
  if (prefills == 0) throw std::runtime_error("it takes two ranks or more");
  std::vector<pid_t> pids(ranks);
  const pid_t mine = ::getpid();
  check(ph_allgather(context, &mine, pids.data(), sizeof mine), "allgather");
  if (ph_rank_of(context) < prefills) {
    Prefill prefill(context, options, ranks - prefills);
    check(ph_barrier(context), "barrier");
    prefill.run();
    return {};
  }
  pids.resize(prefills);
  Decode decode(context, options, pids);
  check(ph_barrier(context), "barrier");
  decode.run();
  return {decode.filled(), decode.cancelled(), decode.corrupted()};
}

// Rank 0 says what all have seen, and its exit status whether nothing was corrupted.
int tell(ph_context* context, const Options& options, const Result& mine) {
  std::vector<Result> all(ph_size_of(context));
  check(ph_allgather(context, &mine, all.data(), sizeof mine), "allgather");
  Result sum;
  for (const Result& one : all) {
    sum.filled += one.filled;
    sum.cancelled += one.cancelled;
    sum.corrupted += one.corrupted;
  }
  if (ph_rank_of(context) == 0)
    std::printf(
        "kv_blocks%s: %llu blocks of %llu bytes filled, %llu requests cancelled, %llu blocks "
        "corrupted\n",
        options.is_unfenced ? " (unfenced)" : "", static_cast<unsigned long long>(sum.filled),
        static_cast<unsigned long long>(options.block_bytes),
        static_cast<unsigned long long>(sum.cancelled),
        static_cast<unsigned long long>(sum.corrupted));
  return ph_rank_of(context) != 0 || sum.corrupted == 0 ? 0 : 1;
}

std::uint64_t number(const char* text) {
  std::uint64_t value = 0;
  const char* const end = text + std::strlen(text);
  if (std::from_chars(text, end, value).ptr != end || value == 0)
    throw std::runtime_error(std::string("no number: ") + text);
  return value;
}

Options options_of(std::span<char*> arguments) {
  Options options;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    const auto value = [&] {
      if (i + 1 == arguments.size()) throw std::runtime_error("it lacks a number");
      return number(arguments[++i]);
    };
    if (name == "--requests")
      options.requests = value();
    else if (name == "--block-bytes")
      options.block_bytes = (value() + 7) / 8 * 8;
    else if (name == "--cancel")
      options.cancel_percent = static_cast<unsigned>(std::min<std::uint64_t>(value(), 100));
    else if (name == "--stop")
      options.stops = true;
    else if (name == "--unfenced")
      options.is_unfenced = true;
    else
      throw std::runtime_error("unknown option " + std::string(name));
  }
  return options;
}

}  // namespace
}  // namespace kv_blocks

int main(int argc, char** argv) {
  try {
    const kv_blocks::Options options =
        kv_blocks::options_of({argv, static_cast<std::size_t>(argc)});
    ph_context* context = nullptr;
    ph_error error{};
    if (ph_context_create(nullptr, &context, &error) != PH_OK) throw std::runtime_error(error.text);
    const int status = kv_blocks::tell(context, options, kv_blocks::run(context, options));
    ph_context_destroy(context);
    return status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kv_blocks: %s\n", error.what());
    return 2;
  }
}
