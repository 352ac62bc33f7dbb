#include "png_io.hpp"

#include <fmt/format.h>
#include <png.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace heat2d {
namespace {

constexpr std::size_t kMaxCells = std::size_t{1} << 26;  // half a gigabyte per copy of the field

// libpng's simplified interface keeps state behind the struct until it is freed.
struct Image : png_image {
  Image() : png_image{} { version = PNG_IMAGE_VERSION; }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image() { png_image_free(this); }
};

struct Colour {
  double red, green, blue;
};

// Stops of the colour map, evenly spaced from cold to hot; in between it is linear.
constexpr std::array<Colour, 7> kStops = {{{0, 0, 4},
                                           {51, 9, 94},
                                           {120, 28, 109},
                                           {186, 54, 85},
                                           {237, 105, 37},
                                           {251, 180, 26},
                                           {252, 255, 220}}};

std::array<std::uint8_t, 3> colour_of(double heat) {
  constexpr double kSegments = static_cast<double>(kStops.size() - 1);
  const double place = std::clamp(heat, 0.0, 1.0) * kSegments;
  const auto index = std::min(static_cast<std::size_t>(place), kStops.size() - 2);
  const double share = place - static_cast<double>(index);
  const Colour& from = kStops[index];
  const Colour& to = kStops[index + 1];
  const auto mix = [share](double a, double b) {
    return static_cast<std::uint8_t>(a + (b - a) * share + 0.5);
  };
  return {mix(from.red, to.red), mix(from.green, to.green), mix(from.blue, to.blue)};
}

}  // namespace

Field read_png(const std::string& path) {
  // Looked at first: libpng would report a missing file and a directory alike.
  if (::access(path.c_str(), R_OK) != 0)
    throw std::runtime_error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  if (std::filesystem::is_directory(path))
    throw std::runtime_error(fmt::format("cannot read {}: it is a directory", path));
  Image image;
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0)
    throw std::runtime_error(fmt::format("{} is not a usable PNG: {}", path, image.message));
  const Extent extent{image.width, image.height};
  if (extent.cells_count() > kMaxCells)
    throw std::runtime_error(fmt::format("{} has {} x {} pixels; at most {} fit", path,
                                         extent.width, extent.height, kMaxCells));
  image.format = PNG_FORMAT_GRAY;
  // Transparent pixels are blended with what the buffer holds: zero, so they are cold.
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image), 0);
  if (png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr) == 0)
    throw std::runtime_error(fmt::format("{} is not a usable PNG: {}", path, image.message));
  Field field{extent, std::vector<double>(extent.cells_count())};
  std::transform(pixels.begin(), pixels.end(), field.cells.begin(),
                 [](std::uint8_t pixel) { return pixel / 255.0; });
  return field;
}

void require_writable(const std::string& path) {
  const std::filesystem::path file(path);
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  const bool exists = std::filesystem::exists(file);
  if (std::filesystem::is_directory(file))
    throw std::runtime_error(fmt::format("cannot write {}: it is a directory", path));
  if (::access(exists ? file.c_str() : folder.c_str(), W_OK) != 0)
    throw std::runtime_error(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

void write_png(const std::string& path, const Field& field) {
  const auto [coldest, hottest] = std::minmax_element(field.cells.begin(), field.cells.end());
  const double span = *hottest > *coldest ? *hottest - *coldest : 1.0;
  std::vector<std::uint8_t> pixels;
  pixels.reserve(field.cells.size() * 3);
  for (const double cell : field.cells) {
    const auto colour = colour_of((cell - *coldest) / span);
    pixels.insert(pixels.end(), colour.begin(), colour.end());
  }
  Image image;
  image.width = static_cast<png_uint_32>(field.extent.width);
  image.height = static_cast<png_uint_32>(field.extent.height);
  image.format = PNG_FORMAT_RGB;
  if (png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0, nullptr) == 0)
    throw std::runtime_error(fmt::format("cannot write {}: {}", path, image.message));
}

}  // namespace heat2d
