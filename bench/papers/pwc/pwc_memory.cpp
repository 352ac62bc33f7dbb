// The memory that a rank has for its peers, before it has met them: a context of a pretended job of
// so many ranks, all of which say what this one says.
//
//   pwc_memory PEERS
//
// For each number of peers it prints by how much the resident memory grows, for all of them.
#include <unistd.h>

#include "pwc.hpp"

namespace {

struct Pretended {
  std::uint32_t ranks;
};

int gather(void* user, const void* mine, void* all, std::size_t size_bytes) {
  const auto ranks = static_cast<const Pretended*>(user)->ranks;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    std::memcpy(static_cast<char*>(all) + rank * size_bytes, mine, size_bytes);
  return 0;
}

int meet(void*) { return 0; }

double resident_bytes() {
  unsigned long long pages = 0, resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%llu %llu", &pages, &resident) != 2)
    pwc::fail("/proc/self/statm cannot be read");
  std::fclose(file);
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

ph_context* join(Pretended& job) {
  const ph_bootstrap bootstrap{&job, 0, job.ranks, gather, meet};
  ph_config config{};
  config.size = sizeof config;
  config.bootstrap = &bootstrap;
  ph_context* context = nullptr;
  ph_error error{};
  if (ph_context_create(&config, &context, &error) != PH_OK) pwc::fail("%s", error.text);
  return context;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) pwc::fail("usage: pwc_memory PEERS");
  // The first context of a process costs more than later ones, so it is made before anything is
  // measured. All contexts stay, so that no later one takes memory which was used before.
  Pretended pair{2};
  std::vector<ph_context*> contexts{join(pair)};
  const char* before = "{\"rows\": [";
  for (const auto peers : pwc::numbers_of(arguments[1])) {
    Pretended job{static_cast<std::uint32_t>(peers + 1)};
    const double begin_bytes = resident_bytes();
    ph_context* const context = join(job);
    std::printf("%s{\"peers\": %llu, \"bytes\": %.0f}", before,
                static_cast<unsigned long long>(peers), resident_bytes() - begin_bytes);
    contexts.push_back(context);
    before = ", ";
  }
  std::printf("]}\n");
  for (ph_context* const context : contexts) ph_context_destroy(context);
  return 0;
}
