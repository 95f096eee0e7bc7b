// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage

/// The mapping of names of an import to classes and properties.
package struct ImportOptions: Sendable {
    /// The properties by the names that columns have in the input, where these differ.
    package var columns: [ByteText: String] = [:]
    /// The separator of the cells of CSV; nil to detect it by the first line.
    package var separator: UInt8?
    /// The classes by the names of tables; nil for those of an export, and those that are called like classes.
    package var tables: [ByteText: String]?
    /// Whether columns and members that the class does not have are ignored.
    package var isLenient = false

    /// Makes the options of an import whose names fit.
    package init() {}

    /// Reads `name:other,…`, or a JSON object whose members are strings. A name without another maps to itself.
    package static func pairs(_ text: String, _ parameter: String, _ depthLimit: Int = 16) throws(Problem) -> [ByteText: String] {
        var pairs: [ByteText: String] = [:]
        func add(_ name: String, _ other: String) throws(Problem) {
            guard !name.isEmpty, !other.isEmpty else {
                throw .invalidParameter(parameter, "'\(parameter)' has an empty name")
            }
            guard pairs.updateValue(other, forKey: name) == nil else {
                throw .invalidParameter(parameter, "'\(parameter)' has '\(name)' twice")
            }
        }
        guard text.hasPrefix("{") else {
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                let names = part.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
                guard names.count <= 2, let name = names.first else {
                    throw .invalidParameter(
                        parameter, "'\(parameter)' is NAME:NAME,…; names with commas or colons need a JSON object")
                }
                try add(name, names.last ?? name)
            }
            return pairs
        }
        let json: JSONValue
        do throws(JSONError) { json = try JSONParser.parse(text, depthLimit: depthLimit) } catch {
            throw .invalidParameter(parameter, "'\(parameter)' is not valid JSON: \(error)")
        }
        for member in json.object?.members ?? [] {
            guard let other = member.value.string else {
                throw .invalidParameter(parameter, "'\(member.name)' in '\(parameter)' must be a text")
            }
            try add(member.name, other)
        }
        return pairs
    }
}
