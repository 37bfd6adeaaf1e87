#include "engines.hpp"

#include <iostream>
#include <map>

#include "attn/core/error.hpp"
#include "gpus.hpp"

std::unique_ptr<Engine> make_engine(const ModelFolder& folder, const Place& place) {
  struct Makers {
    std::unique_ptr<Engine> (*cpu)(const ModelFolder&, const Place&);
    std::unique_ptr<Engine> (*cuda)(const ModelFolder&, const Place&);
  };
  static const std::map<std::string, Makers> families{{"transformer", {cpu_transformer, cuda_transformer}},
                                                      {"linformer32", {cpu_linformer32, cuda_linformer32}},
                                                      {"linformer64", {cpu_linformer64, cuda_linformer64}},
                                                      {"additive", {cpu_additive, cuda_additive}},
                                                      {"multiplicative", {cpu_multiplicative, cuda_multiplicative}},
                                                      {"scaled-dot", {cpu_scaled_dot, cuda_scaled_dot}},
                                                      {"key-value", {cpu_key_value, cuda_key_value}},
                                                      {"seq2seq", {cpu_others, cuda_others}},
                                                      {"input-feeding", {cpu_others, cuda_others}},
                                                      {"lexical", {cpu_others, cuda_others}}};
  const auto found = families.find(folder.family);
  attn::require(found != families.end(), folder.weights.string(), " is a ", folder.family,
                ", which this program does not know; it may be of a newer attn");
  const bool cuda = place.device == "cuda" || (place.device == "auto" && gpus() > 0);
  if (cuda) {
    check_gpu(place.gpu);
    std::cerr << gpus_found() << "; on GPU " << place.gpu << ", in " << place.precision_on_gpu() << "\n";
  }
  return (cuda ? found->second.cuda : found->second.cpu)(folder, place);
}
