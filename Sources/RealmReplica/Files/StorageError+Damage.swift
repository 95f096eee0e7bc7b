// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

extension StorageError {
    /// Whether the file of a realm was found to be damaged.
    ///
    /// Files of a cluster are neither encrypted nor of another format, so one that seems to be is damaged as well: its first bytes or
    /// its end are gone.
    var isDamage: Bool {
        switch self {
        case .corrupt: return true
        case .refused(.unsound), .refused(.notARealm), .refused(.encryptionKeyRequired), .refused(.formatUnsupported): return true
        default: return false
        }
    }
}
