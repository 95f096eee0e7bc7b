// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Writes differences as one page of HTML that is complete in itself and can be printed.
final class DifferencePage: DifferenceWriter {
    /// The style of the page. It is the only one that the policy of the page permits.
    private static let style = """
        body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em;color:#1a1a1a;background:#fff}
        table{border-collapse:collapse;width:100%;margin:0 0 1em}
        th,td{border:1px solid #ccc;padding:.25em .5em;text-align:left;vertical-align:top}
        td{overflow-wrap:anywhere;font-family:ui-monospace,monospace;font-size:12px}
        tr.added td:first-child{background:#dcf5dc}tr.removed td:first-child{background:#fbdede}tr.changed td:first-child{background:#fdf3cf}
        h2{break-after:avoid}tr{break-inside:avoid}@media print{body{margin:0;max-width:none}}
        """
    private let realms: ComparedRealms
    /// The class whose table is open, `$schema` for that of the schema; nil for none.
    private var table: String?
    private let value = OutputBuffer()

    init(_ realms: ComparedRealms) { self.realms = realms }

    func begin(_ buffer: OutputBuffer) {
        buffer.append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
        buffer.append("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">")
        buffer.append("<title>Differences</title><style>\n\(DifferencePage.style)\n</style></head><body>\n<h1>Differences</h1>\n")
        buffer.append("<table><tr><th>From</th><td>")
        buffer.append(Markup.escaped(Array(realms.old.version.title.utf8)))
        buffer.append("</td></tr><tr><th>To</th><td>")
        buffer.append(Markup.escaped(Array(realms.new.version.title.utf8)))
        buffer.append("</td></tr><tr><th>Without a primary key</th><td>")
        buffer.append(
            realms.options.identity == .objectKey ? "objects are compared by object key" : "objects are compared by contents")
        buffer.append("</td></tr></table>\n")
    }

    /// Opens the table of a class, after that of another one.
    private func open(_ name: String, title: String, _ buffer: OutputBuffer) {
        guard table.map({ $0 != name }) ?? true else { return }
        close(buffer)
        table = name
        buffer.append("<h2>")
        buffer.append(Markup.escaped(Array(title.utf8)))
        buffer.append("</h2>\n<table><thead><tr><th></th><th>Key</th><th>Property</th><th>From</th><th>To</th></tr></thead>\n")
    }

    private func close(_ buffer: OutputBuffer) {
        if table != nil { buffer.append("</table>\n" as StaticString) }
        table = nil
    }

    /// Begins a row with its first two cells.
    private func row(_ kind: String, _ key: String, _ buffer: OutputBuffer) {
        buffer.append("<tr class=\"\(kind)\"><td>\(kind)</td><td>")
        buffer.append(Markup.escaped(Array(key.utf8)))
        buffer.append("</td><td>" as StaticString)
    }

    func write(_ difference: SchemaDifference, to buffer: OutputBuffer) {
        open("$schema", title: "Schema", buffer)
        let kind = difference.from == nil ? "added" : difference.to == nil ? "removed" : "changed"
        row(kind, difference.className ?? "", buffer)
        buffer.append(Markup.escaped(Array((difference.property ?? (difference.className == nil ? "version" : "")).utf8)))
        for document in [difference.from, difference.to] {
            buffer.append("</td><td>" as StaticString)
            buffer.append(Markup.escaped(Array((document?.json ?? "").utf8)))
        }
        buffer.append("</td></tr>\n" as StaticString)
    }

    func write(_ difference: ObjectDifference, to buffer: OutputBuffer) throws(StorageError) {
        open("class " + difference.objectClass.name, title: difference.objectClass.name, buffer)
        let key = try difference.keyText()
        if difference.positions.isEmpty {
            row(difference.kind.rawValue, key, buffer)
            buffer.append("</td><td></td><td></td></tr>\n" as StaticString)
        }
        for property in difference.properties {
            row(difference.kind.rawValue, key, buffer)
            buffer.append(Markup.escaped(Array(property.name.utf8)))
            buffer.append("</td><td>" as StaticString)
            if let old = difference.old, let side = property.old { try write(side, old, realms.old, to: buffer) }
            buffer.append("</td><td>" as StaticString)
            if let new = difference.new, let side = property.new { try write(side, new, realms.new, to: buffer) }
            buffer.append("</td></tr>\n" as StaticString)
        }
    }

    private func write(
        _ property: ComparedProperty.Side, _ row: Row, _ side: ComparedSide, to buffer: OutputBuffer
    ) throws(StorageError) {
        value.removeAll()
        var writer = JSONWriter(value)
        try side.shown.writeValue(of: property.shown, row, to: &writer)
        buffer.append(Markup.escaped(writer.bytes))
    }

    func end(_ counts: DifferenceCounts, _ buffer: OutputBuffer) {
        close(buffer)
        if counts.isEqual { return buffer.append("<p>No differences.</p>\n</body></html>\n") }
        buffer.append("<h2>Summary</h2>\n<table><thead><tr><th>Class</th><th>Added</th>")
        buffer.append("<th>Removed</th><th>Changed</th></tr></thead>\n")
        for (name, objects) in counts.classes.sorted(by: { $0.key < $1.key }) {
            buffer.append("<tr><td>" as StaticString)
            buffer.append(Markup.escaped(Array(name.text.utf8)))
            buffer.append("</td><td>\(objects.added)</td><td>\(objects.removed)</td><td>\(objects.changed)</td></tr>\n")
        }
        buffer.append("</table>\n<p>Differences of the schema: \(counts.schema)</p>\n</body></html>\n")
    }
}
