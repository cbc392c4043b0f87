import CoreDataPrimitives

extension Compilation {
    mutating func checkConstraints() {
        for index in order {
            let entity = entities[index]
            for constraint in entity.uniquenessConstraints {
                if constraint.isEmpty {
                    report(
                        "entity '\(entity.name)' has a uniqueness constraint on nothing", at: entity.location,
                        rule: .badConstraint, subject: entity.name)
                }
                let text = constraint.joined(separator: ", ")
                for name in constraint {
                    guard let problem = storageProblem(name, in: index, asElement: false) else { continue }
                    report(
                        "entity '\(entity.name)' must be unique by (\(text)), but \(problem.text)",
                        at: entity.location, hint: problem.hint, rule: .badConstraint, subject: entity.name)
                }
            }
        }
    }

    mutating func checkIndexes() {
        for index in order {
            let entity = entities[index]
            var seen: Set<String> = []
            for fetchIndex in entity.fetchIndexes {
                let place = fetchIndex.location ?? entity.location
                if fetchIndex.name.isEmpty {
                    report(
                        "an index of entity '\(entity.name)' has no name", at: place, rule: .badIndex,
                        subject: entity.name)
                }
                if !seen.insert(fetchIndex.name).inserted {
                    // Apple's tools accept it.
                    report(
                        "entity '\(entity.name)' has two indexes named '\(fetchIndex.name)'", at: place,
                        hint: "stores are made with the first of them only", severity: .warning, rule: .badIndex,
                        subject: entity.name)
                }
                if fetchIndex.elements.isEmpty {
                    report(
                        "index '\(fetchIndex.name)' of entity '\(entity.name)' has no elements", at: place,
                        rule: .badIndex, subject: entity.name)
                }
                if Set(fetchIndex.elements.map(\.isRTree)).count > 1 {
                    report(
                        "index '\(fetchIndex.name)' of entity '\(entity.name)' mixes binary and R-tree elements",
                        at: place, rule: .badIndex, subject: entity.name)
                }
                for element in fetchIndex.elements {
                    checkIndexElement(element, of: fetchIndex, in: index, at: place)
                }
            }
            for names in entity.compoundIndexes {
                for name in names where document.rowPart(listed: name, of: entity) == nil {
                    guard let problem = storageProblem(name, in: index, asElement: true) else { continue }
                    report(
                        "entity '\(entity.name)' has a compound index on (\(names.joined(separator: ", "))), but "
                            + problem.text, at: entity.location, hint: problem.hint,
                        severity: problem.isAccepted ? .warning : .error, rule: .badIndex, subject: entity.name)
                }
            }
        }
    }

    private mutating func checkIndexElement(
        _ element: FetchIndexElement.Element, of fetchIndex: FetchIndexElement, in index: Int, at place: SourceLocation?
    ) {
        let owner = "index '\(fetchIndex.name)' of entity '\(entities[index].name)'"
        guard let name = element.propertyName else {
            if element.expression?.isEmpty ?? true {
                report(
                    "an element of \(owner) has neither property nor expression", at: place, rule: .badIndex,
                    subject: entities[index].name)
            }
            return
        }
        if let problem = storageProblem(name, in: index, asElement: true) {
            report(
                "\(owner) has '\(name)' as an element, but \(problem.text)", at: place, hint: problem.hint,
                severity: problem.isAccepted ? .warning : .error, rule: .badIndex, subject: entities[index].name)
        }
    }

    /// Returns whether every property of the constraint is stored, so that the constraint can distinguish rows.
    func isStored(_ constraint: [String], in index: Int) -> Bool {
        !constraint.isEmpty && constraint.allSatisfy { storageProblem($0, in: index, asElement: false) == nil }
    }

    private struct StorageProblem {
        var text: String
        var hint: String?
        /// Whether Apple's tools accept it in an index.
        var isAccepted = false
    }

    /// Returns the reason why a constraint or index cannot use the property; `nil` if it can.
    private func storageProblem(_ name: String, in index: Int, asElement: Bool) -> StorageProblem? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let slot = slotByName[index][parts[0]] else {
            return StorageProblem(
                text: "it has no property '\(parts[0])'",
                hint: (pathOfElement(parts.last ?? "", in: index)
                    ?? nearest(to: parts[0], among: slotByName[index].keys)).map { "did you mean '\($0)'?" })
        }
        let property = slots[index][slot].element
        if property.isTransient { return StorageProblem(text: "'\(parts[0])' is transient") }
        switch property.kind {
        case .fetched: return StorageProblem(text: "'\(parts[0])' is a fetched property")
        case .relationship(let relationship):
            if relationship.maxCount != 1 {
                return StorageProblem(
                    text: "'\(parts[0])' is a to-many relationship",
                    hint: asElement ? "stores are made without the index" : nil, isAccepted: asElement)
            }
            return parts.count == 1 ? nil : StorageProblem(text: "'\(name)' leads to another entity")
        case .attribute(let attribute):
            return elementProblem(Array(parts.dropFirst()), of: attribute, path: parts[0])
        }
    }

    private func elementProblem(_ parts: [String], of attribute: AttributeElement, path: String) -> StorageProblem? {
        guard let first = parts.first else {
            return attribute.type == .composite
                ? StorageProblem(
                    text: "'\(path)' is a composite; name one of its elements", hint: paths(of: attribute, at: path))
                : nil
        }
        guard attribute.type == .composite, let element = elements(of: attribute).first(where: { $0.name == first }),
            case .attribute(let nested) = element.kind
        else {
            return StorageProblem(text: "'\(path)' has no element '\(first)'", hint: paths(of: attribute, at: path))
        }
        return elementProblem(Array(parts.dropFirst()), of: nested, path: "\(path).\(first)")
    }

    /// Returns the path of the composite attribute's element with this name, if it is unique.
    private func pathOfElement(_ name: String, in index: Int) -> String? {
        let paths = slots[index].filter { $0.composite != nil }.map(\.element.name).filter { $0.hasSuffix("." + name) }
        return paths.count == 1 ? paths[0] : nil
    }

    /// Returns the paths of a composite attribute's elements, as constraints and indexes name them.
    private func paths(of attribute: AttributeElement, at path: String) -> String? {
        let paths = elements(of: attribute).map { "'\(path).\($0.name)'" }
        return paths.isEmpty ? nil : "its elements: " + paths.joined(separator: ", ")
    }
}
