// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The representation of objects and values: the choices that a client made in one request.
package struct Representation: Sendable, Equatable {
    /// The syntax in which values are written: plain JSON or MongoDB Extended JSON.
    package enum Format: Sendable, Equatable {
        /// Plain JSON, in which the declared type of a property decides the form; only values in Mixed have wrappers.
        case json
        /// MongoDB Extended JSON v2, in which values state their types. In relaxed form plain
        /// numbers and dates have no wrapper.
        case ejson(isRelaxed: Bool)
    }

    /// The syntax of values: plain JSON, or Extended JSON in which values state their types.
    package var format: Format = .json
    /// Whether every integer is written as a string, for clients whose numbers are doubles.
    package var intsAsStrings = false
    /// Whether objects begin with the member `$meta`.
    package var includesMeta = true

    /// Creates a representation; without arguments that of a request without any such parameter.
    package init(format: Format = .json, intsAsStrings: Bool = false, includesMeta: Bool = true) {
        self.format = format
        self.intsAsStrings = intsAsStrings
        self.includesMeta = includesMeta
    }

    /// The text that entity tags have after `~`, so that two representations never share a tag.
    package var code: String { staticCode.description }

    /// The same as `code` without making a text, because it is written with every object.
    var staticCode: StaticString {
        switch format {
        case .json: return choose(plain: "j1", strings: "j1s", bare: "j1n", bareStrings: "j1sn")
        case .ejson(let isRelaxed):
            return isRelaxed
                ? choose(plain: "r1", strings: "r1s", bare: "r1n", bareStrings: "r1sn")
                : choose(plain: "e1", strings: "e1s", bare: "e1n", bareStrings: "e1sn")
        }
    }

    /// Returns one of four codes, by the form of integers and by `$meta`.
    private func choose(
        plain: StaticString, strings asStrings: StaticString, bare withoutMeta: StaticString, bareStrings both: StaticString
    ) -> StaticString {
        if includesMeta { return intsAsStrings ? asStrings : plain }
        return intsAsStrings ? both : withoutMeta
    }

    /// The value of the header field `Content-Type` for documents in this representation.
    package var mediaType: StaticString {
        switch format {
        case .json: return "application/json"
        case .ejson(let isRelaxed): return isRelaxed ? "application/ejson; mode=relaxed" : "application/ejson"
        }
    }
}

extension JSONWriter {
    /// Writes a number that belongs to the response itself, such as a count, in the form that its integers have.
    package mutating func integer(_ number: Int, _ representation: Representation) {
        if representation.intsAsStrings { string(String(number)) } else { int(number) }
    }
}
