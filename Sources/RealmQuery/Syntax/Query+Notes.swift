// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension Query {
    /// Remarks about parts that mean something else than they seem to, which an explanation of the query shows. They are no errors:
    /// the query does what it says.
    package var notes: [String] { Query.notes(on: predicate) }

    /// Returns the remarks about a predicate. Its recursion is as deep as the tree, which the parser bounds.
    private static func notes(on predicate: PredicateSyntax) -> [String] {
        switch predicate {
        case .not(let inner): return notes(on: inner)
        case .and(let children), .or(let children): return children.flatMap { notes(on: $0) }
        case .comparison(let comparison):
            guard comparison.comparison == .like, case .constant(let constant) = comparison.right,
                case .string(let bytes) = constant.kind,
                bytes.contains(UInt8(ascii: "%")), !bytes.contains(UInt8(ascii: "*"))
            else { return [] }
            return ["LIKE takes * for any characters and ? for one; '%' stands for itself"]
        case .constant, .between, .geoWithin: return []
        }
    }
}
