import CoreDataPrimitives

extension Compilation {
    /// Checks composite types; attributes that use them are checked with the attributes.
    mutating func resolveComposites() {
        for composite in document.composites where !composite.name.isEmpty {
            if composite.properties.isEmpty {
                report("composite '\(composite.name)' has no elements", at: composite.location)
            }
            checkElements(composite.properties, of: "composite '\(composite.name)'", at: composite.location)
        }
        var reported: Set<String> = []
        for composite in document.composites {
            if let circle = circle(from: composite.name), reported.isDisjoint(with: circle) {
                reported.formUnion(circle)
                let names = (circle + [composite.name]).joined(separator: " → ")
                report("composites contain each other: \(names)", at: composite.location, fatal: true)
            }
        }
    }

    /// Checks the elements of a composite type, or of a composite attribute with its own elements.
    mutating func checkElements(_ elements: [PropertyElement], of owner: String, at place: SourceLocation?) {
        var seen: Set<String> = []
        for element in elements {
            let place = element.location ?? place
            if element.name.isEmpty {
                report("an element of \(owner) has no name", at: place)
                continue
            }
            if !Self.isIdentifier(element.name) {
                report("element '\(element.name)' of \(owner) is not an identifier", at: place)
            }
            if !seen.insert(element.name).inserted {
                report("\(owner) has two elements named '\(element.name)'", at: place)
            }
            guard case .attribute(let attribute) = element.kind else {
                report("element '\(element.name)' of \(owner) is not an attribute", at: place)
                continue
            }
            if attribute.derivationExpression != nil {
                report("element '\(element.name)' of \(owner) cannot be derived", at: place)
            }
            checkValue(of: attribute, named: "element '\(element.name)' of \(owner)", isTransient: false, at: place)
        }
    }

    /// Returns the cycle of composites from `name` back to itself.
    private func circle(from name: String) -> [String]? {
        var visited: Set<String> = []
        func walk(_ current: String, _ path: [String]) -> [String]? {
            for property in composites[current]?.properties ?? [] {
                guard case .attribute(let attribute) = property.kind, let next = attribute.compositeName else {
                    continue
                }
                if next == name { return path }
                if visited.insert(next).inserted, let found = walk(next, path + [next]) { return found }
            }
            return nil
        }
        return walk(name, [name])
    }
}
