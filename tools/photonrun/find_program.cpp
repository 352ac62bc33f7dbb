#include "find_program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace photonrun {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

std::string find_in_path(const std::string& name) {
  const char* const variable = std::getenv("PATH");
  std::string_view rest = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
  for (;;) {
    const std::size_t colon = rest.find(':');
    const std::string_view folder = rest.substr(0, colon);
    const fs::path path = fs::path(folder.empty() ? "." : folder) / name;
    if (is_program(path)) return path.string();
    if (colon == std::string_view::npos) return {};
    rest.remove_prefix(colon + 1);
  }
}

std::string find_nearby(const std::string& name) {
  std::error_code error;
  const fs::path own_folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return {};
  for (const char* const folder : {".", "../examples", "../bench", "../libexec/photon"}) {
    const fs::path path = own_folder / folder / name;
    if (is_program(path)) return path.lexically_normal().string();
  }
  return {};
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  if (std::string path = find_in_path(name); !path.empty()) return path;
  if (std::string path = find_nearby(name); !path.empty()) return path;
  return name;
}

std::string advice_for(const std::string& name) {
  // Found, it is its interpreter that is missing.
  if (find_program(name).find('/') != std::string::npos || !is_program(fs::path(".") / name))
    return {};
  return "; it is not on PATH, the one in this folder is ./" + name;
}

}  // namespace photonrun
