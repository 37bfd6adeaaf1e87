#pragma once
#include "options.hpp"

/// Reads the command line. Prints help or an error and exits if there is nothing else to do.
Options read_options(int count, char** words);
