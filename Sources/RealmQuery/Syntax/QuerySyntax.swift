// SPDX-License-Identifier: Apache-2.0

import RealmStorage

// The tree that the parser makes. Ranges are byte offsets into the query text.

/// A predicate. Chains of `AND` and of `OR` are flat, so the depth of a tree is bounded by `Parser.maximumDepth`.
indirect enum PredicateSyntax: Sendable {
    case constant(Bool)
    case and([PredicateSyntax])
    case or([PredicateSyntax])
    case not(PredicateSyntax)
    case comparison(ComparisonSyntax)
    case between(BetweenSyntax)
    case geoWithin(GeoWithinSyntax)
}

enum QueryOperator: String, Sendable {
    case equal = "=="
    case notEqual = "!="
    case `in` = "IN"
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case contains = "CONTAINS"
    case like = "LIKE"
    case text = "TEXT"

    var isEquality: Bool { self == .equal || self == .notEqual || self == .in }

    var isRelational: Bool {
        switch self {
        case .less, .lessOrEqual, .greater, .greaterOrEqual: return true
        default: return false
        }
    }

    /// The operators between two strings, full text search aside.
    var isPattern: Bool {
        switch self {
        case .beginsWith, .endsWith, .contains, .like: return true
        default: return false
        }
    }
}

struct ComparisonSyntax: Sendable {
    let left: ExpressionSyntax
    let comparison: QueryOperator
    let ignoresCase: Bool
    let right: ExpressionSyntax
    /// Where the operator stands.
    let operatorRange: Range<Int>
}

struct BetweenSyntax: Sendable {
    let value: ExpressionSyntax
    let limits: ListSyntax
    let operatorRange: Range<Int>
}

struct GeoWithinSyntax: Sendable {
    enum Region: Sendable {
        case shape(ShapeSyntax)
        case argument(Int)
    }

    let property: PropertySyntax
    let region: Region
    let regionRange: Range<Int>
}

enum Quantifier: String, Sendable {
    case any = "ANY"
    case all = "ALL"
    case none = "NONE"
}

enum ArithmeticOperator: String, Sendable {
    case plus = "+"
    case minus = "-"
    case times = "*"
    case divided = "/"

    var precedence: Int { self == .plus || self == .minus ? 1 : 2 }
}

indirect enum ExpressionSyntax: Sendable {
    case constant(ConstantSyntax)
    case property(PropertySyntax)
    case list(ListSyntax)
    case aggregate(AggregateSyntax)
    case subquery(SubquerySyntax)
    case operation(ArithmeticOperator, ExpressionSyntax, ExpressionSyntax, Range<Int>)

    var range: Range<Int> {
        switch self {
        case .constant(let constant): return constant.range
        case .property(let property): return property.range
        case .list(let list): return list.range
        case .aggregate(let aggregate): return aggregate.range
        case .subquery(let subquery): return subquery.range
        case .operation(_, _, _, let range): return range
        }
    }
}

/// A literal or an argument.
struct ConstantSyntax: Sendable {
    indirect enum Kind: Sendable {
        case null
        case bool(Bool)
        case integer(Int64)
        /// The text is kept for an exact conversion to decimal.
        case double(Double, text: String)
        case float(Float)
        case string([UInt8])
        case binary([UInt8])
        case timestamp(Timestamp)
        /// A well-formed calendar date that is none; the query is invalid.
        case impossibleTimestamp(String)
        case uuid(UUIDValue)
        case objectID(ObjectID)
        case link(ObjectKey)
        case typedLink(TableKey, ObjectKey)
        case argument(Int, Quantifier?)
        case object(className: [UInt8], primaryKey: ConstantSyntax)
    }

    let kind: Kind
    let range: Range<Int>
}

struct ListSyntax: Sendable {
    let quantifier: Quantifier?
    let elements: [ConstantSyntax]
    let range: Range<Int>
}

/// A key path: a name or a key path argument and what follows it.
struct PathSyntax: Sendable {
    enum Element: Sendable {
        /// A name, or a string in brackets; the two mean the same.
        case key(String)
        case index(Int)
        case last
        case all
        /// `[$n]`
        case argument(Int)
        /// `@links.Class.property`
        case backlink(className: String, property: String)
        /// `@links`, at the end of a path, or with a class but no property behind it.
        case incompleteBacklink(className: String?)
    }

    /// The number of the key path argument that the path starts with.
    let argument: Int?
    let elements: [Element]
    let range: Range<Int>
}

struct PropertySyntax: Sendable {
    enum Postfix: Sendable { case count, type }

    let quantifier: Quantifier?
    let path: PathSyntax
    let postfix: Postfix?
    let range: Range<Int>
}

enum AggregateOperator: String, Sendable {
    case min = "@min"
    case max = "@max"
    case sum = "@sum"
    case average = "@avg"
}

struct AggregateSyntax: Sendable {
    let path: PathSyntax
    let aggregate: AggregateOperator
    /// The property of the linked objects that is aggregated.
    let property: String?
    let range: Range<Int>
}

struct SubquerySyntax: Sendable {
    let path: PathSyntax
    /// With its dollar sign.
    let variable: String
    let predicate: PredicateSyntax
    let range: Range<Int>
}

indirect enum ShapeSyntax: Sendable {
    enum Coordinate: Sendable {
        case number(Double)
        case argument(Int)
    }

    struct Point: Sendable {
        let longitude: Coordinate
        let latitude: Coordinate
        let altitude: Double?
    }

    case box(Point, Point)
    case circle(Point, radius: Coordinate)
    case polygon([[Point]])
}

enum DescriptorSyntax: Sendable {
    struct SortKey: Sendable {
        let path: PathSyntax
        let isAscending: Bool
    }

    case sort([SortKey])
    case distinct([PathSyntax])
    case limit(Int)
}
