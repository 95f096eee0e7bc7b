// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

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
/// Only the selected slot is ever read: the other belongs to an older or unfinished commit.
/// Source: docs/format.md, "File layout and header" and "Streaming form".
package struct FileHeader: Sendable, Equatable {
    /// The size of the header in bytes.
    package static let byteCount = 24
    /// The size of the footer of a file in streaming form in bytes.
    package static let footerByteCount = 16
    /// The four bytes "T-DB" that identify a Realm file.
    static let signature: [UInt8] = [0x54, 0x2d, 0x44, 0x42]
    /// The top ref of a file in streaming form, whose real one is in the footer.
    static let streamingTopRef: UInt64 = .max
    /// The number in the last eight bytes of the footer, by which a complete streaming form is recognized.
    static let footerCookie: UInt64 = 0x3034_1252_37e5_26c8
    /// The file formats that can be read: 10 and 11 have the layout of 20, and no program wrote 12 to 19.
    package static let supportedFormats = [10, 11, 20, 21, 22, 23, 24]
    /// The older formats that are read by converting them; see `RealmLegacy`.
    package static let convertedFormats = Array(2...9)
    /// The formats of both kinds.
    package static let knownFormats = convertedFormats + supportedFormats
    package static let writtenFormat = 24

    /// The number of the current top ref, 0 or 1.
    package let selectedSlot: Int
    /// The file format of the selected slot.
    package let fileFormat: Int
    /// The root of the current version; `Ref.none` for an empty database.
    package let topRef: Ref
    /// Whether the top ref is in the footer, as in files that were written sequentially as a whole.
    package let isStreaming: Bool

    /// Whether the file has a version in a format that is read but not written.
    package var isOutdated: Bool { !topRef.isNone && fileFormat != FileHeader.writtenFormat }

    /// The statements of a header; only the signature is checked.
    struct Statement {
        /// The number of the current top ref, 0 or 1.
        let selectedSlot: Int
        /// The file format of the selected slot.
        let fileFormat: Int
        /// The top ref of the selected slot.
        let topRef: UInt64
        /// Whether the top ref is in the footer.
        var isStreaming: Bool { selectedSlot == 0 && topRef == FileHeader.streamingTopRef }

        /// Reads the first 24 bytes of a plain file; nil without the signature.
        init?(_ bytes: ByteView) {
            guard bytes.count >= FileHeader.byteCount, bytes.slice(16, 20).array == FileHeader.signature else { return nil }
            selectedSlot = Int(bytes[23] & 1)
            fileFormat = Int(bytes[20 + selectedSlot])
            topRef = FileHeader.littleEndian(bytes, at: 8 * selectedSlot)
        }
    }

    /// Makes the header of a file after a commit by this program.
    init(selectedSlot: Int, topRef: Ref) {
        self.selectedSlot = selectedSlot
        self.topRef = topRef
        fileFormat = FileHeader.writtenFormat
        isStreaming = false
    }

    /// Reads and checks header and footer.
    ///
    /// - Parameters:
    ///   - prefix: The first 24 bytes of the plain file.
    ///   - footer: Its last 16 bytes.
    ///   - isEncrypted: Whether the file was decrypted, which changes only the text of an error.
    ///   - accepted: The formats that the caller reads.
    /// - Throws: `.refused` for a file that is not a Realm file or has a format that is not read;
    ///   `.corrupt` for an impossible size, top ref or footer.
    package init(
        prefix: ByteView, footer: ByteView, fileSize: UInt64, isEncrypted: Bool,
        accepting accepted: [Int] = FileHeader.supportedFormats
    ) throws(StorageError) {
        guard prefix.count >= FileHeader.byteCount else {
            throw .refused(.notARealm("a file of \(fileSize) bytes is too small to be a Realm file"))
        }
        guard let stated = Statement(prefix) else {
            throw .refused(FileHeader.noSignature(prefix, fileSize: fileSize, isEncrypted: isEncrypted))
        }
        guard fileSize & 7 == 0 else {
            throw .corrupt(
                ref: .none,
                reason: "the file is cut short, or something was added: its size of \(fileSize) bytes is not a multiple of 8")
        }
        (selectedSlot, fileFormat, isStreaming) = (stated.selectedSlot, stated.fileFormat, stated.isStreaming)
        var top = stated.topRef
        if isStreaming { top = try FileHeader.topRef(fromFooter: footer, fileSize: fileSize) }
        // Readers of other known formats find the same cut, which is more than that the format is not theirs.
        let isCut = top & 7 == 0 && top >= fileSize && top >> 56 == 0
        if !isCut || !FileHeader.knownFormats.contains(fileFormat) {
            try FileHeader.check(format: fileFormat, topRef: top, accepted)
        }
        guard !isCut else {
            throw .corrupt(
                ref: .none, reason: "the file is cut short: it has \(fileSize) bytes, and more than \(top) are needed")
        }
        guard top & 7 == 0, top < fileSize, top == 0 || top >= 24 else {
            throw .corrupt(ref: Ref(top), reason: "the top ref is invalid for a file of \(fileSize) bytes")
        }
        topRef = Ref(top)
    }

    /// Returns the reason for a missing signature. An encrypted file has no marker, but always
    /// whole pages, and at least one after its first page table.
    private static func noSignature(_ prefix: ByteView, fileSize: UInt64, isEncrypted: Bool) -> StorageError.Refusal {
        if isEncrypted { return .encryptionKeyWrong("no Realm signature after decryption: wrong encryption key") }
        let mayBeEncrypted = EncryptionLayout.fits(fileByteCount: Int(clamping: fileSize))
        if let kind = ForeignFile.kind(of: prefix, mayBeEncrypted: mayBeEncrypted) {
            return .notARealm("no Realm signature: the file is \(kind)")
        }
        return mayBeEncrypted
            ? .encryptionKeyRequired("no Realm signature: the file is encrypted and no key was given, or it is no Realm file")
            : .notARealm("no Realm signature: not a Realm file, or an encrypted one that is cut short")
    }

    /// Returns the top ref of a file in streaming form; throws `.corrupt` for a footer without its cookie.
    private static func topRef(fromFooter footer: ByteView, fileSize: UInt64) throws(StorageError) -> UInt64 {
        guard fileSize >= UInt64(byteCount + footerByteCount), footer.count == footerByteCount else {
            throw .corrupt(ref: .none, reason: "a streaming-form file of \(fileSize) bytes has no footer")
        }
        guard littleEndian(footer, at: 8) == footerCookie else {
            throw .corrupt(ref: .none, reason: "the streaming-form footer has a bad cookie; is the file truncated?")
        }
        return littleEndian(footer, at: 0)
    }

    /// Throws `.refused` for a format that is not read, with advice what can be done.
    private static func check(format: Int, topRef: UInt64, _ accepted: [Int]) throws(StorageError) {
        guard !accepted.contains(format), format != 0 || topRef != 0 else { return }
        throw .refused(.formatUnsupported(found: format, reason: "file format \(format) \(advice(format))"))
    }

    /// Returns what is wrong with a format that is not read, and what brings the file to one that is.
    private static func advice(_ format: Int) -> String {
        switch format {
        case 0: return "is only valid for an empty database"
        case 1: return "is that of a TightDB of 2013, which no Realm SDK was released with"
        case 12: return "is that of betas of the Realm SDKs 10, which those alone can open"
        default:
            if convertedFormats.contains(format) {
                return "is read by converting it: realm-rest upgrade FILE --to NEW makes a file of format \(writtenFormat)"
            }
            if supportedFormats.contains(format) { return "needs no conversion" }
            return format > writtenFormat ? "is newer than \(writtenFormat), the newest one known" : "is unknown"
        }
    }

    /// Returns eight bytes as a number, the lowest first.
    static func littleEndian(_ bytes: ByteView, at offset: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in 0..<8 { number |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
        return number
    }
}

/// Refs in the form of the header.
extension Ref {
    /// The eight bytes of the ref, the lowest first.
    var littleEndianBytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: rawValue >> UInt64(8 * $0)) } }
}
