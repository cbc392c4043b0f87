import CoreDataManagedProperties
import SwiftSyntax

/// Lists, in the compiled copy, the members of managed object classes that key-value coding accesses: their own `@objc`
/// properties and their methods `validate<Key>(_:)`. On Apple's platforms, the Objective-C runtime finds them by name.
extension PortVisitor {
    func listMembers(_ node: VariableDeclSyntax) {
        guard node.attributes.attribute(named: "NSManaged") == nil, let place = managedClass(around: Syntax(node))
        else { return }
        let attribute = node.attributes.attribute(named: "objc")
        guard attribute != nil || place.isExposed else { return }
        for member in MemberSyntax.properties(node, isInFile: true) {
            list(member, key: index.objectiveCName(of: member.name, in: place.name), in: place, Syntax(node))
        }
    }

    func listMembers(_ node: FunctionDeclSyntax) {
        guard let place = managedClass(around: Syntax(node)) else { return }
        if let member = MemberSyntax.validator(node) { return list(member, key: nil, in: place, Syntax(node)) }
        let attribute = node.attributes.attribute(named: "objc")
        guard attribute != nil || place.isExposed, node.attributes.attribute(named: "NSManaged") == nil,
            let member = MemberSyntax.getter(node)
        else { return }
        list(member, key: attribute?.objectiveCName, in: place, Syntax(node))
    }

    /// Declares the lists of the collected members.
    func declareMembers() {
        let lists = members.filter { !$0.text.isEmpty }
        guard !lists.isEmpty else { return }
        // Several files may list members of one class, so the name includes a hash of the path.
        let place = text.path.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        for list in lists { generate(list.text.text(in: "_Members\(String(place, radix: 16))")) }
    }

    private func list(_ member: MemberSyntax, key: String?, in place: ManagedClass, _ node: Syntax) {
        if place.isGeneric {
            guard member.role == .validator else { return }
            remark(
                "'\(member.name)' is not called when objects are validated: '\(place.name)' is generic",
                at: member.position.utf8Offset, hint: "call it in an override of validateValue(_:forKey:)")
            return
        }
        let position = members.firstIndex { $0.path == place.path } ?? members.count
        if position == members.count {
            members.append((place.path, MemberText(type: place.path, path: place.path)))
        }
        var member = member
        member.isOnMainActor = member.isOnMainActor || place.isOnMainActor
        members[position].text.add(member, key: key, conditions: node.conditions)
    }

    // MARK: Enclosing class of a member

    struct ManagedClass {
        var name: String
        var path: String
        /// Whether Objective-C sees members without an attribute.
        var isExposed: Bool
        var isOnMainActor: Bool
        var isGeneric: Bool
    }

    private func managedClass(around node: Syntax) -> ManagedClass? {
        guard let group = node.enclosingGroup else { return nil }
        let attributes: AttributeListSyntax
        let path: String
        var isOnMainActor = false
        if let type = group.as(ClassDeclSyntax.self) {
            attributes = type.attributes
            guard let found = group.typePath else { return nil }
            path = found
        } else if let node = group.as(ExtensionDeclSyntax.self) {
            attributes = node.attributes
            path = node.extendedType.trimmedDescription
            // The list's extension has the isolation of the class, not of this extension.
            isOnMainActor = attributes.attribute(named: "MainActor") != nil
            guard attributes.allowMembers else { return nil }
        } else {
            return nil
        }
        let name = path.split(separator: ".").last.map(String.init) ?? path
        guard index.isManagedObjectClass(name) else { return nil }
        let isExposed =
            index.hasObjectiveCMembers(name)
            || group.is(ExtensionDeclSyntax.self) && attributes.attribute(named: "objc") != nil
        return ManagedClass(
            name: name, path: path, isExposed: isExposed, isOnMainActor: isOnMainActor,
            isGeneric: index.classes[name]?.isGeneric == true)
    }
}

extension Syntax {
    /// The type or extension that has the node as a member; `nil` at file level and inside functions.
    fileprivate var enclosingGroup: Syntax? {
        var node = parent
        while let current = node {
            if current.isProtocol((any DeclGroupSyntax).self) { return current }
            if current.is(CodeBlockSyntax.self) { return nil }
            node = current.parent
        }
        return nil
    }

    /// Returns `Outer.Item`; `nil` for a type inside a function.
    var typePath: String? {
        var names: [String] = []
        var node: Syntax? = self
        while let current = node {
            if let type = current.asProtocol((any NamedDeclSyntax).self), current.isProtocol((any DeclGroupSyntax).self)
            {
                names.append(type.name.text)
            } else if let type = current.as(ExtensionDeclSyntax.self) {
                names.append(type.extendedType.trimmedDescription)
            } else if current.is(CodeBlockSyntax.self) {
                return nil
            }
            node = current.parent
        }
        return names.reversed().joined(separator: ".")
    }

    /// The enclosing `#if` conditions, including the negated conditions of earlier clauses.
    fileprivate var conditions: [String] {
        var conditions: [String] = []
        for node in sequence(first: self, next: \.parent) {
            guard let clause = node.as(IfConfigClauseSyntax.self),
                let clauses = node.parent?.as(IfConfigClauseListSyntax.self)
            else { continue }
            let before = clauses.prefix { $0.id != clause.id }
            conditions += before.compactMap { $0.condition.map { "!(\($0.trimmedDescription))" } }
            if let condition = clause.condition { conditions.append(condition.trimmedDescription) }
        }
        return conditions
    }
}
