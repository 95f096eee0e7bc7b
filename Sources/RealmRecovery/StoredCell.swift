// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A value of an object, or why it is not there.
enum StoredCell {
    case value(StoredValue)
    case lost(Loss)

    /// Whether the value is gone.
    var isLost: Bool { if case .lost = self { true } else { false } }
}
