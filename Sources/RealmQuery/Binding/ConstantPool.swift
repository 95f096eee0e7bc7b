// SPDX-License-Identifier: Apache-2.0

import RealmStorage

/// Owns the bytes of the constants of a bound query, which its values only borrow.
final class ConstantPool {
    private var storages: [ByteStorage] = []

    func keep(_ bytes: some Collection<UInt8>) -> ByteView {
        let storage = ByteStorage(bytes)
        storages.append(storage)
        return storage.view
    }
}
