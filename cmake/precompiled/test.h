// What the tests parse beside the headers of the libraries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "cmake/precompiled/library.h"
