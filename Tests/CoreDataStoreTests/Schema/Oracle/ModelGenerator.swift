import CoreDataModel
import TestSupport

/// Makes models at random that are hard to lay out: names that clash in a table, many-to-manys that clash in their
/// columns, pairs of an entity with itself, inheritance, composites whose elements clash with them, every kind of index.
/// Equal seeds make equal models.
struct ModelGenerator {
    private var numbers: SeededNumbers
    /// Numbers of their own, so that the rest of a model does not depend on its composites.
    private var compositeNumbers: SeededNumbers
    private var entities: [EntityElement] = []

    private static let entityNames = [
        "Bank", "club", "Person", "zebra", "Apple", "Item_Photo", "_Hidden", "X", "Message", "SystemMessage",
        "GenericAlbum", "Album", "AlbumList", "asset2", "asset10",
    ]
    private static let propertyNames = [
        "members", "users", "authors", "title", "Title", "x2", "x10", "a", "_z", "parent", "children", "favorites",
        "favoriteFolders", "ignoredByClients", "ignoredClients", "trustedByClients", "trustedClients", "date", "uuid",
        "item", "owner", "tags", "books", "url", "friends", "votedBy", "following", "followedBy", "größe",
    ]
    private static let types: [AttributeType] = [
        .integer16, .integer32, .integer64, .boolean, .double, .float, .date, .decimal, .string, .uri, .uuid,
        .transformable, .binaryData,
    ]

    init(seed: UInt64) {
        numbers = SeededNumbers(seed: seed)
        compositeNumbers = SeededNumbers(seed: seed ^ 0xC0)
    }

    mutating func document() -> ModelDocument {
        entities = []
        let names = Self.entityNames.shuffled(using: &numbers).prefix(1 + numbers.below(7))
        for name in names { addEntity(name) }
        for index in entities.indices { addAttributes(to: index, numbers.chance(6) ? 45 : numbers.below(9)) }
        for _ in 0..<numbers.below(entities.count * 4 + 2) { addRelationship() }
        for index in entities.indices { addIndexes(to: index) }
        for index in entities.indices where compositeNumbers.chance(4) { addComposites(to: index) }
        var document = ModelDocument()
        document.entities = entities.shuffled(using: &numbers)
        document.appliesIndexDecodingQuirk = numbers.chance(3)
        return document
    }

    private mutating func addEntity(_ name: String) {
        var entity = EntityElement(name: name)
        if !entities.isEmpty, numbers.chance(2) { entity.parentName = numbers.pick(entities).name }
        entity.isAbstract = numbers.chance(5)
        entities.append(entity)
    }

    // MARK: - Names

    /// The entities that share properties with this one: all above it and all below it.
    private func relatives(of index: Int) -> [EntityElement] {
        func chain(_ entity: EntityElement) -> [String] {
            var names = [entity.name]
            while let parent = entities.first(where: { $0.name == names[names.count - 1] })?.parentName {
                names.append(parent)
            }
            return names
        }
        let own = chain(entities[index])
        return entities.filter { own.contains($0.name) || chain($0).contains(entities[index].name) }
    }

    /// A name that the entity can give to one more property.
    private mutating func name(in index: Int, isToMany: Bool = false) -> String {
        let relatives = relatives(of: index)
        let taken = Set(relatives.flatMap { $0.properties.map(\.name) })
        // Names of indexes and join tables have their entity in them and must differ by more than case.
        let own = isToMany ? taken : Set(entities[index].properties.map(\.name))
        let ownAnyCase = Set(own.map { $0.uppercased() })
        func isFree(_ name: String) -> Bool { !taken.contains(name) && !ownAnyCase.contains(name.uppercased()) }
        if !numbers.chance(12) {
            for _ in 0..<8 {
                let few = isToMany && !numbers.chance(4)
                let name = numbers.pick(few ? Array(Self.propertyNames[..<4]) : Self.propertyNames)
                if isFree(name) { return name }
            }
        }
        var name = numbers.chance(4) ? String(repeating: "long", count: 20 + numbers.below(20)) : "property"
        while !isFree(name) { name += String(numbers.below(10)) }
        return name
    }

    // MARK: - Attributes

    private mutating func addAttributes(to index: Int, _ count: Int) {
        for _ in 0..<count {
            let name = name(in: index)
            if numbers.chance(15) {
                var request = FetchRequestElement(name: "")
                request.entityName = entities[index].name
                entities[index].properties.append(PropertyElement(name: name, kind: .fetched(request)))
                continue
            }
            var attribute = AttributeElement(type: numbers.pick(Self.types))
            let isTransient = numbers.chance(8)
            if isTransient, numbers.chance(2) { attribute.type = .undefined }
            if !isTransient, attribute.type == .date, numbers.chance(2) { attribute.derivationExpression = "now()" }
            attribute.allowsExternalBinaryDataStorage = attribute.type == .binaryData && numbers.chance(2)
            var property = PropertyElement(name: name, kind: .attribute(attribute))
            property.isOptional = numbers.chance(2)
            property.isTransient = isTransient
            property.isIndexed = !isTransient && numbers.chance(10)
            entities[index].properties.append(property)
        }
    }

