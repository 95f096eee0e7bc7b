// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Binds the suffix operators of paths, such as `@count` and `@type`.
///
/// A suffix is a case of `ExpressionSyntax.Property.Postfix`, which the parser reads, and one of these cases,
/// which makes the operand that calculates its value.
extension Binder {
    /// Makes the error for an operand that does not support a suffix.
    ///
    /// - Parameters:
    ///   - suffix: The suffix as the message shows it.
    ///   - property: The key path as it is written.
    func unsupported(_ suffix: String, _ property: ExpressionSyntax.Property) -> QueryError {
        invalid(.typeMismatch, "\(suffix) is not supported on '\(source(property.path.range))'", property.range)
    }

    /// Applies a suffix to the operand of a property; without a suffix the operand is returned as it is.
    ///
    /// - Parameters:
    ///   - postfix: The suffix.
    ///   - operand: The operand for the path without the suffix.
    ///   - column: The property that the path leads to.
    ///   - links: The links that lead to the class.
    ///   - property: The key path as it is written, for messages.
    /// - Throws: `QueryError.invalid` when the operand does not support the suffix.
    func apply(
        _ postfix: ExpressionSyntax.Property.Postfix?, to operand: any Operand, column: Column, of target: Table,
        links: [LinkStep],
        in property: ExpressionSyntax.Property
    ) throws(QueryError) -> any Operand {
        switch postfix {
        case .count where operand.isPrimitiveCollection:
            return CollectionSizeOperand(column, of: target, chain: LinkChain(links, cancellation), label: operand.label)
        case .count where !(operand is PropertyOperand || operand is MixedPathOperand):
            throw unsupported("@count", property)
        case .type where operand.type != .mixed && !(operand is PropertyOperand):
            throw unsupported("@type", property)
        default: return try apply(postfix, to: operand, of: column.type, in: property)
        }
    }

    /// Applies a suffix to an operand that has one value for each row or element.
    ///
    /// - Parameters:
    ///   - postfix: The suffix; nil returns the operand as it is.
    ///   - operand: The operand for the path without the suffix.
    ///   - type: The type of the values as it is stored.
    ///   - property: The key path as it is written, for messages.
    /// - Throws: `QueryError.invalid` for the length of values that have none.
    func apply(
        _ postfix: ExpressionSyntax.Property.Postfix?, to operand: any Operand, of type: ColumnType,
        in property: ExpressionSyntax.Property
    ) throws(QueryError) -> any Operand {
        switch postfix {
        case nil: return operand
        case .count:
            guard operand.type == .string || operand.type == .binary || operand.type == .mixed else {
                throw unsupported("@count", property)
            }
            return DerivedOperand.make(operand, ByteLength(space: snapshot.space), quantifier: nil)
        case .type:
            if operand.type == .mixed { return DerivedOperand.make(operand, TypeBits(), quantifier: operand.quantifier) }
            return ConstantOperand(.int(TypeName.bits(of: type)), type: .typeOfValue, label: operand.label)
        }
    }
}
