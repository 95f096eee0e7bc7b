// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage

/// How the names of an import become those of classes and properties.
package struct ImportOptions: Sendable {
    /// The properties by the names that columns have in the input, where these differ.
    package var columns: [ByteText: String] = [:]
    /// What separates the cells of CSV; nil when the first line tells.
    package var separator: UInt8?
    /// The classes by the names of tables; nil for the tables that are called like classes.
    package var tables: [ByteText: String]?
    /// Whether columns and members that the class does not have are ignored.
    package var isLenient = false

    /// Makes the options of an import whose names fit.
    package init() {}

    /// Reads the parameters `columns`, `separator` and `tables`.
    ///
    /// - Parameters:
    ///   - set: The parameters of the request.
    ///   - isLenient: Whether unknown columns are ignored.
    ///   - depthLimit: How deeply JSON in a parameter may nest.
    /// - Throws: `invalid_parameter`.
    init(_ set: ParameterSet, isLenient: Bool, depthLimit: Int) throws(Problem) {
        self.isLenient = isLenient
        columns =
            try set.text("columns").map { text throws(Problem) in try ImportOptions.pairs(text, "columns", depthLimit) } ?? [:]
        tables = try set.text("tables").map { text throws(Problem) in try ImportOptions.pairs(text, "tables", depthLimit) }
        guard let name = try set.text("separator") else { return }
        guard let found = ImportOptions.separators[name] else {
            throw .invalidParameter("separator", "'separator' takes comma, semicolon or tab")
        }
        separator = found
    }

    /// The separators by their names.
    private static let separators: [ByteText: UInt8] = [
        "comma": UInt8(ascii: ","), "semicolon": UInt8(ascii: ";"), "tab": UInt8(ascii: "\t"),
    ]

    /// Reads `name:other,…`, or a JSON object whose members are texts. A name without another stands for
    /// itself.
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
            throw .invalidParameter(parameter, "'\(parameter)' is no valid JSON: \(error)")
        }
        for member in json.object?.members ?? [] {
            guard let other = member.value.string else {
                throw .invalidParameter(parameter, "'\(member.name)' in '\(parameter)' has to be a text")
            }
            try add(member.name, other)
        }
        return pairs
    }
}
