import CoreDataPrimitives
import Foundation

extension Compilation {
    /// Assigns every property its slot: the parent's first, then the entity's own by name.
    mutating func assignSlots() {
        slots = Array(repeating: [], count: entities.count)
        slotByName = Array(repeating: [:], count: entities.count)
        for index in order {
            let own = entities[index].properties
            var positions = own.indices.filter { !own[$0].name.isEmpty }
            positions.sort { NameOrder.byCodeUnits(own[$0].name, own[$1].name) }
            let inherited = parents[index].map { slots[$0] } ?? []
            var names = parents[index].map { slotByName[$0] } ?? [:]
            var all = inherited
            names.reserveCapacity(inherited.count + positions.count)
            for position in positions {
                if let slot = names[own[position].name] {
                    // Duplicate names in one entity were reported by the check of names.
                    if all[slot].declarer != index { reportRedeclaration(own[position], of: all[slot], in: index) }
                    continue
                }
                names[own[position].name] = all.count
                all.append(Slot(element: own[position], declarer: index))
                if own[position].isComposite { addElements(of: all.count - 1, to: &all, &names, within: []) }
            }
            slots[index] = all
            slotByName[index] = names
        }
    }

    /// Assigns a slot to each element of a composite attribute, by name; elements of nested composites follow their
    /// composite.
    private func addElements(
        of composite: Int, to all: inout [Slot], _ names: inout [String: Int], within circle: Set<String>
    ) {
        let owner = all[composite]
        guard case .attribute(let attribute) = owner.element.kind, attribute.type == .composite else { return }
        // Composites that contain each other were reported already.
        var circle = circle
        if let name = attribute.compositeName, !circle.insert(name).inserted { return }
        for element in elements(of: attribute).sorted(by: { NameOrder.byCodeUnits($0.name, $1.name) }) {
            guard case .attribute = element.kind, !element.name.isEmpty else { continue }
            var path = element
            path.name = "\(owner.element.name).\(element.name)"
            path.isTransient = owner.element.isTransient
            guard names[path.name] == nil else { continue }
            names[path.name] = all.count
            all.append(Slot(element: path, declarer: owner.declarer, composite: composite))
            addElements(of: all.count - 1, to: &all, &names, within: circle)
        }
    }

    /// Returns the elements of a composite attribute: those of the composite type that it names, or its own.
    func elements(of attribute: AttributeElement) -> [PropertyElement] {
        attribute.compositeName.flatMap { composites[$0]?.properties } ?? attribute.elements
    }

    /// Reports a property that repeats an inherited one with differences. A model made in code may repeat an inherited
    /// property exactly; such a copy is ignored.
    private mutating func reportRedeclaration(_ property: PropertyElement, of inherited: Slot, in index: Int) {
        func hash(_ property: PropertyElement) -> Data {
            VersionHash.property(property, declaredIn: entities[inherited.declarer].name, composites: composites)
        }
        let message =
            "property '\(path(property, in: index))' is already inherited from '\(entities[inherited.declarer].name)'"
        if hash(property) == hash(inherited.element) {
            report(
                message, at: location(property, in: index), severity: .warning, rule: .inheritedRedeclared,
                subject: path(property, in: index))
        } else {
            report(
                message + ", where it is different", at: location(property, in: index), hint: "rename one of them",
                rule: .inheritedRedeclared, subject: path(property, in: index))
        }
    }
}
