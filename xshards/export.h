// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks what libxshards exports: the library is built with hidden visibility.
#define XSHARDS_EXPORT __attribute__((visibility("default")))
