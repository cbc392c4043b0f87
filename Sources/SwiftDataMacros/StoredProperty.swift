import SwiftSyntax

/// A stored property of a model class, as its declaration says.
struct StoredProperty {
    /// Where the property stands among the persisted ones of its class.
    let index: Int
    let declaration: VariableDeclSyntax
    let binding: PatternBindingSyntax
    /// As written, with backticks if there are any.
    let identifier: TokenSyntax

    /// The name in the schema.
    var name: String { identifier.unescaped }
    var type: TypeSyntax? { binding.typeAnnotation?.type }
    var initialValue: ExprSyntax? { binding.initializer?.value }
    var isConstant: Bool { declaration.bindingSpecifier.tokenKind == .keyword(.let) }

    /// Whether the value goes through a value transformer.
    var isTransformable: Bool {
        guard let attribute = declaration.attributes.attribute(named: "Attribute") else { return false }
        return attribute.labeledArguments.contains { argument in
            let called = argument.expression.as(FunctionCallExprSyntax.self)?.calledExpression ?? argument.expression
            return called.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "transformable"
        }
    }

    /// The options of the property as an expression: those of `@Attribute` or `@Relationship`.
    var metadata: String {
        for marker in ["Attribute", "Relationship"] {
            guard let attribute = declaration.attributes.attribute(named: marker) else { continue }
            return "SwiftData.Schema.\(marker)(\(attribute.argumentText))"
        }
        return "nil"
    }

    /// The initial value as an expression that needs no type around it: `.idle` of `var state: State = .idle` is `.idle
    /// as State`.
    var defaultValue: String {
        guard let initialValue else { return "nil" }
        guard let type else { return initialValue.trimmedDescription }
        if initialValue.is(NilLiteralExprSyntax.self) { return "nil" }
        return "(\(initialValue.trimmedDescription)) as \(type.expressible.description)"
    }

    /// The element of `schemaMetadata`.
    func metadata(of model: String) -> String {
        """
        SwiftData.Schema.PropertyMetadata(name: "\(name)", keypath: \\\(model).\(identifier.text), \
        defaultValue: \(defaultValue), metadata: \(metadata))
        """
    }
}

extension VariableDeclSyntax {
    /// Whether `@Model` persists what is declared here: stored instance properties but `@Transient`, lazy and weak
    /// ones.
    var isPersisted: Bool {
        guard isStoredInstanceProperty, attributes.attribute(named: "Transient") == nil else { return false }
        return !modifiers.contains(.lazy, .weak, .unowned)
    }

    /// Whether instances keep a value of it, whatever becomes of it on insertion.
    var isStoredInstanceProperty: Bool {
        guard !modifiers.contains(.static, .class, .override) else { return false }
        return bindings.contains { !$0.isComputed }
    }
}

extension PatternBindingSyntax {
    /// Whether the property has a getter; observers alone leave it a stored one.
    var isComputed: Bool {
        switch accessorBlock?.accessors {
        case nil: false
        case .getter: true
        case .accessors(let accessors):
            !accessors.allSatisfy {
                [.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind)
            }
        }
    }
}
