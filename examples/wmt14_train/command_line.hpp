#pragma once
#include "options.hpp"

/// Reads the command line; prints help or what is wrong and ends the program where that is all there is to do.
Options read_options(int count, char** words);
