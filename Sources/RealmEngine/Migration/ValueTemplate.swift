// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A value of a migration step, made ready for being computed once for each object: its expressions are
/// parsed, and parts without expressions are kept as they were given.
indirect enum ValueTemplate {
    /// An input without expressions.
    case constant(InputValue)
    /// The result of an expression.
    case expression(Expression)
    /// A list or set of which at least one element is computed.
    case list([ValueTemplate])
    /// An embedded object or a dictionary of which at least one value is computed.
    case object(ObjectTemplate)
    /// A link to the object of a class whose primary key is computed.
    case link(className: String, key: Expression)
    /// A list or dictionary with one value for each element of another collection.
    case each(EachTemplate)

    /// A value that is computed for each element of a collection.
    struct EachTemplate {
        /// The key path of the collection.
        let source: ExpressionPath
        /// The name of the element in `value`.
        let variable: String
        /// The name of the key or index of the element; nil for none.
        let keyVariable: String?
        /// The value that is made for each element.
        let value: ValueTemplate
    }

    /// Prepares an input.
    ///
    /// - Parameters:
    ///   - scope: The names that its expressions may use.
    /// - Throws: `WriteError` with the code `invalidSchema` for an expression that cannot be read, with the
    ///   path to it.
    init(_ input: InputValue, _ scope: MigrationScope) throws(WriteError) {
        switch input {
        case .expression(let text): self = .expression(try scope.expression(text))
        case .list(let elements):
            var templates: [ValueTemplate] = []
            for (index, element) in elements.enumerated() {
                templates.append(try at(.index(index), try ValueTemplate(element, scope)))
            }
            self = templates.allSatisfy(\.isConstant) ? .constant(input) : .list(templates)
        case .object(let object):
            let template = try ObjectTemplate(object, scope)
            self = template.isConstant ? .constant(input) : .object(template)
        case .link(.stub(let className, .primaryKey(.expression(let text)))):
            let key = try at(.name("$link"), try at(.name("key"), try scope.expression(text)))
            self = .link(className: className, key: key)
        case .each(let each): self = .each(try at(.name("$each"), try EachTemplate(each, scope)))
        default: self = .constant(input)
        }
    }

    /// Whether the value is the same for all objects.
    var isConstant: Bool {
        if case .constant = self { return true }
        return false
    }
}

extension ValueTemplate.EachTemplate {
    /// Prepares the input; see `ValueTemplate.init`.
    init(_ each: EachInput, _ scope: MigrationScope) throws(WriteError) {
        source = try at(.name("in"), try scope.path(each.source))
        variable = each.variable
        keyVariable = each.keyVariable
        let named = try at(.name("as"), try scope.adding(each.variable))
        let inner = try at(.name("keyAs"), try named.adding(each.keyVariable))
        value = try at(.name("value"), try ValueTemplate(each.value, inner))
    }
}
