// Fibonacci numbers by threads of tasks: fib(n) asks other PEs for fib(n - 1) and fib(n - 2),
// suspends, and goes on when both have answered. Small numbers have the better priority, so that
// what has been begun ends before more is begun. When nothing is left to do in the whole job, the
// result is compared with that of a loop.
//   photonrun -n 2 fibonacci_tasks --pes 2 --number 24
#include <photon/task.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

namespace {

struct Options {
  std::uint32_t pes = 2;
  std::uint32_t number = 24;
  std::uint32_t serial = 12;  // numbers up to this one are computed at once
};

// Each process has one; its first PE notes what came out.
struct Program {
  Options options;
  bool is_right = true;
};

// A thread that waits for two answers. Questions carry its address, which only its PE uses.
struct Sum {
  ph_task_thread thread;
  std::uint32_t missing;
  std::uint64_t value;
};

struct Question {
  std::uint32_t asker;  // PE
  std::uint32_t number;
  std::uint64_t sum;
};

struct Answer {
  std::uint64_t sum;
  std::uint64_t value;
};

// One for each PE: its thread alone uses it.
struct Place {
  ph_task_pe* pe = nullptr;
  Program* program = nullptr;
  std::uint32_t own = 0;
  std::uint32_t pes = 1;
  std::uint32_t next = 0;  // whom to ask
  std::uint32_t on_question = 0;
  std::uint32_t on_answer = 0;
  std::uint32_t on_quiet = 0;
  std::uint32_t on_stop = 0;
  std::uint64_t result = 0;  // of the first PE
  std::uint64_t made = 0;
  std::uint64_t alive = 0;
  std::uint64_t most_alive = 0;
};

// One question that a thread answers. The thread frees it.
struct Work {
  Place* place;
  Question question;
};

void check(ph_task_pe* pe, ph_status status) {
  if (status == PH_OK) return;
  ph_error error;
  ph_task_error(pe, &error);
  std::fprintf(stderr, "fibonacci_tasks: %s\n", error.text);
  std::exit(1);
}

std::uint64_t serial_fib(std::uint32_t number) {
  std::uint64_t one = 0;
  std::uint64_t next = 1;
  for (; number != 0; --number) {
    const std::uint64_t sum = one + next;
    one = next;
    next = sum;
  }
  return one;
}

// By recursion: this is the work.
std::uint64_t slow_fib(std::uint32_t number) {
  return number < 2 ? number : slow_fib(number - 1) + slow_fib(number - 2);
}

template <class Body>
void send(Place& place, std::uint32_t to, std::uint32_t handler, const Body& body) {
  ph_task_message* message = nullptr;
  check(place.pe, ph_task_alloc(place.pe, sizeof body, &message));
  std::memcpy(ph_task_body(message), &body, sizeof body);
  ph_task_set_handler(message, handler);
  check(place.pe, ph_task_send(place.pe, to, message));
}

std::uint64_t fib(Place& place, std::uint32_t number) {
  if (number <= place.program->options.serial) return slow_fib(number);
  Sum sum{ph_task_thread_self(place.pe), 2, 0};
  for (const std::uint32_t part : {number - 1, number - 2}) {
    const Question question{place.own, part, reinterpret_cast<std::uintptr_t>(&sum)};
    send(place, place.next++ % place.pes, place.on_question, question);
  }
  check(place.pe, ph_task_thread_suspend(place.pe));  // until the second answer
  return sum.value;
}

void answer(ph_task_pe* /*pe*/, void* user) {
  const std::unique_ptr<Work> work(static_cast<Work*>(user));
  Place& place = *work->place;
  const Question& question = work->question;
  const Answer given{question.sum, fib(place, question.number)};
  --place.alive;
  send(place, question.asker, place.on_answer, given);
}

void begin(Place& place, ph_task_thread_function function, void* user, std::uint32_t number) {
  const auto value = static_cast<std::int32_t>(number);
  const ph_task_priority priority{PH_TASK_INT_LIFO, 32, &value};
  ph_task_thread_args args{};
  args.size = sizeof args;
  args.function = function;
  args.user = user;
  args.priority = &priority;
  ph_task_thread thread;
  check(place.pe, ph_task_thread_create(place.pe, &args, &thread));
  check(place.pe, ph_task_thread_awaken(place.pe, thread));
  ++place.made;
  place.most_alive = std::max(place.most_alive, ++place.alive);
}

void on_question(ph_task_pe* pe, ph_task_message* message, void* user) {
  auto& place = *static_cast<Place*>(user);
  auto work = std::make_unique<Work>();
  work->place = &place;
  std::memcpy(&work->question, ph_task_body(message), sizeof work->question);
  check(pe, ph_task_free(pe, message));
  const std::uint32_t number = work->question.number;
  begin(place, answer, work.release(), number);
}

void on_answer(ph_task_pe* pe, ph_task_message* message, void* /*user*/) {
  Answer given;
  std::memcpy(&given, ph_task_body(message), sizeof given);
  check(pe, ph_task_free(pe, message));
  auto& sum = *reinterpret_cast<Sum*>(static_cast<std::uintptr_t>(given.sum));
  sum.value += given.value;
  if (--sum.missing == 0) check(pe, ph_task_thread_awaken(pe, sum.thread));
}

void on_stop(ph_task_pe* pe, ph_task_message* message, void* /*user*/) {
  check(pe, ph_task_free(pe, message));
  check(pe, ph_task_stop(pe));
}

// The first thread.
void root(ph_task_pe* /*pe*/, void* user) {
  auto& place = *static_cast<Place*>(user);
  place.result = fib(place, place.program->options.number);
  --place.alive;
}

// Nobody works any more, and nothing is under way.
void on_quiet(ph_task_pe* pe, ph_task_message* message, void* user) {
  const auto& place = *static_cast<Place*>(user);
  const std::uint32_t number = place.program->options.number;
  place.program->is_right = place.result == serial_fib(number);
  std::printf("fib(%u) = %" PRIu64 ", %s\n", number, place.result,
              place.program->is_right ? "which is right" : "which is WRONG");
  ph_task_set_handler(message, place.on_stop);
  check(pe, ph_task_broadcast(pe, message, PH_TASK_WITH_SELF));
}

// Every PE runs this.
void run(ph_task_pe* pe, void* user) {
  Place place;
  place.pe = pe;
  place.program = static_cast<Program*>(user);
  ph_task_place shape{};
  shape.size = sizeof shape;
  check(pe, ph_task_shape(pe, &shape));
  place.own = place.next = shape.pe;
  place.pes = shape.pes;
  check(pe, ph_task_register(pe, on_question, &place, &place.on_question));
  check(pe, ph_task_register(pe, on_answer, &place, &place.on_answer));
  check(pe, ph_task_register(pe, on_quiet, &place, &place.on_quiet));
  check(pe, ph_task_register(pe, on_stop, &place, &place.on_stop));
  check(pe, ph_task_agree(pe));
  if (shape.pe == 0) {
    begin(place, root, &place, place.program->options.number);
    check(pe, ph_task_quiesce(pe, place.on_quiet));
  }
  check(pe, ph_task_run(pe, -1, nullptr));
  std::printf("PE %u of %u: %" PRIu64 " threads, at most %" PRIu64 " at a time\n", shape.pe,
              shape.pes, place.made, place.most_alive);
}

}  // namespace

int main(int argc, char** argv) {
  Program program;
  Options& options = program.options;
  CLI::App app{"Fibonacci numbers by threads of tasks"};
  app.add_option("--pes", options.pes, "PEs of each process");
  app.add_option("--number", options.number, "Which number")->check(CLI::Range(0, 40));
  app.add_option("--serial", options.serial, "Up to which number one thread computes alone")
      ->check(CLI::Range(1, 40));
  CLI11_PARSE(app, argc, argv);
  ph_task_config config{};
  config.size = sizeof config;
  config.pes = options.pes;
  config.main = run;
  config.user = &program;
  ph_task_pe* pe = nullptr;
  ph_error error;
  if (ph_task_start(&config, &pe, &error) != PH_OK) {
    std::fprintf(stderr, "fibonacci_tasks: %s\n", error.text);
    return 1;
  }
  run(pe, &program);
  const bool has_ended = ph_task_end(pe) == PH_OK;
  return has_ended && program.is_right ? 0 : 1;
}
