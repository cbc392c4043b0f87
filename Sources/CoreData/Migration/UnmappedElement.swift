import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// An element of a composite attribute that an entity mapping does not set, for example one that only the newer model
/// has.
///
/// A new object gets the element's default value if it has the composite. An object whose composite is nil in the
/// source keeps a nil composite, as in a lightweight migration.
///
///     // address gets an element "zip" with the default 99
///     ["street": "Elm Street"]     // ["street": "Elm Street", "zip": 99]
///     nil                          // nil
struct UnmappedElement {
    let slot: Int
    /// The elements that the mapping sets, of the nearest enclosing composite with any.
    let mapped: [Int]

    /// Returns the unmapped elements of an entity mapping, without elements of composites that the mapping does not set
    /// at all.
    static func all(
        of mapping: NSEntityMapping, from source: EntityRuntime, to destination: EntityRuntime
    ) -> [UnmappedElement] {
        guard destination.hasComposites else { return [] }
        let mapped = mappedElements(of: mapping, from: source, to: destination)
        return destination.slots.indices.compactMap { slot in
            let info = destination.slots[slot]
            guard info.kind != .composite, info.column >= 0, !mapped.contains(slot) else { return nil }
            var enclosing = info.property.composite
            while let composite = enclosing {
                let others = destination.slots[composite].leaves.filter(mapped.contains)
                if !others.isEmpty { return UnmappedElement(slot: slot, mapped: others) }
                enclosing = destination.slots[composite].property.composite
            }
            return nil
        }
    }

    private static func mappedElements(
        of mapping: NSEntityMapping, from source: EntityRuntime, to destination: EntityRuntime
    ) -> Set<Int> {
        var mapped: Set<Int> = []
        guard let properties = mapping.attributeMappings else {
            // Attributes of one name are copied.
            for from in source.slots where from.kind == .composite && from.property.composite == nil {
                guard let to = destination.slot(forKey: from.name) else { continue }
                addCommonElements(of: from, source, destination.slots[to], destination, to: &mapped)
            }
            return mapped
        }
        for property in properties {
            guard let expression = property.valueExpression, let slot = property.name.flatMap(destination.slot(forKey:))
            else { continue }
            let info = destination.slots[slot]
            guard info.kind == .composite else {
                mapped.insert(slot)
                continue
            }
            if let (from, _) = PlainMappings.slots(property, expression.node, source, destination) {
                addCommonElements(of: source.slots[from], source, info, destination, to: &mapped)
            } else {
                mapped.formUnion(info.leaves)
            }
        }
        return mapped
    }

    /// Adds the elements that a copy of the source's composite sets: those that the source's composite has, too.
    private static func addCommonElements(
        of from: EntityRuntime.Slot, _ source: EntityRuntime, _ to: EntityRuntime.Slot, _ destination: EntityRuntime,
        to mapped: inout Set<Int>
    ) {
        for element in from.elements.map({ source.slots[$0] }) {
            guard
                let slot = to.elements.first(where: {
                    destination.slots[$0].property.elementName == element.property.elementName
                })
            else { continue }
            if destination.slots[slot].kind == .composite {
                addCommonElements(of: element, source, destination.slots[slot], destination, to: &mapped)
            } else {
                mapped.insert(slot)
            }
        }
    }
}

extension NSManagedObject {
    /// Sets the unmapped elements to the values of a new object if the object has the composite, and to nil if it does
    /// not.
    ///
    /// - Parameter values: the values of the new object's elements before the mapping set others.
    final func setUnmappedElements(_ elements: [UnmappedElement], _ values: [Value]) {
        for (element, value) in zip(elements, values) {
            let hasComposite = element.mapped.contains { !attributeValue($0).isNull }
            let wanted = hasComposite ? value : .null
            if attributeValue(element.slot) != wanted { setAttribute(wanted, element.slot) }
        }
    }
}
