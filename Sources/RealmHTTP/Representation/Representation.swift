// SPDX-License-Identifier: Apache-2.0

/// How objects and values are written: the choices of one request.
package struct Representation: Sendable, Equatable {
    /// The syntax of values.
    package enum Format: Sendable, Equatable {
        case json
        /// MongoDB Extended JSON v2.
        case ejson(isRelaxed: Bool)
    }

    /// Plain JSON, or JSON with types.
    package var format: Format = .json
    /// Every integer becomes a string.
    package var intsAsStrings = false
    /// Objects begin with `$meta`.
    package var includesMeta = true

    /// A representation; without arguments the usual one.
    package init(format: Format = .json, intsAsStrings: Bool = false, includesMeta: Bool = true) {
        self.format = format
        self.intsAsStrings = intsAsStrings
        self.includesMeta = includesMeta
    }

    /// What entity tags carry behind `~`, so that two representations never share one.
    package var code: String { staticCode.description }

    /// The same without a text being made: it is written with every object.
    var staticCode: StaticString {
        switch format {
        case .json: return choose(plain: "j1", strings: "j1s", bare: "j1n", bareStrings: "j1sn")
        case .ejson(let isRelaxed):
            return isRelaxed
                ? choose(plain: "r1", strings: "r1s", bare: "r1n", bareStrings: "r1sn")
                : choose(plain: "e1", strings: "e1s", bare: "e1n", bareStrings: "e1sn")
        }
    }

    private func choose(
        plain: StaticString, strings asStrings: StaticString, bare withoutMeta: StaticString, bareStrings both: StaticString
    ) -> StaticString {
        if includesMeta { return intsAsStrings ? asStrings : plain }
        return intsAsStrings ? both : withoutMeta
    }

    /// The value of `Content-Type` for documents.
    package var mediaType: StaticString {
        switch format {
        case .json: return "application/json"
        case .ejson(let isRelaxed): return isRelaxed ? "application/ejson; mode=relaxed" : "application/ejson"
        }
    }
}

extension JSONWriter {
    /// A number of the answer itself, in the form that its integers have.
    mutating func integer(_ number: Int, _ representation: Representation) {
        if representation.intsAsStrings { string(String(number)) } else { int(number) }
    }
}
