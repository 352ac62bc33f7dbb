#include "netsim/command/options.hpp"

#include <cstdio>

#include "netsim/command/files.hpp"

namespace photon::netsim::command {
namespace {

Result<Options> with_word(Options options, const std::string& name, const std::string& value) {
  if (name == "--set") {
    const std::size_t sign = value.find('=');
    if (sign == std::string::npos) return Error{"--set " + value + ": allowed is key=value"};
    options.changes.emplace_back(value.substr(0, sign), value.substr(sign + 1));
  } else if (name == "--threads") {
    options.changes.emplace_back("run.threads", value);
  } else {
    std::string& its = name == "--case"   ? options.case_
                       : name == "--json" ? options.json
                       : name == "--into" ? options.into
                                          : options.jobs;
    if (value.empty()) return Error{name + ": an empty text is not allowed"};
    its = value;
  }
  return options;
}

}  // namespace

Result<Options> options_of(Arguments arguments, std::string_view allowed) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string word = arguments[i];
    if (!word.starts_with("--")) {
      if (!options.file.empty()) return Error{word + ": one file is allowed"};
      options.file = word;
      continue;
    }
    if (allowed.find(" " + word + " ") == std::string_view::npos) {
      return Error{"unknown option " + word + ": allowed are" + std::string(allowed)};
    }
    if (word == "--check") {
      options.is_audited = true;
      continue;
    }
    if (i + 1 == arguments.size()) return Error{word + ": its value is missing"};
    auto more = with_word(std::move(options), word, arguments[++i]);
    if (!more) return Error{more.error()};
    options = std::move(*more);
  }
  return options;
}

Result<Document> read_document(const Options& options) {
  if (options.file.empty()) return changed(Document{}, options);
  const auto text = read_file(options.file);
  if (!text) return Error{text.error()};
  auto document = document_of(options.file, *text);
  return document ? changed(std::move(*document), options) : document;
}

Result<Document> changed(Document document, const Options& options) {
  for (const auto& [key, value] : options.changes) {
    auto settings = with(document.settings, key, value);
    if (!settings) return Error{"command line: " + settings.error()};
    document.settings = std::move(*settings);
    document.lines.erase(key);  // the file no longer says it
    std::erase_if(document.axes, [&key](const Axis& axis) { return axis.key == key; });
  }
  return document;
}

int refuse(const std::string& what) {
  std::string line = what;  // a value may have lines of its own
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  std::fprintf(stderr, "photon-netsim: %s\n", line.c_str());
  return 2;
}

}  // namespace photon::netsim::command
