// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The limits that apply to JSON in bodies of requests.
extension Limits {
    /// The limits for the JSON of a body: depth and number of values.
    package var json: JSONBounds { JSONBounds(depth: jsonDepth, values: jsonValues) }

    /// The limits for one line of an import. The depth is at least that of the deepest export, so that every export can be
    /// imported, regardless of the limit for other bodies.
    package var importedJSON: JSONBounds {
        JSONBounds(depth: max(jsonDepth, JSONBounds.deepestExport), values: jsonValues)
    }
}
