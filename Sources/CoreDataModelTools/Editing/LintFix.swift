import CoreDataModel
import CoreDataPrimitives

/// A correction of a lint finding, as a command.
///
///     missing-inverse of Book.author   →   Add the inverse 'books' to 'Author'
///
/// A finding can have several fixes; those that change least come first.
package struct LintFix: Hashable, Sendable {
    package var title: String
    package var command: ModelCommand

    /// Returns the fixes of a finding in a version.
    package static func fixes(for finding: Diagnostic, in bundle: ModelBundle, version: String) -> [LintFix] {
        if finding.rule == LintRule.noCurrentVersion.rawValue {
            return [
                LintFix(title: "Make '\(version)' the current version", command: .setCurrentVersion(version))
            ]
        }
        guard let document = bundle[version]?.document, bundle[version]?.readOnlyReason == nil,
            let rule = finding.rule.flatMap(LintRule.init(rawValue:)), let subject = finding.subject
        else { return [] }
        let source = LintFixSource(document: document, rule: rule, subject: subject)
        return source.fixes.map { LintFix(title: $0.title, command: .edit(version: version, $0.edits)) }
    }
}

/// The parts of a finding that its fixes are made from.
struct LintFixSource {
    typealias Fix = (title: String, edits: [ModelEdit])

    let document: ModelDocument
    let rule: LintRule
    /// The element of the finding, if it exists.
    let entity: EntityElement?
    let property: PropertyElement?
    let subject: String

    init(document: ModelDocument, rule: LintRule, subject: String) {
        self.document = document
        self.rule = rule
        self.subject = subject
        let names = subject.split(separator: ".", maxSplits: 1).map(String.init)
        entity = document.entities.first { $0.name == names.first }
        property = names.count == 2 ? entity?.properties.first { $0.name == names[1] } : nil
    }

    var fixes: [Fix] {
        guard let entity else { return requestFixes }
        let own: [Fix]
        if let property {
            let path = ModelPath.property(entity: entity.name, name: property.name)
            let special: [Fix] =
                switch property.kind {
                case .relationship(let relationship): fixes(of: relationship, property, path, entity)
                case .attribute(let attribute): fixes(of: attribute, property, path)
                case .fetched: []
                }
            own = special + fixes(ofAny: property, path, entity)
        } else {
            own = fixes(of: entity)
        }
        return own + ignoring(entity)
    }

    // MARK: Entities

    private func fixes(of entity: EntityElement) -> [Fix] {
        let path = ModelPath.entity(entity.name)
        func set(_ title: String, _ setting: ModelSetting, _ value: String?) -> Fix {
            (title, [.set(path, setting, value)])
        }
        switch rule {
        case .abstractWithoutChildren: return [set("Make '\(entity.name)' concrete", .isAbstract, "NO")]
        case .entityWithoutProperties: return [("Delete '\(entity.name)'", [.delete(path)])]
        case .nothingGenerated:
            return [
                set("Name the class '\(entity.name)'", .className, entity.name),
                set("Remove the code generation", .codeGeneration, nil),
            ]
        case .sharedClass, .invalidClassName: return [set("Name the class '\(entity.name)'", .className, entity.name)]
        case .duplicateRenaming where entity.renamingIdentifier != nil:
            return [set("Remove the renaming identifier of '\(entity.name)'", .renamingIdentifier, nil)]
        case .badConstraint: return constraintFixes(of: entity)
        case .badIndex: return indexFixes(of: entity)
        default: return []
        }
    }

    /// The names of the properties that the entity has or inherits.
    private func propertyNames(of entity: EntityElement) -> Set<String> {
        var names = Set(entity.properties.map(\.name))
        var visited: Set<String> = [entity.name]
        var parent = entity.parentName
        while let name = parent, visited.insert(name).inserted,
            let next = document.entities.first(where: { $0.name == name })
        {
            names.formUnion(next.properties.map(\.name))
            parent = next.parentName
        }
        return names
    }

    private func constraintFixes(of entity: EntityElement) -> [Fix] {
        let names = propertyNames(of: entity)
        return entity.uniquenessConstraints.indices.filter { index in
            let list = entity.uniquenessConstraints[index]
            return list.isEmpty || list.contains { !names.contains($0) }
        }.map { index in
            let list = entity.uniquenessConstraints[index].joined(separator: ", ")
            return ("Delete the constraint (\(list))", [.setConstraint(entity: entity.name, at: index, [])])
        }
    }

    private func indexFixes(of entity: EntityElement) -> [Fix] {
        let names = propertyNames(of: entity)
        return entity.fetchIndexes.filter { index in
            index.elements.isEmpty || index.elements.contains { $0.propertyName.map { !names.contains($0) } ?? false }
        }.map { index in
            ("Delete the index '\(index.name)'", [.delete(.fetchIndex(entity: entity.name, name: index.name))])
        }
    }

    // MARK: Requests and configurations

    /// Fixes of findings about a fetch request: its name is the subject.
    private var requestFixes: [Fix] {
        guard rule == .badFetchRequest, document.fetchRequests.contains(where: { $0.name == subject }) else {
            return []
        }
        return [("Delete the fetch request '\(subject)'", [.delete(.fetchRequest(subject))])]
    }

    // MARK: Any element

    private func fixes(ofAny property: PropertyElement, _ path: ModelPath, _ entity: EntityElement) -> [Fix] {
        switch rule {
        case .reservedName, .swiftKeyword:
            let name = entity.name.prefix(1).lowercased() + entity.name.dropFirst() + property.name.capitalizedFirst
            return [("Rename it to '\(name)'", [.rename(path, to: String(name), keepsIdentity: true)])]
        case .duplicateRenaming where property.renamingIdentifier != nil:
            return [("Remove the renaming identifier", [.set(path, .renamingIdentifier, nil)])]
        case .inheritedRedeclared: return [("Delete \(path.text): it is inherited", [.delete(path)])]
        case .optionalInConstraint: return [("Make \(path.text) required", [.set(path, .isOptional, "NO")])]
        default: return []
        }
    }

    /// Suppresses the rule for the element. Errors that make the model unusable cannot be suppressed.
    private func ignoring(_ entity: EntityElement) -> [Fix] {
        guard rule.severity != .error else { return [] }
        let path: ModelPath =
            property.map { .property(entity: entity.name, name: $0.name) } ?? .entity(entity.name)
        let key = ModelLinter.suppressionKey
        let old = (property?.userInfo ?? entity.userInfo)[key].map { $0 + ", " } ?? ""
        return [
            ("Ignore this for \(path.text)", [.setUserInfo(path, key: key, value: old + rule.rawValue)])
        ]
    }
}

extension String {
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
    var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
