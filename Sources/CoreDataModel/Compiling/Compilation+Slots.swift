import CoreDataPrimitives

extension Compilation {
    /// Gives every property its slot: the parent's first, then the entity's own by name.
    mutating func assignSlots() {
        slots = Array(repeating: [], count: entities.count)
        slotByName = Array(repeating: [:], count: entities.count)
        for index in order {
            var own = entities[index].properties.filter { !$0.name.isEmpty }
            own.sort { NameOrder.byCodeUnits($0.name, $1.name) }
            let inherited = parents[index].map { slots[$0] } ?? []
            var names = parents[index].map { slotByName[$0] } ?? [:]
            var all = inherited
            for property in own {
                if let slot = names[property.name] {
                    let declarer = all[slot].declarer
                    // Two of one name in one entity were reported with the names.
                    if declarer != index {
                        report(
                            "property '\(path(property, in: index))' is already inherited from "
                                + "'\(entities[declarer].name)'", at: location(property, in: index),
                            hint: "remove one of them")
                    }
                    continue
                }
                names[property.name] = all.count
                all.append(Slot(element: property, declarer: index))
            }
            slots[index] = all
            slotByName[index] = names
        }
    }
}
