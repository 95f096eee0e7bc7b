// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Turns the tree of a query into conditions over the objects of a class.
///
/// It resolves key paths, converts constants to the types they are compared with, and rejects what
/// does not fit together. A binder is used for one query, on one thread: its pool, its check and
/// the recorder of its paths become part of the bound query.
struct Binder {
    /// The version whose schema and objects the query is bound to.
    let snapshot: Snapshot
    /// The values that the caller passed for `$0`, `$1` and so on.
    let arguments: [QueryArgument]
    /// The text of the query as UTF-8, to which the ranges of the tree refer.
    let text: [UInt8]
    /// Keeps the bytes of the constants for as long as the bound query lives.
    let pool: ConstantPool
    /// The check that all conditions and operands share. It can also stop the binding of large shapes and lists.
    let cancellation: CancellationCheck
    /// Resolves key paths, and records which columns they read.
    var paths: PathResolver
    /// The class whose objects are tested. Inside a subquery it is the class of the linked objects.
    var table: Table
    /// In a filter over plain values, the place of the value that `self` names, and its type; nil in a query over objects.
    var element: (box: ElementOperand.Box, type: ColumnType)?

    /// Whether each value that was passed has to fit the type that it is compared with, as in a rule: one that does not would make
    /// `NOT` of its comparison true. Otherwise such a value in a list equals nothing.
    var demandsFit = false

    /// The steps that the binding of one part of a predicate is counted as.
    private static let stepsPerPart = 64

    /// Whether an operand of arithmetic is being made, whose constants keep their types: an integer divides like one.
    var isArithmetic = false

    /// Prepares the binding of a query.
    ///
    /// - Parameters:
    ///   - query: The parsed query.
    ///   - table: The class of the result.
    ///   - snapshot: The version whose schema and objects the query is bound to.
    ///   - arguments: The values for `$0`, `$1` and so on.
    ///   - mapping: Aliases of properties and classes.
    ///   - pool: Receives the bytes of the constants; it has to live as long as the bound query.
    ///   - cancellation: The check that all conditions and operands share.
    init(
        _ query: Query, table: Table, snapshot: Snapshot, arguments: [QueryArgument],
        mapping: KeyPathMapping = KeyPathMapping(), pool: ConstantPool, cancellation: CancellationCheck = CancellationCheck()
    ) {
        self.snapshot = snapshot
        self.arguments = arguments
        self.table = table
        self.pool = pool
        self.cancellation = cancellation
        text = Array(query.text.utf8)
        paths = PathResolver(snapshot: snapshot, mapping: mapping, pool: pool)
        paths.recorder.add(table)
        paths.cancellation = cancellation
    }

    /// Returns the condition for a predicate.
    ///
    /// Its recursion is as deep as the tree, which the parser bounds. The parts of `AND` and `OR`
    /// are put in the order of their cost.
    ///
    /// - Parameter predicate: A part of the predicate of the query, or of a subquery in it.
    /// - Returns: A condition on the objects of `table`.
    /// - Throws: `QueryError.invalid` when a part of the predicate does not fit, and `.storage` or
    ///   `.cancelled` from look-ups.
    mutating func condition(_ predicate: PredicateSyntax) throws(QueryError) -> any Condition {
        // A long query has thousands of parts, and each takes much longer than a row.
        try storage { () throws(StorageError) in try cancellation.step(Binder.stepsPerPart) }
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
            return OrCondition(ConditionOrder.cheapestFirst(MergeEqualities.apply(conditions, cancellation)))
        case .comparison(let comparison): return try condition(comparison)
        case .between(let between): return try condition(between)
        case .geoWithin(let geoWithin): return try condition(geoWithin)
        }
    }

    // MARK: - Texts and positions

    /// The text of a part of the query.
    ///
    /// - Parameter range: The bytes of the part, as the nodes of the tree hold them.
    func source(_ range: Range<Int>) -> String { String(decoding: text[range], as: UTF8.self) }

    /// The offset of a part of the query, in Unicode scalars, as errors report it.
    func position(_ range: Range<Int>) -> Int {
        text.prefix(range.lowerBound).reduce(0) { $1 & 0xc0 == 0x80 ? $0 : $0 + 1 }
    }

    /// Makes an error about a part of the text.
    ///
    /// - Parameters:
    ///   - kind: The reason for which the query is invalid.
    ///   - detail: The problem, as a sentence without a full stop.
    ///   - range: The bytes of the part, which becomes the culprit of the error.
    func invalid(_ kind: QueryError.Invalid, _ detail: String, _ range: Range<Int>) -> QueryError {
        .invalid(kind, detail: detail, culprit: source(range), position: position(range))
    }

    /// Makes the error for two operands whose types are never equal.
    func unsupportedComparison(_ left: any Operand, _ right: any Operand, _ range: Range<Int>) -> QueryError {
        invalid(
            .typeMismatch,
            "unsupported comparison between '\(left.label.truncated)' of type '\(left.type.rawValue)' and '\(right.label.truncated)' of type '\(right.type.rawValue)'"
                + ComparisonAdvice.hint(left, right),
            range)
    }
}
