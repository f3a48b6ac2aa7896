// SPDX-License-Identifier: Apache-2.0
// The headers that cost a test file most to parse. Every test includes what it uses.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "xshards/pch.h"
