// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The first bytes of a file in their present state, read where it is mapped.
///
/// Other programs may write to the file at any time; finding that out is the purpose.
struct MappedHead: Sendable {
    /// The bytes from the start of the file that are compared.
    private let head: ByteView
    /// The object that keeps the mapping.
    private let owner: any AnyObject & Sendable

    /// Returns the size in bytes of the part that changes with every commit: the header, or in an
    /// encrypted file the entry of the page with the header.
    static func byteCount(isEncrypted: Bool) -> Int {
        isEncrypted ? EncryptionLayout.entryByteCount : FileHeader.byteCount
    }

    /// Makes an access to a mapped file, which has at least as many bytes.
    init(_ mapping: FileMapping, isEncrypted: Bool) {
        head = mapping.bytes.slice(0, MappedHead.byteCount(isEncrypted: isEncrypted))
        owner = mapping
    }

    /// Makes an access to `memory`, which shows a file of at least as many bytes.
    init(_ memory: ReservedMemory, isEncrypted: Bool) {
        head = memory.range.slice(0, MappedHead.byteCount(isEncrypted: isEncrypted))
        owner = memory
    }

    /// A copy of the bytes in their present state. A mapped page stays readable while its owner
    /// lives, even when the file has lost it.
    var bytes: [UInt8] { head.array }
}
