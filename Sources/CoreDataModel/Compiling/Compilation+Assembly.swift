import CoreDataPrimitives
import Foundation

extension Compilation {
    /// Builds the model of a document without errors.
    func assemble() -> CompiledModel {
        let properties = order.map { index in
            slots[index].enumerated().map { compiled($1, slot: $0) }
        }
        let subtrees = subtreesByOrdinal()
        let oneWay = oneWayToMany(properties)
        var hasher = VersionHasher(composites: composites)
        var hashes: [Data] = []
        var formerHashes: [Data?] = []
        // Indexed by document index and slot.
        var propertyHashes = [[VersionHasher.Digest]](repeating: [], count: entities.count)
        var result: [CompiledEntity] = []
        for (ordinal, index) in order.enumerated() {
            let entity = entities[index]
            let parent = parents[index].map { ordinals[$0] }
            // An inherited property has its ancestor's hash.
            var ownHashes = parents[index].map { propertyHashes[$0] } ?? []
            for slot in slots[index].dropFirst(ownHashes.count) {
                ownHashes.append(hasher.property(slot.element, declaredIn: entities[slot.declarer].name))
            }
            propertyHashes[index] = ownHashes
            // The hash of a composite attribute includes those of its elements.
            let counted = zip(slots[index], ownHashes).compactMap { slot, digest in
                slot.isHashed
                    ? VersionHasher.Hashed(
                        name: slot.element.name, isComposite: slot.hasElements, isCounted: true, digest: digest)
                    : nil
            }
            var hash = hasher.entity(entity, properties: counted, superentityHash: parent.map { hashes[$0] })
            let former = formerHash(
                of: index, counted, superentityHash: parent.flatMap { formerHashes[$0] ?? hashes[$0] })
            if let known = entity.knownVersionHash, let former, known != former.computed { hash = known }
            formerHashes.append(former?.stored)
            hashes.append(hash)
            result.append(
                CompiledEntity(
                    ordinal: ordinal, name: entity.name,
                    className: entity.className == "NSManagedObject" ? nil : entity.className,
                    isAbstract: entity.isAbstract,
                    parent: parent, root: parent.map { result[$0].root } ?? ordinal, subtree: subtrees[ordinal],
                    properties: properties[ordinal], slotByName: slotByName[index],
                    uniquenessConstraints: entity.uniquenessConstraints.filter { isStored($0, in: index) }
                        .map { names in names.compactMap { slotByName[index][$0] } },
                    fetchIndexes: fetchIndexes(of: index), versionHash: hash,
                    formerVersionHash: former?.stored == hash ? nil : former?.stored,
                    rowLayout: rowLayout(of: ordinal, properties: properties, subtrees: subtrees, oneWay),
                    omitsEntityIndex: entity.userInfo["_NSEntityOmitSubentityColumnIndex"] != nil))
        }
        let configurations = Dictionary(
            document.configurations.map { configuration in
                (
                    configuration.name,
                    Set(configuration.entityNames).compactMap { indexByName[$0].map { ordinals[$0] } }.sorted()
                )
            }, uniquingKeysWith: { first, _ in first })
        return CompiledModel(
            entities: result, configurations: configurations, versionIdentifiers: document.versionIdentifiers,
            isAccepted: document.origin != .written)
    }

    /// Computes the hash of an entity with composites by the rule of earlier versions; `nil` for an entity without
    /// composites.
    ///
    /// - Parameter counted: the properties that are hashed, with their hashes by Apple's rule.
    /// - Returns: the computed hash, and the hash in stores: the known hash of the model's file replaced the computed
    ///   one.
    private func formerHash(
        of index: Int, _ counted: [VersionHasher.Hashed], superentityHash: Data?
    ) -> (computed: Data, stored: Data)? {
        guard counted.contains(where: \.isComposite) else { return nil }
        var hasher = VersionHasher(composites: composites, rule: .former)
        let compositeSlots = slots[index].filter { $0.isHashed && $0.hasElements }
        var properties = counted.filter { !$0.isComposite }
        for slot in compositeSlots {
            let digest = hasher.property(slot.element, declaredIn: entities[slot.declarer].name)
            properties.append(.init(name: slot.element.name, isComposite: true, isCounted: true, digest: digest))
        }
        let computed = hasher.entity(entities[index], properties: properties, superentityHash: superentityHash)
        return (computed, entities[index].knownVersionHash ?? computed)
    }

    private func compiled(_ slot: Slot, slot number: Int) -> CompiledProperty {
        let (kind, isNowhere) = kind(of: slot.element, End(entity: slot.declarer, slot: number))
        return CompiledProperty(
            name: slot.element.name, slot: number, declaringEntity: ordinals[slot.declarer],
            isOptional: slot.element.isOptional, isTransient: slot.element.isTransient || isNowhere, kind: kind,
            composite: slot.composite)
    }

    /// Compiles the kind of a property. `isNowhere` is true if stores cannot contain it: a relationship without a
    /// destination, or an attribute of a type that cannot be stored.
    private func kind(of property: PropertyElement, _ end: End) -> (CompiledProperty.Kind, isNowhere: Bool) {
        switch property.kind {
        case .fetched: return (.fetched, true)
        case .attribute(let attribute):
            var result = compiled(attribute, end)
            if let search = property.userInfo[SearchIndexKinds.key], attribute.type == .string, !property.isTransient {
                result.searchIndexes = SearchIndexKinds.parse(search).kinds
            }
            // A store contains a composite only as its elements.
            return (.attribute(result), attribute.type == .objectID || attribute.type == .composite)
        case .relationship(let relationship):
            guard let ends = ends[end] else { return (.fetched, true) }
            return (
                .relationship(
                    CompiledRelationship(
                        destination: ordinals[ends.destination], inverseSlot: ends.inverseSlot,
                        minCount: max(0, relationship.minCount), maxCount: max(0, relationship.maxCount),
                        deleteRule: relationship.deleteRule, isOrdered: relationship.isOrdered)), false
            )
        }
    }

