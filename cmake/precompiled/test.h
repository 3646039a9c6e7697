// What the tests parse beside the headers of the libraries.
#include "cmake/precompiled/library.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
