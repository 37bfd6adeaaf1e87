// Any bytes as the file of --config: its values are within their options' limits, or a CLI::ParseError says why not.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "common/command_line.hpp"
#include "support/case_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const fuzz::MemoryFile file(fuzz::text_of(bytes, count));
  attn::Index epochs = 10;
  double rate = 1e-3;
  std::string order = "pooled", name;
  bool amsgrad = false;
  attn::DeviceOptions device;
  CLI::App app("test");
  app.set_config("--config");
  const attn::AddOptions add{app, "Training"};
  add("--epochs", epochs, "Passes", attn::whole_number(1, 100));
  add("--rate", rate, "Peak", attn::positive_number());
  add("--order", order, "Of batches", CLI::IsMember({"pooled", "shuffled"}));
  add("--name", name, "Any");
  add("--amsgrad", amsgrad, "Or not");
  attn::add_device_options(app, device);
  attn::prepare_command_line(app);
  try {
    app.parse(std::vector<std::string>{file.path().string(), "--config"});  // the last word first
    if (epochs < 1 || epochs > 100 || !(rate > 0) || !std::isfinite(rate)) std::abort();
    if ((order != "pooled" && order != "shuffled") || device.threads < 0) std::abort();
  } catch (const CLI::ParseError& error) {
    if (attn::explain(app, error).empty()) std::abort();
  }
  return 0;
}
