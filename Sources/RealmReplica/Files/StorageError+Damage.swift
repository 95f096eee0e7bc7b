// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension StorageError {
    /// Whether the file of a realm was found to be damaged.
    ///
    /// Files of a cluster have no other format, so one that seems to have is damaged as well.
    var isDamage: Bool {
        switch self {
        case .corrupt: return true
        case .refused(.unsound), .refused(.notARealm), .refused(.formatUnsupported): return true
        default: return false
        }
    }

    /// Whether the file of a realm may be damaged, or a key is missing or wrong: a plain file whose first bytes are gone seems to be
    /// encrypted, and an encrypted one whose first page is gone seems to have another key. The bases in the log tell which it is.
    var mayBeDamage: Bool { isDamage || isAboutKey }
}