    /// One or two, before and behind the entity's other properties by their names, which no entity shares.
    private mutating func addComposites(to index: Int) {
        for stem in ["aa", "zz"].prefix(1 + compositeNumbers.below(2)) {
            entities[index].properties.append(composite("\(stem)\(index)", nesting: 0))
        }
    }

    private mutating func composite(_ name: String, nesting: Int) -> PropertyElement {
        var attribute = AttributeElement(type: .composite)
        let names = Self.propertyNames.shuffled(using: &compositeNumbers).prefix(1 + compositeNumbers.below(5))
        attribute.elements = names.map { name in
            if nesting < 2, compositeNumbers.chance(6) { return composite(name, nesting: nesting + 1) }
            var element = PropertyElement(
                name: name, kind: .attribute(AttributeElement(type: compositeNumbers.pick(Self.types))))
            element.isOptional = compositeNumbers.chance(2)
            return element
        }
        var property = PropertyElement(name: name, kind: .attribute(attribute))
        property.isOptional = true
        return property
    }

    // MARK: - Relationships

    private mutating func addRelationship() {
        let source = numbers.below(entities.count)
        let destination = numbers.chance(4) ? source : numbers.below(entities.count)
        let kind = numbers.below(10)
        switch kind {
        case 0: add(source, destination, isToMany: true, inverse: nil)
        case 1: add(source, destination, isToMany: false, inverse: nil)
        case 2:
            // Its own inverse.
            let isToMany = !numbers.chance(3)
            let name = name(in: source, isToMany: isToMany)
            add(name, source, source, isToMany: isToMany, inverse: name)
        default:
            // Many-to-many most often.
            let isToMany = (!numbers.chance(4), kind > 5 || numbers.chance(2))
            let name = name(in: source, isToMany: isToMany.0)
            // The second name must be free beside the first.
            entities[source].properties.append(
                PropertyElement(name: name, kind: .attribute(AttributeElement(type: .string))))
            let inverse = self.name(in: destination, isToMany: isToMany.1)
            entities[source].properties.removeLast()
            add(name, source, destination, isToMany: isToMany.0, inverse: inverse)
            add(inverse, destination, source, isToMany: isToMany.1, inverse: name)
        }
    }

    private mutating func add(_ source: Int, _ destination: Int, isToMany: Bool, inverse: String?) {
        add(name(in: source, isToMany: isToMany), source, destination, isToMany: isToMany, inverse: inverse)
    }

    private mutating func add(
        _ name: String, _ source: Int, _ destination: Int, isToMany: Bool, inverse: String?
    ) {
        var relationship = RelationshipElement()
        relationship.destinationName = entities[destination].name
        relationship.inverseName = inverse
        relationship.inverseEntityName = inverse == nil ? nil : entities[destination].name
        relationship.maxCount = isToMany ? (numbers.chance(8) ? 2 : 0) : 1
        relationship.isOrdered = isToMany && numbers.chance(3)
        var property = PropertyElement(name: name, kind: .relationship(relationship))
        property.isOptional = numbers.chance(2)
        property.isTransient = numbers.chance(20)
        entities[source].properties.append(property)
    }

    // MARK: - Indexes

    /// Stored attributes and to-ones, inherited ones too.
    private func columns(of index: Int) -> [String] {
        var properties: [PropertyElement] = []
        var current: EntityElement? = entities[index]
        while let entity = current {
            properties += entity.properties
            current = entity.parentName.flatMap { name in entities.first { $0.name == name } }
        }
        return properties.filter { property in
            switch property.kind {
            case .attribute: !property.isTransient
            case .relationship(let relationship): !property.isTransient && relationship.maxCount == 1
            case .fetched: false
            }
        }.map(\.name).sorted()
    }

    private mutating func addIndexes(to index: Int) {
        let columns = columns(of: index)
        if columns.isEmpty { return }
        let isOld = numbers.chance(3)
        for number in 0..<numbers.below(4) {
            let names = Array(columns.shuffled(using: &numbers).prefix(1 + numbers.below(3)))
            if isOld, names.count > 1 {
                let isFree = !entities[index].compoundIndexes.contains {
                    $0.map { $0.uppercased() } == names.map { $0.uppercased() }
                }
                if isFree { entities[index].compoundIndexes.append(names) }
                continue
            }
            if isOld && numbers.chance(2) { continue }
            var fetchIndex = FetchIndexElement(name: "byKey\(number)")
            fetchIndex.elements = names.map { name in
                var element = FetchIndexElement.Element(propertyName: name)
                element.isAscending = !numbers.chance(4)
                return element
            }
            entities[index].fetchIndexes.append(fetchIndex)
        }
        for _ in 0..<numbers.below(3) {
            let names = Array(columns.shuffled(using: &numbers).prefix(1 + numbers.below(3)))
            let isFree = !entities[index].uniquenessConstraints.contains {
                $0.map { $0.uppercased() } == names.map { $0.uppercased() }
            }
            if isFree { entities[index].uniquenessConstraints.append(names) }
        }
    }
}
