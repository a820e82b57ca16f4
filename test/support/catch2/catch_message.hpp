#pragma once

#include <catch2/catch_all.hpp>
