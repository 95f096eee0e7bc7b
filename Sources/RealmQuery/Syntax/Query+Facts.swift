// SPDX-License-Identifier: Apache-2.0

extension Query {
    /// Whether the text itself says `SORT`, `DISTINCT` or `LIMIT`.
    package var hasDescriptors: Bool { !descriptors.isEmpty }
}
