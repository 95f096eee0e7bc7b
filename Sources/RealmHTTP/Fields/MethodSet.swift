// SPDX-License-Identifier: Apache-2.0

/// A set of methods, written in the order of `HTTPMethod.allCases` in `Allow`.
package struct MethodSet: OptionSet, Sendable, Hashable {
    package let rawValue: Int
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

    package static let get: MethodSet = [MethodSet(.get), MethodSet(.head)]
    package static let query = MethodSet(.query)
    package static let post = MethodSet(.post)
    package static let put = MethodSet(.put)
    package static let patch = MethodSet(.patch)
    package static let delete = MethodSet(.delete)
    package static let options = MethodSet(.options)

    package func contains(_ method: HTTPMethod) -> Bool { isSuperset(of: MethodSet(method)) }

    /// The value of an `Allow` header.
    package var allow: String {
        HTTPMethod.allCases.filter { contains($0) }.map(\.rawValue).joined(separator: ", ")
    }
}
