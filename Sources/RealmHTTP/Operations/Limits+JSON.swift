// SPDX-License-Identifier: Apache-2.0

extension Limits {
    /// The bounds of the JSON in a body.
    var json: JSONBounds { JSONBounds(depth: jsonDepth, values: jsonValues) }

    /// The bounds of one line of an import: what was exported can be imported, however deep other bodies may be.
    var importedJSON: JSONBounds {
        JSONBounds(depth: max(jsonDepth, JSONBounds.deepestExport), values: jsonValues)
    }
}
