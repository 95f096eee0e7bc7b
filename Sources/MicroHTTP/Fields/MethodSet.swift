// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A set of request methods, as a route offers them.
package struct MethodSet: OptionSet, Sendable, Hashable {
    /// One bit per method; `init(_:)` for a single method defines which.
    package let rawValue: Int
    /// Makes the set of the methods whose bits are set in `rawValue`.
    package init(rawValue: Int) { self.rawValue = rawValue }

    package init(_ methods: [HTTPMethod]) {
        self = methods.reduce(into: MethodSet()) { $0.insert(MethodSet($1)) }
    }

    package init(_ method: HTTPMethod) {
        switch method {
        case .get: self.init(rawValue: 1)
        case .head: self.init(rawValue: 2)
        case .query: self.init(rawValue: 4)
        case .post: self.init(rawValue: 8)
        case .put: self.init(rawValue: 16)
        case .patch: self.init(rawValue: 32)
        case .delete: self.init(rawValue: 64)
        case .options: self.init(rawValue: 128)
        case .trace: self.init(rawValue: 256)
        case .connect: self.init(rawValue: 512)
        }
    }

    /// `GET` with `HEAD`, which is served wherever `GET` is.
    package static let get: MethodSet = [MethodSet(.get), MethodSet(.head)]
    /// `QUERY`: a read with its parameters in a body.
    package static let query = MethodSet(.query)
    /// `POST` alone.
    package static let post = MethodSet(.post)
    /// `PUT` alone.
    package static let put = MethodSet(.put)
    /// `PATCH` alone.
    package static let patch = MethodSet(.patch)
    /// `DELETE` alone.
    package static let delete = MethodSet(.delete)
    /// `OPTIONS`, which every path that exists answers.
    package static let options = MethodSet(.options)

    package func contains(_ method: HTTPMethod) -> Bool { isSuperset(of: MethodSet(method)) }

    /// The set as the value of an `Allow` header field: the names in the order of `HTTPMethod.allCases`, separated by commas.
    package var allow: String {
        HTTPMethod.allCases.filter { contains($0) }.map(\.rawValue).joined(separator: ", ")
    }
}
