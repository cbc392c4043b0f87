import CoreDataPrimitives

extension Compilation {
    /// Checks types, defaults and derivations of every attribute at its declaration.
    mutating func checkAttributes() {
        for index in order {
            for slot in slots[index]
            where slot.declarer == index && slot.composite == nil && Self.mayBeWrong(slot.element) {
                guard case .attribute(let attribute) = slot.element.kind else { continue }
                let place = location(slot.element, in: index)
                let name = "attribute '\(path(slot.element, in: index))'"
                checkValue(
                    of: attribute, named: name, isTransient: slot.element.isTransient, at: place,
                    subject: path(slot.element, in: index))
                checkDerivation(of: attribute, slot.element, named: name, at: place)
                checkSearch(of: attribute, slot.element, named: name, at: place)
                if attribute.type == .composite, !attribute.elements.isEmpty {
                    checkElements(attribute.elements, of: name, at: place)
                }
            }
        }
    }

    /// Checks the search indexes of an attribute. They only affect speed, so an error is reported as a warning.
    private mutating func checkSearch(
        of attribute: AttributeElement, _ property: PropertyElement, named name: String, at place: SourceLocation?
    ) {
        guard let text = property.userInfo[SearchIndexKinds.key] else { return }
        let key = SearchIndexKinds.key
        if attribute.type != .string || property.isTransient {
            report(
                "\(name) has '\(key)' in its user info, and is no text that a store keeps", at: place,
                hint: "only attributes of type String that are not transient can be searched", severity: .warning)
        }
        let (kinds, unknown) = SearchIndexKinds.parse(text)
        if !unknown.isEmpty || kinds.isEmpty {
            let what = unknown.isEmpty ? "nothing" : "'\(unknown.joined(separator: ", "))'"
            report(
                "\(name) has \(what) for '\(key)' in its user info", at: place,
                hint: "write trigram, words, or both", severity: .warning)
        }
    }

    /// Returns whether the attribute needs checks: most have a type with one value, no default and no derivation.
    private static func mayBeWrong(_ property: PropertyElement) -> Bool {
        guard case .attribute(let attribute) = property.kind else { return false }
        if !property.userInfo.isEmpty, property.userInfo[SearchIndexKinds.key] != nil { return true }
        switch attribute.type {
        case .undefined, .objectID, .composite: return true
        default:
            return !attribute.defaultValue.isNull || attribute.defaultValueText != nil
                || attribute.derivationExpression != nil
        }
    }

    mutating func checkValue(
        of attribute: AttributeElement, named name: String, isTransient: Bool, at place: SourceLocation?,
        subject: String? = nil
    ) {
        switch attribute.type {
        case .undefined where !isTransient:
            report("\(name) has no type", at: place, hint: "set attributeType, or make it transient")
        case .objectID where !isTransient:
            report("\(name) cannot be stored: object IDs exist only in fetch results", at: place)
        case .composite:
            if let composite = attribute.compositeName {
                if composites[composite] == nil {
                    report(
                        "\(name) is of composite '\(composite)', which is not in the model", at: place,
                        hint: nearest(to: composite, among: composites.keys).map { "did you mean '\($0)'?" })
                }
            } else if attribute.elements.isEmpty {
                report("\(name) is composite but names no composite and has no elements", at: place)
            }
        default: break
        }
        switch DefaultValue.of(attribute) {
        case .success: break
        case .failure(let problem):
            report(
                "\(name) \(problem.message)", at: place, hint: problem.hint, severity: problem.severity,
                rule: .badDefault, subject: subject)
        }
    }

    private mutating func checkDerivation(
        of attribute: AttributeElement, _ property: PropertyElement, named name: String, at place: SourceLocation?
    ) {
        guard let expression = attribute.derivationExpression else { return }
        if expression.allSatisfy(\.isWhitespace) {
            report(
                "\(name) is derived but has no expression", at: place, hint: "set derivationExpression",
                rule: .badDerivation)
        }
        if property.isTransient {
            report("\(name) is derived and transient: a derived value must be stored", at: place, rule: .badDerivation)
        }
    }
}
