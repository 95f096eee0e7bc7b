// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

enum DescriptorSyntax: Sendable {
    struct SortKey: Sendable {
        let path: PathSyntax
        let isAscending: Bool
    }

    case sort([SortKey])
    case distinct([PathSyntax])
    case limit(Int)
}
