// Tasks on several PEs of several processes: tokens of many sizes go round through all of them, and
// at the end PE 0 tells all to stop. Each hop checks the bytes.
//   photonrun -n 2 task_ring --pes 2 --laps 1000
#include <photon/task.h>

#include <CLI/CLI.hpp>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

// What each token carries behind its header; the rest of it is a pattern.
struct Token {
  std::uint64_t hops_left;
  std::uint64_t number;
};

// One for each PE: its thread alone uses it.
struct Ring {
  std::uint32_t next = 0;
  std::uint32_t on_token = 0;
  std::uint32_t on_home = 0;
  std::uint32_t on_stop = 0;
  std::uint64_t tokens = 0;  // of PE 0: those that are not home yet
  std::uint64_t wrong = 0;
};

struct Options {
  std::uint32_t pes = 2;
  std::uint64_t laps = 1000;
};

constexpr std::uint64_t kSizes[] = {16, 40, 41, 1000, 30'000, 100'000, 1'000'000};

void check(ph_task_pe* pe, ph_status status) {
  if (status == PH_OK) return;
  ph_error error;
  ph_task_error(pe, &error);
  std::fprintf(stderr, "task_ring: %s\n", error.text);
  std::exit(1);
}

unsigned char pattern(std::uint64_t number, std::uint64_t at) {
  return static_cast<unsigned char>(number * 31 + at * 7 + at / 251);
}

bool is_right(ph_task_message* message, const Token& token) {
  const auto* bytes = static_cast<unsigned char*>(ph_task_body(message));
  const std::uint64_t size = ph_task_size(message);
  const std::uint64_t step = size > 4096 ? 997 : 1;
  for (std::uint64_t at = sizeof token; at < size; at += step)
    if (bytes[at] != pattern(token.number, at)) return false;
  return true;
}

// Sends it on with one hop less, or home.
void on_token(ph_task_pe* pe, ph_task_message* message, void* user) {
  auto& ring = *static_cast<Ring*>(user);
  Token token;
  std::memcpy(&token, ph_task_body(message), sizeof token);
  if (!is_right(message, token)) ++ring.wrong;
  const bool is_home = token.hops_left == 0;
  if (is_home) {
    ph_task_set_handler(message, ring.on_home);
  } else {
    --token.hops_left;
    std::memcpy(ph_task_body(message), &token, sizeof token);
  }
  check(pe, ph_task_send(pe, is_home ? 0 : ring.next, message));
}

void on_home(ph_task_pe* pe, ph_task_message* message, void* user) {
  auto& ring = *static_cast<Ring*>(user);
  if (--ring.tokens != 0) {
    check(pe, ph_task_free(pe, message));
    return;
  }
  ph_task_set_handler(message, ring.on_stop);
  check(pe, ph_task_broadcast(pe, message, PH_TASK_WITH_SELF));
}

void on_stop(ph_task_pe* pe, ph_task_message* message, void* /*user*/) {
  check(pe, ph_task_free(pe, message));
  check(pe, ph_task_stop(pe));
}

void begin(ph_task_pe* pe, Ring& ring, std::uint64_t hops) {
  for (const std::uint64_t size : kSizes) {
    ph_task_message* message = nullptr;
    check(pe, ph_task_alloc(pe, size, &message));
    const Token token{hops, ring.tokens++};
    auto* bytes = static_cast<unsigned char*>(ph_task_body(message));
    for (std::uint64_t at = 0; at < size; ++at) bytes[at] = pattern(token.number, at);
    std::memcpy(bytes, &token, sizeof token);
    ph_task_set_handler(message, ring.on_token);
    check(pe, ph_task_send(pe, ring.next, message));
  }
}

// Every PE runs this.
void run(ph_task_pe* pe, void* user) {
  const auto& options = *static_cast<Options*>(user);
  ph_task_place place{};
  place.size = sizeof place;
  check(pe, ph_task_shape(pe, &place));
  Ring ring;
  ring.next = (place.pe + 1) % place.pes;
  check(pe, ph_task_register(pe, on_token, &ring, &ring.on_token));
  check(pe, ph_task_register(pe, on_home, &ring, &ring.on_home));
  check(pe, ph_task_register(pe, on_stop, &ring, &ring.on_stop));
  check(pe, ph_task_agree(pe));
  if (place.pe == 0) begin(pe, ring, options.laps * place.pes);
  std::uint64_t ran = 0;
  check(pe, ph_task_run(pe, -1, &ran));
  std::printf("PE %u of %u: %" PRIu64 " tasks, %" PRIu64 " with wrong bytes\n", place.pe, place.pes,
              ran, ring.wrong);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Tokens go round through all PEs"};
  app.add_option("--pes", options.pes, "PEs of each process");
  app.add_option("--laps", options.laps, "How often each token goes round");
  CLI11_PARSE(app, argc, argv);
  ph_task_config config{};
  config.size = sizeof config;
  config.pes = options.pes;
  config.main = run;
  config.user = &options;
  ph_task_pe* pe = nullptr;
  ph_error error;
  if (ph_task_start(&config, &pe, &error) != PH_OK) {
    std::fprintf(stderr, "task_ring: %s\n", error.text);
    return 1;
  }
  run(pe, &options);
  return ph_task_end(pe) == PH_OK ? 0 : 1;
}
