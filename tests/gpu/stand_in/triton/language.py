# SPDX-License-Identifier: Apache-2.0
constexpr = None
