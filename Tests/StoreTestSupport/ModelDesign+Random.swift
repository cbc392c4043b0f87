import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import TestSupport

extension ModelDesign {
    private static let types: [AttributeType] = [.string, .integer64, .double, .boolean, .binaryData]

    package init(_ numbers: inout SeededNumbers) {
        for _ in 0..<(2 + numbers.below(4)) { addEntity(&numbers) }
        for _ in 0..<(1 + numbers.below(8)) { addAttribute(&numbers) }
        for _ in 0..<numbers.below(6) { addRelationship(&numbers) }
        fill(&numbers)
    }

    private static func value(_ type: AttributeType, _ numbers: inout SeededNumbers) -> SQLValue {
        if numbers.chance(4) { return .null }
        switch type {
        case .string: return .text("t\(numbers.below(1000))")
        case .double: return .real(Double(numbers.below(1000)) + 0.5)
        case .boolean: return .integer(Int64(numbers.below(2)))
        case .binaryData: return .blob(Data([UInt8(numbers.below(256)), 1, 0]))
        default: return .integer(Int64(numbers.below(1000)))
        }
    }

    private mutating func fill(_ numbers: inout SeededNumbers) {
        var key: Int64 = 0
        for entity in entities where !entity.isAbstract {
            for _ in 0..<numbers.below(5) {
                key += 1
                var object = Object(entity: entity.id)
                for attribute in attributes(of: entity.id) {
                    let value = Self.value(attribute.type, &numbers)
                    object.values[attribute.id] =
                        attribute.isOptional || value != .null ? value : attribute.defaultValue
                }
                objects[key] = object
            }
        }
        for relationship in relationships { link(relationship, &numbers) }
        prune()
    }

    private mutating func link(_ relationship: Relationship, _ numbers: inout SeededNumbers) {
        let near = objects.keys.filter { subtree(relationship.near.entity).contains(objects[$0]?.entity ?? 0) }.sorted()
        let far = objects.keys.filter { subtree(relationship.far.entity).contains(objects[$0]?.entity ?? 0) }.sorted()
        var found: Set<Link> = []
        for a in near {
            for b in far where numbers.chance(3) {
                if !relationship.near.isToMany, found.contains(where: { $0.near == a }) { continue }
                // Without inverse a to-many is kept in the rows that it leads to.
                let isFarToMany = relationship.far.name == nil ? !relationship.near.isToMany : relationship.far.isToMany
                if !isFarToMany, found.contains(where: { $0.far == b }) { continue }
                found.insert(Link(near: a, far: b))
            }
        }
        let all = found.sorted { ($0.near, $0.far) < ($1.near, $1.far) }
        links[relationship.id] = relationship.near.isOrdered ? all.shuffled(using: &numbers) : all
        backLinks[relationship.id] = relationship.far.isOrdered ? all.shuffled(using: &numbers) : all
    }

    // MARK: Growing

    private mutating func addEntity(_ numbers: inout SeededNumbers) {
        let id = newID()
        // Letters vary, so that numbers of entities change.
        let name = "\(numbers.pick(["A", "M", "Z", "b", "q"]).uppercased())x\(id)"
        let parent = !entities.isEmpty && numbers.chance(2) ? numbers.pick(entities).id : nil
        entities.append(
            Entity(id: id, name: name, canonical: name, parent: parent, isAbstract: numbers.chance(6)))
    }

    private mutating func addAttribute(_ numbers: inout SeededNumbers) {
        let id = newID()
        let name = "\(numbers.pick(["a", "m", "z"]))\(id)"
        let type = numbers.pick(Self.types)
        var attribute = Attribute(
            id: id, entity: numbers.pick(entities).id, name: name, canonical: name, type: type)
        if type != .binaryData, numbers.chance(2) {
            attribute.defaultText = type == .boolean ? "YES" : "7"
            attribute.isOptional = numbers.chance(2)
        }
        attributes.append(attribute)
        for key in objects.keys where subtree(attribute.entity).contains(objects[key]?.entity ?? 0) {
            objects[key]?.values[id] = attribute.defaultValue
        }
    }

    private mutating func addRelationship(_ numbers: inout SeededNumbers) {
        let id = newID()
        func end(_ prefix: String) -> Relationship.End {
            let name = "\(prefix)\(id)"
            let isToMany = numbers.chance(2)
            return .init(
                entity: numbers.pick(entities).id, name: name, canonical: name, isToMany: isToMany,
                isOrdered: isToMany && numbers.chance(2))
        }
        var relationship = Relationship(id: id, near: end("r"), far: end("s"))
        if numbers.chance(4) {
            relationship.far.name = nil
            relationship.far.isOrdered = false
        }
        relationships.append(relationship)
        links[id] = []
        backLinks[id] = []
    }

