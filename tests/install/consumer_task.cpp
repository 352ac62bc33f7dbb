// Typed tasks, from the one header that a program includes: a span that the PE sends itself.
#include <photon/task.hpp>

#include <cstdio>
#include <vector>

int main() {
  ph_task_config config{};
  config.size = sizeof config;
  ph_task_pe* pe = nullptr;
  ph_error error{};
  if (ph_task_start(&config, &pe, &error) != PH_OK) {
    std::fprintf(stderr, "ph_task_start: %s\n", error.text);
    return 1;
  }
  double sum = 0;
  bool is_released = false;
  {
    photon::tasks::Tasks tasks(pe);
    tasks.fix_threshold(0);
    const std::vector<double> row(10'000, 0.5);
    const auto add = tasks.on([&](std::span<const double> numbers, int factor) {
      for (const double number : numbers) sum += factor * number;
    });
    const auto released = [&] { is_released = true; };
    if (tasks.agree() != PH_OK) return 1;
    if (tasks.send(0, add, photon::tasks::zero_copy(row, released), 2) != PH_OK) return 1;
    if (ph_task_run(pe, 0, nullptr) != PH_OK) return 1;
  }
  return ph_task_end(pe) == PH_OK && sum == 10'000 && is_released ? 0 : 1;
}
