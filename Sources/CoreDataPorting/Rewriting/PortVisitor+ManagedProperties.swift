import CoreDataManagedProperties
import SwiftSyntax

/// Replaces `@NSManaged` in the compiled copy by accessors on the same line; the version for people keeps the
/// attribute.
///
/// A build tool does not see the output of another one, so the tool that makes the copies must also make their
/// accessors.
extension PortVisitor {
    func compileManagedProperty(_ node: VariableDeclSyntax) {
        guard let attribute = node.attributes.attribute(named: "NSManaged") else { return }
        let bindings = Array(node.bindings)
        var keys = ""
        for (number, binding) in bindings.enumerated() {
            // `var width, height: Double`: the type also applies to the names before it.
            guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.plainText,
                let annotation = bindings[number...].lazy.compactMap(\.typeAnnotation?.type).first
            else {
                remark("@NSManaged property without a type", .error, at: binding.span.lowerBound)
                return
            }
            let type = Self.storedType(annotation)
            let key = "_\(name)Key"
            var accessed = "self[Self.\(key)]"
            var property = name
            if let stored = Self.primitiveProperty(name), !isManaged(name, in: Syntax(node)) {
                property = stored
                accessed = "self[primitive: Self.\(key)]"
            }
            keys += "; private static let \(key) = PropertyKey<\(type)>(\"\(property)\")"
            let typed = binding.typeAnnotation == nil ? ": \(annotation.trimmedDescription)" : ""
            let end = binding.trailingComma?.span.lowerBound ?? binding.span.upperBound
            let isLast = number == bindings.count - 1
            rewriteCompiled(
                end..<end,
                to: "\(typed) { get { \(accessed) } set { \(accessed) = newValue } }" + (isLast ? keys : ""))
            if let comma = binding.trailingComma {
                // A declaration with several names cannot have accessors.
                let modifiers = node.modifiers.map { $0.trimmedDescription + " " }.joined()
                rewriteCompiled(comma.span, to: "; \(modifiers)var")
            }
        }
        rewriteCompiled(attribute.span, to: text.blank(attribute.span))
    }

    /// Returns `String?` for `String!`; other types are unchanged.
    private static func storedType(_ type: TypeSyntax) -> String {
        if let implicit = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            return implicit.wrappedType.trimmedDescription + "?"
        }
        return type.trimmedDescription
    }

    /// Returns `updatedAt` for `primitiveUpdatedAt`.
    private static func primitiveProperty(_ name: String) -> String? {
        guard name.hasPrefix("primitive"), let first = name.dropFirst(9).first, first.isUppercase else { return nil }
        return first.lowercased() + name.dropFirst(10)
    }

    /// Returns whether the class has a property `primitivePrimitive…` for the name: then the name is a property of its
    /// own.
    private func isManaged(_ name: String, in node: Syntax) -> Bool {
        guard let type = node.enclosingTypeName?.split(separator: ".").last.map(String.init) else { return false }
        let primitive = "primitive" + name.prefix(1).uppercased() + name.dropFirst()
        return index.managedProperties[type]?.contains { $0.name == primitive } == true
    }

    // MARK: Methods for to-many relationships

    func compileManagedMethod(_ node: FunctionDeclSyntax) {
        guard let attribute = node.attributes.attribute(named: "NSManaged"), node.body == nil else { return }
        let type = Syntax(node).enclosingTypeName?.split(separator: ".").last.map(String.init) ?? ""
        guard let method = methodBody(node, of: type) else {
            remark(
                "@NSManaged method \(node.name.text) is none that Core Data makes", .error,
                at: node.name.span.lowerBound,
                hint: "write its body with mutableSetValue(forKey:)")
            return
        }
        let end = node.span.upperBound
        rewriteCompiled(end..<end, to: " { \(method.body) }\(method.key)")
        rewriteCompiled(attribute.span, to: text.blank(attribute.span))
    }

    /// Returns the body, and the key that it uses.
    private func methodBody(_ node: FunctionDeclSyntax, of type: String) -> (body: String, key: String)? {
        let parameters = Array(node.signature.parameterClause.parameters)
        let returned = node.signature.returnClause?.type.trimmedDescription ?? "Void"
        guard let first = parameters.first, ["Void", "()"].contains(returned),
            let method = CollectionMethod(
                name: node.name.plainText,
                labels: parameters.map { $0.firstName.text == "_" ? nil : $0.firstName.plainText },
                selector: node.attributes.attribute(named: "objc")?.objectiveCName,
                isMany: Self.isCollection(first.type),
                isDeclared: { index.declaredManagedProperty(named: $0, of: type) != nil })
        else { return nil }
        let property = index.managedProperty(named: method.capitalizedKey, of: type)
        let key = "_\(property)Key\(text.line(at: node.span.lowerBound))"
        let keyed = "; private static let \(key) = PropertyKey<NSObject>(\"\(property)\")"
        let arguments = parameters.map(Self.argument)
        let isOne = method.operation == .add || method.operation == .remove
        if isOne, Self.isSwiftCollection(first.type) {
            return ("for member in \(arguments[0]) { \(method.body(["member"], key: "Self.\(key)")) }", keyed)
        }
        return (method.body(arguments, key: "Self.\(key)"), keyed)
    }

    private static func argument(_ parameter: FunctionParameterSyntax) -> String {
        let name = (parameter.secondName ?? parameter.firstName).text
        return parameter.type.lastTypeName == "IndexSet" ? "NSIndexSet(indexSet: \(name))" : name
    }

    private static func isCollection(_ type: TypeSyntax) -> Bool {
        let classes: Set = ["NSSet", "NSOrderedSet", "NSMutableSet", "NSMutableOrderedSet"]
        return isSwiftCollection(type) || type.lastTypeName.map(classes.contains) == true
    }

    private static func isSwiftCollection(_ type: TypeSyntax) -> Bool {
        type.is(ArrayTypeSyntax.self) || type.lastTypeName == "Set" || type.lastTypeName == "Array"
    }

    // MARK: Key paths

    /// Registers the key paths, so that `\Book.title` means "title", for a class that models name.
    func listKeyPaths(of node: ClassDeclSyntax) {
        let name = node.name.plainText
        guard node.parent?.is(CodeBlockItemSyntax.self) == true, index.isManagedObjectClass(name),
            node.modifiers.modifier("private", "fileprivate") == nil
        else { return }
        let properties = index.allManagedProperties(of: name).filter { !$0.isPrivate || $0.path == text.path }
            .filter { !$0.isHidden && Self.primitiveProperty($0.name) == nil }
        guard !properties.isEmpty else { return }
        let pairs = properties.map { "\\\(node.name.text).\($0.spelling): \"\($0.name)\"" }
        generate(
            """
            final class _\(name)KeyPaths: ManagedKeyPaths {
                override class var names: [AnyKeyPath: String] { [\(pairs.joined(separator: ", "))] }
            }
            """)
    }
}
