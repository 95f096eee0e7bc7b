// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// A condition on the columns of a class that a program makes without text.
package indirect enum ColumnTerm: Sendable {
    case equal(Column, QueryArgument)
    case less(Column, QueryArgument)
    case lessOrEqual(Column, QueryArgument)
    case greater(Column, QueryArgument)
    case greaterOrEqual(Column, QueryArgument)
    /// A text begins with another one, without regard to case.
    case begins(Column, QueryArgument)
    case not(ColumnTerm)
    case all([ColumnTerm])
}

extension Query {
    /// Makes a query of terms that all have to be fulfilled.
    ///
    /// - Parameter terms: The terms; none for all objects.
    /// - Returns: The query, and the arguments to bind it with.
    package static func requiring(_ terms: [ColumnTerm]) -> (query: Query, arguments: [QueryArgument]) {
        guard !terms.isEmpty else { return (.all, []) }
        var writer = TermWriter()
        let predicate = writer.predicate(.all(terms))
        return (Query(text: writer.text, predicate: predicate, descriptors: []), writer.arguments)
    }
}

/// Makes the syntax of terms with the text that it could have been parsed from.
private struct TermWriter {
    var text = ""
    var arguments: [QueryArgument] = []

    mutating func predicate(_ term: ColumnTerm) -> PredicateSyntax {
        switch term {
        case .equal(let column, let value): return comparison(column, .equal, value)
        case .less(let column, let value): return comparison(column, .less, value)
        case .lessOrEqual(let column, let value): return comparison(column, .lessOrEqual, value)
        case .greater(let column, let value): return comparison(column, .greater, value)
        case .greaterOrEqual(let column, let value): return comparison(column, .greaterOrEqual, value)
        case .begins(let column, let value): return comparison(column, .beginsWith, value, ignoresCase: true)
        case .not(let inner):
            _ = append("NOT ")
            return .not(predicate(inner))
        case .all(let terms):
            var parts: [PredicateSyntax] = []
            _ = append("(")
            for (index, term) in terms.enumerated() {
                if index > 0 { _ = append(" AND ") }
                parts.append(predicate(term))
            }
            _ = append(")")
            return parts.count == 1 ? parts[0] : .and(parts)
        }
    }

    private mutating func comparison(
        _ column: Column, _ comparison: QueryOperator, _ value: QueryArgument, ignoresCase: Bool = false
    ) -> PredicateSyntax {
        let path = append(column.name)
        let sign = append(" \(comparison.rawValue)\(ignoresCase ? "[c]" : "") ")
        let place = append("$\(arguments.count)")
        arguments.append(value)
        return .comparison(
            .init(
                left: .property(
                    .init(
                        quantifier: nil, path: PathSyntax(argument: nil, elements: [.key(column.name)], range: path),
                        postfix: nil, range: path)),
                comparison: comparison, ignoresCase: ignoresCase,
                right: .constant(ConstantSyntax(kind: .argument(arguments.count - 1, nil), range: place)),
                operatorRange: sign))
    }

    private mutating func append(_ piece: String) -> Range<Int> {
        let start = text.utf8.count
        text += piece
        return start..<text.utf8.count
    }
}
