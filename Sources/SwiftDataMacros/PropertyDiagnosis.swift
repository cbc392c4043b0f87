import SwiftDiagnostics
import SwiftSyntax

/// What a stored property of a model cannot be.
struct PropertyDiagnosis {
    private(set) var diagnostics: [Diagnostic] = []

    init(_ variable: VariableDeclSyntax) {
        guard variable.isStoredInstanceProperty else { return }
        if variable.attributes.attribute(named: "Transient") != nil {
            checkTransient(variable)
        } else if variable.isPersisted {
            checkPersisted(variable)
        }
    }

    private mutating func checkPersisted(_ variable: VariableDeclSyntax) {
        if let error = Self.severalVariables(variable) {
            diagnostics.append(error)
            return
        }
        checkName(variable)
        checkMarkers(variable)
        if variable.bindingSpecifier.tokenKind == .keyword(.let) { diagnostics.append(Self.constant(variable)) }
    }

    // MARK: Transient properties

    private mutating func checkTransient(_ variable: VariableDeclSyntax) {
        for binding in variable.bindings where !binding.isComputed && binding.initializer == nil {
            guard !variable.modifiers.contains(.lazy, .weak), binding.typeAnnotation?.type.isOptional != true else {
                continue
            }
            let name = binding.pattern.trimmedDescription
            let message = MacroMessage(
                "transientValue",
                "@Transient property '\(name)' needs a default value or an optional type: a store has no value for it")
            diagnostics.append(Diagnostic(node: binding, message: message))
        }
    }

    // MARK: Persisted properties

    /// Accessors can be added to a declaration of one variable only.
    private static func severalVariables(_ variable: VariableDeclSyntax) -> Diagnostic? {
        let patterns = variable.bindings.map(\.pattern)
        if patterns.count == 1, patterns[0].is(IdentifierPatternSyntax.self) { return nil }
        guard patterns.allSatisfy({ $0.is(IdentifierPatternSyntax.self) }) else {
            return Diagnostic(
                node: variable.bindings,
                message: MacroMessage(
                    "tuple", "A persisted property cannot be declared with a tuple pattern: declare each on its own"))
        }
        let names = patterns.map { "'\($0.trimmedDescription)'" }.joined(separator: ", ")
        let message = MacroMessage(
            "severalVariables", "Persisted properties \(names) need a declaration each: accessors are added to each")
        guard let fixIt = split(variable) else { return Diagnostic(node: variable, message: message) }
        return Diagnostic(node: variable, message: message, fixIts: [fixIt])
    }

    /// `var a, b: Int` as `var a: Int` and `var b: Int`, each with the attributes and modifiers.
    private static func split(_ variable: VariableDeclSyntax) -> FixIt? {
        guard let item = variable.parent?.as(MemberBlockItemSyntax.self),
            let list = item.parent?.as(MemberBlockItemListSyntax.self),
            let index = list.firstIndex(of: item)
        else { return nil }
        var type: TypeAnnotationSyntax?
        var declarations: [MemberBlockItemSyntax] = []
        // The type of `a` in `var a, b: Int` is that of the next variable that has one.
        for binding in variable.bindings.reversed() {
            if let own = binding.typeAnnotation { type = own } else if binding.initializer != nil { type = nil }
            var alone = binding.with(\.trailingComma, nil).with(\.leadingTrivia, [])
            if binding.typeAnnotation == nil { alone.typeAnnotation = type?.trimmed }
            declarations.append(item.with(\.decl, DeclSyntax(variable.with(\.bindings, [alone]))))
        }
        var members = Array(list)
        let place = list.distance(from: list.startIndex, to: index)
        members.replaceSubrange(place...place, with: declarations.reversed())
        return FixIt.replace(
            message: MacroMessage("split", "declare each property on its own"), oldNode: list,
            newNode: MemberBlockItemListSyntax(members))
    }

    private mutating func checkName(_ variable: VariableDeclSyntax) {
        guard let pattern = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self),
            pattern.identifier.unescaped == "description"
        else { return }
        let message = MacroMessage(
            "description",
            """
            A persisted property cannot be named 'description', which managed objects have already: rename it; \
            '@Attribute(originalName: "description")' keeps stored values
            """)
        diagnostics.append(Diagnostic(node: pattern, message: message))
    }

    private mutating func checkMarkers(_ variable: VariableDeclSyntax) {
        guard variable.attributes.attribute(named: "Attribute") != nil,
            let relationship = variable.attributes.attribute(named: "Relationship")
        else { return }
        let message = MacroMessage("markers", "A property is an attribute or a relationship: remove one of the markers")
        diagnostics.append(Diagnostic(node: relationship, message: message))
    }

    private static func constant(_ variable: VariableDeclSyntax) -> Diagnostic {
        let name = variable.bindings.first?.pattern.trimmedDescription ?? ""
        let message = MacroMessage(
            "constant",
            """
            Persisted property '\(name)' gets accessors, which a 'let' cannot have in the Swift 6 language mode; \
            use 'private(set) var'
            """, severity: .warning)
        let fixIt = FixIt.replace(
            message: MacroMessage("makeVariable", "replace 'let' with 'var'"), oldNode: variable.bindingSpecifier,
            newNode: variable.bindingSpecifier.with(\.tokenKind, .keyword(.var)))
        return Diagnostic(node: variable.bindingSpecifier, message: message, fixIts: [fixIt])
    }
}