    // MARK: Edits

    /// Gives the objects what they had in the model before some edits, as far as they can have it: what several edits did
    /// together counts, not what lay between.
    package mutating func settle(from before: ModelDesign) {
        objects = objects.filter { before.objects[$0.key] != nil }
        for (key, object) in objects {
            guard let old = before.objects[key] else { continue }
            let had = before.attributes(of: old.entity)
            for attribute in attributes(of: object.entity) {
                guard let was = had.first(where: { $0.id == attribute.id }) else {
                    objects[key]?.values[attribute.id] = attribute.defaultValue
                    continue
                }
                let value = old.values[attribute.id] ?? .null
                let isFilled = value == .null && !attribute.isOptional && was.isOptional
                objects[key]?.values[attribute.id] = isFilled ? attribute.defaultValue : value
            }
        }
        for relationship in relationships {
            let was = before.relationships.first { $0.id == relationship.id }
            var forward = before.links[relationship.id] ?? []
            var backward = before.backLinks[relationship.id] ?? []
            if was?.near.isOrdered != true { forward.sort { ($0.near, $0.far) < ($1.near, $1.far) } }
            if was?.far.isOrdered != true { backward.sort { ($0.far, $0.near) < ($1.far, $1.near) } }
            (links[relationship.id], backLinks[relationship.id]) = (forward, backward)
        }
        prune()
    }

    /// Changes the model in a way that can be inferred, and the objects with it; tells how.
    package mutating func edit(_ numbers: inout SeededNumbers) -> String {
        defer { prune() }
        switch numbers.below(17) {
        case 0:
            addEntity(&numbers)
            return "entity added"
        case 1:
            addAttribute(&numbers)
            return "attribute added"
        case 2:
            addRelationship(&numbers)
            return "relationship added"
        case 3 where !attributes.isEmpty:
            attributes.remove(at: numbers.below(attributes.count))
            return "attribute removed"
        case 4 where !relationships.isEmpty:
            relationships.remove(at: numbers.below(relationships.count))
            return "relationship removed"
        case 5:
            let index = numbers.below(entities.count)
            entities[index].name = "\(numbers.pick(["A", "T", "Y"]))n\(newID())"
            return "entity renamed"
        case 6 where !attributes.isEmpty:
            attributes[numbers.below(attributes.count)].name = "n\(newID())"
            return "attribute renamed"
        case 7 where !relationships.isEmpty:
            let index = numbers.below(relationships.count)
            if numbers.chance(2), relationships[index].far.name != nil {
                relationships[index].far.name = "g\(newID())"
            } else {
                relationships[index].near.name = "f\(newID())"
            }
            return "relationship renamed"
        case 8: return removeEntity(&numbers)
        case 9: return changeOptionality(&numbers)
        case 10: return becomeToMany(&numbers)
        case 11: return changeOrder(&numbers)
        case 12: return moveUp(&numbers)
        case 13: return moveDown(&numbers)
        case 14: return addParent(&numbers)
        case 15: return leaveHierarchy(&numbers)
        case 16: return joinHierarchy(&numbers)
        default: return "nothing"
        }
    }

    private mutating func removeEntity(_ numbers: inout SeededNumbers) -> String {
        let leaves = entities.filter { entity in !entities.contains { $0.parent == entity.id } }
        guard entities.count > 1, let leaf = leaves.randomElement(using: &numbers) else { return "nothing" }
        relationships.removeAll { $0.near.entity == leaf.id || $0.far.entity == leaf.id }
        attributes.removeAll { $0.entity == leaf.id }
        entities.removeAll { $0.id == leaf.id }
        return "entity removed"
    }

    private mutating func changeOptionality(_ numbers: inout SeededNumbers) -> String {
        guard !attributes.isEmpty else { return "nothing" }
        let index = numbers.below(attributes.count)
        if !attributes[index].isOptional {
            attributes[index].isOptional = true
            return "attribute made optional"
        }
        guard attributes[index].type != .binaryData else { return "nothing" }
        attributes[index].isOptional = false
        attributes[index].defaultText = attributes[index].type == .boolean ? "NO" : "3"
        let attribute = attributes[index]
        for key in objects.keys where subtree(attribute.entity).contains(objects[key]?.entity ?? 0) {
            if objects[key]?.values[attribute.id] ?? .null == .null {
                objects[key]?.values[attribute.id] = attribute.defaultValue
            }
        }
        return "attribute made required"
    }

