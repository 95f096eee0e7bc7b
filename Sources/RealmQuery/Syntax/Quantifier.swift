// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

enum Quantifier: String, Sendable {
    case any = "ANY"
    case all = "ALL"
    case none = "NONE"
}
