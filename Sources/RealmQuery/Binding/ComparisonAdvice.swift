// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Says how a comparison is written whose sides have types that never are equal.
enum ComparisonAdvice {
    /// Returns the end of an error text about two operands; empty when it is not known what was meant.
    static func hint(_ left: any Operand, _ right: any Operand) -> String {
        if let links = left as? LinkOperand { return hint(links, with: right) }
        if let links = right as? LinkOperand { return hint(links, with: left) }
        let (property, constant) = right.isConstant ? (left, right) : (right, left)
        guard constant.isConstant, !property.isConstant else { return "" }
        if property.type == .string { return "; text goes in quotes, as in \(property.label) == \"…\"" }
        if property.type == .bool { return "; the values are true and false, without quotes" }
        guard constant.type == .string else { return "" }
        let form: String
        switch property.type {
        case .timestamp: form = "a date is written 2024-05-17@09:30:00, in UTC and without quotes"
        case .uuid: form = "a UUID is written uuid(3b241101-e2bb-4255-8caf-4136c566a962)"
        case .objectID: form = "an ObjectId is written oid(507f1f77bcf86cd799439011)"
        case .int, .float, .double, .decimal: return "; a number is written without quotes"
        default: return ""
        }
        return "; \(form), or passed as an argument: \(property.label) == $0"
    }

    private static func hint(_ links: LinkOperand, with other: any Operand) -> String {
        guard other.isConstant, let example = links.target.primaryKey ?? links.target.columns.first else { return "" }
        let quantifier = links.isMultiValued && links.quantifier == nil ? "ANY " : ""
        return
            "; compare a property of the linked object, as in \(quantifier)\(links.label).\(example.name) == \(other.label.truncated)"
    }
}

extension ExpressionSyntax {
    /// Whether the expression is one name alone, which may be a text whose quotes were forgotten.
    var isBareName: Bool {
        guard case .property(let property) = self, property.postfix == nil, property.quantifier == nil else { return false }
        guard property.path.argument == nil, property.path.elements.count == 1, case .key = property.path.elements[0] else {
            return false
        }
        return true
    }
}
