#include "inference.hpp"

#include <charconv>
#include <sstream>

#include "attn/run/cpu_models.hpp"
#include "inference_on.hpp"

using namespace attn;

namespace {

const std::string head = "whose\tkind\tk\tn\ttokens\tmilliseconds\tdevice";

template <class Number>
Number number_in(const std::string& text, const std::filesystem::path& file) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size() && value >= 0, file.string(), ": '", text,
          "' is not a number. Remove the file and measure again.");
  return value;
}

}  // namespace

std::vector<InferenceTime> read_times(const std::filesystem::path& file) {
  std::vector<InferenceTime> times;
  const std::vector<std::string> lines = read_lines(file);
  require(!lines.empty() && lines[0] == head, file.string(), " does not begin with the columns ", head,
          ". Pass a file of forward-pass times.");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    std::vector<std::string> cells;
    std::istringstream in(lines[i]);
    for (std::string cell; std::getline(in, cell, '\t');) cells.push_back(cell);
    require(cells.size() == 7, file.string(), ", line ", i + 1, " has ", cells.size(),
            " columns, not 7. Remove the file and measure again.");
    times.push_back({cells[0], cells[1], number_in<Index>(cells[2], file), number_in<Index>(cells[3], file),
                     number_in<Index>(cells[4], file), number_in<double>(cells[5], file), cells[6]});
  }
  return times;
}

void write_times(const std::filesystem::path& file, const std::vector<InferenceTime>& times) {
  std::string text = head + "\n";
  for (const InferenceTime& one : times)
    text += one.whose + "\t" + one.kind + "\t" + std::to_string(one.k) + "\t" + std::to_string(one.n) + "\t" +
            std::to_string(one.tokens) + "\t" + format_decimals(one.milliseconds, 4) + "\t" + one.device + "\n";
  write_file(file, text);
}

std::vector<InferenceTime> measure_on_cpu(const InferenceWork& work, const DeviceOptions& device) {
  return inference::measure_on<Cpu<float>>(work, device);
}

#ifndef ATTN_CUDA
std::vector<InferenceTime> measure_on_gpu(const InferenceWork&, const DeviceOptions&) {
  fail("this program was built without CUDA. Use --device cpu.");
}
#endif
