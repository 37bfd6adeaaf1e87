#include "engines.hpp"

#include <iostream>

#include "attn/core/error.hpp"
#include "gpus.hpp"
#include "model_names.hpp"

std::unique_ptr<Engine> make_engine(const ModelFolder& folder, const Place& place) {
  const bool recurrent = is_recurrent(folder.model);
  attn::require(recurrent || is_transformer(folder.model), folder.weights.string(), " is a ", folder.model,
                ", which this program does not know; it may be of a newer attn");
  const bool cuda = place.device == "cuda" || (place.device == "auto" && gpus() > 0);
  if (!cuda) return (recurrent ? cpu_recurrent : cpu_transformer)(folder, place);
  check_gpu(place.gpu);
  std::cerr << gpus_found() << "; on GPU " << place.gpu << ", in " << place.precision_on_gpu() << "\n";
  return (recurrent ? cuda_recurrent : cuda_transformer)(folder, place);
}
