// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Turns the tree of a query into conditions over the objects of a class: resolves key paths, converts constants to
/// the types they are compared with, and refuses what does not fit.
struct Binder {
    let snapshot: Snapshot
    let arguments: [QueryArgument]
    /// The text of the query as UTF-8.
    let text: [UInt8]
    let pool: ConstantPool
    let cancellation = CancellationCheck()
    var paths: PathResolver
    /// The class whose objects are looked at; inside a subquery that of the elements.
    var table: Table
    /// In a filter over plain values, the value that `self` names.
    var element: (box: ElementOperand.Box, type: ColumnType)?

    /// Starts with the class of the result, and with no variable of a subquery known.
    init(
        _ query: Query, table: Table, snapshot: Snapshot, arguments: [QueryArgument], mapping: KeyPathMapping,
        pool: ConstantPool
    ) {
        self.snapshot = snapshot
        self.arguments = arguments
        self.table = table
        self.pool = pool
        text = Array(query.text.utf8)
        paths = PathResolver(snapshot: snapshot, mapping: mapping, pool: pool)
        paths.recorder.add(table)
    }

    /// Recursion is bounded by the depth that the parser accepts.
    mutating func condition(_ predicate: PredicateSyntax) throws(QueryError) -> any Condition {
        switch predicate {
        case .constant(let isTrue): return ConstantCondition(isTrue)
        case .not(let inner): return NotCondition(try condition(inner))
        case .and(let children):
            var conditions: [any Condition] = []
            for child in children { conditions.append(try condition(child)) }
            return AndCondition(ConditionOrder.cheapestFirst(conditions))
        case .or(let children):
            var conditions: [any Condition] = []
            for child in children { conditions.append(try condition(child)) }
            return OrCondition(ConditionOrder.cheapestFirst(MergeEqualities.apply(conditions)))
        case .comparison(let comparison): return try condition(comparison)
        case .between(let between): return try condition(between)
        case .geoWithin(let geoWithin): return try condition(geoWithin)
        }
    }

    // MARK: - Texts and positions

    /// The text of a part of the query.
    func source(_ range: Range<Int>) -> String { String(decoding: text[range], as: UTF8.self) }

    /// The offset of a byte in Unicode scalars.
    func position(_ range: Range<Int>) -> Int {
        text.prefix(range.lowerBound).reduce(0) { $1 & 0xc0 == 0x80 ? $0 : $0 + 1 }
    }

    /// An error about a part of the text.
    func invalid(_ kind: QueryError.Invalid, _ detail: String, _ range: Range<Int>) -> QueryError {
        .invalid(kind, detail: detail, culprit: source(range), position: position(range))
    }

    /// The error for two operands whose types are never equal.
    func unsupportedComparison(_ left: any Operand, _ right: any Operand, _ range: Range<Int>) -> QueryError {
        invalid(
            .typeMismatch,
            "unsupported comparison between '\(left.label)' of type '\(left.type.rawValue)' and '\(right.label)' of type '\(right.type.rawValue)'",
            range)
    }
}
