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
                    guard let problem = whyNotStored(name, in: index, asElement: false) else { continue }
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
                    // Apple's tools let it pass.
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
                    guard let problem = whyNotStored(name, in: index, asElement: true) else { continue }
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
        if let problem = whyNotStored(name, in: index, asElement: true) {
            report(
                "\(owner) has '\(name)' as an element, but \(problem.text)", at: place, hint: problem.hint,
                severity: problem.isAccepted ? .warning : .error, rule: .badIndex, subject: entities[index].name)
        }
    }

    /// Whether rows can be told apart by the constraint's properties.
    func isStored(_ constraint: [String], in index: Int) -> Bool {
        !constraint.isEmpty && constraint.allSatisfy { whyNotStored($0, in: index, asElement: false) == nil }
    }

    private struct WhyNotStored {
        var text: String
        var hint: String?
        /// Whether Apple's tools let an index have it.
        var isAccepted = false
    }

    /// Why a constraint or index cannot have the property, told to its author; `nil` if it can.
    private func whyNotStored(_ name: String, in index: Int, asElement: Bool) -> WhyNotStored? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let slot = slotByName[index][parts[0]] else {
            return WhyNotStored(
                text: "it has no property '\(parts[0])'",
                hint: (pathOfElement(parts.last ?? "", in: index)
                    ?? nearest(to: parts[0], among: slotByName[index].keys)).map { "did you mean '\($0)'?" })
        }
        let property = slots[index][slot].element
        if property.isTransient { return WhyNotStored(text: "'\(parts[0])' is transient") }
        switch property.kind {
        case .fetched: return WhyNotStored(text: "'\(parts[0])' is a fetched property")
        case .relationship(let relationship):
            if relationship.maxCount != 1 {
                return WhyNotStored(
                    text: "'\(parts[0])' is a to-many relationship",
                    hint: asElement ? "stores are made without the index" : nil, isAccepted: asElement)
            }
            return parts.count == 1 ? nil : WhyNotStored(text: "'\(name)' leads to another entity")
        case .attribute(let attribute):
            return whyNotElement(Array(parts.dropFirst()), of: attribute, path: parts[0])
        }
    }

    private func whyNotElement(_ parts: [String], of attribute: AttributeElement, path: String) -> WhyNotStored? {
        guard let first = parts.first else {
            return attribute.type == .composite
                ? WhyNotStored(
                    text: "'\(path)' is a composite; name one of its elements", hint: paths(of: attribute, at: path))
                : nil
        }
        guard attribute.type == .composite, let element = elements(of: attribute).first(where: { $0.name == first }),
            case .attribute(let nested) = element.kind
        else {
            return WhyNotStored(text: "'\(path)' has no element '\(first)'", hint: paths(of: attribute, at: path))
        }
        return whyNotElement(Array(parts.dropFirst()), of: nested, path: "\(path).\(first)")
    }

    /// The path of the only element of a composite attribute that has the name.
    private func pathOfElement(_ name: String, in index: Int) -> String? {
        let paths = slots[index].filter { $0.composite != nil }.map(\.element.name).filter { $0.hasSuffix("." + name) }
        return paths.count == 1 ? paths[0] : nil
    }

    /// The elements of a composite attribute, by the paths that constraints and indexes take.
    private func paths(of attribute: AttributeElement, at path: String) -> String? {
        let paths = elements(of: attribute).map { "'\(path).\($0.name)'" }
        return paths.isEmpty ? nil : "its elements: " + paths.joined(separator: ", ")
    }
}
