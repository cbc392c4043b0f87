import SwiftSyntax

/// `@NSManaged` in a copy that is compiled: real accessors, on the same line. People keep the attribute.
///
/// A build tool does not see what another one generates, so accessors for copies are made where the copies are.
extension PortVisitor {
    func compileManagedProperty(_ node: VariableDeclSyntax) {
        guard let attribute = node.attributes.attribute(named: "NSManaged") else { return }
        var keys = ""
        for binding in node.bindings {
            guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.plainText,
                let annotation = binding.typeAnnotation?.type
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
            let end = binding.span.upperBound
            let isLast = binding.id == node.bindings.last?.id
            keys += "; private static let \(key) = PropertyKey<\(type)>(\"\(property)\")"
            rewriteCompiled(
                end..<end, to: " { get { \(accessed) } set { \(accessed) = newValue } }" + (isLast ? keys : ""))
        }
        rewriteCompiled(attribute.span, to: text.blank(attribute.span))
    }

    /// `String?` of `String!`, and every other type as it is.
    private static func storedType(_ type: TypeSyntax) -> String {
        if let implicit = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            return implicit.wrappedType.trimmedDescription + "?"
        }
        return type.trimmedDescription
    }

    /// `updatedAt` of `primitiveUpdatedAt`.
    private static func primitiveProperty(_ name: String) -> String? {
        guard name.hasPrefix("primitive"), let first = name.dropFirst(9).first, first.isUppercase else { return nil }
        return first.lowercased() + name.dropFirst(10)
    }

    /// Whether the class has a property `primitivePrimitive…` for it: then the name is the property's own.
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

    /// The body, and the key that it needs beside it.
    private func methodBody(_ node: FunctionDeclSyntax, of type: String) -> (body: String, key: String)? {
        let name = node.name.plainText
        let parameters = Array(node.signature.parameterClause.parameters)
        guard let first = parameters.first,
            let verb = ["addTo", "removeFrom", "insertInto", "replace"].first(where: name.hasPrefix)
        else { return nil }
        let property = index.managedProperty(named: String(name.dropFirst(verb.count)), of: type)
        let key = "_\(property)Key\(text.line(at: node.span.lowerBound))"
        let keyed = "; private static let \(key) = PropertyKey<NSObject>(\"\(property)\")"
        func argument(_ position: Int) -> String { Self.argument(parameters[position]) }

        switch (verb, parameters.map(\.firstName.text)) {
        case ("addTo", ["_"]): return (Self.members(first, "add", "to: Self.\(key)"), keyed)
        case ("removeFrom", ["_"]): return (Self.members(first, "remove", "from: Self.\(key)"), keyed)
        case ("insertInto", ["_", "at"]):
            return ("insert(\(argument(0)), into: Self.\(key), at: \(argument(1)))", keyed)
        case ("removeFrom", ["at"]): return ("remove(at: \(argument(0)), from: Self.\(key))", keyed)
        case ("replace", ["at", "with"]):
            return ("replace(at: \(argument(0)), with: \(argument(1)), in: Self.\(key))", keyed)
        default: return nil
        }
    }

    private static func argument(_ parameter: FunctionParameterSyntax) -> String {
        let name = (parameter.secondName ?? parameter.firstName).text
        return parameter.type.trimmedDescription == "IndexSet" ? "\(name) as NSIndexSet" : name
    }

    /// `add(value, to: key)` for a member or a set, and for each member of Swift's collections.
    private static func members(_ parameter: FunctionParameterSyntax, _ verb: String, _ rest: String) -> String {
        let type = parameter.type.trimmedDescription
        let isCollection = ["Set<", "[", "Array<"].contains(where: type.hasPrefix)
        let name = argument(parameter)
        return isCollection ? "for member in \(name) { \(verb)(member, \(rest)) }" : "\(verb)(\(name), \(rest))"
    }

    // MARK: Key paths

    /// The list by which `\Book.title` is known to mean "title", for a class that models name.
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