    private func compiled(_ attribute: AttributeElement, _ end: End) -> CompiledAttribute {
        var result = CompiledAttribute(
            type: attribute.type, defaultValue: (try? DefaultValue.of(attribute).get()) ?? .null,
            valueTransformerName: attribute.valueTransformerName, valueClassName: attribute.customClassName,
            allowsExternalBinaryDataStorage: attribute.allowsExternalBinaryDataStorage,
            preservesValueInHistoryOnDeletion: attribute.preservesValueInHistoryOnDeletion,
            derivationExpression: attribute.derivationExpression.map(DerivationText.written),
            derivationFilter: attribute.derivationFilter)
        if attribute.type == .composite {
            let slots = slots[end.entity]
            result.elements = slots.indices.filter { slots[$0].composite == end.slot }
            let (names, composite) = (slotByName[end.entity], slots[end.slot].element.name)
            result.declaredElements = elements(of: attribute).compactMap { names["\(composite).\($0.name)"] }
            result.hasStoredElements = !slots[end.slot].element.isTransient
        }
        return result
    }

    private func subtreesByOrdinal() -> [[Int]] {
        var subtrees = order.indices.map { [$0] }
        // Children follow their parents. In reverse order, each subtree is complete before it is added to its parent's.
        for ordinal in order.indices.reversed() {
            if let parent = parents[order[ordinal]] { subtrees[ordinals[parent]] += subtrees[ordinal] }
        }
        return subtrees.map { $0.sorted() }
    }

    private func fetchIndexes(of index: Int) -> [CompiledFetchIndex] {
        document.storedIndexes(of: entities[index]).map { fetchIndex in
            CompiledFetchIndex(
                name: fetchIndex.name,
                elements: fetchIndex.elements.map { element in
                    let slot = element.propertyName.flatMap { slotByName[index][$0] }
                    return CompiledFetchIndex.Element(
                        slot: slot, expression: slot == nil ? element.propertyName ?? element.expression : nil,
                        isAscending: element.isAscending, isRTree: element.isRTree)
                },
                predicate: fetchIndex.predicate)
        } + rectangleIndexes(of: index)
    }

    /// Returns the R-trees that Apple's stores have for attributes of Photos that represent a location and have no
    /// column.
    ///
    ///     boundedByRect, user info _NSLocationAttributeDerivedComponents: latitude, longitude
    private func rectangleIndexes(of index: Int) -> [CompiledFetchIndex] {
        entities[index].properties.compactMap { property in
            guard !property.userInfo.isEmpty, property.isTransient,
                let names = property.userInfo["_NSLocationAttributeDerivedComponents"]
            else { return nil }
            let slots = names.split { $0 == "," || $0 == " " }.map { slotByName[index][String($0)] }
            guard !slots.isEmpty, !slots.contains(nil) else { return nil }
            return CompiledFetchIndex(name: property.name, elements: slots.map { .init(slot: $0, isRTree: true) })
        }
    }
}

extension Compilation {
    private typealias OneWayToMany = (owner: Int, property: CompiledProperty, relationship: CompiledRelationship)

    /// Returns the columns of an entity's rows; ``RowLayout`` describes them and their order.
    private func rowLayout(
        of ordinal: Int, properties: [[CompiledProperty]], subtrees: [[Int]], _ oneWay: [OneWayToMany]
    ) -> RowLayout {
        var columns: [RowLayout.Column] = []
        for property in properties[ordinal] where !property.isTransient {
            switch property.kind {
            case .fetched: break
            case .attribute(let attribute):
                columns.append(.init(role: .attribute(slot: property.slot), kind: attribute.type.kind.columnKind))
            case .relationship(let relationship):
                if relationship.isToMany { continue }
                columns.append(.init(role: .destinationKey(slot: property.slot), kind: .integer))
                if subtrees[relationship.destination].count > 1 {
                    columns.append(.init(role: .destinationEntity(slot: property.slot), kind: .integer))
                }
                let inverse = relationship.inverseSlot.map { properties[relationship.destination][$0] }
                if let inverse, !inverse.isTransient, let back = inverse.relationship, back.isToMany, back.isOrdered {
                    columns.append(.init(role: .order(slot: property.slot), kind: .integer))
                }
            }
        }
        for (owner, property, relationship) in oneWay
        where subtrees[relationship.destination].contains(ordinal) {
            columns.append(.init(role: .ownerKey(entity: owner, slot: property.slot), kind: .integer))
            if relationship.isOrdered {
                columns.append(.init(role: .ownerOrder(entity: owner, slot: property.slot), kind: .integer))
            }
        }
        return RowLayout(columns: columns, slotCount: properties[ordinal].count)
    }

    /// Returns every stored to-many without inverse, sorted by the ordinal of the declaring entity, then by slot.
    private func oneWayToMany(_ properties: [[CompiledProperty]]) -> [OneWayToMany] {
        var result: [OneWayToMany] = []
        for (ordinal, properties) in properties.enumerated() {
            for property in properties where property.declaringEntity == ordinal && !property.isTransient {
                guard let relationship = property.relationship, relationship.isToMany,
                    relationship.inverseSlot == nil
                else { continue }
                result.append((ordinal, property, relationship))
            }
        }
        return result
    }
}
