// photon-netsim: a packet simulator of networks. Users' manual: docs/netsim.md.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include "netsim/command/command.hpp"

namespace {

constexpr const char* kUsage =
    "usage: photon-netsim run [FILE] [--set key=value]... [--threads N] [--json OUT]\n"
    "                    [--check]                   measures every queue twice\n"
    "       photon-netsim sweep FILE --into DIR [--jobs N] [--set key=value]...\n"
    "       photon-netsim ladder FILE [--set key=value]... [--jobs N] [--json OUT]\n"
    "       photon-netsim paper --figure 7|8 --into DIR [--nodes 64|512|8192] [--jobs N]\n"
    "       photon-netsim check                      the validation table, and theory\n"
    "       photon-netsim bench [ROW]... [--small]   speed and memory, each with its bar\n"
    "       photon-netsim keys [--markdown]                       what can be set\n";

// Of any thread: nothing can be undone, but nobody takes it for a fault of the program.
void end_without_memory() {
  std::fputs("photon-netsim: the memory does not suffice for so large a run\n", stderr);
  std::_Exit(1);
}

int call(int count, char** words) {
  namespace command = photon::netsim::command;
  const std::string_view name = count > 1 ? words[1] : "";
  const command::Arguments rest(words + (count > 1 ? 2 : 1), words + count);
  if (name == "run") return command::run(rest);
  if (name == "sweep") return command::sweep(rest);
  if (name == "ladder") return command::ladder(rest);
  if (name == "paper") return command::paper(rest);
  if (name == "bench") return command::bench(rest);
  if (name == "check" && rest.empty()) return command::check();
  if (name == "keys") return command::keys(rest);
  std::fputs(kUsage, name == "--help" ? stdout : stderr);
  return name == "--help" ? 0 : 2;
}

// What was printed may be in memory until here. An error of an earlier piece has left no reason.
bool is_all_printed() {
  const bool was_well = std::ferror(stdout) == 0;
  if (std::fflush(stdout) == 0 && was_well) return true;
  std::fprintf(stderr, "photon-netsim: the standard output cannot be written%s%s\n",
               was_well ? ": " : "", was_well ? std::strerror(errno) : "");
  return false;
}

}  // namespace

int main(int count, char** words) {
  std::set_new_handler(end_without_memory);
  const int status = call(count, words);
  if (is_all_printed()) return status;
  return status == 0 ? 1 : status;
}