    private mutating func becomeToMany(_ numbers: inout SeededNumbers) -> String {
        let candidates = relationships.indices.filter {
            relationships[$0].far.name != nil && (!relationships[$0].near.isToMany || !relationships[$0].far.isToMany)
        }
        guard let index = candidates.randomElement(using: &numbers) else { return "nothing" }
        if !relationships[index].near.isToMany {
            relationships[index].near.isToMany = true
        } else {
            relationships[index].far.isToMany = true
        }
        return "to-one made to-many"
    }

    private mutating func changeOrder(_ numbers: inout SeededNumbers) -> String {
        let candidates = relationships.indices.filter { relationships[$0].near.isToMany }
        guard let index = candidates.randomElement(using: &numbers) else { return "nothing" }
        relationships[index].near.isOrdered.toggle()
        if relationships[index].near.isOrdered {
            links[relationships[index].id]?.sort { ($0.near, $0.far) < ($1.near, $1.far) }
            return "relationship made ordered"
        }
        return "relationship made unordered"
    }

    private mutating func moveUp(_ numbers: inout SeededNumbers) -> String {
        let candidates = attributes.indices.filter { entity(attributes[$0].entity).parent != nil }
        guard let index = candidates.randomElement(using: &numbers),
            let parent = entity(attributes[index].entity).parent
        else { return "nothing" }
        let before = Set(subtree(attributes[index].entity))
        attributes[index].entity = parent
        let attribute = attributes[index]
        for key in objects.keys where subtree(parent).contains(objects[key]?.entity ?? 0) {
            if !before.contains(objects[key]?.entity ?? 0) {
                objects[key]?.values[attribute.id] = attribute.defaultValue
            }
        }
        return "attribute moved up"
    }

    private mutating func moveDown(_ numbers: inout SeededNumbers) -> String {
        let candidates = attributes.indices.filter { index in
            entities.contains { $0.parent == attributes[index].entity }
        }
        guard let index = candidates.randomElement(using: &numbers),
            let child = entities.filter({ $0.parent == attributes[index].entity }).randomElement(using: &numbers)
        else { return "nothing" }
        attributes[index].entity = child.id
        return "attribute moved down"
    }

    private mutating func addParent(_ numbers: inout SeededNumbers) -> String {
        let index = numbers.below(entities.count)
        let id = newID()
        let name = "\(numbers.pick(["B", "P"]))p\(id)"
        entities.append(
            Entity(id: id, name: name, canonical: name, parent: entities[index].parent, isAbstract: numbers.chance(2)))
        entities[index].parent = id
        return "parent added"
    }

    private mutating func leaveHierarchy(_ numbers: inout SeededNumbers) -> String {
        let candidates = entities.indices.filter { entities[$0].parent != nil }
        guard let index = candidates.randomElement(using: &numbers) else { return "nothing" }
        entities[index].parent = nil
        return "entity left its hierarchy"
    }

    /// An entity goes below another of its own hierarchy.
    private mutating func joinHierarchy(_ numbers: inout SeededNumbers) -> String {
        let index = numbers.below(entities.count)
        let root = chain(entities[index].id).last
        let inside = Set(subtree(entities[index].id))
        guard entities[index].parent != nil,
            let parent = entities.filter({ chain($0.id).last == root && !inside.contains($0.id) })
                .randomElement(using: &numbers)
        else { return "nothing" }
        let had = Set(attributes(of: entities[index].id).map(\.id))
        entities[index].parent = parent.id
        for attribute in attributes(of: entities[index].id) where !had.contains(attribute.id) {
            for key in objects.keys where inside.contains(objects[key]?.entity ?? 0) {
                objects[key]?.values[attribute.id] = attribute.defaultValue
            }
        }
        return "entity got another parent"
    }
}

extension ModelDesign.Attribute {
    var defaultValue: SQLValue {
        guard let defaultText else { return .null }
        switch type {
        case .string: return .text(defaultText)
        case .double: return .real(Double(defaultText) ?? 0)
        case .boolean: return .integer(defaultText == "YES" ? 1 : 0)
        default: return .integer(Int64(defaultText) ?? 0)
        }
    }
}
