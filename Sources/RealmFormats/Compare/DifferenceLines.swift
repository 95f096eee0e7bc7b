// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Writes differences as a line of JSON each, or as one document with the same objects.
final class DifferenceLines: DifferenceWriter {
    private let realms: ComparedRealms
    private let isDocument: Bool
    /// Whether the next difference is the first.
    private var isFirst = true

    init(_ realms: ComparedRealms, isDocument: Bool) {
        self.realms = realms
        self.isDocument = isDocument
    }

    func begin(_ buffer: OutputBuffer) {
        buffer.append("{\"$begin\":" as StaticString)
        var writer = JSONWriter(buffer)
        writer.beginObject()
        writer.member("comparison", int: 1)
        writer.key("from")
        realms.old.version.write(to: &writer)
        writer.key("to")
        realms.new.version.write(to: &writer)
        writer.member("withoutPrimaryKey", text: realms.options.identity.rawValue)
        if let classes = realms.options.classes {
            writer.key("classes")
            writer.beginArray()
            for name in classes { writer.string(name) }
            writer.endArray()
        }
        writer.endObject()
        buffer.append(isDocument ? ",\"differences\":[" : "}\n")
    }

    func write(_ difference: SchemaDifference, to buffer: OutputBuffer) {
        var writer = beginLine(buffer)
        writer.member("kind", text: difference.kind.rawValue)
        if let name = difference.className { writer.member("class", text: name) }
        if let name = difference.property { writer.member("property", text: name) }
        if let from = difference.from {
            writer.key("from")
            writer.value { $0.append(from.json) }
        }
        if let to = difference.to {
            writer.key("to")
            writer.value { $0.append(to.json) }
        }
        endLine(&writer)
    }

    func write(_ difference: ObjectDifference, to buffer: OutputBuffer) throws(StorageError) {
        var writer = beginLine(buffer)
        writer.member("kind", text: difference.kind.rawValue)
        writer.member("class", text: difference.objectClass.name)
        writer.member("key", text: try difference.keyText())
        if let old = difference.old {
            writer.key("from")
            try write(difference, old, isOld: true, to: &writer)
        }
        if let new = difference.new {
            realms.matches?.beginNoting()
            writer.key("to")
            try write(difference, new, isOld: false, to: &writer)
            realms.matches?.writeNoted(to: &writer)
        }
        endLine(&writer)
    }

    /// Writes the values of one side that differ; those of an object that one version has as a whole.
    private func write(
        _ difference: ObjectDifference, _ row: Row, isOld: Bool, to writer: inout JSONWriter
    ) throws(StorageError) {
        let side = isOld ? realms.old : realms.new
        if difference.kind != .changed {
            let plan = isOld ? difference.objectClass.old : difference.objectClass.new
            guard let plan = plan?.shown else { return writer.null() }
            return try side.shown.write(row, plan, to: &writer)
        }
        writer.beginObject()
        for property in difference.properties {
            guard let value = isOld ? property.old : property.new else { continue }
            writer.key(property.name)
            try side.shown.writeValue(of: value.shown, row, to: &writer)
        }
        writer.endObject()
    }

    private func beginLine(_ buffer: OutputBuffer) -> JSONWriter {
        if isDocument, !isFirst { buffer.append(UInt8(ascii: ",")) }
        isFirst = false
        var writer = JSONWriter(buffer)
        writer.beginObject()
        return writer
    }

    private func endLine(_ writer: inout JSONWriter) {
        writer.endObject()
        if !isDocument { writer.buffer.append(UInt8(ascii: "\n")) }
    }

    func end(_ counts: DifferenceCounts, _ buffer: OutputBuffer) {
        buffer.append(isDocument ? "],\"$end\":" : "{\"$end\":")
        var writer = JSONWriter(buffer)
        writer.beginObject()
        counts.write(to: &writer)
        writer.endObject()
        buffer.append(isDocument ? "}" : "}\n")
    }
}
