// SPDX-License-Identifier: Apache-2.0

/// The first bytes of a file as it is now, read where it is mapped.
///
/// `@unchecked Sendable`: the owner keeps the memory; what others write to the file meanwhile is what is looked for.
@safe struct MappedHead: @unchecked Sendable {
    /// The first byte of the mapping.
    private let start: UnsafeRawPointer
    /// How many bytes from the start are compared.
    private let byteCount: Int
    /// What keeps the mapping.
    private let owner: any AnyObject & Sendable

    /// What changes with every commit: the header, or in an encrypted file the entry of the page with the header.
    static func byteCount(isEncrypted: Bool) -> Int {
        isEncrypted ? EncryptionLayout.entryByteCount : FileHeader.byteCount
    }

    /// `mapping` has at least as many bytes.
    init(_ mapping: FileMapping, isEncrypted: Bool) {
        unsafe start = unsafe mapping.address
        byteCount = min(mapping.byteCount, MappedHead.byteCount(isEncrypted: isEncrypted))
        owner = mapping
    }

    /// `memory` shows a file of at least as many bytes.
    init(_ memory: ReservedMemory, isEncrypted: Bool) {
        unsafe start = unsafe UnsafeRawPointer(memory.address)
        byteCount = MappedHead.byteCount(isEncrypted: isEncrypted)
        owner = memory
    }

    /// In bounds: a mapped page stays readable while its owner lives, also when the file has lost it.
    var bytes: [UInt8] { unsafe Array(UnsafeRawBufferPointer(start: start, count: byteCount)) }
}
