// SPDX-License-Identifier: Apache-2.0

/// The first 24 bytes of a file, and the footer of files in streaming form.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 8 | top ref, slot 0 |
/// | 8 | 8 | top ref, slot 1 |
/// | 16 | 4 | signature "T-DB" |
/// | 20 | 2 | file format version of slot 0 and of slot 1 |
/// | 22 | 1 | reserved |
/// | 23 | 1 | flags; bit 0 selects the slot |
///
/// Only the selected slot is ever looked at: the other belongs to an older or unfinished commit.
/// Source: docs/format.md, "File layout and header" and "Streaming form".
package struct FileHeader: Sendable, Equatable {
    /// The size of the header in bytes.
    package static let byteCount = 24
    /// The size of the footer of a file in streaming form in bytes.
    package static let footerByteCount = 16
    /// The four bytes "T-DB" by which a Realm file is known.
    static let signature: [UInt8] = [0x54, 0x2d, 0x44, 0x42]
    /// The top ref of a file in streaming form, whose real one is in the footer.
    static let streamingTopRef: UInt64 = .max
    /// The last eight bytes of the footer.
    static let footerCookie: UInt64 = 0x3034_1252_37e5_26c8
    /// The formats read as they are.
    package static let supportedFormats = 20...24
    /// The only format that is written.
    package static let writtenFormat = 24

    /// Which of the two top refs is the current one: 0 or 1.
    package let selectedSlot: Int
    /// The format of the selected slot.
    package let fileFormat: Int
    /// `Ref.none` for an empty database.
    package let topRef: Ref
    /// Whether the top ref is in the footer, as in files that were written in one go.
    package let isStreaming: Bool

    /// Whether there is a version, and in a format that is read but not written.
    package var isOutdated: Bool { !topRef.isNone && fileFormat != FileHeader.writtenFormat }

    /// What the header says after a commit by this program.
    init(selectedSlot: Int, topRef: Ref) {
        self.selectedSlot = selectedSlot
        self.topRef = topRef
        fileFormat = FileHeader.writtenFormat
        isStreaming = false
    }

    /// Reads and checks header and footer.
    ///
    /// `prefix` holds the first 24 bytes of the plain file and `footer` its last 16; `fileSize` is the plain size.
    /// `isEncrypted` only chooses the words of the refusal.
    package init(prefix: ByteView, footer: ByteView, fileSize: UInt64, isEncrypted: Bool) throws(StorageError) {
        guard prefix.count >= FileHeader.byteCount else {
            throw .refused(.notARealm("a file of \(fileSize) bytes is too small to be a Realm file"))
        }
        guard prefix.slice(16, 20).array == FileHeader.signature else {
            throw .refused(FileHeader.noSignature(fileSize: fileSize, isEncrypted: isEncrypted))
        }
        guard fileSize & 7 == 0 else { throw .refused(.notARealm("file size \(fileSize) is not a multiple of 8")) }
        selectedSlot = Int(prefix[23] & 1)
        fileFormat = Int(prefix[20 + selectedSlot])
        var top = FileHeader.littleEndian(prefix, at: 8 * selectedSlot)
        isStreaming = selectedSlot == 0 && top == FileHeader.streamingTopRef
        if isStreaming { top = try FileHeader.topRef(fromFooter: footer, fileSize: fileSize) }
        try FileHeader.check(format: fileFormat, topRef: top)
        guard top & 7 == 0, top < fileSize, top == 0 || top >= 24 else {
            throw .corrupt(ref: Ref(top), reason: "the top ref is invalid for a file of \(fileSize) bytes")
        }
        topRef = Ref(top)
    }

    /// An encrypted file has no marker, but always whole pages, and at least one after its first page table.
    private static func noSignature(fileSize: UInt64, isEncrypted: Bool) -> StorageError.Refusal {
        if isEncrypted { return .encryptionKeyWrong("no Realm signature after decryption: wrong encryption key") }
        let mayBeEncrypted = fileSize >= 8192 && fileSize % 4096 == 0
        return mayBeEncrypted
            ? .encryptionKeyRequired("no Realm signature: the file is encrypted and no key was given, or it is no Realm file")
            : .notARealm("no Realm signature: not a Realm file")
    }

    /// The top ref of a file in streaming form. Throws `.corrupt` for a footer that is none.
    private static func topRef(fromFooter footer: ByteView, fileSize: UInt64) throws(StorageError) -> UInt64 {
        guard fileSize >= UInt64(byteCount + footerByteCount), footer.count == footerByteCount else {
            throw .corrupt(ref: .none, reason: "a streaming-form file of \(fileSize) bytes has no footer")
        }
        guard littleEndian(footer, at: 8) == footerCookie else {
            throw .corrupt(ref: .none, reason: "the streaming-form footer has a bad cookie; is the file truncated?")
        }
        return littleEndian(footer, at: 0)
    }

    /// Throws `.refused` for a format that is not read.
    private static func check(format: Int, topRef: UInt64) throws(StorageError) {
        switch format {
        case supportedFormats: return
        case 0:
            guard topRef == 0 else {
                throw .refused(.formatUnsupported(found: 0, reason: "file format 0 is only valid for an empty database"))
            }
        case 10, 11:
            throw .refused(
                .formatUnsupported(
                    found: format, reason: "file format \(format) is too old; open it once with a Realm 14 SDK to upgrade it"))
        case 1...9:
            throw .refused(
                .formatUnsupported(
                    found: format, reason: "file format \(format) is too old; upgrade it with a Realm 13 or older SDK first"))
        default:
            throw .refused(.formatUnsupported(found: format, reason: "unknown file format \(format)"))
        }
    }

    /// Eight bytes as a number, the lowest first.
    private static func littleEndian(_ bytes: ByteView, at offset: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in 0..<8 { number |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
        return number
    }
}
