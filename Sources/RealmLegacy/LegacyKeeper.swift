// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What a pass has to remember: the bytes of values that are not in one piece in the file, for as long as they are used, and what
/// could not be read as what it is.
///
/// Only values beyond 16 MiB are split. One thread uses it.
final class LegacyKeeper {
    /// The joined values.
    private var kept: [ByteStorage] = []
    /// How many tables inside of mixed values were read as null.
    var tableCount = 0

    /// Keeps a copy of some bytes until `release`.
    func keep(_ bytes: [UInt8]) -> ByteView {
        let storage = ByteStorage(bytes)
        kept.append(storage)
        return storage.view
    }

    /// Gives up everything that was kept.
    func release() { kept.removeAll() }
}
