// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The text form of a report, for the cache of converted files.
///
/// It has a line for the format, for each class, for each note and for the number of those that were dropped, with tabs between the
/// fields.
extension ConversionReport {
    /// The greatest size in bytes of a text that is read.
    static let maximumTextByteCount = 16 << 20

    var text: String {
        var lines = [["format", "\(fromFormat)"]]
        for one in classes { lines.append(["class", one.name, "\(one.objectCount)", "\(one.propertyCount)"]) }
        for note in notes {
            // A place that is left out has no field, so the kind says how many there are.
            let place = [note.className, note.property].compactMap(\.self)
            lines.append(["note\(place.count)", note.kind.rawValue, "\(note.count)", note.text] + place)
        }
        if noteCount > notes.count { lines.append(["dropped", "\(noteCount - notes.count)"]) }
        return lines.map { $0.map(ConversionReport.escaped).joined(separator: "\t") + "\n" }.joined()
    }

    /// Reads the bytes of a text; nil when they are not those of a report.
    init?(bytes: [UInt8]) {
        var lines = bytes.split(separator: UInt8(ascii: "\n")).map { line in
            line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map(ConversionReport.unescaped)
        }
        guard !lines.isEmpty else { return nil }
        let first = lines.removeFirst()
        guard first.count == 2, first[0] == "format", let format = Int(first[1]) else { return nil }
        self.init(fromFormat: format)
        for fields in lines { guard add(fields) else { return nil } }
    }

    /// Adds a class, a note or the number of those that were dropped; returns whether the fields are those of one.
    private mutating func add(_ fields: [String]) -> Bool {
        if fields.count == 2, fields[0] == "dropped", let count = UInt32(fields[1]) {
            noteCount += Int(count)
            return true
        }
        guard fields.count >= 4 else { return false }
        if fields[0] == "class" {
            guard fields.count == 4, let objects = Int(fields[2]), let properties = Int(fields[3]) else { return false }
            classes.append(Class(name: fields[1], objectCount: objects, propertyCount: properties))
            return true
        }
        guard let kind = Kind(rawValue: fields[1]), let count = Int(fields[2]), fields[0] == "note\(fields.count - 4)" else {
            return false
        }
        note(
            kind, class: fields.count > 4 ? fields[4] : nil, property: fields.count > 5 ? fields[5] : nil, count: count, fields[3]
        )
        return true
    }

    /// Replaces what separates fields and lines.
    private static func escaped(_ field: String) -> String {
        var bytes: [UInt8] = []
        for byte in field.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): bytes += Array("\\\\".utf8)
            case UInt8(ascii: "\t"): bytes += Array("\\t".utf8)
            case UInt8(ascii: "\n"): bytes += Array("\\n".utf8)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reverses `escaped`.
    private static func unescaped(_ field: ArraySlice<UInt8>) -> String {
        var bytes: [UInt8] = []
        var isEscaped = false
        for byte in field {
            guard isEscaped || byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            if isEscaped { bytes.append(byte == UInt8(ascii: "t") ? 9 : byte == UInt8(ascii: "n") ? 10 : byte) }
            isEscaped.toggle()
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
