// SPDX-License-Identifier: Apache-2.0

/// How objects and values are written: the choices of one request.
package struct Representation: Sendable, Equatable {
    package enum Format: Sendable, Equatable {
        case json
        /// MongoDB Extended JSON v2.
        case ejson(isRelaxed: Bool)
    }

    package var format: Format = .json
    /// Every integer becomes a string.
    package var intsAsStrings = false
    /// Objects begin with `$meta`.
    package var includesMeta = true

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
        case .json: return choose("j1", "j1s", "j1n", "j1sn")
        case .ejson(let isRelaxed):
            return isRelaxed ? choose("r1", "r1s", "r1n", "r1sn") : choose("e1", "e1s", "e1n", "e1sn")
        }
    }

    private func choose(
        _ plain: StaticString, _ asStrings: StaticString, _ withoutMeta: StaticString, _ both: StaticString
    ) -> StaticString {
        if includesMeta { return intsAsStrings ? asStrings : plain }
        return intsAsStrings ? both : withoutMeta
    }

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
