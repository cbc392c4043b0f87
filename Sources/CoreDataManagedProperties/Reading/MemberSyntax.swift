import SwiftSyntax

/// A member of a class that key-value coding accesses by name: a property, or a method `validate<Key>(_:)`.
package struct MemberSyntax {
    package enum Role: Hashable, Sendable {
        case property(isSettable: Bool)
        /// A method without parameters, which is accessed like a property.
        case method
        case validator
    }

    /// The name without backticks.
    package var name: String
    /// The name as written.
    package var spelling: String
    package var role: Role
    package var isOnMainActor: Bool
    package var position: AbsolutePosition

    // MARK: Reading

    /// Returns the properties of a declaration that key-value coding can access; not those of the class itself, and not
    /// those that the runtime provides.
    ///
    /// - Parameter isInFile: whether the accessing code is in the same file, so that it may use private setters.
    package static func properties(_ variable: VariableDeclSyntax, isInFile: Bool = false) -> [MemberSyntax] {
        guard isReadable(variable.modifiers, variable.attributes) else { return [] }
        let isConstant = variable.bindingSpecifier.text == "let"
        let hidesSetter = !isInFile && variable.modifiers.contains { $0.detail?.detail.text == "set" }
        return variable.bindings.compactMap { binding in
            guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self), isWord(pattern.identifier),
                binding.typeAnnotation.map({ isPlain($0.type) }) ?? (binding.initializer != nil),
                let isWritten = isWritten(binding.accessorBlock)
            else { return nil }
            return MemberSyntax(
                name: pattern.identifier.identifierText, spelling: pattern.identifier.text,
                role: .property(isSettable: isWritten && !isConstant && !hidesSetter),
                isOnMainActor: variable.attributes.isOnMainActor,
                position: pattern.positionAfterSkippingLeadingTrivia)
        }
    }

    /// Returns a validation method in Core Data's form: `validateAge(_:) throws` with a pointer to an object.
    package static func validator(_ function: FunctionDeclSyntax) -> MemberSyntax? {
        let signature = function.signature
        let name = function.name.identifierText
        guard isReadable(function.modifiers, function.attributes), function.genericParameterClause == nil,
            isWord(function.name), name.hasPrefix("validate"), let first = name.dropFirst(8).first, !first.isLowercase,
            signature.returnClause == nil || signature.returnsNothing,
            signature.effectSpecifiers?.throwsClause != nil, signature.effectSpecifiers?.asyncSpecifier == nil,
            signature.parameterClause.parameters.count == 1, let parameter = signature.parameterClause.parameters.first,
            parameter.firstName.text == "_", isPointerToObject(parameter.type)
        else { return nil }
        return MemberSyntax(function, .validator)
    }

    /// Returns a method without parameters that returns a value, which key-value coding uses as a getter in
    /// Objective-C.
    package static func getter(_ function: FunctionDeclSyntax) -> MemberSyntax? {
        let signature = function.signature
        guard isReadable(function.modifiers, function.attributes), function.genericParameterClause == nil,
            isWord(function.name), signature.effectSpecifiers == nil, signature.parameterClause.parameters.isEmpty,
            !signature.returnsNothing,
            let type = signature.returnClause?.type, isPlain(type)
        else { return nil }
        return MemberSyntax(function, .method)
    }

    private init(_ function: FunctionDeclSyntax, _ role: Role) {
        self.init(
            name: function.name.identifierText, spelling: function.name.text, role: role,
            isOnMainActor: function.attributes.isOnMainActor,
            position: function.name.positionAfterSkippingLeadingTrivia)
    }

    private init(name: String, spelling: String, role: Role, isOnMainActor: Bool, position: AbsolutePosition) {
        self.name = name
        self.spelling = spelling
        self.role = role
        self.isOnMainActor = isOnMainActor
        self.position = position
    }

    private static func isReadable(_ modifiers: DeclModifierListSyntax, _ attributes: AttributeListSyntax) -> Bool {
        let names = Set(modifiers.map(\.name.text))
        return names.isDisjoint(with: ["static", "class"]) && attributes.allowMembers
    }

    /// Returns whether the name can be part of an identifier.
    private static func isWord(_ token: TokenSyntax) -> Bool {
        token.identifierText.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }

    /// Returns whether a stored or computed property can be set; `nil` if ordinary code cannot read it.
    private static func isWritten(_ block: AccessorBlockSyntax?) -> Bool? {
        guard let block else { return true }
        guard case .accessors(let accessors) = block.accessors else { return false }
        if accessors.contains(where: { $0.effectSpecifiers != nil }) { return nil }
        let names = Set(accessors.map(\.accessorSpecifier.text))
        return !names.isDisjoint(with: ["set", "_modify", "willSet", "didSet"])
    }

    /// Returns whether a value of the type can be converted to `Any` and is useful to a caller by key.
    private static func isPlain(_ type: TypeSyntax) -> Bool {
        switch type.as(TypeSyntaxEnum.self) {
        case .identifierType(let type):
            type.genericArgumentClause?.arguments.allSatisfy {
                Syntax($0.argument).as(TypeSyntax.self).map(isPlain) ?? false
            } ?? true
        case .memberType, .dictionaryType: true
        case .optionalType(let type): isPlain(type.wrappedType)
        case .implicitlyUnwrappedOptionalType(let type): isPlain(type.wrappedType)
        case .arrayType(let type): isPlain(type.element)
        case .attributedType(let type): isPlain(type.baseType)
        case .someOrAnyType(let type): type.someOrAnySpecifier.text == "any"
        case .tupleType(let type):
            type.elements.count == 1 && type.elements.allSatisfy { $0.firstName == nil && isPlain($0.type) }
        default: false
        }
    }

    /// Returns whether the type is `AutoreleasingUnsafeMutablePointer<AnyObject?>`, or the pointer type of this
    /// platform.
    private static func isPointerToObject(_ type: TypeSyntax) -> Bool {
        guard let pointer = type.as(IdentifierTypeSyntax.self),
            ["AutoreleasingUnsafeMutablePointer", "UnsafeMutablePointer"].contains(pointer.name.text),
            let argument = pointer.genericArgumentClause?.arguments.first?.argument.trimmedDescription
        else { return false }
        return ["AnyObject?", "Optional<AnyObject>"].contains(argument)
    }
}

extension FunctionSignatureSyntax {
    fileprivate var returnsNothing: Bool {
        returnClause.map { ["Void", "()", "Swift.Void"].contains($0.type.trimmedDescription) } ?? true
    }
}

extension AttributeListSyntax {
    /// Whether no attribute prevents ordinary code from reading the declaration's members. An unknown attribute may be
    /// a global actor.
    package var allowMembers: Bool {
        allSatisfy { element in
            guard case .attribute(let attribute) = element else { return true }
            let name = attribute.attributeName.trimmedDescription
            if name == "available" {
                let text = attribute.arguments?.trimmedDescription ?? ""
                return !text.contains("unavailable") && !text.contains("obsoleted")
            }
            return Self.harmless.contains(name)
        }
    }

    var isOnMainActor: Bool { contains { $0.trimmedDescription == "@MainActor" } }

    private static let harmless: Set = [
        "objc", "objcMembers", "MainActor", "discardableResult", "inline", "inlinable", "usableFromInline",
        "IBInspectable",
        "GKInspectable", "IBOutlet", "Published", "NSCopying", "preconcurrency", "backDeployed", "frozen",
        "warn_unqualified_access",
        "Sendable", "IBDesignable", "_spi", "nonexhaustive",
    ]
}
