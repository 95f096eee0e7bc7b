// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Writes differences as lines for people: nothing at all if there are none.
final class DifferenceText: DifferenceWriter {
    private let realms: ComparedRealms
    private var hasBegun = false

    init(_ realms: ComparedRealms) { self.realms = realms }

    func begin(_ buffer: OutputBuffer) {}

    private func beginOnce(_ buffer: OutputBuffer) {
        guard !hasBegun else { return }
        hasBegun = true
        line("--- \(realms.old.version.title)", buffer)
        line("+++ \(realms.new.version.title)", buffer)
    }

    /// Writes a line. Control characters of names become spaces, so that a name begins no line and no command of a terminal.
    private func line(_ text: String, _ buffer: OutputBuffer) {
        buffer.append(Array(text.utf8.map { $0 < 0x20 || $0 == 0x7f ? 0x20 : $0 }))
        buffer.append(UInt8(ascii: "\n"))
    }

    func write(_ difference: SchemaDifference, to buffer: OutputBuffer) {
        beginOnce(buffer)
        let sign = difference.from == nil ? "+" : difference.to == nil ? "-" : "~"
        let subject = [difference.className, difference.property].compactMap(\.self).joined(separator: ".")
        line("\(sign) schema \(subject.isEmpty ? "version" : subject)", buffer)
        if difference.from != nil, difference.to != nil {
            line("    \(difference.from?.json ?? "") -> \(difference.to?.json ?? "")", buffer)
        }
    }

    func write(_ difference: ObjectDifference, to buffer: OutputBuffer) throws(StorageError) {
        beginOnce(buffer)
        let sign = difference.kind == .added ? "+" : difference.kind == .removed ? "-" : "~"
        line("\(sign) \(difference.objectClass.name) \(try difference.keyText())", buffer)
        for property in difference.properties {
            line("    \(property.name): ", buffer)
            buffer.truncate(to: buffer.count - 1)
            if let old = difference.old { try write(property.old, old, realms.old, to: buffer) }
            if difference.kind == .changed { buffer.append(" -> " as StaticString) }
            if let new = difference.new { try write(property.new, new, realms.new, to: buffer) }
            buffer.append(UInt8(ascii: "\n"))
        }
    }

    private func write(
        _ value: ComparedProperty.Side?, _ row: Row, _ side: ComparedSide, to buffer: OutputBuffer
    ) throws(StorageError) {
        guard let value else { return buffer.append("(none)" as StaticString) }
        var writer = JSONWriter(buffer)
        try side.shown.writeValue(of: value.shown, row, to: &writer)
    }

    func end(_ counts: DifferenceCounts, _ buffer: OutputBuffer) {
        guard hasBegun else { return }
        if counts.schema > 0 { line("schema: \(counts.schema) differences", buffer) }
        for (name, objects) in counts.classes.sorted(by: { $0.key < $1.key }) { line("\(name.text): \(objects.text)", buffer) }
    }
}
