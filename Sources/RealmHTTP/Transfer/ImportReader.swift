// SPDX-License-Identifier: Apache-2.0

package import RealmEngine

/// Objects on their way in, read from lines of JSON.
package struct ImportedObject: Sendable {
    let line: Int
    let className: String
    /// The key it had where it comes from.
    let key: String?
    let body: ObjectBodies.Reading
}

/// What an import brings.
package struct ImportContents: Sendable {
    /// The schema of the header, which makes the classes of an empty realm.
    package var schema: SchemaInput?
    package var objects: [ImportedObject] = []

    package init(schema: SchemaInput? = nil, objects: [ImportedObject] = []) {
        self.schema = schema
        self.objects = objects
    }
}

/// Reads NDJSON: an export, or lines of objects of one class.
package struct ImportReader {
    private let className: String?
    private let depthLimit: Int

    package init(className: String?, depthLimit: Int) {
        self.className = className
        self.depthLimit = depthLimit
    }

    /// Errors name their line. With a header there has to be a trailer, so that nothing cut is taken for the whole.
    package func read(_ bytes: [UInt8]) throws(Problem) -> ImportContents {
        var contents = ImportContents()
        var hasHeader = false
        var end: Int?
        try NDJSONLines.forEach(bytes, depthLimit: depthLimit) { line, value throws(Problem) in
            guard end == nil else { throw malformed("something stands behind the trailer", line) }
            if let (name, inner) = value.object?.single, name == "$begin" || name == "$end" {
                if name == "$end" {
                    end = try count(inner, line)
                } else {
                    guard !hasHeader, contents.objects.isEmpty else { throw malformed("a header stands in the first line", line) }
                    hasHeader = true
                    contents.schema = try schema(inner, line)
                }
                return
            }
            contents.objects.append(try object(value, line))
        }
        guard !hasHeader || end == contents.objects.count else {
            throw Problem(.invalidBody, "the export is cut: its trailer is missing, or tells another number of objects")
        }
        return contents
    }

    private func malformed(_ detail: String, _ line: Int) -> Problem {
        Problem(.invalidBody, detail).with("line", .integer(Int64(line)))
    }

    private func count(_ value: JSONValue, _ line: Int) throws(Problem) -> Int {
        guard case .integer(let count)? = value.object?["objects"], count >= 0 else {
            throw malformed("the trailer tells the number of objects", line)
        }
        return Int(count)
    }

    private func schema(_ value: JSONValue, _ line: Int) throws(Problem) -> SchemaInput {
        guard let object = value.object, object["format"] == .integer(1), let schema = object["schema"] else {
            throw malformed("the header has the format 1 and a schema", line)
        }
        return try SchemaReader(place: InputPlace(pointer: "/$begin/schema", line: line)).schema(schema)
    }

    private func object(_ value: JSONValue, _ line: Int) throws(Problem) -> ImportedObject {
        let meta = value.object?["$meta"]?.object
        guard let name = meta?["class"]?.string ?? className else {
            throw malformed("the line does not tell the class of its object; say it with 'class'", line)
        }
        guard className == nil || className == name else { throw malformed("the object is of the class '\(name)'", line) }
        return ImportedObject(line: line, className: name, key: meta?["key"]?.string, body: ObjectBodies.read(value))
    }
}
