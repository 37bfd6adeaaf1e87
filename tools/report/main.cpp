// Writes an HTML report of one or several training runs that works offline.

#include <exception>
#include <iostream>

#include "common/command_line.hpp"
#include "common/run_report.hpp"

using namespace attn;

int main(int count, char** words) try {
  std::vector<std::filesystem::path> folders;
  std::filesystem::path output;
  CLI::App app(
      "Writes an HTML report of one or more runs: curves, scores, translations, attention maps, settings.\n\n"
      "  report runs/wmt14                          writes runs/wmt14/report.html\n"
      "  report runs/a runs/b --output both.html    two runs side by side\n",
      "report");
  app.add_option("folder", folders, "Run folders")->required();
  app.add_option("--output,-o", output, "Output file. Default: report.html, for a single run in its folder");
  read_command_line(app, count, words);
  if (output.empty()) output = folders.size() == 1 ? folders[0] / "report.html" : "report.html";
  const std::string page = draw_run_report(read_reported_runs(folders));
  if (output.has_parent_path()) make_folder(output.parent_path());
  write_file(output, page);
  std::cout << "written to " << output.string() << "\n";
  require_written(std::cout, "the path of the page");
} catch (const std::exception& error) {
  std::cerr << "report: " << error.what() << "\n";
  return 1;
}
